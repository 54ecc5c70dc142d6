/** recordAccess: roles from the requests of a run. */

import { expect, test } from 'vitest';
import { ownerReferencesPermissionEnforcement } from '../../../../src/admission/index.js';
import type { AccessReport } from '../../../../src/auth/access-report.js';
import { recordAccess } from '../../../../src/auth/record-access.js';
import { mergePatch } from '../../../../src/client/patches.js';
import { createCluster } from '../../../../src/cluster/full-cluster.js';
import { controllers, defineController, runControllers } from '../../../../src/controllers/index.js';
import { createFetchHandler } from '../../../../src/http/handler.js';
import { Deployment } from '../../../../src/kinds/apps/index.js';
import { ConfigMap, Namespace, Node, Pod, Secret } from '../../../../src/kinds/core/index.js';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../../../src/kinds/rbac/index.js';
import { StatusError } from '../../../../src/meta/errors.js';
import { testCluster } from '../../../../src/testing/index.js';

async function controllerRun(cluster: Pick<ReturnType<typeof createCluster>, 'api' | 'all'>) {
  const configMaps = cluster.api(ConfigMap, 'default');
  await configMaps.create({ metadata: { name: 'a' } });
  await configMaps.get('a');
  await configMaps.patch('a', mergePatch({ data: { k: 'v' } }));
  await cluster.all(Deployment).list();
  await cluster.api(Node).list();
}

test('creates one Role per namespace and a ClusterRole for cluster-wide requests', async () => {
  const cluster = createCluster();
  using access = recordAccess(cluster);
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'a' } });
  await configMaps.get('a');
  await configMaps.get('a');
  await cluster.api(ConfigMap, 'kube-system').list();
  await cluster.all(Deployment).list();
  await cluster.api(Node).list();
  const apiVersion = 'rbac.authorization.orch.io/v1';
  expect(access.roles('c')).toEqual([
    {
      apiVersion,
      kind: 'ClusterRole',
      metadata: { name: 'c' },
      rules: [
        { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
        { apiGroups: ['apps'], resources: ['deployments'], verbs: ['list'] },
      ],
    },
    {
      apiVersion,
      kind: 'Role',
      metadata: { name: 'c', namespace: 'default' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create'] }],
    },
    {
      apiVersion,
      kind: 'Role',
      metadata: { name: 'c', namespace: 'kube-system' },
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }],
    },
  ]);
  expect(access.requests).toContainEqual({
    user: 'system:admin',
    attributes: expect.objectContaining({ verb: 'get', resource: 'configmaps', name: 'a' }),
    source: 'local',
    allowed: true,
    count: 2,
    refused: 0,
  });
});

test('creates roles that suffice to repeat the recorded requests as another user', async () => {
  const recordedCluster = createCluster();
  const access = recordAccess(recordedCluster);
  await controllerRun(recordedCluster);
  access.stop();

  const cluster = createCluster();
  for (const role of access.roles('needed')) {
    const subjects = [{ kind: 'User' as const, name: 'robot' }];
    if (role.kind === 'Role') {
      await cluster.api(Role, role.metadata.namespace ?? '').create(role as never);
      await cluster
        .api(RoleBinding, role.metadata.namespace ?? '')
        .create({ metadata: { name: 'needed' }, roleRef: { kind: 'Role', name: 'needed' }, subjects } as never);
    } else {
      await cluster.api(ClusterRole).create(role as never);
      await cluster
        .api(ClusterRoleBinding)
        .create({ metadata: { name: 'needed' }, roleRef: { kind: 'ClusterRole', name: 'needed' }, subjects } as never);
    }
  }
  const robot = cluster.with({ as: { user: 'robot' } });
  await controllerRun(robot);
  const refused = await robot
    .api(Namespace)
    .list()
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  expect(StatusError.is(refused, 'Forbidden')).toBe(true);
});

test('lists the requests that given roles would have denied', async () => {
  const cluster = createCluster();
  using access = recordAccess(cluster);
  await controllerRun(cluster);
  const narrow = {
    kind: 'Role',
    metadata: { name: 'narrow', namespace: 'default' },
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get'], resourceNames: null }],
  };
  expect(access.refusedBy(narrow)).toEqual([
    'patch configmaps "a" in namespace "default"',
    'list deployments.apps',
    'list nodes',
  ]);
  const wide = { kind: 'ClusterRole', rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] };
  expect(access.refusedBy(wide)).toEqual([]);
  expect(access.refusedBy(narrow, access.clusterRole('rest'))).toEqual([]);
  const named = {
    kind: 'Role',
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'], resourceNames: ['a'] }],
  };
  expect(access.refusedBy(named)).not.toContain('patch configmaps "a" in namespace "default"');
});

