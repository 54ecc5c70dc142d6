/**
 * The garbage collector, rule by rule, on a clock that stands still: what has to happen happens without time passing.
 */
import { type ClusterOptions, defineKind } from 'orchplane';
import { controllers, garbageCollector, runControllers } from 'orchplane/controllers';
import { ClusterRole, ConfigMap, CoreEvent, CustomResourceDefinition, Job, Namespace, Secret } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

const NOBODY = '11111111-2222-3333-4444-555555555555';
const HOLD = 'example.com/hold';

const Widget = defineKind({
  apiVersion: 'example.com/v1',
  kind: 'Widget',
  scope: 'Namespaced',
  body: { size: z.number() },
});

/** As a definition makes it. */
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

describe('in the background', () => {
  test('dependents of a deleted owner go, and theirs, of whatever kind', async () => {
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

  test('what has another owner loses the one that is gone, and goes with the last', async () => {
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

  test('a finalizer keeps a dependent, which is asked once', async () => {
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

  test('a reference that is taken away in time saves the dependent', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    // Both in one turn: what the informers know when the look comes is not what counts.
    await configMaps.edit('child', (draft) => {
      draft.metadata.ownerReferences = [];
    });
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child']);
  });

  test('an object of the same name is not the owner', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await cluster.settle();
    await configMaps.delete('owner');
    await configMaps.create({ metadata: { name: 'owner' } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['owner']);
  });

  test('a Job of the dependent kind is deleted with its policy, not with its default', async () => {
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

  test('the finalizer of a dependent decides about its own dependents', async () => {
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

describe('owners that are not there', () => {
  test('deletes an object whose owner does not exist at once', async () => {
    const { cluster, configMaps } = collected();
    const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: NOBODY };
    await configMaps.create({ metadata: { name: 'a', ownerReferences: [nobody] } });
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.create({ metadata: { name: 'b', ownerReferences: [{ ...reference(owner), uid: NOBODY }] } });
    await configMaps.create({ metadata: { name: 'c', ownerReferences: [{ ...reference(owner), name: 'other' }] } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['owner']);
  });

  test('a reference that is added later counts', async () => {
    const { cluster, configMaps } = collected();
    await configMaps.create({ metadata: { name: 'child' } });
    await cluster.settle();
    await configMaps.edit('child', (draft) => {
      draft.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Secret', name: 'nobody', uid: NOBODY }];
    });
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('waits for the kind of an owner that is not served', async () => {
    const { cluster, configMaps, failures } = collected();
    const gadget = { apiVersion: 'example.com/v1', kind: 'Gadget', name: 'g', uid: NOBODY };
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: NOBODY.replaceAll('1', '9') };
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [other, gadget] } });
    await cluster.clock.advance(3_600_000);
    expect((await configMaps.get('child')).metadata.ownerReferences).toHaveLength(2);
    expect(failures).toEqual([]);
    await defined(cluster);
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('a kind in small letters is that kind', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    const small = { ...reference(owner), kind: 'configmap' };
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [small] } });
    await configMaps.create({ metadata: { name: 'orphan', ownerReferences: [{ ...small, name: 'n', uid: NOBODY }] } });
    await configMaps.create({ metadata: { name: 'other', ownerReferences: [{ ...small, kind: 'configmaps' }] } });
    await cluster.settle();
    expect(await names(cluster)).toEqual(['child', 'other', 'owner']);
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await names(cluster)).toEqual(['other']);
  });

  test('treats a version that is not served as an unknown kind', async () => {
    const { cluster, configMaps } = collected();
    const old = { apiVersion: 'apps/v1beta1', kind: 'Deployment', name: 'd', uid: NOBODY };
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [old] } });
    await cluster.clock.advance(60_000);
    expect(await names(cluster)).toEqual(['child']);
  });

  test('finds objects that existed before the collector started', async () => {
    const cluster = testCluster();
    const nobody = { apiVersion: 'v1', kind: 'ConfigMap', name: 'nobody', uid: NOBODY };
    await cluster.api(ConfigMap).create({ metadata: { name: 'child', ownerReferences: [nobody] } });
    await using running = runControllers(cluster, [garbageCollector()]);
    await running.settle();
    expect(await names(cluster)).toEqual([]);
  });
});

describe('namespaces of owners', () => {
  test('an owner in another namespace is none, and an event says so', async () => {
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

  test('a cluster-scoped owner has dependents everywhere', async () => {
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

  test('a cluster-scoped dependent of a namespaced owner is never collected', async () => {
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

describe('in the foreground', () => {
  test('an owner without dependents goes at once', async () => {
    const { cluster, configMaps } = collected();
    await configMaps.create({ metadata: { name: 'owner' } });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    expect((await configMaps.get('owner')).metadata.finalizers).toEqual(['foregroundDeletion']);
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('other finalizers stay', async () => {
    const { cluster, configMaps } = collected();
    await configMaps.create({ metadata: { name: 'owner', finalizers: [HOLD] } });
    await configMaps.delete('owner', { propagation: 'Foreground' });
    await cluster.settle();
    expect((await configMaps.get('owner')).metadata.finalizers).toEqual([HOLD]);
  });

  test('dependents that block go first, others are only asked', async () => {
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

  test('it goes all the way down', async () => {
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

  test('a dependent with another owner is set free instead', async () => {
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

  test('a dependent that stops blocking lets its owner go', async () => {
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

  test('one that comes late is asked when another has gone', async () => {
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

describe('cycles', () => {
  test('two that own each other stay until one is deleted', async () => {
    const { cluster, configMaps } = collected();
    await circle(cluster, false);
    await cluster.clock.advance(60_000);
    expect(await names(cluster)).toEqual(['a', 'b']);
    await configMaps.delete('a');
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('two that hold up each other go in the foreground', async () => {
    const { cluster, configMaps } = collected();
    await circle(cluster, true);
    await cluster.settle();
    await configMaps.delete('a', { propagation: 'Foreground' });
    await cluster.settle();
    expect(await names(cluster)).toEqual([]);
  });

  test('one that owns itself goes when it is deleted', async () => {
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

  test('one that holds up itself waits for ever in the foreground, as in the reference', async () => {
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

describe('orphans', () => {
  test('dependents lose their owner and stay', async () => {
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

  test('the finalizer alone asks for it', async () => {
    const { cluster, configMaps } = collected();
    const owner = await configMaps.create({ metadata: { name: 'owner', finalizers: ['orphan', HOLD] } });
    await configMaps.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] } });
    await configMaps.delete('owner');
    await cluster.settle();
    expect((await configMaps.get('owner')).metadata.finalizers).toEqual([HOLD]);
    expect((await configMaps.get('child')).metadata.ownerReferences).toBeUndefined();
  });

  test('an owner whose dependent cannot be freed waits, and tries again', async () => {
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

describe('kinds that come and go', () => {
  test('objects of new definitions own and are owned, in every way', async () => {
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

  test('a cycle of them is broken as well', async () => {
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

  test('with a definition its objects go, and what they owned; nothing is asked of it any more', async () => {
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
    // And the same once more, under the same name.
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

  test('objects are known on when another version of them is served', async () => {
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
    // Its owner's version is one that nobody serves.
    expect((await next.list()).items.map(({ metadata }) => metadata.name)).toEqual(['child']);
    await next.edit('child', (draft) => {
      draft.metadata.ownerReferences = [{ ...reference(renewed), uid: NOBODY }];
    });
    await cluster.settle();
    expect((await next.list()).items).toEqual([]);
    expect(failures).toEqual([]);
  });

  test('a kind that is installed is followed too', async () => {
    const { cluster, configMaps } = collected();
    cluster.install(Widget);
    const owner = await configMaps.create({ metadata: { name: 'owner' } });
    await cluster.api(Widget).create({ metadata: { name: 'child', ownerReferences: [reference(owner)] }, size: 1 });
    await configMaps.delete('owner');
    await cluster.settle();
    expect(await cluster.api(Widget).find('child')).toBeUndefined();
  });
});

describe('the collector itself', () => {
  test('works under its own account', async () => {
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

  test('goes on in a fork and after a restore', async () => {
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

  test('speaks either dialect', async () => {
    const { cluster } = collected({ dialect: 'kubernetes' });
    const roles = cluster.api(ClusterRole);
    const owner = await roles.create({ metadata: { name: 'owner' }, rules: [] });
    expect(owner.apiVersion).toBe('rbac.authorization.k8s.io/v1');
    await roles.create({ metadata: { name: 'child', ownerReferences: [reference(owner)] }, rules: [] });
    await roles.delete('owner');
    await cluster.settle();
    expect(await roles.find('child')).toBeUndefined();
  });

  test('leaves nothing running when it ends', async () => {
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

/** Serves gadgets by a definition; what comes back is for talking to them. */
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
