/**
 * Long random runs of the garbage collector and the namespace controller: objects with random owners are created, changed
 * and deleted, namespaces are deleted, the clock advances, and finalizers block. In the end no orphan is left, every deleted
 * namespace is gone, and no object with a live owner was collected.
 */
import { mergePatch, StatusError } from 'orchplane';
import { controllers, garbageCollector, namespaces } from 'orchplane/controllers';
import { ConfigMap, Namespace, PriorityClass, Secret } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test, vi } from 'vitest';
import type { ApiObject, OwnerReference } from '../../src/meta/object.js';
import fc from './seeded.js';

vi.setConfig({ testTimeout: 120_000 });

const NAMESPACES = ['a', 'b', 'c'];
const NAMES = ['n0', 'n1', 'n2', 'n3', 'n4', 'n5'];
const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';
const HOLD = 'example.com/hold';

type Where = { readonly kind: 'ConfigMap' | 'Secret'; readonly namespace: string; readonly name: string };
const where: fc.Arbitrary<Where> = fc.record({
  kind: fc.constantFrom('ConfigMap', 'Secret'),
  namespace: fc.constantFrom(...NAMESPACES),
  name: fc.constantFrom(...NAMES),
});

type Step =
  | {
      readonly do: 'create';
      readonly at: Where;
      readonly owners: readonly { readonly of: Where | 'cluster' | 'absent'; readonly blocks: boolean }[];
      readonly held: boolean;
    }
  | { readonly do: 'delete'; readonly at: Where; readonly how: 'Background' | 'Foreground' | 'Orphan' }
  | { readonly do: 'release' | 'disown' | 'hold'; readonly at: Where }
  | { readonly do: 'cluster'; readonly exists: boolean }
  | { readonly do: 'deleteNamespace' | 'createNamespace'; readonly name: string }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'settle' };

const owner = fc.record({
  of: fc.oneof(
    { weight: 8, arbitrary: where },
    { weight: 1, arbitrary: fc.constant('cluster' as const) },
    { weight: 1, arbitrary: fc.constant('absent' as const) },
  ),
  blocks: fc.boolean(),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('create' as const),
      at: where,
      owners: fc.array(owner, { maxLength: 3 }),
      held: fc.integer({ min: 0, max: 5 }).map((chance) => chance === 0),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('delete' as const),
      at: where,
      how: fc.constantFrom('Background' as const, 'Foreground' as const, 'Orphan' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('release' as const, 'disown', 'hold'), at: where }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cluster' as const), exists: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom('deleteNamespace' as const, 'createNamespace'),
      name: fc.constantFrom(...NAMESPACES),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 3_600_000 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'settle' as const }) },
);

test('leaves no orphans, collects no owned objects and removes every deleted namespace', async () => {
  let collected = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 120 }), async (steps) => {
      await using cluster = testCluster({
        controllers: controllers([garbageCollector(), namespaces()], { accounts: 'own' }),
      });
      const wrong: string[] = [];
      cluster.use((request, next) => {
        if (request.user?.user === COLLECTOR && request.verb === 'delete') {
          collected++;
          const owned = solidOwner(cluster, request.resource.resource, request.namespace ?? '', request.name ?? '');
          if (owned !== undefined) wrong.push(owned);
        }
        return next();
      });
      for (const name of NAMESPACES) await cluster.api(Namespace).create({ metadata: { name } });
      for (const each of steps) await run(cluster, each);
      for (const object of all(cluster)) await release(cluster, object);
      await cluster.settle();
      await cluster.clock.advance(600_000);
      expect(wrong).toEqual([]);
      expect(orphans(cluster)).toEqual([]);
      const { items } = await cluster.api(Namespace).list();
      expect(items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([]);
      expect(all(cluster).filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([]);
    }),
    { numRuns: 60 },
  );
  // Makes sure that the run collected objects.
  expect(collected).toBeGreaterThan(50);
});

function all(cluster: TestCluster): readonly ApiObject[] {
  return ['configmaps', 'secrets'].flatMap((resource) => [
    ...cluster.storageReader.objects.list({ group: '', resource }),
  ]);
}

function uids(cluster: TestCluster): Map<string, ApiObject> {
  const classes = cluster.storageReader.objects.list({ group: 'scheduling.orch.io', resource: 'priorityclasses' });
  return new Map([...all(cluster), ...classes].map((object) => [object.metadata.uid, object]));
}

