/**
 * TokenRequest: a token for a service account, asked for at its `token` address. spec: TokenRequest
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
import type { SubresourceAction } from '../../subresource.js';
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

/** What pods ask for by themselves: an odd number, by which such a request is told from any other. */
const POD_TOKEN_SECONDS = 3607;
const YEAR_SECONDS = 365 * 24 * 3600;

/** The `token` address of a service account. A dry run signs a token as well: nothing is stored in any case. */
export const tokenSubresource: SubresourceAction = {
  type: 'action',
  verbs: ['create'],
  kind: TokenRequest as unknown as Kind,
  async run(body, context) {
    const { namespace, objects, tokens, dialect } = context;
    const name = context.request.name ?? '';
    // 1. Whose token.
    refuse(context, name, addressProblems(body, name, namespace));
    const account = objects.get({ group: '', resource: 'serviceaccounts', namespace, name });
    if (account === undefined) throw errors.notFound({ group: '', resource: 'serviceaccounts' }, name);
    const { spec } = body as unknown as TokenRequest;
    refuse(context, '', durationProblems(spec.expirationSeconds));

    // 2. What it ends with, and when.
    const ref = spec.boundObjectRef ?? undefined;
    const binding = ref === undefined ? {} : readBinding(ref, name, context);
    const audiences = spec.audiences?.length > 0 ? spec.audiences : tokens.apiAudiences;
    const expirationSeconds = shortened(spec.expirationSeconds, context);
    const isExtended =
      tokens.extendsExpiration &&
      binding.bound?.kind === 'Pod' &&
      expirationSeconds === POD_TOKEN_SECONDS &&
      audiences.every((audience) => tokens.apiAudiences.includes(audience));

    // 3. The token.
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
};

function refuse({ dialect }: StrategyContext, name: string, problems: readonly FieldError[]): void {
  if (problems.length === 0) return;
  const group = dialect.group(serviceGroup('authentication'));
  throw errors.invalid({ group, kind: 'TokenRequest' }, name, problems);
}

/** Only the first that is wrong is told. */
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
