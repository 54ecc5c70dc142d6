/**
 * Versions and events: each write that changes something takes one version and is told once; one that changes nothing
 * takes none and is not told.
 */

import { jsonPatch, mergePatch } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test, vi } from 'vitest';
import { type newCluster, perform, type StoredConfigMap, Story, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, Follower, keyOf, shownBy } from './views.js';

vi.setConfig({ testTimeout: 30_000 });

const some = writes(5, 30);

/** Writes that ask for what is there already. */
const noOps = {
  'the same object again': (api, { metadata, ...rest }) => api.update({ metadata, ...rest }),
  'the same content without a version': (api, { metadata: { resourceVersion: _, ...metadata }, ...rest }) =>
    api.update({ ...rest, metadata }),
  'an empty merge patch': (api, object) => api.patch(object.metadata.name, mergePatch({})),
  'a merge patch of what is there': (api, { metadata, data }) =>
    api.patch(metadata.name, mergePatch({ metadata: { labels: metadata.labels ?? {} }, data: data ?? {} })),
  'a merge patch that deletes what is not there': (api, object) =>
    api.patch(object.metadata.name, mergePatch({ data: { absent: null } })),
  'a JSON patch without operations': (api, object) => api.patch(object.metadata.name, jsonPatch([])),
  'a JSON patch that only tests': (api, { metadata }) =>
    api.patch(metadata.name, jsonPatch([{ op: 'test', path: '/metadata/name', value: metadata.name }])),
  'an edit that changes nothing': (api, object) => api.edit(object.metadata.name, () => undefined),
  'an edit there and back': (api, object) =>
    api.edit(object.metadata.name, (draft) => {
      draft.data = { ...draft.data };
    }),
} satisfies Record<string, (api: ConfigMaps, object: StoredConfigMap) => Promise<StoredConfigMap>>;

type ConfigMaps = ReturnType<typeof apiOf>;

function apiOf(cluster: Awaited<ReturnType<typeof newCluster>>, namespace: string) {
  return cluster.api(ConfigMap, namespace);
}

test.each(Object.entries(noOps))('%s keeps the version and is told to nobody', async (_name, write) => {
  await fc.assert(
    fc.asyncProperty(some, fc.nat(), async (steps, which) => {
      const story = await Story.begin();
      for (const step of steps) await story.take(step);
      // A terminating object without finalizers cannot be written back: there is none.
      const object = story.present[which % Math.max(story.present.length, 1)];
      if (object === undefined) return;
      const follower = await Follower.open(story.cluster, {});
      const version = story.cluster.resourceVersion;
      const answer = await write(apiOf(story.cluster, object.metadata.namespace ?? ''), object);
      await follower.read();
      follower.close();
      expect(answer).toEqual(object);
      expect(story.cluster.resourceVersion).toBe(version);
      expect(follower.events).toEqual([]);
    }),
    { numRuns: 15 },
  );
});

test('every event shows the store as it was at its version', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, async (steps, view) => {
      const story = await Story.begin();
      const follower = await Follower.open(story.cluster, view);
      for (const step of steps) await story.take(step);
      await follower.read();
      follower.close();
      for (const event of follower.events) {
        if (event.type === 'BOOKMARK') continue;
        const { resourceVersion } = event.object.metadata;
        // Deletions of a collection take several versions in one step; those in between were never the present.
        const moment = story.moments.find(({ version }) => version === resourceVersion);
        const there = shownBy(view, moment?.items ?? []).find((each) => keyOf(each) === keyOf(event.object));
        if (moment === undefined) expect(event.type).not.toBe('ADDED');
        else if (event.type === 'DELETED') expect(there).toBeUndefined();
        else expect(event.object).toBe(there);
      }
    }),
    { numRuns: 40 },
  );
});

test('every version between two moments is the version of one event of one kind', async () => {
  await fc.assert(
    fc.asyncProperty(some, async (steps) => {
      const story = await Story.begin();
      const follower = await Follower.open(story.cluster, {});
      const start = Number(story.cluster.resourceVersion);
      const writesOfConfigMaps = steps.filter(({ type }) => type !== 'elsewhere');
      for (const step of writesOfConfigMaps) await story.take(step);
      await follower.read();
      follower.close();
      const versions = follower.events.map((event) => Number(event.object.metadata.resourceVersion));
      const end = Number(story.cluster.resourceVersion);
      expect(versions).toEqual(Array.from({ length: end - start }, (_, index) => start + index + 1));
    }),
    { numRuns: 30 },
  );
});

test('two watchers of the same view are shown the same events', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, fc.integer({ min: 1, max: 7 }), async (steps, view, every) => {
      const story = await Story.begin();
      const [prompt, slow] = [await Follower.open(story.cluster, view), await Follower.open(story.cluster, view)];
      for (const [index, step] of steps.entries()) {
        await story.take(step);
        await prompt.read();
        if (index % every === 0) await slow.read(1);
      }
      await slow.read();
      expect(slow.events).toEqual(prompt.events);
      for (const follower of [prompt, slow]) follower.close();
    }),
    { numRuns: 30 },
  );
});

test('a rehearsal of any write changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(some, some, async (steps, rehearsed) => {
      const story = await Story.begin();
      for (const step of steps) await story.take(step);
      const follower = await Follower.open(story.cluster, {});
      const before = [story.cluster.resourceVersion, story.present];
      const rehearsal = { ...story.cluster, ...story.cluster.with({ dryRun: true }) };
      for (const step of rehearsed) await perform(rehearsal, step);
      await follower.read();
      follower.close();
      expect([story.cluster.resourceVersion, (await story.cluster.all(ConfigMap).list()).items]).toEqual(before);
      expect(follower.events).toEqual([]);
    }),
    { numRuns: 30 },
  );
});
