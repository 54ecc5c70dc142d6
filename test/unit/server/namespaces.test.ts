/** Namespaces as other kinds see them: creation of content, and deletion. */
import { ConfigMap, Namespace } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { failureOf } from './watch-reader.js';

async function clusterWithTerminating(): Promise<TestCluster> {
  const cluster = testCluster();
  await cluster.api(Namespace).create({ metadata: { name: 'dev' } });
  await cluster.api(ConfigMap, 'dev').create({ metadata: { name: 'there' } });
  await cluster.api(Namespace).delete('dev');
  return cluster;
}

describe('a new cluster', () => {
  test('creates four namespaces with the first resourceVersions in a new cluster', async () => {
    const cluster = testCluster();
    const { items } = await cluster.api(Namespace).list();
    expect(items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`)).toEqual([
      'default 1',
      'kube-node-lease 4',
      'kube-public 3',
      'kube-system 2',
    ]);
  });
});

describe('a namespace that does not exist', () => {
  test('rejects new objects in a namespace that does not exist', async () => {
    const error = await failureOf(
      testCluster()
        .api(ConfigMap, 'nope')
        .create({ metadata: { name: 'a' } }),
    );
    expect(error).toMatchObject({
      code: 404,
      message: 'namespaces "nope" not found',
      status: { details: { name: 'nope', kind: 'namespaces' } },
    });
  });

  test('returns an empty list for a namespace that does not exist', async () => {
    const configMaps = testCluster().api(ConfigMap, 'nope');
    expect((await configMaps.list()).items).toEqual([]);
    expect(await failureOf(configMaps.get('a'))).toMatchObject({ message: 'configmaps "a" not found' });
    expect(await failureOf(configMaps.delete('a'))).toMatchObject({ message: 'configmaps "a" not found' });
  });
});

describe('a terminating namespace', () => {
  test('sets the phase Terminating of a deleted namespace and keeps it', async () => {
    const cluster = await clusterWithTerminating();
    const namespace = await cluster.api(Namespace).get('dev');
    expect(namespace.status.phase).toBe('Terminating');
    expect(namespace.metadata.deletionTimestamp).toBe('2030-01-01T00:00:00Z');
    expect(namespace.metadata).not.toHaveProperty('deletionGracePeriodSeconds');
    expect(namespace.spec.finalizers).toEqual(['kubernetes']);
  });

  test('rejects new objects in a terminating namespace', async () => {
    const cluster = await clusterWithTerminating();
    const error = await failureOf(cluster.api(ConfigMap, 'dev').create({ metadata: { name: 'a' } }));
    expect(error).toMatchObject({
      code: 403,
      status: {
        reason: 'Forbidden',
        message:
          'configmaps "a" is forbidden: unable to create new content in namespace dev because it is being terminated',
        details: {
          name: 'a',
          kind: 'configmaps',
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: 'namespace dev is being terminated',
              field: 'metadata.namespace',
            },
          ],
        },
      },
    });
  });

  test('allows updates and deletions of objects in a terminating namespace', async () => {
    const configMaps = (await clusterWithTerminating()).api(ConfigMap, 'dev');
    await configMaps.update({ metadata: { name: 'there' }, data: { k: 'v' } });
    expect((await configMaps.get('there')).data).toEqual({ k: 'v' });
    expect(await configMaps.delete('there')).toMatchObject({ status: 'Success' });
  });

  test('does not change a terminating namespace in another delete', async () => {
    const cluster = await clusterWithTerminating();
    const before = await cluster.api(Namespace).get('dev');
    await cluster.clock.advance(5_000);
    await cluster.api(Namespace).delete('dev');
    expect(await cluster.api(Namespace).get('dev')).toBe(before);
    expect(cluster.resourceVersion).toBe(before.metadata.resourceVersion);
  });

  test('removes a terminating namespace with its last finalizer', async () => {
    const cluster = await clusterWithTerminating();
    const namespaces = cluster.api(Namespace);
    const answer = await namespaces
      .subresource('finalize')
      .update('dev', { ...(await namespaces.get('dev')), spec: { finalizers: [] } });
    expect(answer.metadata.name).toBe('dev');
    expect(await namespaces.find('dev')).toBeUndefined();
  });

  test('keeps a terminating namespace while it has other finalizers, and removes it with the last one', async () => {
    const cluster = testCluster();
    const namespaces = cluster.api(Namespace);
    await namespaces.create({ metadata: { name: 'dev', finalizers: ['example.com/hold'] } });
    await namespaces.delete('dev');
    await namespaces.subresource('finalize').edit('dev', (namespace) => {
      namespace.spec = { finalizers: [] };
    });
    expect(await namespaces.find('dev')).toBeDefined();
    await namespaces.edit('dev', (namespace) => {
      namespace.metadata.finalizers = [];
    });
    expect(await namespaces.find('dev')).toBeUndefined();
  });

  test('rejects the creation of a terminating namespace before it is removed', async () => {
    const cluster = await clusterWithTerminating();
    expect(await failureOf(cluster.api(Namespace).create({ metadata: { name: 'dev' } }))).toMatchObject({
      reason: 'AlreadyExists',
      message: 'object is being deleted: namespaces "dev" already exists',
    });
  });
});

describe('deleting a namespace', () => {
  test.each(['default', 'kube-system', 'kube-public'])('rejects the deletion of the namespace %s', async (name) => {
    expect(await failureOf(testCluster().api(Namespace).delete(name))).toMatchObject({
      code: 403,
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    });
  });

  test('allows the deletion of the namespace kube-node-lease', async () => {
    const namespaces = testCluster().api(Namespace);
    await namespaces.delete('kube-node-lease');
    expect(await namespaces.get('kube-node-lease')).toMatchObject({ status: { phase: 'Terminating' } });
  });

  test('reports a failing precondition of a namespace deletion with the message for namespaces', async () => {
    const namespaces = testCluster().api(Namespace);
    const { metadata } = await namespaces.create({ metadata: { name: 'dev' } });
    const { uid, resourceVersion } = metadata;
    expect(await failureOf(namespaces.delete('dev', { preconditions: { uid: 'other' } }))).toMatchObject({
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on namespaces "dev": Precondition failed: UID in precondition: other, UID in object meta: ${uid}`,
    });
    expect(await failureOf(namespaces.delete('dev', { preconditions: { resourceVersion: '1' } }))).toMatchObject({
      message: `Operation cannot be fulfilled on namespaces "dev": Precondition failed: ResourceVersion in precondition: 1, ResourceVersion in object meta: ${resourceVersion}`,
    });
  });

  test('rejects the deletion of namespaces as a collection', async () => {
    expect(await failureOf(testCluster().api(Namespace).deleteCollection())).toMatchObject({
      code: 405,
      message: 'the server does not allow this method on the requested resource',
    });
  });
});
