/**
 * Random roles, bindings and access checks from a seed; `reference-results.json` contains the recorded results of the reference
 * implementation.
 */
import type { AccessAttributes, AccessRule } from '../../../../src/protocol/access.js';

export interface Subject {
  kind: string;
  name: string;
  namespace?: string;
  apiGroup?: string;
}

export interface RoleObject {
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  rules: AccessRule[] | null;
  aggregationRule?: { clusterRoleSelectors: { matchLabels: Record<string, string> }[] };
}

export interface BindingObject {
  metadata: { name: string; namespace?: string };
  subjects?: Subject[];
  roleRef: { apiGroup: string; kind: string; name: string };
}

export interface PolicySet {
  clusterRoles: RoleObject[];
  roles: RoleObject[];
  clusterRoleBindings: BindingObject[];
  roleBindings: BindingObject[];
  checks: AccessCheck[];
  escalations: Escalation[];
}

export interface AccessCheck {
  user: string;
  groups: string[];
  attributes: AccessAttributes;
}

export interface Escalation {
  user: string;
  groups: string[];
  namespace: string;
  rules: AccessRule[];
}

export const GROUP = 'rbac.authorization.k8s.io';
export const NAMESPACES = ['a', 'b', 'kube-system'];
const USERS = ['alice', 'bob', 'system:serviceaccount:a:robot', 'system:serviceaccount:b:robot', ''];
const GROUPS = ['dev', 'ops', 'system:authenticated', 'system:serviceaccounts:a'];
const API_GROUPS = ['', 'apps', 'batch', '*', 'example.com'];
const RESOURCES = ['pods', 'pods/log', 'deployments', 'deployments/scale', '*/scale', '*', 'pods/', '*/', 'a/b/c'];
const VERBS = ['get', 'list', 'create', 'delete', '*', 'escalate'];
const NAMES = ['web', 'db', ''];
const PATHS = ['/api', '/api/*', '/apis*', '*', '/healthz', '/x**', '/'];
const CHECKED_PATHS = ['/api', '/api/', '/api/v1', '/apis', '/apisx', '/healthz', '/x*', '/', ''];
const CHECKED_RESOURCES = [
  ['pods', ''],
  ['pods', 'log'],
  ['deployments', ''],
  ['deployments', 'scale'],
  ['jobs', 'scale'],
  ['*', ''],
  ['*', 'scale'],
  ['pods/log', ''],
  ['pods/', ''],
  ['a', 'b/c'],
  ['a/b', 'c'],
  ['', ''],
] as const;

/** Integers from 0 up to, but not including, a limit. */
export type Random = (limit: number) => number;

/** Mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

export function makePolicySet(seed: number): PolicySet {
  const random = randomFrom(seed);
  const names = ['r0', 'r1', 'r2', 'r3', 'Ünïcode', 'sys:tem'];
  const roleNames = (): string[] => names.filter(() => random(3) > 0);
  const clusterRoles = roleNames().map((name) => ({ metadata: { name }, rules: rules(random, true) }));
  const roles = NAMESPACES.flatMap((namespace) =>
    roleNames().map((name) => ({ metadata: { name, namespace }, rules: rules(random, false) })),
  );
  const bindings = (count: number, kinds: string[], namespace?: string): BindingObject[] =>
    Array.from({ length: count }, (_, index) => ({
      metadata: { name: `b${String(index).padStart(2, '0')}`, ...(namespace === undefined ? {} : { namespace }) },
      subjects: some(random, 4).map(() => subject(random, namespace !== undefined)),
      roleRef: { apiGroup: GROUP, kind: pick(random, kinds), name: pick(random, names) },
    }));
  return {
    clusterRoles,
    roles,
    clusterRoleBindings: bindings(random(9), ['ClusterRole']),
    roleBindings: NAMESPACES.flatMap((namespace) => bindings(random(9), ['Role', 'ClusterRole'], namespace)),
    checks: Array.from({ length: 60 }, () => accessCheck(random)),
    escalations: Array.from({ length: 10 }, () => ({
      ...randomUser(random),
      ...randomNamespace(random),
      rules: rules(random, true),
    })),
  };
}

export function rules(random: Random, withPaths: boolean): AccessRule[] {
  return some(random, 4).map(() => {
    const verbs = list(random, VERBS);
    if (withPaths && random(4) === 0) return { verbs, nonResourceURLs: list(random, PATHS) };
    const rule = { verbs, apiGroups: list(random, API_GROUPS), resources: list(random, RESOURCES) };
    return random(4) === 0 ? { ...rule, resourceNames: list(random, NAMES) } : rule;
  });
}

export function accessCheck(random: Random): AccessCheck {
  const requester = randomUser(random);
  const verb = pick(random, [...VERBS, 'watch']);
  if (random(5) === 0) return { ...requester, attributes: { type: 'path', verb, path: pick(random, CHECKED_PATHS) } };
  const [resource, subresource] = pick(random, CHECKED_RESOURCES);
  const group = pick(random, API_GROUPS);
  const name = pick(random, ['', 'web', 'other']);
  return {
    ...requester,
    attributes: {
      type: 'resource',
      verb,
      group,
      version: '*',
      resource,
      subresource,
      name,
      ...randomNamespace(random),
    },
  };
}

export function subject(random: Random, isNamespaced: boolean): Subject {
  const kind = pick(random, ['User', 'Group', 'ServiceAccount']);
  if (kind === 'User') return { kind, apiGroup: GROUP, name: pick(random, USERS) };
  if (kind === 'Group') return { kind, apiGroup: GROUP, name: pick(random, GROUPS) };
  const namespace = pick(random, NAMESPACES);
  return { kind, name: 'robot', ...(isNamespaced && random(2) === 0 ? {} : { namespace }) };
}

function randomUser(random: Random): { user: string; groups: string[] } {
  return { user: pick(random, USERS), groups: GROUPS.filter(() => random(3) === 0) };
}

function randomNamespace(random: Random): { namespace: string } {
  return { namespace: pick(random, ['', ...NAMESPACES, 'nowhere']) };
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[random(items.length)] as Item;
}

function list(random: Random, values: readonly string[]): string[] {
  return Array.from({ length: 1 + random(3) }, () => pick(random, values));
}

/** A list of 0 to `most` elements. */
function some(random: Random, most: number): undefined[] {
  return Array.from({ length: random(most + 1) });
}
