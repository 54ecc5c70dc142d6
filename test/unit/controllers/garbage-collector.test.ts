/**
 * Garbage collector, rule by rule, on a clock that does not advance: deletions happen without time passing.
 */
import { type ClusterOptions, defineKind, memoryStorage } from 'orchplane';
import { controllers, garbageCollector, runControllers } from 'orchplane/controllers';
import { ClusterRole, ConfigMap, CoreEvent, CustomResourceDefinition, Job, Namespace, Secret } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { liveHeap } from '../../fixtures/live-heap.js';

const MISSING_UID = '11111111-2222-3333-4444-555555555555';
const HOLD = 'example.com/hold';

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: { size: z.number() },
});

/** The same kind as a CRD serves it. */
const Gadget = defineKind({ apiVersion: 'example.com/v1', kind: 'Gadget', scope: 'Namespaced', body: {} });

interface Named {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string };
}

function collected(options: Omit<ClusterOptions, 'clock' | 'controllers'> = {}) {
  const failures: unknown[] = [];
  const run = controllers([garbageCollector()], { onError: (error, about) => failures.push([about, error]) });
  const cluster = testCluster({ ...options, controllers: run });
  return { cluster, failures, configMaps: cluster.api(ConfigMap), secrets: cluster.api(Secret) };
}

function reference(owner: Named, more: { blockOwnerDeletion?: boolean; controller?: boolean } = {}) {
  const { apiVersion, kind, metadata } = owner;
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid, ...more };
}

async function names(cluster: TestCluster, namespace = 'default'): Promise<string[]> {
  return (await cluster.api(ConfigMap, namespace).list()).items.map(({ metadata }) => metadata.name);
}

describe('background deletion by the garbage collector', () => {
  test('deletes the dependents of a deleted owner recursively and across kinds', async () => {
    const { cluster, configMaps, secrets } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const mid = await secrets.create({ metadata: { name: 'mid', ownerReferences: [reference(owner)] } });
    await configMaps.create({ metadata: { name: 'leaf', ownerReferences: [reference(mid)] } });
    await configMaps.create({ metadata: { name: 'free' } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['free', 'leaf', 'owner']);
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual(['free']);
    expect(await secrets.find('mid')).toBeUndefined();
  });

  test('removes the reference to a deleted owner and deletes the object with its last owner', async () => {
    const { cluster, configMaps } = collected();
    const first = await configMaps.create({ metadata: { name: 'first' } });
    const second = await configMaps.create({ metadata: { name: 'second' } });
    const both = [reference(first), reference(second)];
    await configMaps.create({ metadata: { name: 'child', ownerReferences: both } });
    await configMaps.delete('first');
    await cluster.settle();
    expect((await configMaps.get('child')).metadata.ownerReferences).toEqual([reference(second)]);
    await configMaps.delete('second');
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('deletes a dependent with a finalizer once and leaves it terminating', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', finalizers: [HOLD], ownerReferences: [reference(owner)] } });
    await configMaps.delete('owner');
    await cluster.settle();
    const child = await configMaps.get('child');
    expect(child.metadata.deletionTimestamp).toBeDefined();
    expect(child.metadata.finalizers).toEqual([HOLD]);
    const { resourceVersion } = cluster;
    await cluster.clock.advance(60_000);
    expect(cluster.resourceVersion).toBe(resourceVersion);
  });

  test('keeps a dependent whose owner reference is removed before the deletion', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    // Both in one turn: the collector must not rely on stale informers.
    await configMaps.edit('child', (draft) => {
      draft.metadata.ownerReferences = [];
    });
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child']);
  });

  test('treats an object with the owner’s name and another uid as another object', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    await configMaps.delete('owner');
    await configMaps.create({ metadata: { name: 'owner' } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['owner']);
  });

  test('deletes a dependent Job with background propagation instead of its default', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'i' }] } };
    const job = await cluster
      .api(Job)
      .create({ metadata: { name: 'job', ownerReferences: [reference(owner)] }, spec: { template } });
    await configMaps.create({ metadata: { name: 'leaf', ownerReferences: [reference(job)] } });
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await cluster.api(Job).find('job')).toBeUndefined();
    expect(await names(cluster)).toEqual([]);
  });

  test('applies the orphan finalizer of a dependent to the dependent’s own dependents', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const mid = await configMaps.create({
      metadata: { name: 'mid', finalizers: ['orphan'], ownerReferences: [reference(owner)] },
    });
    await configMaps.create({ metadata: { name: 'leaf', ownerReferences: [reference(mid)] } });
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual(['leaf']);
    expect((await configMaps.get('leaf')).metadata.ownerReferences).toBeUndefined();
  });
});

