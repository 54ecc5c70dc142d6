/**
 * What a short memory may cost: the past, but never a gap. A watcher that falls behind further than history reaches
 * is told so; one that keeps up never is; and an informer finds its way back by itself.
 */

import { memoryStorage } from 'orchplane';
import { expect, test, vi } from 'vitest';
import { histories, Story, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, EVERYTHING, Follower, keyOf, selectorsOf, shownBy } from './views.js';

vi.setConfig({ testTimeout: 30_000 });

const HISTORY = 5;
const some = writes(5, 40);

test('a watcher that falls behind holds the present in the end, or is told that it cannot', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, fc.integer({ min: 1, max: 12 }), async (steps, view, every) => {
      const story = await Story.begin(memoryStorage({ history: HISTORY }));
      const follower = await Follower.open(story.cluster, view);
      for (const [index, step] of steps.entries()) {
        await story.take(step);
        if (index % every === 0) await follower.read(2);
      }
      await follower.read();
      follower.close();
      if (!follower.isExpired) expect(follower.copy.items()).toEqual(shownBy(view, story.present));
    }),
    { numRuns: 60 },
  );
});

test('a watcher that keeps up never expires, however much happens elsewhere', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, async (steps, view) => {
      const story = await Story.begin(memoryStorage({ history: HISTORY }));
      const follower = await Follower.open(story.cluster, view);
      await follower.read();
      for (const step of steps) {
        // One step that deletes more objects than history holds is more than anybody can follow.
        if (step.type === 'deleteCollection') continue;
        await story.take(step);
        await follower.read();
      }
      follower.close();
      expect(follower.isExpired).toBe(false);
      expect(follower.copy.items()).toEqual(shownBy(view, story.present));
    }),
    { numRuns: 40 },
  );
});

test('a watch can start at a version exactly when all later events are still there', async () => {
  await fc.assert(
    fc.asyncProperty(some, async (steps) => {
      const story = await Story.begin(memoryStorage({ history: HISTORY }));
      const witness = await Follower.open(story.cluster, EVERYTHING);
      for (const step of steps) {
        await story.take(step);
        await witness.read();
      }
      // Deleting a collection may outrun even the witness, and then nobody can count.
      if (witness.isExpired) return;
      for (const { version, items } of story.moments) {
        const later = witness.events.filter((event) => Number(event.object.metadata.resourceVersion) > Number(version));
        const follower = Follower.from(story.cluster, EVERYTHING, { items, version });
        await follower.read();
        follower.close();
        expect(follower.isExpired).toBe(later.length > HISTORY);
        if (!follower.isExpired) expect(follower.events).toEqual(later);
      }
      witness.close();
    }),
    { numRuns: 40 },
  );
});

test('events that are too old are dropped even when they are few', async () => {
  await fc.assert(
    fc.asyncProperty(some, fc.integer({ min: 1, max: 2_000 }), async (steps, pause) => {
      const story = await Story.begin(memoryStorage({ historyMs: 10_000 }));
      const start = { items: story.present, version: story.cluster.resourceVersion };
      for (const step of steps) {
        await story.take(step);
        await story.cluster.clock.advance(pause);
      }
      const follower = Follower.from(story.cluster, EVERYTHING, start);
      await follower.read();
      follower.close();
      if (!follower.isExpired) expect(follower.copy.items()).toEqual(story.present);
      // The first event that changed anything is at most this young.
      const changes = story.moments.length > 1;
      if (follower.isExpired) expect(changes && steps.length * pause > 10_000).toBe(true);
    }),
    { numRuns: 40 },
  );
});

test('an informer holds the truth in the end, whatever was dropped or put back', async () => {
  await fc.assert(
    fc.asyncProperty(histories, anyView, async (steps, view) => {
      const story = await Story.begin(memoryStorage({ history: 3 }));
      const failures: unknown[] = [];
      const onError = (error: unknown) => failures.push(error);
      const informer = collectionOf(story.cluster, view).informer({ ...selectorsOf(view), onError });
      for (const step of steps) await story.take(step);
      // Long enough for every pause between attempts.
      await story.cluster.clock.advance(120_000);
      const known = [...informer.snapshot()].sort((left, right) => (keyOf(left) < keyOf(right) ? -1 : 1));
      informer.close();
      expect(known).toEqual(shownBy(view, story.present));
      expect(failures).toEqual([]);
    }),
    { numRuns: 60 },
  );
});

test('the events of an informer make a copy that equals its own', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, async (steps, view) => {
      const story = await Story.begin(memoryStorage({ history: 3 }));
      const informer = collectionOf(story.cluster, view).informer(selectorsOf(view));
      const copy = new Map<string, unknown>();
      informer.subscribe((event) => {
        expect(copy.has(keyOf(event.object))).toBe(event.type !== 'ADDED');
        if (event.type === 'DELETED') copy.delete(keyOf(event.object));
        else copy.set(keyOf(event.object), event.object);
      });
      for (const step of steps) await story.take(step);
      await story.cluster.clock.advance(120_000);
      informer.close();
      expect(new Map(informer.snapshot().map((object) => [keyOf(object), object]))).toEqual(copy);
    }),
    { numRuns: 60 },
  );
});
