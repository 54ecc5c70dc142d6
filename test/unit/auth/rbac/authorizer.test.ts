/** Caching of the RBAC authorizer, and aggregated roles. */
import { describe, expect, test } from 'vitest';
import { createClusterAuthorizer, MASTERS } from '../../../../src/auth/authorizer.js';
import { rbac } from '../../../../src/auth/rbac/authorizer.js';
import { initialClusterRoleBindings, initialClusterRoles } from '../../../../src/kinds/rbac/bootstrap/objects.js';
import {
  CLUSTER_ROLE_BINDINGS,
  CLUSTER_ROLES,
  ROLE_BINDINGS,
  ROLES,
  rulesOf,
} from '../../../../src/kinds/rbac/role-rules.js';
import { kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';
import type { ResourceAttributes } from '../../../../src/protocol/access.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { liveHeap } from '../../../fixtures/live-heap.js';
import { fakeCluster } from './fake-cluster.js';
import { type BindingObject, GROUP, type RoleObject } from './random-policies.js';

const attributesOf = (verb: string, resource: string, more: Partial<ResourceAttributes> = {}): ResourceAttributes => ({
  type: 'resource',
  verb,
  group: '',
  version: 'v1',
  resource,
  subresource: '',
  namespace: '',
  name: '',
  ...more,
});
const read = (...resources: string[]) => [{ verbs: ['get'], apiGroups: [''], resources }];
const role = (name: string, rules: RoleObject['rules'], namespace?: string): RoleObject => ({
  metadata: namespace === undefined ? { name } : { name, namespace },
  rules,
});
const bind = (
  name: string,
  to: string,
  attributesOf: { user: string; kind?: string; namespace?: string },
): BindingObject => ({
  metadata: attributesOf.namespace === undefined ? { name } : { name, namespace: attributesOf.namespace },
  subjects: [{ kind: 'User', apiGroup: GROUP, name: attributesOf.user }],
  roleRef: { apiGroup: GROUP, kind: attributesOf.kind ?? 'ClusterRole', name: to },
});

describe('the cache of the authorizer', () => {
  test('refreshes the authorizer cache only after writes', () => {
    const cluster = fakeCluster();
    cluster.put(CLUSTER_ROLES, role('r', read('pods')));
    for (const namespace of ['a', 'b', 'c']) {
      cluster.put(ROLE_BINDINGS, bind('x', 'r', { user: namespace, namespace }));
    }
    const access = createClusterAuthorizer(rbac(), cluster);
    const asks = (namespace: string) =>
      access.decide({ user: namespace }, attributesOf('get', 'pods', { namespace })).allowed;
    expect([asks('a'), asks('b'), asks('c')]).toEqual([true, true, true]);
    const before = new Map(cluster.lists);
    for (let count = 0; count < 10; count++) asks('a');
    expect(cluster.lists).toEqual(before);
    cluster.put(ROLE_BINDINGS, bind('x', 'gone', { user: 'b', namespace: 'b' }));
    expect([asks('a'), asks('b')]).toEqual([true, false]);
    // Two namespaces, and no cluster-wide reads.
    expect(cluster.lists.get('rolebindings')).toBe((before.get('rolebindings') ?? 0) + 2);
    expect(cluster.lists.get('clusterrolebindings')).toBe(before.get('clusterrolebindings'));
  });

  test('updates the authorizer cache when roles are created, changed and deleted', () => {
    const cluster = fakeCluster();
    const access = createClusterAuthorizer(rbac(), cluster);
    const asks = (resource: string) => access.decide({ user: 'u' }, attributesOf('get', resource, { namespace: 'a' }));
    cluster.put(ROLE_BINDINGS, bind('x', 'r', { user: 'u', kind: 'Role', namespace: 'a' }));
    const notFound = { allowed: false, reason: `RBAC: role.${GROUP} "r" not found` };
    expect(asks('pods')).toEqual(notFound);
    cluster.put(ROLES, role('r', read('pods'), 'a'));
    expect(asks('pods')).toEqual({
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "x/a" of Role "r" to User "u"',
    });
    cluster.put(ROLES, role('r', read('secrets'), 'a'));
    expect([asks('pods').allowed, asks('secrets').allowed]).toEqual([false, true]);
    cluster.remove(ROLES, 'r', 'a');
    expect(asks('secrets')).toEqual(notFound);
  });

  test('decides for users with many bindings', () => {
    const cluster = fakeCluster();
    const access = createClusterAuthorizer(rbac(), cluster);
    const names = Array.from({ length: 40 }, (_, index) => `r${String(index).padStart(2, '0')}`);
    for (const [index, name] of names.entries()) {
      cluster.put(CLUSTER_ROLES, role(name, [{ verbs: ['get'], apiGroups: [`g${index}`], resources: ['pods', name] }]));
      cluster.put(CLUSTER_ROLE_BINDINGS, bind(name, name, { user: 'u' }));
    }
    const asks = (group: string, resource: string) =>
      access.decide({ user: 'u' }, attributesOf('get', resource, { group }));
    expect(asks('g7', 'pods').reason).toBe(
      'RBAC: allowed by ClusterRoleBinding "r07" of ClusterRole "r07" to User "u"',
    );
    cluster.put(CLUSTER_ROLES, role('r03', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]));
    expect(asks('g7', 'pods').reason).toContain('ClusterRoleBinding "r03"');
    expect(asks('g1', 'pods').reason).toContain('ClusterRoleBinding "r01"');
    cluster.remove(CLUSTER_ROLE_BINDINGS, 'r03');
    cluster.remove(CLUSTER_ROLES, 'r09');
    expect(asks('g7', 'pods').reason).toContain('ClusterRoleBinding "r07"');
    expect(asks('none', 'pods')).toEqual({ allowed: false, reason: `RBAC: clusterrole.${GROUP} "r09" not found` });
  });

  test.each([
    ['one role', 1, 20_000, 300],
    ['different roles', 20, 6_000, 20],
    ['roles small enough for one table, but too many for it', 400, 300, 400],
  ])('does not index large roles again when a binding of the user is written: %s', (_, roles, rules, bindings) => {
    const cluster = fakeCluster();
    for (let at = 0; at < roles; at++) {
      const ofRole = Array.from({ length: rules }, (_unused, index) => read(`x${at}-${index}`, 'pods')).flat();
      cluster.put(CLUSTER_ROLES, role(`r${at}`, ofRole));
    }
    const nameOf = (at: number) => `b${String(at).padStart(3, '0')}`;
    for (let at = 0; at < bindings; at++) {
      cluster.put(CLUSTER_ROLE_BINDINGS, bind(nameOf(at), `r${at % roles}`, { user: 'u' }));
    }
    const access = createClusterAuthorizer(rbac(), cluster);
    const asks = (resource: string) => access.decide({ user: 'u' }, attributesOf('get', resource));
    const allowedBy = (at: number) =>
      `RBAC: allowed by ClusterRoleBinding "${nameOf(at)}" of ClusterRole "r${at % roles}" to User "u"`;
    expect(asks('pods').reason).toBe(allowedBy(0));
    cluster.put(CLUSTER_ROLES, role('small', read('secrets')));
    const spentMs = cpuTimer();
    for (let time = 0; time < 10; time++) {
      cluster.put(CLUSTER_ROLE_BINDINGS, bind(`a${time}`, 'small', { user: 'u' }));
      expect(asks('pods').reason).toBe(allowedBy(0));
      expect(asks(`x${roles - 1}-7`).reason).toBe(allowedBy(roles - 1));
      expect(asks('secrets').reason).toContain('"a0" of ClusterRole "small"');
      expect(asks('other').allowed).toBe(false);
    }
    expect(spentMs()).toBeLessThan(1_500);
  });

  test('names the first binding that allows an access, whether its role is large or small', () => {
    const cluster = fakeCluster();
    const many = Array.from({ length: 2_000 }, (_, at) => `x${at}`);
    cluster.put(CLUSTER_ROLES, role('large', read('pods', ...many)));
    cluster.put(CLUSTER_ROLES, role('small', read('pods')));
    const access = createClusterAuthorizer(rbac(), cluster);
    const names = ['b8', 'b7', 'b6', 'b5', 'b4', 'b3', 'b2', 'b1'];
    for (const [at, name] of names.entries()) {
      cluster.put(CLUSTER_ROLE_BINDINGS, bind(name, at % 3 === 1 ? 'small' : 'large', { user: 'u' }));
      expect(access.decide({ user: 'u' }, attributesOf('get', 'pods')).reason).toContain(`"${name}" of`);
    }
    expect(access.decide({ user: 'u' }, attributesOf('get', 'x1')).reason).toContain('"b2" of ClusterRole "large"');
  });
});