describe('missing owners', () => {
  test('deletes an object whose owner does not exist at once', async () => {
    const { cluster, configMaps } = collected();
    const missing = { apiVersion: 'v1', kind: 'ConfigMap', name: 'missing', uid: MISSING_UID };
    await configMaps.create({ metadata: { name: 'a', ownerReferences: [missing] } });
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'b', ownerReferences: [{ ...reference(owner), uid: MISSING_UID }] } });
    await configMaps.create({ metadata: { name: 'c', ownerReferences: [{ ...reference(owner), name: 'other' }] } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['owner']);
  });

  test('collects an object whose owner reference is added later', async () => {
    const { cluster, configMaps } = collected();
    await configMaps.create({ metadata: { name: 'child' } });
    await cluster.settle();
    await configMaps.edit('child', (draft) => {
      draft.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Secret', name: 'missing', uid: MISSING_UID }];
    });
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('waits for the kind of an owner that is not served', async () => {
    const { cluster, configMaps, failures } = collected();
    const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', name: 'g', uid: MISSING_UID };
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'missing', uid: MISSING_UID.replaceAll('1', '9') };
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [other, gadget] } });
    await cluster.clock.advance(3_600_000);
    expect((await configMaps.get('child')).metadata.ownerReferences).toHaveLength(2);
    expect(failures).toEqual([]);
    await defined(cluster);
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test.each([
    ['of an unknown kind', (text: string) => ({ kind: text, name: 'g', uid: MISSING_UID })],
    ['that does not exist', (text: string) => ({ kind: 'ConfigMap', name: 'g', uid: text })],
  ])('forgets an owner %s with its dependents', async (_, owner) => {
    await using cluster = testCluster({ storage: memoryStorage({ historyBytes: 1 }) });
    await using running = runControllers(cluster, [garbageCollector()]);
    const configMaps = cluster.api(ConfigMap);
    const createAndDelete = async (count: number) => {
      const ownerReferences = [{ apiVersion: 'v1', ...owner(`${count}`.padEnd(1e6, 'x')) }];
      await configMaps.create({ metadata: { name: `a${count}`, ownerReferences } });
      await running.settle();
      await configMaps.delete(`a${count}`).catch(() => undefined);
      await running.settle();
    };
    await createAndDelete(0);
    const before = liveHeap();
    for (let count = 1; count <= 20; count++) await createAndDelete(count);
    expect(await names(cluster)).toEqual([]);
    await expect.poll(() => liveHeap() - before).toBeLessThan(10e6);
  });

  test('accepts an owner kind in lower case', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const small = { ...reference(owner), kind: 'configmap' };
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [small] } });
    await configMaps.create({
      metadata: { name: 'orphan', ownerReferences: [{ ...small, name: 'n', uid: MISSING_UID }] },
    });
    await configMaps.create({ metadata: { name: 'other', ownerReferences: [{ ...small, kind: 'configmaps' }] } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child', 'other', 'owner']);
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual(['other']);
  });

  test('treats a version that is not served as an unknown kind', async () => {
    const { cluster, configMaps } = collected();
    const old = { apiVersion: 'apps/v1beta1', kind: 'Deployment', name: 'd', uid: MISSING_UID };
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [old] } });
    await cluster.clock.advance(60_000);
    expect(await names(cluster)).toEqual(['child']);
  });

  test('finds objects that existed before the collector started', async () => {
    const cluster = testCluster();
    const missing = { apiVersion: 'v1', kind: 'ConfigMap', name: 'missing', uid: MISSING_UID };
    await cluster.api(ConfigMap).create({ metadata: { name: 'child', ownerReferences: [missing] } });
    await using running = runControllers(cluster, [garbageCollector()]);
    await running.settle();
    expect(await names(cluster)).toEqual([]);
  });
});

