/** Requests with fields that do not belong to their verb or resource: authorization covers what the request does. */
import { expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ConfigMap, Node } from '../../../src/kinds/core/index.js';
import { Role, RoleBinding } from '../../../src/kinds/rbac/index.js';
import { StatusError } from '../../../src/meta/errors.js';
import { valueBody } from '../../../src/protocol/body.js';
import type { ApiRequest, Verb } from '../../../src/protocol/request.js';

const user = { user: 'alice' };

async function clusterWith(rule: { resources: string[]; resourceNames?: string[] }) {
  const cluster = createCluster();
  await cluster.api(Role).create({ metadata: { name: 'r' }, rules: [{ apiGroups: ['*'], verbs: ['*'], ...rule }] });
  await cluster.api(RoleBinding).create({
    metadata: { name: 'r' },
    roleRef: { kind: 'Role', name: 'r' },
    subjects: [{ kind: 'User', name: 'alice' }],
  });
  await cluster.api(ConfigMap).create({ metadata: { name: 'allowed' } });
  await cluster.api(ConfigMap).create({ metadata: { name: 'secret' } });
  await cluster.api(Node).create({ metadata: { name: 'n1' } });
  const send = async (request: Omit<ApiRequest, 'options' | 'user'>): Promise<string> => {
    try {
      const response = await cluster.send({ options: {}, user, ...request });
      if (response.type === 'watch') response.watch.close();
      return 'done';
    } catch (error) {
      if (StatusError.is(error)) return error.reason ?? '';
      throw error;
    }
  };
  return { cluster, send };
}

const configMaps = { group: '', version: 'v1', resource: 'configmaps' };

test.each<Verb>(['list', 'watch', 'deletecollection'])(
  'does not allow a %s with a name by a rule for that name',
  async (verb) => {
    const { send, cluster } = await clusterWith({ resources: ['configmaps'], resourceNames: ['allowed'] });
    expect(await send({ verb: 'get', resource: configMaps, namespace: 'default', name: 'allowed' })).toBe('done');
    expect(await send({ verb, resource: configMaps, namespace: 'default', name: 'allowed' })).toBe('Forbidden');
    expect((await cluster.api(ConfigMap).list()).items).toHaveLength(2);
  },
);

test('does not allow a create with a name by a rule for that name', async () => {
  const { send } = await clusterWith({ resources: ['configmaps'], resourceNames: ['allowed'] });
  const body = valueBody({ metadata: { name: 'another' } });
  const request = { verb: 'create', resource: configMaps, namespace: 'default', name: 'allowed', body } as const;
  expect(await send(request)).toBe('Forbidden');
});

test.each<Verb>(['get', 'list', 'watch', 'delete', 'deletecollection'])(
  'does not allow %s of cluster-scoped objects by a role in a namespace',
  async (verb) => {
    const { send, cluster } = await clusterWith({ resources: ['*'] });
    const nodes = { group: '', version: 'v1', resource: 'nodes' };
    expect(await send({ verb, resource: nodes, namespace: 'default', name: 'n1' })).toBe('NotFound');
    expect(await send({ verb, resource: nodes, name: 'n1' })).toBe('Forbidden');
    expect((await cluster.api(Node).list()).items).toHaveLength(1);
  },
);

test('rejects a cluster role binding that is created with a namespace', async () => {
  const { send } = await clusterWith({ resources: ['*'] });
  const group = 'rbac.authorization.orch.io';
  const body = valueBody({
    metadata: { name: 'mine' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup: group, kind: 'User', name: 'alice' }],
  });
  const resource = { group, version: 'v1', resource: 'clusterrolebindings' };
  expect(await send({ verb: 'create', resource, namespace: 'default', body })).toBe('NotFound');
  expect(await send({ verb: 'list', resource: { ...configMaps, resource: 'nodes' } })).toBe('Forbidden');
});
