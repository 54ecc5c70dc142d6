/**
 * List and watch together: a list at any version that is remembered, and the events since, make the present. Shown
 * for every version of random histories, through every kind of view.
 */

import { StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test, vi } from 'vitest';
import { histories, Story, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, Follower, keyOf, selectorsOf, shownBy } from './views.js';

vi.setConfig({ testTimeout: 30_000 });

test('a list at a version that is remembered shows what was there at that version', async () => {
  await fc.assert(
    fc.asyncProperty(histories, anyView, async (steps, view) => {
      const story = await Story.begin();
      for (const step of steps) await story.take(step);
      for (const { version, items } of story.moments) {
        const found = await collectionOf(story.cluster, view)
          .list({ ...selectorsOf(view), resourceVersion: version, resourceVersionMatch: 'Exact' })
          .catch(undefinedWhenExpired);
        if (found === undefined) continue;
        expect(found.metadata.resourceVersion).toBe(version);
        expect(found.items).toEqual(shownBy(view, items));
      }
    }),
    { numRuns: 50 },
  );
});

test('a list at a version plus the events since make the present', async () => {
  await fc.assert(
    fc.asyncProperty(histories, anyView, async (steps, view) => {
      const story = await Story.begin();
      for (const step of steps) await story.take(step);
      for (const { version, items } of story.moments) {
        const follower = Follower.from(story.cluster, view, { items: shownBy(view, items), version });
        await follower.read();
        follower.close();
        if (!follower.isExpired) expect(follower.copy.items()).toEqual(shownBy(view, story.present));
      }
    }),
    { numRuns: 40 },
  );
});

test('no version is forgotten while history is young and short', async () => {
  await fc.assert(
    fc.asyncProperty(writes(1, 40), anyView, async (steps, view) => {
      const story = await Story.begin();
      for (const step of steps) await story.take(step);
      for (const { version, items } of story.moments) {
        const exact = { resourceVersion: version, resourceVersionMatch: 'Exact' } as const;
        const list = await collectionOf(story.cluster, view).list({ ...selectorsOf(view), ...exact });
        const follower = Follower.from(story.cluster, view, { items: list.items, version });
        await follower.read();
        follower.close();
        expect(list.items).toEqual(shownBy(view, items));
        expect(follower.isExpired).toBe(false);
      }
    }),
    { numRuns: 40 },
  );
});

test('those who watched while it happened hold the present, whatever they selected and whenever they read', async () => {
  const reader = fc.record({ view: anyView, opensAt: fc.nat(20), every: fc.integer({ min: 1, max: 10 }) });
  await fc.assert(
    fc.asyncProperty(histories, fc.array(reader, { minLength: 1, maxLength: 4 }), async (steps, readers) => {
      const story = await Story.begin();
      const followers: { follower: Follower; every: number; restores: number }[] = [];
      for (const [index, step] of steps.entries()) {
        for (const { view, opensAt, every } of readers) {
          if (opensAt !== index) continue;
          const follower = await Follower.open(story.cluster, view, { bookmarks: every % 2 === 0 });
          followers.push({ follower, every, restores: story.restores });
        }
        await story.take(step);
        for (const { follower, every } of followers) if (index % every === 0) await follower.read();
      }
      for (const { follower, restores } of followers) {
        await follower.read();
        if (restores !== story.restores) expect(follower.isExpired).toBe(true);
        else if (!follower.isExpired) expect(follower.copy.items()).toEqual(shownBy(follower.view, story.present));
      }
    }),
    { numRuns: 70 },
  );
});

test('a watch without a version shows what is there, in the order of a list, and then what happens', async () => {
  await fc.assert(
    fc.asyncProperty(writes(0, 25), writes(0, 25), anyView, async (before, after, view) => {
      const story = await Story.begin();
      for (const write of before) await story.take(write);
      const there = shownBy(view, story.present);
      const version = story.cluster.resourceVersion;
      const watch = collectionOf(story.cluster, view).watch(selectorsOf(view));
      for (const write of after) await story.take(write);
      for (const object of there) expect((await watch.next()).value).toEqual({ type: 'ADDED', object });
      const follower = Follower.of(watch, view, { items: there, version });
      await follower.read();
      follower.close();
      expect(follower.copy.items()).toEqual(shownBy(view, story.present));
    }),
    { numRuns: 40 },
  );
});

test('lists are in the order of namespace/name as one text', async () => {
  await fc.assert(
    fc.asyncProperty(writes(0, 40), async (steps) => {
      const story = await Story.begin();
      for (const step of steps) await story.take(step);
      const keys = (await story.cluster.all(ConfigMap).list()).items.map(keyOf);
      expect(keys).toEqual([...keys].sort((left, right) => (left < right ? -1 : 1)));
    }),
    { numRuns: 40 },
  );
});

function undefinedWhenExpired(error: unknown): undefined {
  if (StatusError.is(error, 'Expired')) return undefined;
  throw error;
}
