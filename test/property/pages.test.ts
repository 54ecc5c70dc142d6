/**
 * The pages of one list: whatever is written between them, and however little history is kept, they are pieces of one
 * and the same state.
 */

import { memoryStorage } from 'orchplane';
import { expect, test, vi } from 'vitest';
import { histories, type StoredConfigMap, Story, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, EVERYTHING, selectorsOf, shownBy } from './views.js';

vi.setConfig({ testTimeout: 30_000 });

const limits = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 });

test('all pages of a list show the version of the first, whatever is written between them', async () => {
  await fc.assert(
    fc.asyncProperty(
      writes(5, 40),
      fc.array(writes(0, 6), { maxLength: 12 }),
      limits,
      anyView,
      async (before, between, limitsInTurn, view) => {
        const story = await Story.begin(memoryStorage({ history: 2 }));
        for (const write of before) await story.take(write);
        const expected = shownBy(view, story.present);
        const version = story.cluster.resourceVersion;
        const found: StoredConfigMap[] = [];
        let token: string | undefined;
        for (let page = 0; page === 0 || token !== undefined; page++) {
          const limit = limitsInTurn[page % limitsInTurn.length] ?? 1;
          const { items, metadata } = await collectionOf(story.cluster, view).list({
            ...selectorsOf(view),
            limit,
            ...(token === undefined ? {} : { continue: token }),
          });
          expect(metadata.resourceVersion).toBe(version);
          found.push(...items);
          token = metadata.continue;
          if (token !== undefined) expect(items).toHaveLength(limit);
          for (const write of between[page] ?? []) await story.take(write);
        }
        expect(found).toEqual(expected);
      },
    ),
    { numRuns: 70 },
  );
});

test('the count of what remains is right on every page that has one, and only there without selectors', async () => {
  await fc.assert(
    fc.asyncProperty(
      histories,
      fc.array(writes(0, 4), { maxLength: 12 }),
      limits,
      anyView,
      async (before, between, limitsInTurn, view) => {
        const story = await Story.begin();
        for (const step of before) await story.take(step);
        const total = shownBy(view, story.present).length;
        const isWhole = view.labels === undefined && view.fields === undefined;
        let seen = 0;
        let token: string | undefined;
        for (let page = 0; page === 0 || token !== undefined; page++) {
          const limit = limitsInTurn[page % limitsInTurn.length] ?? 1;
          const { items, metadata } = await collectionOf(story.cluster, view).list({
            ...selectorsOf(view),
            limit,
            ...(token === undefined ? {} : { continue: token }),
          });
          seen += items.length;
          token = metadata.continue;
          expect(metadata.remainingItemCount).toBe(isWhole && token !== undefined ? total - seen : undefined);
          for (const write of between[page] ?? []) await story.take(write);
        }
      },
    ),
    { numRuns: 50 },
  );
});

test('two lists whose pages alternate do not disturb each other', async () => {
  await fc.assert(
    fc.asyncProperty(writes(5, 30), writes(0, 12), writes(0, 4), async (first, second, between) => {
      const story = await Story.begin(memoryStorage({ history: 1 }));
      const all = collectionOf(story.cluster, EVERYTHING);
      for (const write of first) await story.take(write);
      const older = story.present;
      const olderPages = all.pages({ pageSize: 1 })[Symbol.asyncIterator]();
      const found = { older: [] as StoredConfigMap[], newer: [] as StoredConfigMap[] };
      found.older.push(...((await olderPages.next()).value?.items ?? []));
      for (const write of second) await story.take(write);
      const newer = story.present;
      const newerPages = all.pages({ pageSize: 2 })[Symbol.asyncIterator]();
      for (let isDone = false; !isDone; ) {
        const [left, right] = [await newerPages.next(), await olderPages.next()];
        found.newer.push(...(left.value?.items ?? []));
        found.older.push(...(right.value?.items ?? []));
        for (const write of between) await story.take(write);
        isDone = left.done === true && right.done === true;
      }
      expect(found.older).toEqual(older);
      expect(found.newer).toEqual(newer);
    }),
    { numRuns: 30 },
  );
});
