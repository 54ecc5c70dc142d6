/**
 * List and watch together: a list at any version in the event log plus the later events give the current state, for every
 * version of random histories and every view.
 */

import { StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { histories, RecordedCluster, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, Follower, keyOf, selectorsOf, shownBy } from './views.js';

test('lists the state of a version in the event log', async () => {
  await fc.assert(
    fc.asyncProperty(histories, anyView, async (steps, view) => {
      const recorded = await RecordedCluster.start();
      for (const step of steps) await recorded.run(step);
      for (const { version, items } of recorded.states) {
        const found = await collectionOf(recorded.cluster, view)
          .list({ ...selectorsOf(view), resourceVersion: version, resourceVersionMatch: 'Exact' })
          .catch(undefinedWhenExpired);
        if (found === undefined) continue;
        expect(found.metadata.resourceVersion).toBe(version);
        expect(found.items).toEqual(shownBy(view, items));
      }
    }),
    { numRuns: 25 },
  );
});

test('reproduces the current state from a list at a version and the later events', async () => {
  await fc.assert(
    fc.asyncProperty(histories, anyView, async (steps, view) => {
      const recorded = await RecordedCluster.start();
      for (const step of steps) await recorded.run(step);
      for (const { version, items } of recorded.states) {
        const follower = Follower.from(recorded.cluster, view, { items: shownBy(view, items), version });
        await follower.read();
        follower.close();
        if (!follower.isExpired) expect(follower.copy.items()).toEqual(shownBy(view, recorded.current));
      }
    }),
    { numRuns: 20 },
  );
});

test('keeps every version while the event log is young and short', async () => {
  await fc.assert(
    fc.asyncProperty(writes(1, 40), anyView, async (steps, view) => {
      const recorded = await RecordedCluster.start();
      for (const step of steps) await recorded.run(step);
      for (const { version, items } of recorded.states) {
        const exact = { resourceVersion: version, resourceVersionMatch: 'Exact' } as const;
        const list = await collectionOf(recorded.cluster, view).list({ ...selectorsOf(view), ...exact });
        const follower = Follower.from(recorded.cluster, view, { items: list.items, version });
        await follower.read();
        follower.close();
        expect(list.items).toEqual(shownBy(view, items));
        expect(follower.isExpired).toBe(false);
      }
    }),
    { numRuns: 20 },
  );
});

test('gives watchers the current state for any selector and reading pattern', async () => {
  const reader = fc.record({ view: anyView, opensAt: fc.nat(20), every: fc.integer({ min: 1, max: 10 }) });
  await fc.assert(
    fc.asyncProperty(histories, fc.array(reader, { minLength: 1, maxLength: 4 }), async (steps, readers) => {
      const recorded = await RecordedCluster.start();
      const followers: { follower: Follower; every: number; restores: number }[] = [];
      for (const [index, step] of steps.entries()) {
        for (const { view, opensAt, every } of readers) {
          if (opensAt !== index) continue;
          const follower = await Follower.open(recorded.cluster, view, { bookmarks: every % 2 === 0 });
          followers.push({ follower, every, restores: recorded.restores });
        }
        await recorded.run(step);
        for (const { follower, every } of followers) if (index % every === 0) await follower.read();
      }
      for (const { follower, restores } of followers) {
        await follower.read();
        if (restores !== recorded.restores) expect(follower.isExpired).toBe(true);
        else if (!follower.isExpired) expect(follower.copy.items()).toEqual(shownBy(follower.view, recorded.current));
      }
    }),
    { numRuns: 35 },
  );
});

test('starts a watch without a version with the current objects in list order', async () => {
  await fc.assert(
    fc.asyncProperty(writes(0, 25), writes(0, 25), anyView, async (before, after, view) => {
      const recorded = await RecordedCluster.start();
      for (const write of before) await recorded.run(write);
      const there = shownBy(view, recorded.current);
      const version = recorded.cluster.resourceVersion;
      const watch = collectionOf(recorded.cluster, view).watch(selectorsOf(view));
      for (const write of after) await recorded.run(write);
      for (const object of there) expect((await watch.next()).value).toEqual({ type: 'ADDED', object });
      const follower = Follower.of(watch, view, { items: there, version });
      await follower.read();
      follower.close();
      expect(follower.copy.items()).toEqual(shownBy(view, recorded.current));
    }),
    { numRuns: 20 },
  );
});

test('orders lists by namespace/name as one string', async () => {
  await fc.assert(
    fc.asyncProperty(writes(0, 40), async (steps) => {
      const recorded = await RecordedCluster.start();
      for (const step of steps) await recorded.run(step);
      const keys = (await recorded.cluster.all(ConfigMap).list()).items.map(keyOf);
      expect(keys).toEqual([...keys].sort((left, right) => (left < right ? -1 : 1)));
    }),
    { numRuns: 20 },
  );
});

function undefinedWhenExpired(error: unknown): undefined {
  if (StatusError.is(error, 'Expired')) return undefined;
  throw error;
}
