/**
 * Namespace controller: order of deletion, status conditions, and the removal of the namespace.
 */
import { defineKind, errors, mergePatch } from 'orchplane';
import { controllers, type NamespacesOptions, namespaces, runControllers } from 'orchplane/controllers';
import { ConfigMap, CustomResourceDefinition, Lease, Namespace, Node, Pod, Secret } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const HOLD = 'example.com/hold';

const OK: Readonly<Record<string, readonly [reason: string, message: string]>> = {
  NamespaceDeletionDiscoveryFailure: ['ResourcesDiscovered', 'All resources successfully discovered'],
  NamespaceDeletionGroupVersionParsingFailure: ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  NamespaceDeletionContentFailure: [
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  NamespaceContentRemaining: ['ContentRemoved', 'All content successfully removed'],
  NamespaceFinalizersRemaining: ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
};

async function withNamespace(options: NamespacesOptions = {}) {
  const failures: unknown[] = [];
  const run = controllers([namespaces(options)], { onError: (error, about) => failures.push([about, error]) });
  const cluster = testCluster({ controllers: run });
  await cluster.api(Namespace).create({ metadata: { name: 'n' } });
  return { cluster, failures, all: cluster.api(Namespace), configMaps: cluster.api(ConfigMap, 'n') };
}

/** Type, status, reason and message of the conditions, in their order. */
async function conditions(cluster: TestCluster) {
  const { status } = await cluster.api(Namespace).get('n');
  return (status.conditions ?? []).map((each) => [each.type, each.status, each.reason, each.message]);
}

function allOk(except: Readonly<Record<string, readonly [reason: string, message: string]>> = {}) {
  return Object.entries(OK).map(([type, fine]) => {
    const problem = except[type];
    return [type, problem === undefined ? 'False' : 'True', ...(problem ?? fine)];
  });
}

async function release(cluster: TestCluster, kind: typeof ConfigMap | typeof Secret | typeof Pod, name: string) {
  await cluster.api(kind as typeof ConfigMap, 'n').patch(name, mergePatch({ metadata: { finalizers: null } }));
}

const podSpec = { containers: [{ name: 'c', image: 'i' }] };

test('deletes a namespace and everything in it at once', async () => {
  const { cluster, all, configMaps, failures } = await withNamespace();
  await configMaps.create({ metadata: { name: 'c' } });
  await cluster.api(Secret, 'n').create({ metadata: { name: 's' } });
  await cluster.api(Pod, 'n').create({ metadata: { name: 'p' }, spec: podSpec });
  await cluster.api(Lease, 'n').create({ metadata: { name: 'l' }, spec: {} });
  await cluster.api(ConfigMap).create({ metadata: { name: 'elsewhere' } });
  await all.delete('n');
  expect((await all.get('n')).status).toEqual({ phase: 'Terminating' });
  await cluster.settle();
  expect(await all.find('n')).toBeUndefined();
  expect((await cluster.all(Pod).list()).items).toEqual([]);
  expect((await cluster.all(ConfigMap).list()).items.map(({ metadata }) => metadata.name)).toEqual(['elsewhere']);
  expect(failures).toEqual([]);
  await all.create({ metadata: { name: 'n' } });
  await cluster.settle();
  expect((await all.get('n')).status.phase).toBe('Active');
});

test('deletes a namespace that was terminating before the controller started', async () => {
  const cluster = testCluster();
  await cluster.api(Namespace).create({ metadata: { name: 'n' } });
  await cluster.api(Namespace).delete('n');
  const fork = cluster.fork();
  await using running = runControllers(fork, [namespaces()]);
  await running.settle();
  expect(await fork.api(Namespace).find('n')).toBeUndefined();
  expect(await cluster.api(Namespace).find('n')).toBeDefined();
});

describe('namespace content with finalizers', () => {
  test('lists 500 finalizers, and the number of others', async () => {
    const { cluster, all, configMaps } = await withNamespace();
    const finalizers = Array.from({ length: 30_000 }, (_, index) => `example.com/${index}`);
    await configMaps.create({ metadata: { name: 'c', finalizers } });
    await all.delete('n');
    await cluster.settle();
    const message = (await conditions(cluster)).at(-1)?.[3];
    expect(message).toMatch(/^Some content .*: example.com\/0 in 1 resource instances, .*, and 29500 others$/);
    expect(message?.length).toBeLessThan(30_000);
  });

  test('counts remaining content in the status and deletes the namespace with the last object', async () => {
    const { cluster, all, configMaps } = await withNamespace();
    const secrets = cluster.api(Secret, 'n');
    await secrets.create({ metadata: { name: 's1', finalizers: [HOLD, 'example.com/more'] } });
    await secrets.create({ metadata: { name: 's2', finalizers: [HOLD] } });
    await configMaps.create({ metadata: { name: 'c', finalizers: [HOLD] } });
    await configMaps.create({ metadata: { name: 'free' } });
    await all.delete('n');
    await cluster.settle();
    const held = (remaining: string, finalizers: string) =>
      allOk({
        NamespaceContentRemaining: ['SomeResourcesRemain', `Some resources are remaining: ${remaining}`],
        NamespaceFinalizersRemaining: [
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${finalizers}`,
        ],
      });
    expect(await conditions(cluster)).toEqual(
      held(
        'configmaps. has 1 resource instances, secrets. has 2 resource instances',
        'example.com/hold in 3 resource instances, example.com/more in 1 resource instances',
      ),
    );
    const began = (await all.get('n')).status.conditions?.map(({ lastTransitionTime }) => lastTransitionTime);
    await cluster.clock.advance(2_000);
    await release(cluster, Secret, 's1');
    await release(cluster, Secret, 's2');
    await cluster.settle();
    expect(await conditions(cluster)).toEqual(
      held('configmaps. has 1 resource instances', 'example.com/hold in 1 resource instances'),
    );
    // The message changes, the condition status does not.
    expect((await all.get('n')).status.conditions?.map(({ lastTransitionTime }) => lastTransitionTime)).toEqual(began);
    await release(cluster, ConfigMap, 'c');
    await cluster.settle();
    expect(await all.find('n')).toBeUndefined();
  });

  test('checks remaining content every eight seconds and writes only changes', async () => {
    const { cluster, all, configMaps } = await withNamespace();
    for (const name of ['a', 'b']) await configMaps.create({ metadata: { name, finalizers: [HOLD] } });
    await all.delete('n');
    await cluster.settle();
    const { resourceVersion } = cluster;
    await cluster.clock.advance(60_000);
    expect(cluster.resourceVersion).toBe(resourceVersion);
    await release(cluster, ConfigMap, 'a');
    await cluster.clock.advance(8_000);
    const message = 'Some resources are remaining: configmaps. has 1 resource instances';
    expect((await conditions(cluster))[3]).toEqual([
      'NamespaceContentRemaining',
      'True',
      'SomeResourcesRemain',
      message,
    ]);
  });

  test('deletes a namespace with thousands of objects', async () => {
    const { cluster, all, configMaps } = await withNamespace();
    const count = 3_000;
    for (let i = 0; i < count; i++) await configMaps.create({ metadata: { name: `c-${i}`, finalizers: [HOLD] } });
    await all.delete('n');
    await cluster.settle();
    const [, , , remaining] = await conditions(cluster);
    expect(remaining?.[3]).toBe(`Some resources are remaining: configmaps. has ${count} resource instances`);
    for (let i = 0; i < count; i++) await release(cluster, ConfigMap, `c-${i}`);
    await cluster.settle();
    expect(await all.find('n')).toBeUndefined();
  });
});

describe('pods of a terminating namespace', () => {
  test('deletes pods before other content and reports no remaining content meanwhile', async () => {
    const { cluster, all, configMaps } = await withNamespace();
    const pods = cluster.api(Pod, 'n');
    await pods.create({ metadata: { name: 'held', finalizers: [HOLD] }, spec: podSpec });
    await pods.create({ metadata: { name: 'free' }, spec: podSpec });
    await configMaps.create({ metadata: { name: 'c' } });
    await all.delete('n');
    await cluster.settle();
    expect((await pods.list()).items.map(({ metadata }) => metadata.name)).toEqual(['held']);
    expect((await configMaps.get('c')).metadata.deletionTimestamp).toBeUndefined();
    expect(await conditions(cluster)).toEqual(allOk());
    await release(cluster, Pod, 'held');
    await cluster.settle();
    expect(await all.find('n')).toBeUndefined();
    expect(await configMaps.find('c')).toBeUndefined();
  });

  test('waits for the grace period of running pods and reports a failure afterwards', async () => {
    const { cluster, all, failures } = await withNamespace();
    await cluster.api(Node).create({ metadata: { name: 'node' } });
    const pods = cluster.api(Pod, 'n');
    await pods.create({
      metadata: { name: 'p' },
      spec: { ...podSpec, nodeName: 'node', terminationGracePeriodSeconds: 20 },
    });
    await all.delete('n');
    await cluster.settle();
    expect((await pods.get('p')).metadata.deletionGracePeriodSeconds).toBe(20);
    expect(await conditions(cluster)).toEqual(allOk());
    // Each reconcile estimates 20 / 2 + 1 seconds, so the second one comes after the grace period.
    await cluster.clock.advance(21_900);
    expect(failures).toEqual([]);
    await cluster.clock.advance(100);
    const failed = 'Failed to delete all resource types, 1 remaining: unexpected items still remain in namespace: n';
    expect(await conditions(cluster)).toEqual(
      allOk({
        NamespaceDeletionContentFailure: ['ContentDeletionFailed', `${failed} for gvr: /v1, Resource=pods`],
      }),
    );
    expect(failures).toHaveLength(1);
    await pods.delete('p', { gracePeriodSeconds: 0 });
    await cluster.settle();
    expect(await all.find('n')).toBeUndefined();
  });
});

test('deletes a namespace with a pod whose grace period is longer than a number can represent', async () => {
  const { cluster, all, configMaps, failures } = await withNamespace();
  await cluster.api(Node).create({ metadata: { name: 'node' } });
  const spec = { ...podSpec, nodeName: 'node', terminationGracePeriodSeconds: (2n ** 63n - 1n) as never };
  const pods = cluster.api(Pod, 'n');
  await pods.create({ metadata: { name: 'p' }, spec });
  await all.delete('n');
  await cluster.settle();
  expect([failures, await configMaps.find('c')]).toEqual([[], undefined]);
  await pods.delete('p', { gracePeriodSeconds: 0 });
  await cluster.settle();
  expect(await all.find('n')).toBeUndefined();
});

describe('rejected deletion of namespace content', () => {
  test('reports rejected deletions in the status and retries', async () => {
    const { cluster, all, configMaps, failures } = await withNamespace();
    await configMaps.create({ metadata: { name: 'c' } });
    await cluster.api(Secret, 'n').create({ metadata: { name: 's' } });
    const stop = cluster.use((request, next) => {
      const { resource } = request.resource;
      const isRefused = resource === 'configmaps' || resource === 'secrets';
      if (request.verb === 'deletecollection' && isRefused) throw errors.internal(`${resource} are stuck`);
      return next();
    });
    await cluster.api(Lease, 'n').create({ metadata: { name: 'l' }, spec: {} });
    await all.delete('n');
    await cluster.settle();
    expect((await conditions(cluster))[2]).toEqual([
      'NamespaceDeletionContentFailure',
      'True',
      'ContentDeletionFailed',
      'Failed to delete all resource types, 2 remaining: Internal error occurred: configmaps are stuck, Internal error occurred: secrets are stuck',
    ]);
    expect(failures).toHaveLength(1);
    expect((await cluster.api(Lease, 'n').list()).items).toEqual([]);
    stop();
    await cluster.clock.advance(10);
    expect(await all.find('n')).toBeUndefined();
  });
});

describe('namespace finalizers of other controllers', () => {
  test('keeps a namespace with a metadata finalizer after its content is deleted', async () => {
    const { cluster, all } = await withNamespace();
    await all.create({ metadata: { name: 'held', finalizers: [HOLD] } });
    await cluster.api(ConfigMap, 'held').create({ metadata: { name: 'c' } });
    await all.delete('held');
    await cluster.settle();
    const held = await all.get('held');
    expect(held.spec).toEqual({});
    expect(held.status.conditions).toHaveLength(5);
    expect((await cluster.api(ConfigMap, 'held').list()).items).toEqual([]);
    await all.patch('held', mergePatch({ metadata: { finalizers: null } }));
    expect(await all.find('held')).toBeUndefined();
  });

  test('keeps a namespace with other spec finalizers and writes through the finalize subresource', async () => {
    const { cluster, all } = await withNamespace();
    await all.create({ metadata: { name: 'held' }, spec: { finalizers: ['example.com/z', 'example.com/a'] } });
    await all.delete('held');
    await cluster.settle();
    const held = await all.get('held');
    expect(held.spec.finalizers).toEqual(['example.com/a', 'example.com/z']);
    const managers = held.metadata.managedFields?.map((entry) => [entry.manager, entry.operation, entry.subresource]);
    expect(managers).toContainEqual(['kube-controller-manager', 'Update', 'finalize']);
    expect(managers).toContainEqual(['kube-controller-manager', 'Update', 'status']);
    const { resourceVersion } = cluster;
    await cluster.clock.advance(60_000);
    expect(cluster.resourceVersion).toBe(resourceVersion);
    await all.subresource('finalize').update('held', { ...held, spec: { finalizers: [] } });
    expect(await all.find('held')).toBeUndefined();
  });
});

describe('custom resources in a terminating namespace', () => {
  test('deletes and counts custom resources', async () => {
    const { cluster, all } = await withNamespace();
    await cluster.api(CustomResourceDefinition).create({
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [
          { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } },
          { name: 'v1beta1', served: true, storage: false, schema: { openAPIV3Schema: { type: 'object' } } },
        ],
      },
    });
    const gadgets = cluster.api(
      defineKind({ apiVersion: 'example.com/v1', kind: 'Gadget', scope: 'Namespaced', body: {} }),
      'n',
    );
    await gadgets.create({ metadata: { name: 'held', finalizers: [HOLD] } });
    await gadgets.create({ metadata: { name: 'free' } });
    await all.delete('n');
    await cluster.settle();
    expect((await conditions(cluster))[3]?.[3]).toBe(
      'Some resources are remaining: gadgets.example.com has 1 resource instances',
    );
    await gadgets.patch('held', mergePatch({ metadata: { finalizers: null } }));
    await cluster.settle();
    expect(await all.find('n')).toBeUndefined();
  });
});

describe('namespace deletion delay', () => {
  test('deletes nothing before the delay has passed', async () => {
    const { cluster, all, configMaps } = await withNamespace({ deletionDelayMs: 5_000 });
    await configMaps.create({ metadata: { name: 'c' } });
    await all.delete('n');
    await cluster.clock.advance(4_999);
    expect(await configMaps.find('c')).toBeDefined();
    await cluster.clock.advance(1);
    expect(await all.find('n')).toBeUndefined();
  });

  test('checks remaining content only by time with a delay', async () => {
    const { cluster, all, configMaps } = await withNamespace({ deletionDelayMs: 5_000 });
    await configMaps.create({ metadata: { name: 'c', finalizers: [HOLD] } });
    await all.delete('n');
    // Reconciles at 5 s, at 10 s because of the status change, and then every 8 s.
    await cluster.clock.advance(11_000);
    await release(cluster, ConfigMap, 'c');
    await cluster.clock.advance(6_999);
    expect(await all.find('n')).toBeDefined();
    await cluster.clock.advance(1);
    expect(await all.find('n')).toBeUndefined();
  });

  test('rejects a negative delay and unknown options', () => {
    expect(() => namespaces({ deletionDelayMs: -1 })).toThrow('deletionDelayMs is a number of milliseconds');
    expect(() => namespaces({ delay: 1 } as NamespacesOptions)).toThrow(TypeError);
  });
});

describe('namespace controller', () => {
  test('works with the permissions of its own service account', async () => {
    const cluster = testCluster({ controllers: controllers([namespaces()], { accounts: 'own' }) });
    await cluster.api(Namespace).create({ metadata: { name: 'n' } });
    await cluster.api(ConfigMap, 'n').create({ metadata: { name: 'c', finalizers: [HOLD] } });
    await cluster.api(Namespace).delete('n');
    await cluster.settle();
    await release(cluster, ConfigMap, 'c');
    await cluster.settle();
    expect(await cluster.api(Namespace).find('n')).toBeUndefined();
  });

  test('leaves no timers after the cluster is closed', async () => {
    const { cluster, all, configMaps } = await withNamespace();
    await configMaps.create({ metadata: { name: 'c', finalizers: [HOLD] } });
    await all.delete('n');
    await cluster.settle();
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });
});