describe('namespaces of owners', () => {
  test('treats an owner in another namespace as missing and records an event', async () => {
    const { cluster, configMaps } = collected();
    await cluster.api(Namespace).create({ metadata: { name: 'elsewhere' } });
    const owner = await cluster.api(ConfigMap, 'elsewhere').create({ metadata: { name: 'owner' } });
    const twin = await configMaps.create({ metadata: { name: 'twin' } });
    await configMaps.create({ metadata: { name: 'a', ownerReferences: [reference(owner)] } });
    await configMaps.create({ metadata: { name: 'b', ownerReferences: [reference(owner), reference(twin)] } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['b', 'twin']);
    expect((await configMaps.get('b')).metadata.ownerReferences).toEqual([reference(twin)]);
    expect(await names(cluster, 'elsewhere')).toEqual(['owner']);
    const { items } = await cluster.api(CoreEvent).list();
    expect(items.map(({ involvedObject, reason, type }) => [involvedObject.name, reason, type])).toEqual([
      ['a', 'OwnerRefInvalidNamespace', 'Warning'],
      ['b', 'OwnerRefInvalidNamespace', 'Warning'],
    ]);
    const { message, source, involvedObject } = items[0] ?? {};
    const { uid } = owner.metadata;
    expect(message).toBe(
      `ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: ${uid}] does not exist in namespace "default"`,
    );
    expect(source).toEqual({ component: 'garbage-collector-controller' });
    expect(Object.keys(involvedObject ?? {})).toEqual(['kind', 'namespace', 'name', 'uid', 'apiVersion']);
  });

  test('collects dependents of a cluster-scoped owner in every scope', async () => {
    const { cluster, configMaps } = collected();
    const roles = cluster.api(ClusterRole);
    const owner = await roles.create({ metadata: { name: 'owner' }, rules: [] });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await roles.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] }, rules: [] });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child']);
    await roles.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
    expect(await roles.find('child')).toBeUndefined();
  });

  test('never collects a cluster-scoped dependent of a namespaced owner', async () => {
    const { cluster, configMaps } = collected();
    const roles = cluster.api(ClusterRole);
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await roles.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] }, rules: [] });
    await cluster.settle();
    const { items } = await cluster.api(CoreEvent).list();
    const { uid } = owner.metadata;
    expect(items.map(({ message }) => message)).toEqual([
      `ownerRef [v1/ConfigMap, namespace: , name: owner, uid: ${uid}] does not exist in namespace ""`,
    ]);
    await configMaps.delete('owner');
    await cluster.clock.advance(60_000);
    expect((await roles.get('child')).metadata.ownerReferences).toHaveLength(1);
  });
});

