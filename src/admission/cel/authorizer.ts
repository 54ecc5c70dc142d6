/**
 * `authorizer` in expressions: questions about who may do what, answered by the cluster's own authorization.
 */
import type { AuthorizationQuestion, CelAuthorizer } from '../../cel/library/authorizer.js';
import type { AccessAttributes, AccessReader, SelectorRequirement } from '../../kinds/access.js';
import { parseFieldSelector } from '../../meta/fields.js';
import { parseLabelSelector, SelectorError } from '../../meta/labels.js';
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
    ...(fieldSelector === '' ? {} : read('fieldSelector', () => fieldRequirements(fieldSelector))),
    ...(labelSelector === '' ? {} : read('labelSelector', () => labelRequirements(labelSelector))),
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

function fieldRequirements(text: string): readonly SelectorRequirement[] {
  return parseFieldSelector(text).terms.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
}

const LABEL_OPERATORS: Readonly<Record<string, string>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
  gt: 'Gt',
  lt: 'Lt',
};

function labelRequirements(text: string): readonly SelectorRequirement[] {
  return parseLabelSelector(text).requirements.map(({ key, operator, values }) => ({
    key,
    operator: LABEL_OPERATORS[operator] ?? operator,
    values,
  }));
}
