/**
 * Versions and events: each write that changes an object takes one version and sends one event; a write without a change
 * does neither.
 */

import { jsonPatch, mergePatch } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { type newCluster, perform, RecordedCluster, type StoredConfigMap, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, Follower, keyOf, shownBy } from './views.js';

const some = writes(5, 30);

/** Writes that request the existing state. */
const noOps = {
  'the same object again': (api, { metadata, ...rest }) => api.update({ metadata, ...rest }),
  'the same content without a version': (api, { metadata: { resourceVersion: _, ...metadata }, ...rest }) =>
    api.update({ ...rest, metadata }),
  'an empty merge patch': (api, object) => api.patch(object.metadata.name, mergePatch({})),
  'a merge patch of existing values': (api, { metadata, data }) =>
    api.patch(metadata.name, mergePatch({ metadata: { labels: metadata.labels ?? {} }, data: data ?? {} })),
  'a merge patch that deletes missing fields': (api, object) =>
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

test.each(Object.entries(noOps))('keeps the version and sends no event for %s', async (_name, write) => {
  await fc.assert(
    fc.asyncProperty(some, fc.nat(), async (steps, which) => {
      const recorded = await RecordedCluster.start();
      for (const step of steps) await recorded.run(step);
      // A terminating object without finalizers cannot be written.
      const object = recorded.current[which % Math.max(recorded.current.length, 1)];
      if (object === undefined) return;
      const follower = await Follower.open(recorded.cluster, {});
      const version = recorded.cluster.resourceVersion;
      const response = await write(apiOf(recorded.cluster, object.metadata.namespace ?? ''), object);
      await follower.read();
      follower.close();
      expect(response).toEqual(object);
      expect(recorded.cluster.resourceVersion).toBe(version);
      expect(follower.events).toEqual([]);
    }),
    { numRuns: 15 },
  );
});

test('sends events that show the store at their version', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, async (steps, view) => {
      const recorded = await RecordedCluster.start();
      const follower = await Follower.open(recorded.cluster, view);
      for (const step of steps) await recorded.run(step);
      await follower.read();
      follower.close();
      for (const event of follower.events) {
        if (event.type === 'BOOKMARK') continue;
        const { resourceVersion } = event.object.metadata;
        // Deleting a collection takes several versions in one step; those in between were never recorded.
        const state = recorded.states.find(({ version }) => version === resourceVersion);
        const there = shownBy(view, state?.items ?? []).find((each) => keyOf(each) === keyOf(event.object));
        if (state === undefined) expect(event.type).not.toBe('ADDED');
        else if (event.type === 'DELETED') expect(there).toBeUndefined();
        else expect(event.object).toBe(there);
      }
    }),
    { numRuns: 40 },
  );
});

test('uses each version for exactly one event', async () => {
  await fc.assert(
    fc.asyncProperty(some, async (steps) => {
      const recorded = await RecordedCluster.start();
      const follower = await Follower.open(recorded.cluster, {});
      const start = Number(recorded.cluster.resourceVersion);
      const writesOfConfigMaps = steps.filter(({ type }) => type !== 'elsewhere');
      for (const step of writesOfConfigMaps) await recorded.run(step);
      await follower.read();
      follower.close();
      const versions = follower.events.map((event) => Number(event.object.metadata.resourceVersion));
      const end = Number(recorded.cluster.resourceVersion);
      expect(versions).toEqual(Array.from({ length: end - start }, (_, index) => start + index + 1));
    }),
    { numRuns: 30 },
  );
});

test('sends two watchers of the same view the same events', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, fc.integer({ min: 1, max: 7 }), async (steps, view, every) => {
      const recorded = await RecordedCluster.start();
      const [prompt, slow] = [await Follower.open(recorded.cluster, view), await Follower.open(recorded.cluster, view)];
      for (const [index, step] of steps.entries()) {
        await recorded.run(step);
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

test('changes nothing in a dry run of any write', async () => {
  await fc.assert(
    fc.asyncProperty(some, some, async (steps, dryRunSteps) => {
      const recorded = await RecordedCluster.start();
      for (const step of steps) await recorded.run(step);
      const follower = await Follower.open(recorded.cluster, {});
      const before = [recorded.cluster.resourceVersion, recorded.current];
      const dryRunCluster = { ...recorded.cluster, ...recorded.cluster.with({ dryRun: true }) };
      for (const step of dryRunSteps) await perform(dryRunCluster, step);
      await follower.read();
      follower.close();
      expect([recorded.cluster.resourceVersion, (await recorded.cluster.all(ConfigMap).list()).items]).toEqual(before);
      expect(follower.events).toEqual([]);
    }),
    { numRuns: 30 },
  );
});