test('adds resource names to the recorded rules on request, except for create', async () => {
  const cluster = createCluster();
  using access = recordAccess(cluster, { resourceNames: true });
  const configMaps = cluster.api(ConfigMap);
  await configMaps.create({ metadata: { name: 'a' } });
  await configMaps.get('a');
  await configMaps.find('b');
  expect(access.roles('c')[0]?.rules).toEqual([
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create'] },
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['a', 'b'], verbs: ['get'] },
  ]);
});

test('records the requests of one user, the create check of an update, and requests over HTTP', async () => {
  const cluster = createCluster();
  const handler = createFetchHandler(cluster, { tokens: { t: { user: 'root', groups: ['system:masters'] } } });
  using access = recordAccess(cluster, { user: 'root' });
  await cluster.api(ConfigMap).list();
  const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
  const url = 'http://cluster/apis/coordination.orch.io/v1/namespaces/default/leases/l';
  const body = JSON.stringify({ metadata: { name: 'l' } });
  expect((await handler(new Request(url, { method: 'PUT', headers, body }))).status).toBe(201);
  expect((await handler(new Request('http://cluster/healthz', { headers }))).status).toBe(200);
  expect(access.clusterRole('c').rules).toEqual([
    { apiGroups: ['coordination.orch.io'], resources: ['leases'], verbs: ['create', 'update'] },
    { nonResourceURLs: ['/healthz'], verbs: ['get'] },
  ]);
});

test('prints the recorded roles as equivalent YAML', async () => {
  const cluster = createCluster();
  using access = recordAccess(cluster);
  await controllerRun(cluster);
  const applied = await createCluster().applyYaml(access.yaml('on'), { fieldManager: 'test' });
  const read = applied.flatMap((each) => (each.outcome === 'failed' ? [] : [each.object as unknown as Role]));
  const rules = (role: { readonly kind?: unknown; readonly rules?: unknown }) => ({
    kind: role.kind,
    rules: role.rules,
  });
  expect(read.map(rules)).toEqual(access.roles('on').map(rules));
  expect(read.map(({ metadata }) => metadata.name)).toEqual(['on', 'on']);
});

test('records no access after stop, and discards all records on clear', async () => {
  const cluster = createCluster();
  const access = recordAccess(cluster);
  await cluster.api(ConfigMap).list();
  access.clear();
  expect(access.requests).toEqual([]);
  await cluster.api(Node).list();
  access.stop();
  await cluster.api(ConfigMap).list();
  expect(access.clusterRole('c').rules).toEqual([{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }]);
});

/** Reads a pod, then writes a ConfigMap and a Secret: each step needs the one before. */
const copier = defineController({
  name: 'copier',
  account: 'copier',
  kind: Pod,
  async reconcile(pod, { client }) {
    const { namespace = '', name } = pod.metadata;
    await client.api(ConfigMap, namespace).apply({ metadata: { name } }, { fieldManager: 'copier' });
    await client.api(Secret, namespace).create({ metadata: { name } });
  },
});

const COPIER = 'system:serviceaccount:kube-system:copier';
const pod = { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } };

test('records all that a controller with its own account needs, although it has no permissions', async () => {
  const cluster = testCluster();
  using access = recordAccess(cluster, { user: COPIER, permissive: true });
  await using _running = runControllers(cluster, [copier], { accounts: 'own' });
  await cluster.api(Pod).create(pod);
  await cluster.settle();
  await cluster.api(Secret).get('p');
  expect(access.clusterRole('copier').rules).toEqual([
    { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] },
    { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
  ]);
  expect(access.requests.map(({ source, allowed, refused }) => [source, allowed, refused])).toEqual(
    access.requests.map(() => ['copier', false, 1]),
  );
  expect(
    access
      .yaml('copier')
      .split('\n')
      .filter((line) => line.startsWith('#')),
  ).toEqual([
    '# refused, 1 of 1: list pods',
    '# refused, 1 of 1: watch pods',
    '# refused, 1 of 1: patch configmaps in namespace "default"',
    '# refused, 1 of 1: create configmaps in namespace "default"',
    '# refused, 1 of 1: create secrets in namespace "default"',
  ]);
});

