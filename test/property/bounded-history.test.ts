/**
 * Watches with a short event log: a watcher that falls too far behind expires, one that keeps up never does, no events
 * are skipped, and an informer recovers by itself.
 */

import { memoryStorage } from 'orchplane';
import { expect, test } from 'vitest';
import { histories, RecordedCluster, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, EVERYTHING, Follower, keyOf, selectorsOf, shownBy } from './views.js';

const HISTORY = 5;
const some = writes(5, 40);

test('gives a slow watcher the current state or expires it', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, fc.integer({ min: 1, max: 12 }), async (steps, view, every) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: HISTORY }));
      const follower = await Follower.open(recorded.cluster, view);
      for (const [index, step] of steps.entries()) {
        await recorded.run(step);
        if (index % every === 0) await follower.read(2);
      }
      await follower.read();
      follower.close();
      if (!follower.isExpired) expect(follower.copy.items()).toEqual(shownBy(view, recorded.current));
    }),
    { numRuns: 30 },
  );
});

test('never expires a watcher that keeps up', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, async (steps, view) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: HISTORY }));
      const follower = await Follower.open(recorded.cluster, view);
      await follower.read();
      for (const step of steps) {
        // One step that deletes more objects than the event log holds expires every watcher.
        if (step.type === 'deleteCollection') continue;
        await recorded.run(step);
        await follower.read();
      }
      follower.close();
      expect(follower.isExpired).toBe(false);
      expect(follower.copy.items()).toEqual(shownBy(view, recorded.current));
    }),
    { numRuns: 20 },
  );
});

test('starts a watch at a version exactly when the event log has all later events', async () => {
  await fc.assert(
    fc.asyncProperty(some, async (steps) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: HISTORY }));
      const observer = await Follower.open(recorded.cluster, EVERYTHING);
      for (const step of steps) {
        await recorded.run(step);
        await observer.read();
      }
      // Deleting a collection may expire even this follower, and then the later events are unknown.
      if (observer.isExpired) return;
      for (const { version, items } of recorded.states) {
        const later = observer.events.filter(
          (event) => Number(event.object.metadata.resourceVersion) > Number(version),
        );
        const follower = Follower.from(recorded.cluster, EVERYTHING, { items, version });
        await follower.read();
        follower.close();
        expect(follower.isExpired).toBe(later.length > HISTORY);
        if (!follower.isExpired) expect(follower.events).toEqual(later);
      }
      observer.close();
    }),
    { numRuns: 20 },
  );
});

test('drops events that are too old even when they are few', async () => {
  await fc.assert(
    fc.asyncProperty(some, fc.integer({ min: 1, max: 2_000 }), async (steps, pause) => {
      const recorded = await RecordedCluster.start(memoryStorage({ historyMs: 10_000 }));
      const start = { items: recorded.current, version: recorded.cluster.resourceVersion };
      for (const step of steps) {
        await recorded.run(step);
        await recorded.cluster.clock.advance(pause);
      }
      const follower = Follower.from(recorded.cluster, EVERYTHING, start);
      await follower.read();
      follower.close();
      if (!follower.isExpired) expect(follower.copy.items()).toEqual(recorded.current);
      // The first event is at most this old.
      const changes = recorded.states.length > 1;
      if (follower.isExpired) expect(changes && steps.length * pause > 10_000).toBe(true);
    }),
    { numRuns: 20 },
  );
});

test('brings an informer to the current state after compaction and restores', async () => {
  await fc.assert(
    fc.asyncProperty(histories, anyView, async (steps, view) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: 3 }));
      const failures: unknown[] = [];
      const onError = (error: unknown) => failures.push(error);
      const informer = collectionOf(recorded.cluster, view).informer({ ...selectorsOf(view), onError });
      for (const step of steps) await recorded.run(step);
      // Longer than every retry delay.
      await recorded.cluster.clock.advance(120_000);
      const known = [...informer.snapshot()].sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
      informer.close();
      expect(known).toEqual(shownBy(view, recorded.current));
      expect(failures).toEqual([]);
    }),
    { numRuns: 30 },
  );
});

test('reports informer events that reproduce its content', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, async (steps, view) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: 3 }));
      const informer = collectionOf(recorded.cluster, view).informer(selectorsOf(view));
      const copy = new Map<string, unknown>();
      informer.subscribe((event) => {
        expect(copy.has(keyOf(event.object))).toBe(event.type !== 'ADDED');
        if (event.type === 'DELETED') copy.delete(keyOf(event.object));
        else copy.set(keyOf(event.object), event.object);
      });
      for (const step of steps) await recorded.run(step);
      await recorded.cluster.clock.advance(120_000);
      informer.close();
      expect(new Map(informer.snapshot().map((object) => [keyOf(object), object]))).toEqual(copy);
    }),
    { numRuns: 30 },
  );
});
