/**
 * Readers share memory with the store, so everything they receive is deeply frozen, and an attempt to change it throws.
 */

import { mergePatch } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { newCluster, perform, RecordedCluster, type StoredConfigMap, writes } from './histories.js';
import fc from './seeded.js';
import { anyView, collectionOf, Follower, selectorsOf, turns } from './views.js';

const some = writes(5, 25);

/** The paths of everything inside a value that is not frozen. */
function unfrozen(value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const inside = Object.keys(value).flatMap((key) =>
    unfrozen((value as Record<string, unknown>)[key], `${path}/${key}`),
  );
  return Object.isFrozen(value) ? inside : [path || '/', ...inside];
}

/** Every object and array inside a value, including the value. */
function containers(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const record = value as Record<string, unknown>;
  return [record, ...Object.keys(record).flatMap((key) => containers(record[key]))];
}

const firstKey = (target: object) => Object.keys(target)[0] ?? '';

/** In-place changes of an object or array that is not empty. */
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

test('returns deeply frozen objects from get, list, create and update', async () => {
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
      for (const response of [list, page, created, updated, edited, rehearsed, marked, patched, released]) {
        expect(unfrozen(response)).toEqual([]);
      }
      for (const { metadata } of list.items) {
        const got = await cluster.api(ConfigMap, metadata.namespace ?? '').get(metadata.name);
        expect(unfrozen(got)).toEqual([]);
      }
    }),
    { numRuns: 20 },
  );
});

test('delivers deeply frozen objects in watches and informers', async () => {
  await fc.assert(
    fc.asyncProperty(some, anyView, async (steps, view) => {
      const cluster = await newCluster();
      const follower = await Follower.open(cluster, view);
      const informer = collectionOf(cluster, view).informer(selectorsOf(view));
      const delivered: StoredConfigMap[] = [];
      informer.subscribe((event) => delivered.push(event.object, ...('previous' in event ? [event.previous] : [])));
      for (const step of steps) await perform(cluster, step);
      await turns();
      await follower.read();
      for (const event of follower.events) expect(unfrozen(event)).toEqual([]);
      for (const object of [...delivered, informer.snapshot()]) expect(unfrozen(object)).toEqual([]);
      follower.close();
      informer.close();
    }),
    { numRuns: 20 },
  );
});

test('throws when a reader changes a returned object and leaves it unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(some, fc.nat(), fc.nat(), async (steps, which, how) => {
      const recorded = await RecordedCluster.start();
      const follower = await Follower.open(recorded.cluster, {});
      for (const step of steps) await recorded.run(step);
      await follower.read();
      follower.close();
      const list = await recorded.cluster.all(ConfigMap).list();
      const before = JSON.stringify(list);
      const targets = [...containers(list), ...follower.events.flatMap(containers)].filter((each) => firstKey(each));
      const target = targets[which % targets.length] ?? list;
      const vandalize = vandalism[how % vandalism.length];
      expect(() => vandalize?.(target as Record<string, unknown>)).toThrow(TypeError);
      expect(JSON.stringify(await recorded.cluster.all(ConfigMap).list())).toBe(before);
    }),
    { numRuns: 60 },
  );
});

test('does not change stored objects when a writer changes its input afterwards', async () => {
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
