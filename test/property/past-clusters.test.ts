/**
 * Going back: a cluster at any version that it ever had shows what was there at that version, and histories of objects add
 * up to the same. Shown for every version of random histories, whatever watches can still reach.
 */
import { memoryStorage, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test, vi } from 'vitest';
import { histories, Story } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, keyOf, selectorsOf, shownBy } from './views.js';

vi.setConfig({ testTimeout: 60_000 });

test('a cluster at a version shows what was there at that version, through every view', async () => {
  await fc.assert(
    fc.asyncProperty(histories, anyView, async (steps, view) => {
      const story = await Story.begin(memoryStorage({ history: 3, historyMs: 1_000 }));
      for (const step of steps) await story.take(step);
      const now = story.present;
      for (const { version, items } of story.moments) {
        const past = story.cluster.at(version);
        expect(past.resourceVersion).toBe(version);
        const list = await collectionOf(past, view).list(selectorsOf(view));
        expect(list.items).toEqual(shownBy(view, items));
        await past.api(ConfigMap).deleteCollection();
      }
      expect((await story.cluster.all(ConfigMap).list()).items).toEqual(now);
    }),
    { numRuns: 25 },
  );
});

test('the histories of objects add up to the cluster at each version', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const story = await Story.begin(memoryStorage({ history: 3, historyMs: 1_000 }));
      for (const step of steps) await story.take(step);
      const everybody = new Map(
        story.moments.flatMap(({ items }) => items.map((object) => [keyOf(object), object] as const)),
      );
      for (const { version, items } of story.moments) {
        const there = new Set(items.map(keyOf));
        for (const [key, object] of everybody) {
          const until = story.cluster
            .history(object)
            .filter(({ resourceVersion }) => Number(resourceVersion) <= Number(version));
          const last = until[until.length - 1];
          if (!there.has(key)) expect([undefined, 'DELETED']).toContain(last?.type);
          else expect(last?.object).toEqual(items.find((item) => keyOf(item) === key));
          // Each change begins where the one before it ended.
          until.forEach(({ previous }, index) => {
            const before = until[index - 1];
            expect(previous).toBe(before?.type === 'DELETED' ? undefined : before?.object);
          });
        }
      }
    }),
    { numRuns: 25 },
  );
});

test('a version is shown rightly or not at all, however little is kept', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.integer({ min: 0, max: 8 }), async (steps, keepHistory) => {
      const story = await Story.begin(memoryStorage({ history: 3, historyMs: 100_000, keepHistory }));
      for (const step of steps) await story.take(step);
      for (const { version, items } of story.moments) {
        try {
          const past = story.cluster.at(version);
          expect((await past.all(ConfigMap).list()).items).toEqual(items);
        } catch (error) {
          if (!StatusError.is(error, 'Expired')) throw error;
        }
      }
    }),
    { numRuns: 40 },
  );
});