/** Objects with owner references to missing objects. */
function orphans(cluster: TestCluster): readonly string[] {
  const known = uids(cluster);
  return all(cluster)
    .filter(({ metadata: { ownerReferences = [] } }) => ownerReferences.some(({ uid }) => !known.has(uid)))
    .map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`);
}

/** A live owner of an object that is about to be collected. */
function solidOwner(cluster: TestCluster, resource: string, namespace: string, name: string): string | undefined {
  const object = cluster.storageReader.objects.get({ group: '', resource, namespace, name });
  const known = uids(cluster);
  for (const reference of object?.metadata.ownerReferences ?? []) {
    const found = known.get(reference.uid);
    if (found === undefined || (found.metadata.namespace ?? namespace) !== namespace) continue;
    const { deletionTimestamp, finalizers = [] } = found.metadata;
    if (deletionTimestamp !== undefined && finalizers.includes('foregroundDeletion')) continue;
    return `${resource} ${namespace}/${name} is owned by ${found.kind} ${found.metadata.name}`;
  }
  return undefined;
}

async function run(cluster: TestCluster, each: Step): Promise<void> {
  try {
    switch (each.do) {
      case 'create':
        return await create(cluster, each);
      case 'delete':
        return void (await api(cluster, each.at).delete(each.at.name, { propagation: each.how }));
      case 'release':
      case 'hold': {
        const finalizers = each.do === 'hold' ? [HOLD] : [];
        return void (await api(cluster, each.at).edit(each.at.name, (object) => {
          const others = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== HOLD);
          object.metadata.finalizers = [...others, ...finalizers];
        }));
      }
      case 'disown':
        return void (await api(cluster, each.at).patch(
          each.at.name,
          mergePatch({ metadata: { ownerReferences: null } }),
        ));
      case 'cluster':
        if (each.exists) await cluster.api(PriorityClass).create({ metadata: { name: 'owner' }, value: 1 });
        else await cluster.api(PriorityClass).delete('owner');
        return;
      case 'createNamespace':
        return void (await cluster.api(Namespace).create({ metadata: { name: each.name } }));
      case 'deleteNamespace':
        return void (await cluster.api(Namespace).delete(each.name));
      case 'wait':
        return await cluster.clock.advance(each.ms);
      default:
        return await cluster.settle();
    }
  } catch (error) {
    // Half of the steps ask for objects that do not exist, or that exist already.
    if (!StatusError.is(error)) throw error;
  }
}

function api(cluster: TestCluster, { kind, namespace }: Where) {
  // Both kinds have all fields used here.
  return cluster.api((kind === 'ConfigMap' ? ConfigMap : Secret) as typeof ConfigMap, namespace);
}

async function create(cluster: TestCluster, { at, owners, held }: Extract<Step, { do: 'create' }>): Promise<void> {
  const references = new Map<string, OwnerReference>();
  for (const { of, blocks } of owners) {
    const found = await reference(cluster, of, at.namespace);
    if (found !== undefined) references.set(found.uid, { ...found, blockOwnerDeletion: blocks });
  }
  await api(cluster, at).create({
    metadata: {
      name: at.name,
      ownerReferences: [...references.values()],
      ...(held ? { finalizers: [HOLD] } : {}),
    },
  });
}

async function reference(cluster: TestCluster, of: Where | 'cluster' | 'absent', namespace: string) {
  if (of === 'absent') return { apiVersion: 'v1', kind: 'ConfigMap', name: 'never', uid: cluster.ids.uid() };
  if (of === 'cluster') {
    const found = await cluster.api(PriorityClass).find('owner');
    return found && { apiVersion: found.apiVersion, kind: found.kind, name: 'owner', uid: found.metadata.uid };
  }
  const found = await api(cluster, { ...of, namespace }).find(of.name);
  return found && { apiVersion: 'v1', kind: of.kind, name: of.name, uid: found.metadata.uid };
}

async function release(cluster: TestCluster, { kind, metadata }: ApiObject): Promise<void> {
  const at = { kind: kind as Where['kind'], namespace: metadata.namespace ?? '', name: metadata.name };
  await run(cluster, { do: 'release', at });
}
