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

interface Asker {
  readonly user: string;
  readonly groups: readonly string[];
}

/** Undefined means no opinion. */
export function naiveDecision(policy: Policy, asker: Asker, about: AccessAttributes): AccessDecision | undefined {
  const namespace = about.type === 'resource' ? about.namespace : '';
  const errors: string[] = [];
  for (const { binding, role, subject } of grants(policy, asker, namespace)) {
    const { kind, name } = binding.roleRef;
    if (role === undefined) errors.push(`${kind.toLowerCase()}.${policy.group} ${JSON.stringify(name)} not found`);
    else if ((role.rules ?? []).some((rule) => allows(rule, about))) {
      return { allowed: true, reason: `RBAC: allowed by ${source(binding, subject)}` };
    }
  }
  const told = [...new Set(errors)];
  if (told.length === 0) return undefined;
  return { allowed: false, reason: `RBAC: ${told.length === 1 ? told[0] : `[${told.join(', ')}]`}` };
}

function* grants(policy: Policy, asker: Asker, namespace: string) {
  const inOrder = (bindings: readonly BindingObject[]) =>
    [...bindings].sort((left, right) => (left.metadata.name < right.metadata.name ? -1 : 1));
  const here = policy.roleBindings.filter(({ metadata }) => namespace !== '' && metadata.namespace === namespace);
  for (const binding of [...inOrder(policy.clusterRoleBindings), ...inOrder(here)]) {
    const home = binding.metadata.namespace ?? '';
    const subject = binding.subjects?.find((one) => isMeant(one, asker, home));
    if (subject === undefined) continue;
    const { kind, name } = binding.roleRef;
    const roles =
      kind === 'Role' ? policy.roles.filter(({ metadata }) => metadata.namespace === home) : policy.clusterRoles;
    yield { binding, subject, role: roles.find(({ metadata }) => metadata.name === name) };
  }
}

function isMeant(subject: Subject, { user, groups }: Asker, home: string): boolean {
  if (subject.kind === 'User') return subject.name === user;
  if (subject.kind === 'Group') return groups.includes(subject.name);
  const namespace = subject.namespace || home;
  return namespace !== '' && user === `system:serviceaccount:${namespace}:${subject.name}`;
}

function source({ metadata, roleRef }: BindingObject, subject: Subject): string {
  const { name, namespace } = metadata;
  const binding = namespace === undefined ? `ClusterRoleBinding "${name}"` : `RoleBinding "${name}/${namespace}"`;
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace ?? namespace}` : subject.name;
  return `${binding} of ${roleRef.kind} "${roleRef.name}" to ${subject.kind} "${who}"`;
}

export function allows(rule: AccessRule, about: AccessAttributes): boolean {
  const { verbs, apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [] } = rule;
  const isVerb = verbs.some((verb) => verb === '*' || verb === about.verb);
  if (about.type === 'path') return isVerb && nonResourceURLs.some((url) => matchesPath(url, about.path));
  const { group, resource, subresource, name } = about;
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
