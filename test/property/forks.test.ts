/**
 * A fork and its parent are independent: each equals a cluster that was never forked. The comparison ignores uids,
 * because each cluster generates its own.
 */

import type { Cluster, WatchEvent } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { fakeClock, sequentialIds } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { anyWrite, newCluster, perform, type StoredConfigMap, type Write, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, Follower, selectorsOf, type View } from './views.js';

const some = writes(0, 20);
/** Writes to both sides of a fork, interleaved. */
const bothSides = fc.array(fc.tuple(fc.constantFrom<Side>('parent', 'fork'), anyWrite), {
  maxLength: 30,
  size: 'max',
});
type Side = 'parent' | 'fork';

function forkOf(cluster: Cluster): Cluster {
  return cluster.fork({ ids: sequentialIds(), clock: fakeClock({ now: cluster.clock.now() }) });
}

/** Everything that a client can read, without uids. */
async function everything(cluster: Cluster): Promise<unknown> {
  const { items, metadata } = await cluster.all(ConfigMap).list();
  return withoutUids({ items, metadata, version: cluster.resourceVersion });
}

function withoutUids(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, part: unknown) => (key === 'uid' ? undefined : part)));
}

async function clusterAfter(...parts: (readonly Write[])[]): Promise<Cluster> {
  const cluster = await newCluster();
  for (const part of parts) for (const write of part) await perform(cluster, write);
  return cluster;
}

const onSide = (side: Side, steps: readonly (readonly [Side, Write])[]) =>
  steps.filter(([where]) => where === side).map(([, write]) => write);

test('keeps a fork and its parent equal to clusters that were never forked', async () => {
  await fc.assert(
    fc.asyncProperty(some, bothSides, async (before, steps) => {
      const parent = await clusterAfter(before);
      const fork = forkOf(parent);
      for (const [side, write] of steps) await perform(side === 'parent' ? parent : fork, write);
      expect(await everything(parent)).toEqual(await everything(await clusterAfter(before, onSide('parent', steps))));
      expect(await everything(fork)).toEqual(await everything(await clusterAfter(before, onSide('fork', steps))));
    }),
    { numRuns: 30 },
  );
});

test('shows a watch only the writes of its own side of a fork', async () => {
  async function events(
    before: readonly Write[],
    steps: readonly (readonly [Side, Write])[],
    about: { readonly view: View; readonly side: Side; readonly forks: boolean; readonly late: boolean },
  ): Promise<readonly WatchEvent<StoredConfigMap>[]> {
    const parent = await clusterAfter(before);
    const early = about.late ? undefined : await Follower.open(parent, about.view);
    const fork = about.forks ? forkOf(parent) : parent;
    const own = about.side === 'parent' ? parent : fork;
    const follower = early ?? (await Follower.open(own, about.view));
    for (const [side, write] of steps) {
      if (side === about.side) await perform(own, write);
      else if (about.forks) await perform(side === 'parent' ? parent : fork, write);
      await follower.read();
    }
    follower.close();
    return follower.events;
  }
  await fc.assert(
    fc.asyncProperty(
      some,
      bothSides,
      anyView,
      fc.constantFrom({ side: 'parent', late: false }, { side: 'parent', late: true }, { side: 'fork', late: true }),
      async (before, steps, view, opened) => {
        const about = { view, side: opened.side as Side, late: opened.late };
        const seen = await events(before, steps, { ...about, forks: true });
        const alone = await events(before, steps, { ...about, forks: false });
        expect(withoutUids(seen)).toEqual(withoutUids(alone));
      },
    ),
    { numRuns: 30 },
  );
});

test('continues a list from before the fork on both sides with the same state', async () => {
  await fc.assert(
    fc.asyncProperty(writes(10, 25), bothSides, anyView, async (before, steps, view) => {
      const parent = await clusterAfter(before);
      const whole = await collectionOf(parent, view).list(selectorsOf(view));
      const first = await collectionOf(parent, view).list({ ...selectorsOf(view), limit: 1 });
      if (first.metadata.continue === undefined) return;
      const fork = forkOf(parent);
      for (const [side, write] of steps) await perform(side === 'parent' ? parent : fork, write);
      for (const cluster of [parent, fork]) {
        const rest = await collectionOf(cluster, view).list({
          ...selectorsOf(view),
          continue: first.metadata.continue,
        });
        expect([...first.items, ...rest.items]).toEqual(whole.items);
        expect(rest.metadata.resourceVersion).toBe(whole.metadata.resourceVersion);
      }
    }),
    { numRuns: 30 },
  );
});

test('does not affect the parent when a fork is restored or closed', async () => {
  await fc.assert(
    fc.asyncProperty(some, some, some, async (before, onFork, onParent) => {
      const parent = await clusterAfter(before);
      const follower = await Follower.open(parent, {});
      const fork = forkOf(parent);
      const start = fork.snapshot();
      for (const write of onFork) await perform(fork, write);
      fork.restore(start);
      await fork.close();
      for (const write of onParent) await perform(parent, write);
      await follower.read();
      follower.close();
      expect(follower.isExpired).toBe(false);
      expect(follower.copy.items()).toEqual((await parent.all(ConfigMap).list()).items);
      expect(await everything(parent)).toEqual(await everything(await clusterAfter(before, onParent)));
    }),
    { numRuns: 30 },
  );
});