describe('foreground deletion by the garbage collector', () => {
  test('deletes an owner without dependents at once', async () => {
    const { cluster, configMaps } = collected();
    await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    expect((await configMaps.get('owner')).metadata.finalizers).toEqual(['foregroundDeletion']);
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('keeps other finalizers after a foreground deletion', async () => {
    const { cluster, configMaps } = collected();
    await configMaps.create({ metadata: { name: 'owner', finalizers: [HOLD] } });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    await cluster.settle();
    expect((await configMaps.get('owner')).metadata.finalizers).toEqual([HOLD]);
  });

  test('waits for blocking dependents and not for others', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const metadata = { finalizers: [HOLD] };
    await configMaps.create({
      metadata: { ...metadata, name: 'blocks', ownerReferences: [reference(owner, { blockOwnerDeletion: true })] },
    });
    await configMaps.create({ metadata: { ...metadata, name: 'waits', ownerReferences: [reference(owner)] } });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    await cluster.settle();
    const { items } = await configMaps.list();
    expect(items.map((each) => [each.metadata.name, each.metadata.deletionTimestamp !== undefined])).toEqual([
      ['blocks', true],
      ['owner', true],
      ['waits', true],
    ]);
    await release(cluster, 'blocks');
    expect(await names(cluster)).toEqual(['waits']);
    await release(cluster, 'waits');
    expect(await names(cluster)).toEqual([]);
  });

  test('deletes a chain of blocking dependents from the bottom up', async () => {
    const { cluster, configMaps, secrets } = collected();
    const block = { blockOwnerDeletion: true, controller: true };
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const mid = await secrets.create({ metadata: { name: 'mid', ownerReferences: [reference(owner, block)] } });
    await configMaps.create({
      metadata: { name: 'leaf', finalizers: [HOLD], ownerReferences: [reference(mid, block)] },
    });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    await cluster.settle();
    expect((await secrets.get('mid')).metadata.finalizers).toEqual(['foregroundDeletion']);
    expect(await names(cluster)).toEqual(['leaf', 'owner']);
    await release(cluster, 'leaf');
    expect(await names(cluster)).toEqual([]);
    expect(await secrets.find('mid')).toBeUndefined();
  });

  test('removes the owner reference of a dependent with another owner', async () => {
    const { cluster, configMaps } = collected();
    const first = await configMaps.create({ metadata: { name: 'first' } });
    const second = await configMaps.create({ metadata: { name: 'second' } });
    const both = [reference(first, { blockOwnerDeletion: true }), reference(second)];
    await configMaps.create({ metadata: { name: 'child', ownerReferences: both } });
    await configMaps.delete('first', { propagation: 'Foreground' });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child', 'second']);
    expect((await configMaps.get('child')).metadata.ownerReferences).toEqual([reference(second)]);
  });

  test('deletes the owner when its dependent stops blocking', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({
      metadata: {
        name: 'child',
        finalizers: [HOLD],
        ownerReferences: [reference(owner, { blockOwnerDeletion: true })],
      },
    });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child', 'owner']);
    await configMaps.edit('child', (draft) => {
      draft.metadata.ownerReferences = [reference(owner, { blockOwnerDeletion: false })];
    });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child']);
  });

  test('deletes a dependent that was created during the foreground deletion', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const ownerReferences = [reference(owner, { blockOwnerDeletion: true })];
    await configMaps.create({ metadata: { name: 'early', finalizers: [HOLD], ownerReferences } });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    await cluster.settle();
    await configMaps.create({ metadata: { name: 'late', ownerReferences } });
    await cluster.settle();
    expect((await configMaps.get('late')).metadata.deletionTimestamp).toBeUndefined();
    await release(cluster, 'early');
    expect(await names(cluster)).toEqual([]);
  });
});

