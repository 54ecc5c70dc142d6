/**
 * Clusters at past versions: each shows the state of its version, and object histories agree with it, for every version
 * of random histories, regardless of compaction.
 */
import { memoryStorage, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { histories, RecordedCluster } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, keyOf, selectorsOf, shownBy } from './views.js';

test('shows the state of a past version through every view', async () => {
  await fc.assert(
    fc.asyncProperty(histories, anyView, async (steps, view) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: 3, historyMs: 1_000 }));
      for (const step of steps) await recorded.run(step);
      const now = recorded.current;
      for (const { version, items } of recorded.states) {
        const past = recorded.cluster.at(version);
        expect(past.resourceVersion).toBe(version);
        const list = await collectionOf(past, view).list(selectorsOf(view));
        expect(list.items).toEqual(shownBy(view, items));
        await past.api(ConfigMap).deleteCollection();
      }
      expect((await recorded.cluster.all(ConfigMap).list()).items).toEqual(now);
    }),
    { numRuns: 25 },
  );
});

test('reproduces the cluster at each version from object histories', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: 3, historyMs: 1_000 }));
      for (const step of steps) await recorded.run(step);
      const objectsByKey = new Map(
        recorded.states.flatMap(({ items }) => items.map((object) => [keyOf(object), object] as const)),
      );
      for (const { version, items } of recorded.states) {
        const there = new Set(items.map(keyOf));
        for (const [key, object] of objectsByKey) {
          const until = recorded.cluster
            .history(object)
            .filter(({ resourceVersion }) => Number(resourceVersion) <= Number(version));
          const last = until[until.length - 1];
          if (!there.has(key)) expect([undefined, 'DELETED']).toContain(last?.type);
          else expect(last?.object).toEqual(items.find((item) => keyOf(item) === key));
          // Each change starts where the previous one ended.
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

test('shows a past version correctly or not at all with a short event log', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.integer({ min: 0, max: 8 }), async (steps, keepHistory) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: 3, historyMs: 100_000, keepHistory }));
      for (const step of steps) await recorded.run(step);
      for (const { version, items } of recorded.states) {
        try {
          const past = recorded.cluster.at(version);
          expect((await past.all(ConfigMap).list()).items).toEqual(items);
        } catch (error) {
          if (!StatusError.is(error, 'Expired')) throw error;
        }
      }
    }),
    { numRuns: 40 },
  );
});