describe('an aggregated role', () => {
  const aggregatedRole = (name: string, label: string, labels: Record<string, string> = {}): RoleObject => ({
    metadata: { name, labels },
    rules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { [label]: 'true' } }] },
  });
  const labelledRole = (name: string, label: string, rules: RoleObject['rules']): RoleObject => ({
    metadata: { name, labels: { [label]: 'true' } },
    rules,
  });

  test('uses the current rules of the sources of an aggregated role instead of its own', () => {
    const cluster = fakeCluster();
    cluster.put(CLUSTER_ROLES, aggregatedRole('all', 'a'));
    cluster.put(CLUSTER_ROLE_BINDINGS, bind('b', 'all', { user: 'u' }));
    const access = createClusterAuthorizer(rbac(), cluster);
    const asks = (resource: string) => access.decide({ user: 'u' }, attributesOf('get', resource)).allowed;
    expect(asks('pods')).toBe(false);
    cluster.put(CLUSTER_ROLES, labelledRole('one', 'a', read('pods')));
    expect([asks('pods'), asks('secrets')]).toEqual([true, false]);
    cluster.put(CLUSTER_ROLES, labelledRole('two', 'a', read('secrets', 'pods')));
    expect([asks('pods'), asks('secrets')]).toEqual([true, true]);
    cluster.put(CLUSTER_ROLES, labelledRole('two', 'other', read('secrets')));
    expect([asks('pods'), asks('secrets')]).toEqual([true, false]);
    cluster.remove(CLUSTER_ROLES, 'one');
    expect(asks('pods')).toBe(false);
  });

  test('supports aggregated roles that aggregate each other', () => {
    const cluster = fakeCluster();
    cluster.put(CLUSTER_ROLES, aggregatedRole('outer', 'a', { b: 'true' }));
    cluster.put(CLUSTER_ROLES, aggregatedRole('inner', 'b', { a: 'true' }));
    cluster.put(CLUSTER_ROLES, labelledRole('leaf', 'b', read('pods')));
    cluster.put(CLUSTER_ROLES, labelledRole('same', 'a', read('pods')));
    cluster.put(CLUSTER_ROLES, labelledRole('more', 'a', read('secrets')));
    const outer = cluster.objects.get({ ...CLUSTER_ROLES, namespace: '', name: 'outer' });
    expect(outer && rulesOf(outer, () => cluster.objects.list(CLUSTER_ROLES))).toEqual([
      ...read('pods'),
      ...read('secrets'),
    ]);
  });

  test.each([
    ['view', ['get pods', 'list deployments.apps'], ['create pods', 'get secrets', 'get roles']],
    ['edit', ['get pods', 'create pods', 'get secrets', 'update deployments.apps'], ['get roles', 'update nodes']],
    ['admin', ['get pods', 'create pods', 'get secrets', 'create roles'], ['update resourcequotas', 'get nodes']],
  ])('aggregates the rules of the role %s in both dialects', (name, may, mayNot) => {
    for (const dialect of [kubernetesDialect, orchDialect]) {
      const cluster = fakeCluster({}, dialect);
      for (const object of initialClusterRoles(dialect)) cluster.put(CLUSTER_ROLES, object as unknown as RoleObject);
      cluster.put(ROLE_BINDINGS, bind('b', name, { user: 'u', namespace: 'a' }));
      const access = createClusterAuthorizer(rbac(), cluster);
      const asks = (text: string) => {
        const [verb = '', what = ''] = text.split(' ');
        const [resource = '', group = what === 'roles' ? dialect.group('rbac.authorization.orch.io') : ''] =
          what.split('.');
        return access.decide({ user: 'u' }, attributesOf(verb, resource, { group, namespace: 'a' })).allowed;
      };
      expect(may.filter((one) => !asks(one))).toEqual([]);
      expect(mayNot.filter(asks)).toEqual([]);
    }
  });
});

