/**
 * Random ownership graphs with random deletions: the remaining objects equal those of a small model.
 */
import { mergePatch } from 'orchplane';
import { controllers, garbageCollector } from 'orchplane/controllers';
import { ConfigMap } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import fc from './seeded.js';

const POLICIES = ['Background', 'Foreground', 'Orphan'] as const;
const MOST = 8;

interface Ownership {
  readonly owner: number;
  readonly blocks: boolean;
}

interface Deletion {
  readonly at: number;
  readonly propagation: (typeof POLICIES)[number];
}

const owners = fc.array(fc.record({ owner: fc.nat(MOST - 1), blocks: fc.boolean() }), { maxLength: 3 });
const shapes = fc.array(owners, { minLength: 1, maxLength: MOST });

/** The owners of each object, without duplicates. */
function chosen(shape: readonly (readonly Ownership[])[], isAllowed: (owner: number, owned: number) => boolean) {
  return shape.map((each, index) => {
    const allowed = each.filter(({ owner }) => owner < shape.length && isAllowed(owner, index));
    return allowed.filter(({ owner }, at) => allowed.findIndex((other) => other.owner === owner) === at);
  });
}

/** Owners come before their dependents, so there are no cycles. */
const families = shapes.map((shape) => chosen(shape, (owner, owned) => owner < owned));
/** Cycles are possible, except for self-references, which never end in the reference server either. */
const circles = shapes.map((shape) => chosen(shape, (owner, owned) => owner !== owned));
const deletions = fc.array(fc.record({ at: fc.nat(MOST - 1), propagation: fc.constantFrom(...POLICIES) }), {
  maxLength: 6,
});

const nameOf = (index: number) => `o-${index}`;

async function make(family: readonly (readonly Ownership[])[]): Promise<TestCluster> {
  const cluster = testCluster({ controllers: controllers([garbageCollector()]) });
  const configMaps = cluster.api(ConfigMap);
  const uids: string[] = [];
  for (const index of family.keys()) {
    const { metadata } = await configMaps.create({ metadata: { name: nameOf(index) } });
    uids.push(metadata.uid);
  }
  for (const [index, owners] of family.entries()) {
    const ownerReferences = owners.map(({ owner, blocks }) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: nameOf(owner),
      uid: uids[owner] ?? '',
      blockOwnerDeletion: blocks,
    }));
    await configMaps.patch(nameOf(index), mergePatch({ metadata: { ownerReferences } }));
  }
  await cluster.settle();
  return cluster;
}

async function remove(cluster: TestCluster, { at, propagation }: Deletion): Promise<void> {
  const configMaps = cluster.api(ConfigMap);
  const name = nameOf(at);
  if ((await configMaps.find(name)) !== undefined) await configMaps.delete(name, { propagation });
}

/** The remaining owners of each remaining object by name. */
async function survivors(cluster: TestCluster): Promise<Record<string, string[]>> {
  const { items } = await cluster.api(ConfigMap).list();
  for (const { metadata } of items) expect(metadata.deletionTimestamp).toBeUndefined();
  return Object.fromEntries(
    items.map(({ metadata }) => [metadata.name, (metadata.ownerReferences ?? []).map(({ name }) => name).sort()]),
  );
}

/** Removes an object that loses its last owner; orphaned objects remain. */
function model(family: readonly (readonly Ownership[])[], steps: readonly Deletion[]): Record<string, string[]> {
  const ownersOf = new Map(family.map((each, index) => [index, new Set(each.map(({ owner }) => owner))]));
  const removeObject = (removed: number, isOrphaning: boolean): void => {
    if (!ownersOf.delete(removed)) return;
    for (const [index, left] of [...ownersOf])
      if (left.delete(removed) && left.size === 0 && !isOrphaning) removeObject(index, false);
  };
  for (const { at, propagation } of steps) removeObject(at, propagation === 'Orphan');
  return Object.fromEntries([...ownersOf].map(([index, left]) => [nameOf(index), [...left].map(nameOf).sort()]));
}

describe('ownership graphs', () => {
  test('leaves the objects of the model after deletions one after another', async () => {
    await fc.assert(
      fc.asyncProperty(families, deletions, async (family, steps) => {
        await using cluster = await make(family);
        for (const step of steps) {
          await remove(cluster, step);
          await cluster.settle();
        }
        expect(await survivors(cluster)).toEqual(model(family, steps));
      }),
      { numRuns: 30 },
    );
  });

  test('leaves no object with a deleted owner after concurrent deletions', async () => {
    await fc.assert(
      fc.asyncProperty(families, deletions, async (family, steps) => {
        await using cluster = await make(family);
        for (const step of steps) await remove(cluster, step);
        await cluster.settle();
        const left = await survivors(cluster);
        for (const names of Object.values(left)) for (const owner of names) expect(left).toHaveProperty(owner);
      }),
      { numRuns: 30 },
    );
  });

  test('deletes cyclic ownership graphs completely', async () => {
    await fc.assert(
      fc.asyncProperty(circles, deletions, async (family, steps) => {
        await using cluster = await make(family);
        for (const step of steps) {
          await remove(cluster, step);
          await cluster.settle();
        }
        const left = await survivors(cluster);
        for (const names of Object.values(left)) for (const owner of names) expect(left).toHaveProperty(owner);
      }),
      { numRuns: 30 },
    );
  });
});
