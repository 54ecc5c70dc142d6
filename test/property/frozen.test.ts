/**
 * Readers share memory with the store, so nothing they are handed may be changed, however deep; and whoever tries is
 * told so by the language itself.
 */

import { mergePatch } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test, vi } from 'vitest';
import { newCluster, perform, type StoredConfigMap, Story, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, Follower, selectorsOf, turns } from './views.js';

vi.setConfig({ testTimeout: 30_000 });

const some = writes(5, 25);

/** The paths of everything inside a value that is not frozen. */
function unfrozen(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.keys(value).flatMap((key) =>
    unfrozen((value as Record<string, unknown>)[key], `${path}/${key}`),
  );
  return Object.isFrozen(value) ? inside : [path || '/', ...inside];
}

/** Every object and array inside a value, itself included. */
function containers(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const record = value as Record<string, unknown>;
  return [record, ...Object.keys(record).flatMap((key) => containers(record[key]))];
}

const firstKey = (target: object) => Object.keys(target)[0] ?? '';

/** Ways to change an object in place that has something in it. */
const vandalism: readonly ((target: Record<string, unknown>) => void)[] = [
  (target) => {
    target['added'] = 'by a reader';
  },
  (target) => {
    target[firstKey(target)] = 'by a reader';
  },
  (target) => {
    delete target[firstKey(target)];
  },
  (target) => {
    Object.defineProperty(target, 'added', { value: 'by a reader' });
  },
  (target) => {
    Object.setPrototypeOf(target, { added: 'by a reader' });
  },
];

test('what get, list, create and update hand out is frozen all the way down', async () => {
  await fc.assert(
    fc.asyncProperty(some, async (steps) => {
      const cluster = await newCluster();
      for (const step of steps) await perform(cluster, step);
      const list = await cluster.all(ConfigMap).list();
      const page = await cluster.all(ConfigMap).list({ limit: 1 });
      const configMaps = cluster.api(ConfigMap);
      const created = await configMaps.create({ metadata: { name: 'new', labels: { a: 'b' } }, data: { k: 'v' } });
      const updated = await configMaps.update({ ...created, binaryData: { b: 'AAAA' } });
      const edited = await configMaps.edit('new', (draft) => {
        draft.metadata.finalizers = ['example.com/hold'];
      });
      const rehearsed = await configMaps.update({ ...edited, data: {} }, { dryRun: true });
      const marked = await configMaps.delete('new');
      const patched = await configMaps.patch('new', mergePatch({ immutable: false }));
      const released = await configMaps.patch('new', mergePatch({ metadata: { finalizers: null } }));
      expect(await configMaps.find('new')).toBeUndefined();
      for (const answer of [list, page, created, updated, edited, rehearsed, marked, patched, released]) {
        expect(unfrozen(answer)).toEqual([]);
      }
      for (const { metadata } of list.items) {
        const got = await cluster.api(ConfigMap, metadata.namespace ?? '').get(metadata.name);
        expect(unfrozen(got)).toEqual([]);
      }
    }),
    { numRuns: 20 },
  );
});

test('what a watch and an informer hand out is frozen all the way down', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, async (steps, view) => {
      const cluster = await newCluster();
      const follower = await Follower.open(cluster, view);
      const informer = collectionOf(cluster, view).informer(selectorsOf(view));
      const told: StoredConfigMap[] = [];
      informer.subscribe((event) => told.push(event.object, ...('previous' in event ? [event.previous] : [])));
      for (const step of steps) await perform(cluster, step);
      await turns();
      await follower.read();
      for (const event of follower.events) expect(unfrozen(event)).toEqual([]);
      for (const object of [...told, informer.snapshot()]) expect(unfrozen(object)).toEqual([]);
      follower.close();
      informer.close();
    }),
    { numRuns: 20 },
  );
});

test('a reader that tries to change what it was handed is refused, and nothing has changed', async () => {
  await fc.assert(
    fc.asyncProperty(some, fc.nat(), fc.nat(), async (steps, which, how) => {
      const story = await Story.begin();
      const follower = await Follower.open(story.cluster, {});
      for (const step of steps) await story.take(step);
      await follower.read();
      follower.close();
      const list = await story.cluster.all(ConfigMap).list();
      const before = JSON.stringify(list);
      const targets = [...containers(list), ...follower.events.flatMap(containers)].filter((each) => firstKey(each));
      const target = targets[which % targets.length] ?? list;
      const vandalize = vandalism[how % vandalism.length];
      expect(() => vandalize?.(target as Record<string, unknown>)).toThrow(TypeError);
      expect(JSON.stringify(await story.cluster.all(ConfigMap).list())).toBe(before);
    }),
    { numRuns: 60 },
  );
});

test('what a writer does with its own object afterwards changes nothing that is stored', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom('k', 'l'), fc.string()), async (data) => {
      const cluster = await newCluster();
      const input = { metadata: { name: 'a', labels: { app: 'web' }, finalizers: ['example.com/hold'] }, data };
      const stored = await cluster.api(ConfigMap).create(input);
      const before = JSON.stringify(stored);
      input.metadata.labels.app = 'db';
      input.metadata.finalizers.push('example.com/more');
      input.data['k'] = 'changed';
      expect(JSON.stringify(await cluster.api(ConfigMap).get('a'))).toBe(before);
    }),
    { numRuns: 20 },
  );
});
