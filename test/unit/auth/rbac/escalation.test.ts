/** Escalation checks in a cluster, as in recordings of the reference server. */
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { compactRules, missingRules, printRule } from '../../../../src/kinds/rbac/coverage.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';

const GROUP = 'rbac.authorization.k8s.io';
const ALICE = { user: 'alice', groups: ['dev', 'system:authenticated'] };
const ALICE_TEXT = 'user "alice" (groups=["dev" "system:authenticated"])';
const NOT_HELD = `${ALICE_TEXT} is attempting to grant RBAC permissions not currently held:`;
const readPods = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
const READ_PODS = '{APIGroups:[""], Resources:["pods"], Verbs:["get"]}';
const ALL = '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}\n{NonResourceURLs:["*"], Verbs:["*"]}';
const writeRoles = {
  apiGroups: [GROUP],
  resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
  verbs: ['get', 'create', 'update', 'patch', 'delete'],
};
const subjects = [{ kind: 'User' as const, name: 'x' }];
const to = (kind: 'Role' | 'ClusterRole', name: string) => ({ apiGroup: GROUP, kind, name });

function start() {
  const cluster = testCluster({ dialect: 'kubernetes' });
  const asAlice = cluster.with({ as: ALICE });
  return {
    cluster,
    roles: cluster.api(Role),
    clusterRoles: cluster.api(ClusterRole),
    bindings: cluster.api(RoleBinding),
    asAlice: {
      roles: asAlice.api(Role),
      clusterRoles: asAlice.api(ClusterRole),
      bindings: asAlice.api(RoleBinding),
      clusterBindings: asAlice.api(ClusterRoleBinding),
    },
    /** Grants alice permissions in the whole cluster. */
    async allow(...rules: object[]) {
      await cluster.api(ClusterRole).apply({ metadata: { name: 'hers' }, rules } as never, { fieldManager: 'test' });
      await cluster.api(ClusterRoleBinding).apply(
        {
          metadata: { name: 'hers' },
          roleRef: to('ClusterRole', 'hers'),
          subjects: [{ kind: 'User', name: 'alice' }],
        },
        { fieldManager: 'test' },
      );
    },
  };
}

let context: ReturnType<typeof start>;
beforeEach(async () => {
  context = start();
  await context.allow(writeRoles);
});

describe('a role', () => {
  const role = { metadata: { name: 'r' }, rules: [readPods] };

  test('rejects a role that grants permissions its author lacks', async () => {
    const { roles, clusterRoles } = context.asAlice;
    await expect(roles.create(role)).rejects.toThrow(`roles.${GROUP} "r" is forbidden: ${NOT_HELD}\n${READ_PODS}`);
    await expect(clusterRoles.create(role)).rejects.toThrow(`clusterroles.${GROUP} "r" is forbidden: ${NOT_HELD}`);
    await context.allow(writeRoles, readPods);
    expect((await roles.create(role)).metadata.name).toBe('r');
    expect((await clusterRoles.create(role)).metadata.name).toBe('r');
  });

  test('rejects an update, patch or create-on-update that adds permissions the author lacks', async () => {
    const { roles } = context.asAlice;
    const made = await context.roles.create({ metadata: { name: 'r' }, rules: [] });
    await expect(roles.update({ ...made, rules: [readPods] })).rejects.toThrow(NOT_HELD);
    await expect(roles.patch('r', { type: 'merge', merge: { rules: [readPods] } })).rejects.toThrow(NOT_HELD);
    await expect(roles.apply({ ...role, metadata: { name: 'new' } }, { fieldManager: 'm' })).rejects.toThrow(NOT_HELD);
  });

  test('accepts an update that does not change the rules of a role', async () => {
    await context.roles.create(role);
    const { roles } = context.asAlice;
    const patch = (metadata: object) => roles.patch('r', { type: 'merge', merge: { metadata } });
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: '1' };
    await expect(patch({ labels: { a: 'b' } })).rejects.toThrow(NOT_HELD);
    await expect(patch({ labels: { a: 'b' }, finalizers: ['a.example/b'] })).rejects.toThrow(NOT_HELD);
    expect((await patch({ finalizers: ['a.example/b'], ownerReferences: [owner] })).metadata.finalizers).toEqual([
      'a.example/b',
    ]);
    expect((await patch({ finalizers: null, ownerReferences: null })).metadata.finalizers).toBeUndefined();
  });

  test('accepts any rules from an author with the verb escalate', async () => {
    const escalate = { apiGroups: [GROUP], resources: ['roles'], verbs: ['escalate'] };
    await context.allow(writeRoles, { ...escalate, resourceNames: ['r'] });
    // An object to be created has no name yet.
    await expect(context.asAlice.roles.create(role)).rejects.toThrow(NOT_HELD);
    await context.roles.create({ metadata: { name: 'r' }, rules: [] });
    await context.asAlice.roles.patch('r', { type: 'merge', merge: { rules: [readPods] } });
    await expect(context.asAlice.clusterRoles.create(role)).rejects.toThrow(NOT_HELD);
    await context.allow(writeRoles, escalate);
    expect((await context.asAlice.roles.create({ ...role, metadata: { name: 'other' } })).rules).toHaveLength(1);
  });

  test('requires an administrator for every change of an aggregated role', async () => {
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    const aggregated = { metadata: { name: 'g' }, rules: [], aggregationRule };
    const refusal = `clusterroles.${GROUP} "g" is forbidden: must have cluster-admin privileges to use the aggregationRule`;
    const { clusterRoles } = context.asAlice;
    await expect(clusterRoles.create(aggregated)).rejects.toThrow(refusal);
    await context.clusterRoles.create(aggregated);
    const patch = (value: object) => clusterRoles.patch('g', { type: 'merge', merge: value });
    await expect(patch({ aggregationRule: null })).rejects.toThrow(refusal);
    await expect(patch({ metadata: { labels: { a: 'b' } } })).rejects.toThrow(refusal);
    await context.allow({ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }, { nonResourceURLs: ['*'], verbs: ['*'] });
    expect((await patch({ metadata: { labels: { a: 'b' } } })).metadata.labels).toEqual({ a: 'b' });
  });

  test('reports missing roles separately from missing permissions', async () => {
    const { bindings } = context;
    const subjects = [{ kind: 'User' as const, name: 'alice' }];
    await bindings.create({ metadata: { name: 'one' }, roleRef: to('Role', 'gone'), subjects });
    await expect(context.asAlice.roles.create(role)).rejects.toThrow(
      `${NOT_HELD}\n${READ_PODS}; resolution errors: [roles.${GROUP} "gone" not found]`,
    );
    await bindings.create({ metadata: { name: 'two' }, roleRef: to('ClusterRole', 'lost'), subjects });
    await bindings.create({ metadata: { name: 'twice' }, roleRef: to('Role', 'gone'), subjects });
    await expect(context.asAlice.roles.create(role)).rejects.toThrow(
      `; resolution errors: [[roles.${GROUP} "gone" not found, roles.${GROUP} "lost" not found]]`,
    );
  });
});

