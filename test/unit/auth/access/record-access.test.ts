/** recordAccess: roles from the requests of a run. */

import { expect, test } from 'vitest';
import { recordAccess } from '../../../../src/auth/record-access.js';
import { mergePatch } from '../../../../src/client/patches.js';
import { createCluster } from '../../../../src/cluster/full-cluster.js';
import { createFetchHandler } from '../../../../src/http/handler.js';
import { Deployment } from '../../../../src/kinds/apps/index.js';
import { ConfigMap, Namespace, Node } from '../../../../src/kinds/core/index.js';
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../../../src/kinds/rbac/index.js';
import { StatusError } from '../../../../src/meta/errors.js';

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
    allowed: true,
    count: 2,
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
