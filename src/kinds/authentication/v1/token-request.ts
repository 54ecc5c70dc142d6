/**
 * TokenRequest: a token for a service account, asked for at its `token` address. spec: TokenRequest
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import { type FieldError, invalid } from '../../../meta/field-error.js';
import type { DraftObject } from '../../../meta/object.js';
import { always, defaultedPointer, int64, optional, pointer, time } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { Kind, PowerContext, SubresourceAction } from '../../kind.js';
import type { ReviewBase, ReviewInputBase } from '../../shared/review.js';

const boundObjectReferenceShape = () => ({
  kind: optional(z.string()),
  apiVersion: optional(z.string()),
  name: optional(z.string()),
  uid: optional(z.string()),
});
export interface BoundObjectReference extends Output<typeof boundObjectReferenceShape> {}
export interface BoundObjectReferenceInput extends Input<typeof boundObjectReferenceShape> {}
const boundObjectReference: Type<BoundObjectReference, BoundObjectReferenceInput> = type(
  'BoundObjectReference',
  boundObjectReferenceShape,
);

const tokenRequestSpecShape = () => ({
  audiences: z.array(z.string()),
  expirationSeconds: defaultedPointer(int64(), 3600),
  boundObjectRef: pointer(boundObjectReference()),
});
export interface TokenRequestSpec extends Output<typeof tokenRequestSpecShape> {}
export interface TokenRequestSpecInput extends Input<typeof tokenRequestSpecShape> {}
const tokenRequestSpec: Type<TokenRequestSpec, TokenRequestSpecInput> = type('TokenRequestSpec', tokenRequestSpecShape);

const tokenRequestStatusShape = () => ({
  token: z.string(),
  expirationTimestamp: time(),
});
export interface TokenRequestStatus extends Output<typeof tokenRequestStatusShape> {}
export interface TokenRequestStatusInput extends Input<typeof tokenRequestStatusShape> {}
const tokenRequestStatus: Type<TokenRequestStatus, TokenRequestStatusInput> = type(
  'TokenRequestStatus',
  tokenRequestStatusShape,
);

const shape = () => ({ spec: tokenRequestSpec(), status: always(tokenRequestStatus()) });
export interface TokenRequest extends ReviewBase, Output<typeof shape> {}
export interface TokenRequestInput extends ReviewInputBase, Input<typeof shape> {}

export const TokenRequest: Kind<TokenRequest, TokenRequestInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('authentication')}/v1`,
  kind: 'TokenRequest',
  scope: 'Namespaced',
  verbs: ['create'],
  body: shape,
});

const MIN_SECONDS = 600;
const MAX_SECONDS = 2 ** 32;

/** The `token` address of a service account. */
export const tokenSubresource: SubresourceAction = {
  type: 'action',
  verbs: ['create'],
  kind: TokenRequest as unknown as Kind,
  run(body, context) {
    const { request, namespace, objects } = context;
    const name = request.name ?? '';
    const account = objects.get({ group: '', resource: 'serviceaccounts', namespace, name });
    if (account === undefined) throw errors.notFound({ group: '', resource: 'serviceaccounts' }, name);
    refuse(body, requestProblems(body, name, context), context);
    throw errors.internal('orchplane does not sign tokens yet; see docs/fidelity.md');
  },
};

function refuse(body: DraftObject, problems: readonly FieldError[], { dialect }: PowerContext): void {
  if (problems.length === 0) return;
  const group = dialect.group(serviceGroup('authentication'));
  throw errors.invalid({ group, kind: 'TokenRequest' }, body.metadata.name ?? '', problems);
}

function requestProblems(body: DraftObject, account: string, { namespace }: PowerContext): FieldError[] {
  const { metadata } = body;
  const { expirationSeconds = 3600 } = (body as unknown as TokenRequest).spec;
  const problems: FieldError[] = [];
  if (metadata.name && metadata.name !== account) {
    problems.push(invalid('metadata.name', metadata.name, 'must match the service account name if specified'));
  }
  if (metadata.namespace && metadata.namespace !== namespace) {
    const detail = 'must match the service account namespace if specified';
    problems.push(invalid('metadata.namespace', metadata.namespace, detail));
  }
  if (expirationSeconds < MIN_SECONDS) {
    const detail = 'may not specify a duration less than 10 minutes';
    problems.push(invalid('spec.expirationSeconds', expirationSeconds, detail));
  }
  if (expirationSeconds > MAX_SECONDS) {
    const detail = 'may not specify a duration larger than 2^32 seconds';
    problems.push(invalid('spec.expirationSeconds', expirationSeconds, detail));
  }
  return problems;
}