test('allows administrators every request, and lists their granted rules', () => {
  const cluster = fakeCluster();
  for (const object of initialClusterRoles(kubernetesDialect)) {
    cluster.put(CLUSTER_ROLES, object as unknown as RoleObject);
  }
  for (const object of initialClusterRoleBindings(kubernetesDialect)) {
    cluster.put(CLUSTER_ROLE_BINDINGS, object as unknown as BindingObject);
  }
  const access = createClusterAuthorizer(rbac(), cluster);
  const root = { user: 'root', groups: [MASTERS, 'system:authenticated'] };
  expect(access.decide(root, attributesOf('any', 'thing'))).toEqual({ allowed: true, reason: '' });
  const { resourceRules, nonResourceRules } = access.rules(root, 'a');
  expect(resourceRules[0]).toEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
  expect(resourceRules).toHaveLength(3);
  expect(nonResourceRules).toHaveLength(3);
  cluster.remove(CLUSTER_ROLE_BINDINGS, 'cluster-admin');
  expect(access.decide(root, attributesOf('any', 'thing')).allowed).toBe(true);
  expect(access.rules(root, 'a').resourceRules).toHaveLength(2);
});

test('lists the rules of a role for each binding to it, but not those of a large role', () => {
  const cluster = fakeCluster();
  const many = Array.from({ length: 20_000 }, (_, at) => `resource-${at}`);
  cluster.put(CLUSTER_ROLES, role('large', read(...many)));
  cluster.put(CLUSTER_ROLES, role('small', read('pods')));
  for (let at = 0; at < 3; at++) cluster.put(CLUSTER_ROLE_BINDINGS, bind(`a${at}`, 'small', { user: 'u' }));
  const access = createClusterAuthorizer(rbac(), cluster);
  expect(access.rules({ user: 'u' }, 'a').resourceRules).toEqual([...read('pods'), ...read('pods'), ...read('pods')]);
  for (let at = 0; at < 300; at++) cluster.put(CLUSTER_ROLE_BINDINGS, bind(`b${at}`, 'large', { user: 'u' }));
  const { resourceRules } = access.rules({ user: 'u' }, 'a');
  expect(resourceRules.filter(({ resources = [] }) => resources.length > 1).length).toBeLessThan(10);
  expect(resourceRules.at(-1)).toEqual(read(...many)[0]);
});

