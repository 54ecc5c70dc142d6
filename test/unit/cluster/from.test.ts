/** Creating a cluster from a saved state. */
import { describe, expect, test } from 'vitest';
import { type ApiObject, type ClusterState, createCluster, StatusError } from '../../../src/index.js';
import { ConfigMap, CustomResourceDefinition, Namespace } from '../../../src/kinds/index.js';
import { testCluster } from '../../../src/testing/index.js';

const definition = {
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced' as const,
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object' as const,
            properties: { spec: { type: 'object' as const, 'x-orch-preserve-unknown-fields': true } },
          },
        },
      },
    ],
  },
};

/** The whole state of a cluster. */
async function stateOf(cluster: ReturnType<typeof createCluster>): Promise<ClusterState> {
  const objects: ApiObject[] = [];
  const seen = new Set<string>();
  for (const served of cluster.kinds()) {
    if (!served.verbs.includes('list') || seen.has(served.storageKey) || served.storageKind !== undefined) continue;
    seen.add(served.storageKey);
    objects.push(...cluster.storageReader.objects.list({ group: served.kind.group, resource: served.gvr.resource }));
  }
  return { resourceVersion: cluster.resourceVersion, objects };
}

async function filled() {
  const cluster = testCluster();
  await cluster.api(CustomResourceDefinition).create(definition);
  await cluster
    .api(cluster.kind('example.com/v1', 'Gadget'))
    .create({ metadata: { name: 'g', finalizers: ['example.com/x'] }, spec: { big: 9007199254740993n } });
  await cluster.api(cluster.kind('example.com/v1', 'Gadget')).delete('g');
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { k: 'v' } });
  await cluster.api(ConfigMap).edit('a', (draft) => {
    draft.data = { k: 'w' };
  });
  return cluster;
}

describe('a cluster from a state', () => {
  test('creates a cluster with the objects and resourceVersion of a state', async () => {
    const cluster = await filled();
    const state = await stateOf(cluster);
    const copy = testCluster({ from: state });
    expect(copy.resourceVersion).toBe(cluster.resourceVersion);
    expect(await stateOf(copy)).toEqual(state);
  });

  test('continues with the next resourceVersion after a state, and watches start there', async () => {
    const state = await stateOf(await filled());
    const copy = testCluster({ from: state });
    await expect(copy.api(ConfigMap).watch({ resourceVersion: '1' }).next()).rejects.toSatisfy((error) =>
      StatusError.is(error, 'Expired'),
    );
    const made = await copy.api(ConfigMap).create({ metadata: { name: 'b' } });
    expect(Number(made.metadata.resourceVersion)).toBe(Number(state.resourceVersion) + 1);
    const watch = copy.api(ConfigMap).watch({ resourceVersion: state.resourceVersion });
    const first = await watch.next();
    expect(first.value).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'b' } } });
  });

  test('serves custom resources of a state from the start, also in forks', async () => {
    const copy = testCluster({ from: await stateOf(await filled()) });
    const gadgets = copy.api(copy.kind('example.com/v1', 'Gadget'));
    expect((await gadgets.get('g')).metadata.deletionTimestamp).toBeDefined();
    const fork = copy.fork();
    expect((await fork.api(fork.kind('example.com/v1', 'Gadget')).list()).items).toHaveLength(1);
    expect(fork.resourceVersion).toBe(copy.resourceVersion);
    expect(() => copy.restore(copy.snapshot())).not.toThrow();
  });

  test('adds the initial objects that the state lacks', async () => {
    const { objects } = await stateOf(await filled());
    const few = objects.filter(({ kind, metadata }) => kind === 'ConfigMap' || metadata.name === 'default');
    const copy = testCluster({ from: { resourceVersion: '500', objects: few } });
    expect(copy.resourceVersion).toBe('500');
    expect((await copy.api(Namespace).list()).items.map(({ metadata }) => metadata.name)).toEqual([
      'default',
      'kube-node-lease',
      'kube-public',
      'kube-system',
    ]);
    expect((await copy.api(ConfigMap).create({ metadata: { name: 'z' } })).metadata.resourceVersion).toBe('501');
  });

  test('does not share objects of the state with the caller', async () => {
    const { objects, resourceVersion } = JSON.parse(JSON.stringify(await stateOf(testCluster()))) as ClusterState;
    const copy = testCluster({ from: { objects, resourceVersion } });
    const first = objects.find(({ kind }) => kind === 'Namespace') as { metadata: { labels?: object } };
    first.metadata.labels = { changed: 'yes' };
    expect((await copy.api(Namespace).list({ labels: 'changed' })).items).toEqual([]);
    expect(Object.isFrozen(first)).toBe(false);
  });

  const whole = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: {
      name: 'a',
      namespace: 'default',
      uid: 'u',
      resourceVersion: '7',
      creationTimestamp: '2030-01-01T00:00:00Z',
    },
  };
  test.each([
    [
      'a kind that is not served',
      { ...whole, apiVersion: 'example.com/v1', kind: 'Thing' },
      /serves no Thing in example.com\/v1; the first is Thing default\/a/,
    ],
    [
      'an object without uid',
      { ...whole, metadata: { ...whole.metadata, uid: undefined } },
      /ConfigMap default\/a has no metadata.uid/,
    ],
    [
      'an object without a name',
      { ...whole, metadata: { ...whole.metadata, name: undefined } },
      /from: object 0 has no metadata.name/,
    ],
    [
      'an object with a future resourceVersion',
      { ...whole, metadata: { ...whole.metadata, resourceVersion: '99' } },
      /resourceVersion 99, above/,
    ],
    [
      'an object without its namespace',
      { ...whole, metadata: { ...whole.metadata, namespace: undefined } },
      /ConfigMap a has no namespace/,
    ],
    ['a kind that is never stored', { ...whole, kind: 'Binding' }, /is not stored/],
    ['a value that is not an object', 5, /object 0 is no object/],
  ])('rejects a state with %s and names it', (_, object, message) => {
    const from = { resourceVersion: '10', objects: [object as unknown as ApiObject] };
    expect(() => createCluster({ from })).toThrow(message);
  });

  test('rejects a state with a duplicate object or an invalid resourceVersion', () => {
    const twice = [whole, whole] as unknown as ApiObject[];
    expect(() => createCluster({ from: { resourceVersion: '10', objects: twice } })).toThrow(/is there twice/);
    expect(() => createCluster({ from: { resourceVersion: 'x', objects: [] } })).toThrow(
      /resourceVersion is the decimal/,
    );
  });
});