describe('a role binding', () => {
  const binding = { metadata: { name: 'b' }, roleRef: to('Role', 'r'), subjects };
  const everything = { ...binding, roleRef: to('ClusterRole', 'cluster-admin') };

  test('rejects a role binding that grants permissions its author lacks', async () => {
    await context.roles.create({ metadata: { name: 'r' }, rules: [readPods] });
    const { bindings, clusterBindings } = context.asAlice;
    await expect(bindings.create(binding)).rejects.toThrow(
      `rolebindings.${GROUP} "b" is forbidden: ${NOT_HELD}\n${READ_PODS}`,
    );
    await expect(bindings.create(everything)).rejects.toThrow(`${NOT_HELD}\n${ALL}`);
    await expect(clusterBindings.create(everything)).rejects.toThrow(
      `clusterrolebindings.${GROUP} "b" is forbidden: ${NOT_HELD}\n${ALL}`,
    );
    await context.allow(writeRoles, readPods);
    expect((await bindings.create(binding)).metadata.name).toBe('b');
  });

  test('rejects new subjects of a role binding, and accepts an update without changes', async () => {
    await context.roles.create({ metadata: { name: 'r' }, rules: [readPods] });
    await context.bindings.create(binding);
    const { bindings } = context.asAlice;
    const patch = (value: object) => bindings.patch('b', { type: 'merge', merge: value });
    await expect(patch({ subjects: [{ kind: 'User', name: 'y' }] })).rejects.toThrow(NOT_HELD);
    expect((await patch({ metadata: { finalizers: ['a.example/b'] } })).metadata.finalizers).toHaveLength(1);
  });

  test('reports a missing role as not found, with the resource of the binding', async () => {
    const { bindings, clusterBindings } = context.asAlice;
    await expect(bindings.create(binding)).rejects.toMatchObject({
      code: 404,
      message: `rolebindings.${GROUP} "r" not found`,
    });
    await expect(clusterBindings.create({ ...everything, roleRef: to('ClusterRole', 'no') })).rejects.toMatchObject({
      code: 404,
      message: `clusterrolebindings.${GROUP} "no" not found`,
    });
    expect((await context.bindings.create(binding)).metadata.name).toBe('b');
  });

  test('accepts any role binding from an author with the verb bind', async () => {
    const bind = { apiGroups: [GROUP], resources: ['clusterroles'], verbs: ['bind'], resourceNames: ['cluster-admin'] };
    await context.roles.create({ metadata: { name: 'hers' }, rules: [bind] });
    const alice = [{ kind: 'User' as const, name: 'alice' }];
    await context.bindings.create({ metadata: { name: 'hers' }, roleRef: to('Role', 'hers'), subjects: alice });
    expect((await context.asAlice.bindings.create(everything)).metadata.name).toBe('b');
    // The permission was granted for one namespace.
    await expect(context.asAlice.clusterBindings.create(everything)).rejects.toThrow(NOT_HELD);
  });

  test('checks the aggregated rules of a role that a binding grants', async () => {
    await expect(context.asAlice.bindings.create({ ...binding, roleRef: to('ClusterRole', 'view') })).rejects.toThrow(
      /not currently held:\n\{APIGroups:\[""\], Resources:\["bindings"\], Verbs:\["get" "list" "watch"\]\}\n/,
    );
  });
});