describe('ownership cycles', () => {
  test('keeps two objects that own each other until one is deleted', async () => {
    const { cluster, configMaps } = collected();
    await circle(cluster, false);
    await cluster.clock.advance(60_000);
    expect(await names(cluster)).toEqual(['a', 'b']);
    await configMaps.delete('a');
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('deletes two objects that block each other in the foreground', async () => {
    const { cluster, configMaps } = collected();
    await circle(cluster, true);
    await cluster.settle();
    await configMaps.delete('a', { propagation: 'Foreground' });
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('deletes an object that owns itself', async () => {
    const { cluster, configMaps } = collected();
    const self = await configMaps.create({ metadata: { name: 'self' } });
    await configMaps.edit('self', (draft) => {
      draft.metadata.ownerReferences = [reference(self)];
    });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['self']);
    await configMaps.delete('self');
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('never deletes an object that blocks itself in the foreground, as the reference server does', async () => {
    const { cluster, configMaps } = collected();
    const self = await configMaps.create({ metadata: { name: 'self' } });
    await configMaps.edit('self', (draft) => {
      draft.metadata.ownerReferences = [reference(self, { blockOwnerDeletion: true })];
    });
    await configMaps.delete('self', { propagation: 'Foreground' });
    await cluster.clock.advance(60_000);
    expect((await configMaps.get('self')).metadata.finalizers).toEqual(['foregroundDeletion']);
  });
});

describe('orphaning by the garbage collector', () => {
  test('removes the owner references of dependents and keeps them', async () => {
    const { cluster, configMaps, secrets } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const ownerReferences = [reference(owner, { controller: true, blockOwnerDeletion: true })];
    await configMaps.create({ metadata: { name: 'a', ownerReferences } });
    await secrets.create({ metadata: { name: 'b', ownerReferences } });
    await configMaps.delete('owner', { propagation: 'Orphan' });
    expect((await configMaps.get('owner')).metadata.finalizers).toEqual(['orphan']);
    await cluster.settle();
    expect(await names(cluster)).toEqual(['a']);
    expect((await configMaps.get('a')).metadata.ownerReferences).toBeUndefined();
    expect((await secrets.get('b')).metadata.ownerReferences).toBeUndefined();
  });

  test('orphans dependents when the owner has the orphan finalizer', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner', finalizers: ['orphan', HOLD] } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await configMaps.delete('owner');
    await cluster.settle();
    expect((await configMaps.get('owner')).metadata.finalizers).toEqual([HOLD]);
    expect((await configMaps.get('child')).metadata.ownerReferences).toBeUndefined();
  });

  test('keeps the owner and retries when a dependent cannot be updated', async () => {
    const { cluster, configMaps, failures } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    const stop = cluster.use((request, next) => {
      if (request.verb === 'patch' && request.name === 'child') throw new Error('no');
      return next();
    });
    await configMaps.delete('owner', { propagation: 'Orphan' });
    await cluster.clock.advance(1_000);
    expect(await names(cluster)).toEqual(['child', 'owner']);
    expect(failures.length).toBeGreaterThan(1);
    stop();
    await cluster.clock.advance(2_000);
    expect(await names(cluster)).toEqual(['child']);
  });
});

describe('kinds added and removed at run time', () => {
  test('collects custom resources as owners and as dependents', async () => {
    const { cluster, configMaps, failures } = collected();
    const gadgets = await defined(cluster);
    const owner = await gadgets.create({ metadata: { name: 'owner' } });
    const block = { blockOwnerDeletion: true };
    await gadgets.create({ metadata: { name: 'child', ownerReferences: [reference(owner, block)] } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    await gadgets.delete('owner', { propagation: 'Orphan' });
    await cluster.settle();
    expect((await gadgets.get('child')).metadata.ownerReferences).toBeUndefined();
    expect((await configMaps.get('child')).metadata.ownerReferences).toBeUndefined();
    await configMaps.delete('child');
    const next = await gadgets.create({ metadata: { name: 'next' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(next, block)] } });
    await gadgets.edit('child', (draft) => {
      draft.metadata.ownerReferences = [reference(next, block)];
    });
    await gadgets.delete('next', { propagation: 'Foreground' });
    await cluster.settle();
    expect((await gadgets.list()).items).toEqual([]);
    expect(await names(cluster)).toEqual([]);
    expect(failures).toEqual([]);
  });

  test('breaks an ownership cycle of custom resources', async () => {
    const { cluster } = collected();
    const gadgets = await defined(cluster);
    const a = await gadgets.create({ metadata: { name: 'a' } });
    const block = { blockOwnerDeletion: true };
    const b = await gadgets.create({ metadata: { name: 'b', ownerReferences: [reference(a, block)] } });
    await gadgets.edit('a', (draft) => {
      draft.metadata.ownerReferences = [reference(b, block)];
    });
    await cluster.settle();
    await gadgets.delete('a', { propagation: 'Foreground' });
    await cluster.settle();
    expect((await gadgets.list()).items).toEqual([]);
  });

  test('collects the dependents of custom resources that are deleted with their CRD', async () => {
    const { cluster, configMaps, failures } = collected();
    const gadgets = await defined(cluster);
    const owner = await gadgets.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    await cluster.api(CustomResourceDefinition).delete('gadgets.example.com');
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
    await cluster.clock.advance(600_000);
    expect(failures).toEqual([]);
    // The same again with a CRD of the same name.
    const again = await defined(cluster);
    const next = await again.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(next)] } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child']);
    await again.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
    expect(failures).toEqual([]);
  });

  test('keeps track of custom resources when another version is served', async () => {
    const { cluster, configMaps, failures } = collected();
    const gadgets = await defined(cluster);
    const owner = await gadgets.create({ metadata: { name: 'owner' } });
    await gadgets.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    await cluster.api(CustomResourceDefinition).edit('gadgets.example.com', (draft) => {
      const [version] = draft.spec.versions;
      if (version === undefined) return;
      draft.spec.versions = [
        { ...version, served: false, storage: false },
        { ...version, name: 'v2', storage: true },
      ];
    });
    await cluster.settle();
    const next = cluster.api(
      defineKind({ apiVersion: 'example.com/v2', kind: 'Gadget', scope: 'Namespaced', body: {} }),
    );
    const renewed = await next.get('owner');
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(renewed)] } });
    await cluster.settle();
    await next.delete('owner');
    await cluster.clock.advance(60_000);
    expect(await names(cluster)).toEqual([]);
    // The version in the child's owner reference is not served.
    expect((await next.list()).items.map(({ metadata }) => metadata.name)).toEqual(['child']);
    await next.edit('child', (draft) => {
      draft.metadata.ownerReferences = [{ ...reference(renewed), uid: MISSING_UID }];
    });
    await cluster.settle();
    expect((await next.list()).items).toEqual([]);
    expect(failures).toEqual([]);
  });

  test('collects objects of an installed user-defined kind', async () => {
    const { cluster, configMaps } = collected();
    cluster.install(Widget);
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await cluster.api(Widget).create({ metadata: { name: 'child', ownerReferences: [reference(owner)] }, size: 1 });
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await cluster.api(Widget).find('child')).toBeUndefined();
  });
});

