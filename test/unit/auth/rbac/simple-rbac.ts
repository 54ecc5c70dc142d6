/**
 * A simple RBAC evaluation: visits every binding, subject and rule.
 */
import type { AccessAttributes, AccessDecision, AccessRule } from '../../../../src/protocol/access.js';
import type { BindingObject, RoleObject, Subject } from './random-policies.js';

export interface Policy {
  readonly group: string;
  readonly clusterRoles: readonly RoleObject[];
  readonly roles: readonly RoleObject[];
  readonly clusterRoleBindings: readonly BindingObject[];
  readonly roleBindings: readonly BindingObject[];
}

interface User {
  readonly user: string;
  readonly groups: readonly string[];
}

/** Undefined means no opinion. */
export function naiveDecision(
  policy: Policy,
  requester: User,
  attributes: AccessAttributes,
): AccessDecision | undefined {
  const namespace = attributes.type === 'resource' ? attributes.namespace : '';
  const errors: string[] = [];
  for (const { binding, role, subject } of grants(policy, requester, namespace)) {
    const { kind, name } = binding.roleRef;
    if (role === undefined) errors.push(`${kind.toLowerCase()}.${policy.group} ${JSON.stringify(name)} not found`);
    else if ((role.rules ?? []).some((rule) => allows(rule, attributes))) {
      return { allowed: true, reason: `RBAC: allowed by ${source(binding, subject)}` };
    }
  }
  const distinct = [...new Set(errors)];
  if (distinct.length === 0) return undefined;
  return { allowed: false, reason: `RBAC: ${distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`}` };
}

function* grants(policy: Policy, requester: User, namespace: string) {
  const inOrder = (bindings: readonly BindingObject[]) =>
    [...bindings].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  const namespaceBindings = policy.roleBindings.filter(
    ({ metadata }) => namespace !== '' && metadata.namespace === namespace,
  );
  for (const binding of [...inOrder(policy.clusterRoleBindings), ...inOrder(namespaceBindings)]) {
    const bindingNamespace = binding.metadata.namespace ?? '';
    const subject = binding.subjects?.find((one) => isSubject(one, requester, bindingNamespace));
    if (subject === undefined) continue;
    const { kind, name } = binding.roleRef;
    const roles =
      kind === 'Role'
        ? policy.roles.filter(({ metadata }) => metadata.namespace === bindingNamespace)
        : policy.clusterRoles;
    yield { binding, subject, role: roles.find(({ metadata }) => metadata.name === name) };
  }
}

function isSubject(subject: Subject, { user, groups }: User, bindingNamespace: string): boolean {
  if (subject.kind === 'User') return subject.name === user;
  if (subject.kind === 'Group') return groups.includes(subject.name);
  const namespace = subject.namespace || bindingNamespace;
  return namespace !== '' && user === `system:serviceaccount:${namespace}:${subject.name}`;
}

function source({ metadata, roleRef }: BindingObject, subject: Subject): string {
  const { name, namespace } = metadata;
  const binding = namespace === undefined ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  const subjectName =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? namespace}` : subject.name;
  return `${binding} of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${subjectName}"`;
}

export function allows(rule: AccessRule, attributes: AccessAttributes): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const isVerb = verbs.some((verb) => verb === '*' || verb === attributes.verb);
  if (attributes.type === 'path') return isVerb && nonResourceURLs.some((url) => matchesPath(url, attributes.path));
  const { group, resource, subresource, name } = attributes;
  const combined = subresource === '' ? resource : `${resource}/${subresource}`;
  const isGroup = apiGroups.some((one) => one === '*' || one === group);
  const isResource = resources.some(
    (one) => one === '*' || one === combined || (subresource !== '' && one === `*/${subresource}`),
  );
  const isName = resourceNames.length === 0 || resourceNames.includes(name);
  return isVerb && isGroup && isResource && isName;
}

function matchesPath(url: string, path: string): boolean {
  if (url === '*' || url === path) return true;
  return url.endsWith('*') && path.startsWith(url.replace(/\*+$/, ''));
}
