/**
 * The TokenRequest kind and the `token` subresource of service accounts, with the validation of the bound object.
 * spec: Authentication
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import { type FieldError, invalid } from '../../../meta/field-error.js';
import { parseApiVersion } from '../../../meta/gvk.js';
import { pathSegmentProblems } from '../../../meta/names.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { BoundObjectReference } from '../../generated/authentication-v1.js';
import { type TokenRequestKind, type TokenRequestObject, tokenRequestBase } from '../../generated/authentication-v1.js';
import type { StrategyContext } from '../../kind.js';
import { defineAction, type SubresourceAction } from '../../subresource.js';
import type { BoundObject, TokenClaims } from '../../tokens.js';

const RESOURCES = { Pod: 'pods', Secret: 'secrets', Node: 'nodes' } as const satisfies Record<
  BoundObject['kind'],
  string
>;

export interface TokenRequest extends TokenRequestObject {}

export const TokenRequest: TokenRequestKind<TokenRequest> = defineBuiltIn({
  ...tokenRequestBase,
  verbs: ['create'],
});

const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

/** The lifetime of projected pod tokens. The unusual number identifies these requests. */
const POD_TOKEN_SECONDS = 3607;
const YEAR_SECONDS = 365 * 24 * 3600;

/** The `token` subresource. A dry run signs a token too, because nothing is stored. */
export const tokenSubresource: SubresourceAction = /* @__PURE__ */ defineAction({
  type: 'action',
  verbs: ['create'],
  kind: TokenRequest,
  async run(body, context) {
    const { namespace, objects, tokens, dialect } = context;
    const name = context.request.name ?? '';
    // 1. The service account.
    refuse(context, name, addressProblems(body, name, namespace));
    const account = objects.get({ group: '', resource: 'serviceaccounts', namespace, name });
    if (account === undefined) throw errors.notFound({ group: '', resource: 'serviceaccounts' }, name);
    const { spec } = body;
    refuse(context, '', durationProblems(spec.expirationSeconds));

    // 2. The bound object and the lifetime.
    const ref = spec.boundObjectRef ?? undefined;
    const binding = ref === undefined ? {} : readBinding(ref, name, context);
    const audiences = spec.audiences?.length > 0 ? spec.audiences : tokens.apiAudiences;
    const expirationSeconds = shortened(spec.expirationSeconds, context);
    const isExtended =
      tokens.extendsExpiration &&
      binding.bound?.kind === 'Pod' &&
      expirationSeconds === POD_TOKEN_SECONDS &&
      audiences.every((audience) => tokens.apiAudiences.includes(audience));

    // 3. The signed token.
    const signed = await tokens.sign({
      namespace,
      account: { name, uid: account.metadata.uid },
      audiences,
      ...(isExtended
        ? { expirationSeconds: YEAR_SECONDS, warnAfterSeconds: expirationSeconds }
        : { expirationSeconds }),
      ...binding,
    });
    context.request.audit?.annotate(dialect.subkey('authentication', 'issued-credential-id'), signed.credentialId);
    const { token, expirationTimestamp } = signed;
    const { name: _name, namespace: _namespace, creationTimestamp: _time, ...given } = body.metadata;
    const { kind, apiVersion } = body;
    return {
      kind,
      apiVersion,
      metadata: { name, namespace, creationTimestamp: context.now, ...given },
      spec: { audiences: [...audiences], expirationSeconds, boundObjectRef: ref ?? null },
      status: { token, expirationTimestamp },
    };
  },
});

function refuse({ dialect }: StrategyContext, name: string, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  const group = dialect.group(serviceGroup('authentication'));
  throw errors.invalid({ group, kind: 'TokenRequest' }, name, problems);
}

/** Reports only the first error. */
function addressProblems({ metadata }: DraftObject, account: string, namespace: string): FieldError[] {
  if (metadata.name && metadata.name !== account) {
    return [invalid('metadata.name', metadata.name, 'must match the service account name if specified')];
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    return [invalid('metadata.namespace', metadata.namespace, 'must match the service account namespace if specified')];
  }
  return [];
}

function durationProblems(seconds: number): FieldError[] {
  if (seconds < MIN_SECONDS) {
    return [invalid('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes')];
  }
  if (seconds > MAX_SECONDS) {
    return [invalid('spec.expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds')];
  }
  return [];
}

function shortened(seconds: number, { tokens: { maxExpirationSeconds: most }, warnings }: StrategyContext): number {
  if (most === undefined || seconds <= most) return seconds;
  warnings.push(`requested expiration of ${seconds} seconds shortened to ${most} seconds`);
  return most;
}

/** The claims of a bound token. */
type Binding = Pick<TokenClaims, 'bound' | 'node'>;

/** Throws 400 for a kind that tokens cannot be bound to, 404 for an absent object, 409 for a different uid. */
function readBinding(ref: BoundObjectReference, account: string, context: StrategyContext): Binding {
  const { apiVersion = '', kind = '', name = '', uid: expected = '' } = ref;
  // An invalid apiVersion counts as absent.
  const { group, version } = parseApiVersion(apiVersion) ?? { group: '', version: '' };
  if (group !== '' || !isBindable(kind)) {
    throw errors.badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`);
  }
  const gate = 'ServiceAccountTokenNodeBinding';
  if (kind === 'Node' && !context.features.enabled(gate)) {
    throw errors.badRequest(`cannot bind token to a Node object as the "${gate}" feature-gate is disabled`);
  }
  const object = objectAt(RESOURCES[kind], name, context);
  const pod = kind === 'Pod' ? (object as ApiObject & RunningPod) : undefined;
  if (pod !== undefined && pod.spec.serviceAccountName !== account) {
    throw errors.badRequest(
      `cannot bind token for serviceaccount "${account}" to pod running with different serviceaccount name.`,
    );
  }
  const { uid } = object.metadata;
  if (expected !== '' && expected !== uid) {
    const why = `the UID in the bound object reference (${expected}) does not match the UID in record. The object might have been deleted and then recreated`;
    throw errors.conflict({ group, resource: kind }, name, why);
  }
  const bound = { kind, name, uid };
  return pod?.spec.nodeName ? { bound, node: nodeOf(pod.spec.nodeName, context) } : { bound };
}

function isBindable(kind: string): kind is BoundObject['kind'] {
  return Object.hasOwn(RESOURCES, kind);
}

interface RunningPod {
  readonly spec: { readonly serviceAccountName?: string; readonly nodeName?: string };
}

function objectAt(resource: string, name: string, { objects, namespace }: StrategyContext): ApiObject {
  if (name === '') throw errors.badRequest('Name parameter required.');
  const problems = pathSegmentProblems(name);
  if (problems.length > 0) throw errors.badRequest(`Name parameter invalid: "${name}": ${problems.join(';')}`);
  const object = objects.get({ group: '', resource, namespace: resource === 'nodes' ? '' : namespace, name });
  if (object === undefined) throw errors.notFound({ group: '', resource }, name);
  return object;
}

/** The node's name, and its uid if the node exists. */
function nodeOf(name: string, { objects }: StrategyContext): NonNullable<Binding['node']> {
  const node = objects.get({ group: '', resource: 'nodes', namespace: '', name });
  return node === undefined ? { name } : { name, uid: node.metadata.uid };
}
