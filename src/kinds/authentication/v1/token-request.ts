/**
 * The TokenRequest kind and the `token` subresource of service accounts. spec: TokenRequest
 */
import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import { type FieldError, invalid } from '../../../meta/field-error.js';
import type { DraftObject } from '../../../meta/object.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type TokenRequestBody,
  type TokenRequestBodyInput,
  tokenRequestBody,
} from '../../generated/authentication-v1.js';
import type { Kind, StrategyContext } from '../../kind.js';
import type { ReviewBase, ReviewInputBase } from '../../shared/review.js';
import { defineAction, type SubresourceAction } from '../../subresource.js';
import { readBinding } from './token-binding.js';

export interface TokenRequest extends ReviewBase, TokenRequestBody {}
export interface TokenRequestInput extends ReviewInputBase, TokenRequestBodyInput {}

export const TokenRequest: Kind<TokenRequest, TokenRequestInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('authentication')}/v1`,
  kind: 'TokenRequest',
  scope: 'Namespaced',
  verbs: ['create'],
  body: tokenRequestBody,
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