describe('missing rules', () => {
  const rule = (verbs: string[], resources: string[], resourceNames?: string[]) => ({
    verbs,
    apiGroups: [''],
    resources,
    ...(resourceNames === undefined ? {} : { resourceNames }),
  });

  test('merges missing rules that differ in one attribute', () => {
    const missing = missingRules(
      [rule(['get'], ['pods'])],
      [rule(['get', 'list', 'watch'], ['pods', 'secrets'], ['a'])],
    );
    expect(missing).toHaveLength(5);
    expect(compactRules(missing).map(printRule)).toEqual([
      '{APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["list" "watch"]}',
      '{APIGroups:[""], Resources:["secrets"], ResourceNames:["a"], Verbs:["get" "list" "watch"]}',
    ]);
  });

  test('does not enumerate missing rules if there are too many', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => `x${index}`);
    const endless = { verbs: many, apiGroups: many, resources: many };
    expect(missingRules([rule(['*'], ['*'])], [endless])).toEqual([endless]);
    const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };
    expect(missingRules([rule(['get'], ['pods']), everything], [endless])).toEqual([]);
  });

  test('compares a part with the rules for its resource only', () => {
    const held = Array.from({ length: 3_000 }, (_, index) =>
      rule(['get'], [`a${index}`, `b${index % 7}`], [`n${index}`]),
    );
    const resources = Array.from({ length: 400 }, (_, index) => `x${index}`);
    const names = Array.from({ length: 200 }, (_, index) => `v${index}`);
    const spentMs = cpuTimer();
    expect(missingRules(held, [rule(names, resources)])).toHaveLength(80_000);
    // 240 million comparisons would take more than ten seconds.
    expect(spentMs()).toBeLessThan(6_000);
    expect(missingRules(held, [rule(['get'], ['b3'], ['n3'])])).toEqual([]);
    expect(missingRules([rule(['get'], ['*/scale'])], [rule(['get'], ['x/scale', 'x'])])).toEqual([
      rule(['get'], ['x']),
    ]);
  });

  test('limits the comparisons of a rule that repeats words, and of paths with wildcards', () => {
    const held = Array.from({ length: 2_000 }, (_, index) => rule(['get'], ['configmaps'], [`n${index}`]));
    const repeated = rule(
      Array.from({ length: 500_000 }, () => 'get'),
      ['nodes'],
    );
    const paths = (count: number, path: (index: number) => string) => [
      { verbs: ['get'], nonResourceURLs: Array.from({ length: count }, (_, index) => path(index)) },
    ];
    const wildcards = paths(20_000, (index) => `/api/${index}*`);
    const spentMs = cpuTimer();
    expect(missingRules(held, [repeated])).toEqual([repeated]);
    expect(
      missingRules(
        wildcards,
        paths(50_000, (index) => `/z${index}`),
      ),
    ).toHaveLength(50_000);
    // Without limits and look-ups: more than ten seconds.
    expect(spentMs()).toBeLessThan(6_000);
    expect(
      missingRules(
        wildcards,
        paths(3, (index) => `/api/${index}00/x`),
      ),
    ).toEqual([]);
  });

  test('takes a part for missing that was not compared with all rules', () => {
    // The fields differ in pairs, so the rules are not joined.
    const held = Array.from({ length: 2_000 }, (_, index) => rule([`v${index}`], ['pods'], [`n${index}`]));
    const verbs = Array.from({ length: 20_000 }, (_, index) => `w${index}`);
    const wanted = rule(['v0'], ['pods'], ['n0']);
    expect(missingRules(held, [wanted])).toEqual([]);
    const spentMs = cpuTimer();
    expect(missingRules(held, [rule(verbs, ['pods'], ['n1']), wanted])).toHaveLength(20_001);
    expect(spentMs()).toBeLessThan(6_000);
  });
});