test('quotes names like the reference server', () => {
  const cluster = fakeCluster();
  cluster.put(CLUSTER_ROLE_BINDINGS, bind('b', 'no "such"', { user: 'u' }));
  expect(createClusterAuthorizer(rbac(), cluster).decide({ user: 'u' }, attributesOf('get', 'pods')).reason).toBe(
    `RBAC: clusterrole.${GROUP} "no \\"such\\"" not found`,
  );
});

test('reports a damaged role once, with its namespace, however often it is written', () => {
  const warnings: string[] = [];
  const cluster = fakeCluster({ roleBindings: [bind('b', 'a"', { user: 'u', kind: 'Role', namespace: 'n' })] });
  const access = createClusterAuthorizer(rbac(), { ...cluster, warn: (warning) => warnings.push(warning) });
  const metadata = { name: 'a"', namespace: 'n', uid: 'a' };
  for (let time = 0; time < 3; time++) {
    cluster.put(ROLES, { kind: 'Role', metadata, rules: 'x' } as unknown as RoleObject);
    expect(access.decide({ user: 'u' }, attributesOf('get', 'pods', { namespace: 'n' })).allowed).toBe(false);
  }
  expect(warnings).toEqual(['Role "n/a\\"" has rules that cannot be read; they are ignored']);
});

test('does not keep long names of namespaces, or the text that contains a short one', () => {
  const access = createClusterAuthorizer(rbac(), fakeCluster());
  const before = liveHeap();
  for (let at = 0; at < 20; at++) {
    const url = `a-namespace-that-does-not-exist-${at}?${'x'.repeat(1e6)}`;
    for (const namespace of [url, url.slice(0, url.indexOf('?'))]) {
      expect(access.decide({ user: 'u' }, attributesOf('get', 'pods', { namespace })).allowed).toBe(false);
    }
  }
  expect(liveHeap() - before).toBeLessThan(5e6);
});