describe('garbage collector', () => {
  test('works with the permissions of its own service account', async () => {
    const run = controllers([garbageCollector()], { accounts: 'own' });
    const cluster = testCluster({ controllers: run });
    const configMaps = cluster.api(ConfigMap);
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({
      metadata: { name: 'child', ownerReferences: [reference(owner, { blockOwnerDeletion: true })] },
    });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('collects objects in a fork and after a restore', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    const before = cluster.snapshot();
    const fork = cluster.fork();
    await fork.api(ConfigMap).delete('owner');
    await fork.settle();
    expect(await names(fork)).toEqual([]);
    expect(await names(cluster)).toEqual(['child', 'owner']);
    await configMaps.delete('owner');
    await cluster.settle();
    cluster.restore(before);
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child', 'owner']);
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('collects objects in the kubernetes dialect', async () => {
    const { cluster } = collected({ dialect: 'kubernetes' });
    const roles = cluster.api(ClusterRole);
    const owner = await roles.create({ metadata: { name: 'owner' }, rules: [] });
    expect(owner.apiVersion).toBe('rbac.authorization.k8s.io/v1');
    await roles.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] }, rules: [] });
    await roles.delete('owner');
    await cluster.settle();
    expect(await roles.find('child')).toBeUndefined();
  });

  test('leaves no timers after the cluster is closed', async () => {
    const { cluster } = collected();
    await defined(cluster);
    await cluster.settle();
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });
});

async function release(cluster: TestCluster, name: string): Promise<void> {
  await cluster.api(ConfigMap).edit(name, (draft) => {
    draft.metadata.finalizers = [];
  });
  await cluster.settle();
}

async function circle(cluster: TestCluster, blockOwnerDeletion: boolean): Promise<void> {
  const configMaps = cluster.api(ConfigMap);
  const a = await configMaps.create({ metadata: { name: 'a' } });
  const b = await configMaps.create({
    metadata: { name: 'b', ownerReferences: [reference(a, { blockOwnerDeletion })] },
  });
  await configMaps.edit('a', (draft) => {
    draft.metadata.ownerReferences = [reference(b, { blockOwnerDeletion })];
  });
}

/** Serves gadgets with a CRD and returns their API. */
async function defined(cluster: TestCluster) {
  const schema = { openAPIV3Schema: { type: 'object' as const } };
  await cluster.api(CustomResourceDefinition).create({
    metadata: { name: 'gadgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'gadgets', kind: 'Gadget' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  });
  return cluster.api(Gadget);
}
