/**
 * `authorizer` in expressions: questions about who may do what, answered by the cluster's own authorization.
 */
import type { AuthorizationQuestion, CelAuthorizer } from '../../cel/library/authorizer.js';
import type { AccessAttributes, AccessReader, SelectorRequirement } from '../../protocol/access.js';
import { readFieldRequirements, readLabelRequirements } from '../../kinds/selector-requirements.js';
import { SelectorError } from '../../meta/label-selector-text.js';
import type { User } from '../../protocol/request.js';

/** Answers for whoever sent a request, and for service accounts that an expression names. */
export function authorizerFor(user: User, access: AccessReader): CelAuthorizer {
  return {
    authorize(question) {
      const { serviceAccount } = question;
      const who = serviceAccount === undefined ? user : serviceAccountUser(serviceAccount);
      const { allowed, reason, error } = access.decide(who, attributesOf(question));
      return { allowed, reason, ...(error === undefined ? {} : { error }) };
    },
  };
}

function serviceAccountUser({ namespace, name }: { readonly namespace: string; readonly name: string }): User {
  return {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
}

function attributesOf(question: AuthorizationQuestion): AccessAttributes {
  const { verb } = question;
  if (question.type === 'path') return { type: 'path', verb, path: question.path };
  const { group, resource, subresource, namespace, name, fieldSelector, labelSelector } = question;
  return {
    type: 'resource',
    verb,
    group,
    version: '*',
    resource,
    subresource,
    namespace,
    name,
    ...(fieldSelector === '' ? {} : read('fieldSelector', () => readFieldRequirements(fieldSelector))),
    ...(labelSelector === '' ? {} : read('labelSelector', () => readLabelRequirements(labelSelector))),
  };
}

/** What cannot be read narrows nothing: whoever asks must be allowed without it. */
function read<Name extends string>(
  name: Name,
  requirements: () => readonly SelectorRequirement[],
): { readonly [Key in Name]?: readonly SelectorRequirement[] } {
  try {
    return { [name]: requirements() } as { readonly [Key in Name]: readonly SelectorRequirement[] };
  } catch (error) {
    if (error instanceof SelectorError) return {};
    throw error;
  }
}