test('executes only recorded requests that are refused, and only while it records', async () => {
  const cluster = createCluster();
  const as = (user: string) => cluster.with({ as: { user } }).api(ConfigMap);
  const access = recordAccess(cluster, { user: ['alice'], permissive: true });
  await expect(as('alice').list()).resolves.toMatchObject({ items: [] });
  await expect(as('bob').list()).rejects.toThrow(/forbidden/);
  access.stop();
  await expect(as('alice').list()).rejects.toThrow(/forbidden/);
  expect(access.requests).toMatchObject([{ user: 'alice', allowed: false, count: 1, refused: 1 }]);
});

test('records refused requests, and marks them, without executing them by default', async () => {
  const cluster = createCluster();
  using access = recordAccess(cluster);
  const alice = cluster.with({ as: { user: 'alice' } });
  await expect(alice.api(ConfigMap).get('a')).rejects.toThrow(/forbidden/);
  await expect(alice.api(ConfigMap).get('b')).rejects.toThrow(/forbidden/);
  await cluster.api(ConfigMap).find('c');
  expect(access.yaml('reader')).toBe(`# refused, 2 of 3: get configmaps in namespace "default"
apiVersion: rbac.authorization.orch.io/v1
kind: Role
metadata:
  name: reader
  namespace: default
rules:
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [get]
`);
});

test('selects recorded requests by user, source and time', async () => {
  const cluster = testCluster({ controllers: controllers([copier]) });
  const { clock } = cluster;
  using access = recordAccess(cluster);
  const handler = createFetchHandler(cluster, { tokens: { t: { user: 'root', groups: ['system:masters'] } } });
  const resourcesOf = (report: AccessReport) => report.clusterRole('r').rules.flatMap(({ resources }) => resources);
  await cluster.api(Node).list();
  await clock.advance(1_000);
  const from = clock.now();
  const headers = { authorization: 'Bearer t' };
  await handler(new Request('http://cluster/api/v1/namespaces', { headers }));
  await cluster.api(Pod).create(pod);
  await cluster.settle();
  await clock.advance(1_000);
  const to = clock.now() - 1;
  await cluster.api(Deployment).list();
  await cluster.api(Pod).list();

  expect(resourcesOf(access.select({ user: 'root' }))).toEqual(['namespaces']);
  expect(resourcesOf(access.select({ source: 'http' }))).toEqual(['namespaces']);
  expect(resourcesOf(access.select({ source: 'copier' }))).toEqual(['configmaps', 'secrets']);
  expect(resourcesOf(access.select({ source: 'local' }))).toEqual(['nodes', 'pods', 'deployments']);
  expect(resourcesOf(access.select({ source: ['local', 'http'], from, to }))).toEqual(['namespaces', 'pods']);
  expect(access.select({ source: 'local', from: to + 1 }).requests).toMatchObject([
    { attributes: { resource: 'deployments' }, count: 1 },
    { attributes: { resource: 'pods', verb: 'list' }, count: 1 },
  ]);
  expect(access.select({ user: 'carol' }).yaml('r')).toBe('');
  expect(() => access.select({ usr: 'root' } as object)).toThrow('select has no option "usr"');
  expect(() => recordAccess(cluster, { usr: 'root' } as object)).toThrow('recordAccess has no option "usr"');
});

test('assigns further checks of a request to its source', async () => {
  const cluster = createCluster({ admission: [ownerReferencesPermissionEnforcement] });
  const owner = await cluster.api(ConfigMap).create({ metadata: { name: 'owner' } });
  using access = recordAccess(cluster, { user: 'alice', source: 'http', permissive: true });
  const handler = createFetchHandler(cluster, { tokens: { t: { user: 'alice' } } });
  const ownerReferences = [
    { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.metadata.uid, blockOwnerDeletion: true },
  ];
  const body = JSON.stringify({ metadata: { name: 'owned', ownerReferences } });
  const headers = { authorization: 'Bearer t', 'content-type': 'application/json' };
  const url = 'http://cluster/api/v1/namespaces/default/configmaps';
  expect((await handler(new Request(url, { method: 'POST', headers, body }))).status).toBe(201);
  expect(access.requests.map(({ attributes }) => attributes.type === 'resource' && attributes.subresource)).toContain(
    'finalizers',
  );
});
