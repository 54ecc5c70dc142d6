/**
 * Pages of one list: with any writes in between and any event log size, they are parts of the same state.
 */

import { memoryStorage } from 'orchplane';
import { expect, test } from 'vitest';
import { histories, RecordedCluster, type StoredConfigMap, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, EVERYTHING, selectorsOf, shownBy } from './views.js';

const limits = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 });

test('returns all pages of a list at the version of the first page', async () => {
  await fc.assert(
    fc.asyncProperty(
      writes(5, 40),
      fc.array(writes(0, 6), { maxLength: 12 }),
      limits,
      anyView,
      async (before, between, limitsInTurn, view) => {
        const recorded = await RecordedCluster.start(memoryStorage({ history: 2 }));
        for (const write of before) await recorded.run(write);
        const expected = shownBy(view, recorded.current);
        const version = recorded.cluster.resourceVersion;
        const found: StoredConfigMap[] = [];
        let token: string | undefined;
        for (let page = 0; page === 0 || token !== undefined; page++) {
          const limit = limitsInTurn[page % limitsInTurn.length] ?? 1;
          const { items, metadata } = await collectionOf(recorded.cluster, view).list({
            ...selectorsOf(view),
            limit,
            ...(token === undefined ? {} : { continue: token }),
          });
          expect(metadata.resourceVersion).toBe(version);
          found.push(...items);
          token = metadata.continue;
          if (token !== undefined) expect(items).toHaveLength(limit);
          for (const write of between[page] ?? []) await recorded.run(write);
        }
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: 70 },
  );
});

test('returns the correct remaining item count on every page without selectors and only there', async () => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      fc.array(writes(0, 4), { maxLength: 12 }),
      limits,
      anyView,
      async (before, between, limitsInTurn, view) => {
        const recorded = await RecordedCluster.start();
        for (const step of before) await recorded.run(step);
        const total = shownBy(view, recorded.current).length;
        const isWhole = view.labels === undefined && view.fields === undefined;
        let seen = 0;
        let token: string | undefined;
        for (let page = 0; page === 0 || token !== undefined; page++) {
          const limit = limitsInTurn[page % limitsInTurn.length] ?? 1;
          const { items, metadata } = await collectionOf(recorded.cluster, view).list({
            ...selectorsOf(view),
            limit,
            ...(token === undefined ? {} : { continue: token }),
          });
          seen += items.length;
          token = metadata.continue;
          expect(metadata.remainingItemCount).toBe(isWhole && token !== undefined ? total - seen : undefined);
          for (const write of between[page] ?? []) await recorded.run(write);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('keeps two lists with alternating pages independent', async () => {
  await fc.assert(
    fc.asyncProperty(writes(5, 30), writes(0, 12), writes(0, 4), async (first, second, between) => {
      const recorded = await RecordedCluster.start(memoryStorage({ history: 1 }));
      const all = collectionOf(recorded.cluster, EVERYTHING);
      for (const write of first) await recorded.run(write);
      const older = recorded.current;
      const olderPages = all.pages({ pageSize: 1 })[Symbol.asyncIterator]();
      const found = { older: [] as StoredConfigMap[], newer: [] as StoredConfigMap[] };
      found.older.push(...((await olderPages.next()).value?.items ?? []));
      for (const write of second) await recorded.run(write);
      const newer = recorded.current;
      const newerPages = all.pages({ pageSize: 2 })[Symbol.asyncIterator]();
      for (let isDone = false; !isDone; ) {
        const [left, right] = [await newerPages.next(), await olderPages.next()];
        found.newer.push(...(left.value?.items ?? []));
        found.older.push(...(right.value?.items ?? []));
        for (const write of between) await recorded.run(write);
        isDone = left.done === true && right.done === true;
      }
      expect(found.older).toEqual(older);
      expect(found.newer).toEqual(newer);
    }),
    { numRuns: 30 },
  );
});
