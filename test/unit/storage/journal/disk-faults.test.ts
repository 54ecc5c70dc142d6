/** Journals on a full disk, and the file journal when its folder is removed while it is in use. */
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createCluster, mergePatch, StatusError } from '../../../../src/index.js';
import { journalError } from '../../../../src/indexed-db/journal.js';
import { ConfigMap } from '../../../../src/kinds/index.js';
import { fileJournal } from '../../../../src/node/index.js';
import { nextTurn } from '../../../../src/util/clock.js';
import { simulatedJournal } from './driver.js';
import { SimulatedDisk } from './simulated-disk.js';

const folder = mkdtempSync(join(tmpdir(), 'orchplane-faults-'));
let places = 0;
const newFolder = (): string => join(folder, String(++places));

afterAll(() => rmSync(folder, { recursive: true }));

/** The bytes that a disk contains. */
const usedBytes = (disk: SimulatedDisk): number => disk.paths.reduce((sum, path) => sum + disk.content(path).length, 0);

const RESERVE_BYTES = 100_000;
const text = (length: number) => ({ text: 'x'.repeat(length) });

async function failureOf(result: Promise<unknown>): Promise<StatusError> {
  const error = await result.then(
    () => undefined,
    (failure: unknown) => failure,
  );
  if (!StatusError.is(error)) throw new Error('the request did not fail with a Status', { cause: error });
  return error;
}

const FULL = { code: 503, reason: 'ServiceUnavailable', message: expect.stringContaining('ENOSPC') };

describe('a file journal on a full disk', () => {
  async function fullDisk(reserve = RESERVE_BYTES) {
    const disk = new SimulatedDisk();
    const warnings: string[] = [];
    const options = { reserve, onWarning: (warning: string) => void warnings.push(warning) };
    const cluster = createCluster({ journal: simulatedJournal(disk, options) });
    const maps = cluster.api(ConfigMap);
    for (const name of ['a', 'b', 'c']) await maps.create({ metadata: { name }, data: text(1_000) });
    await maps.create({ metadata: { name: 'held', finalizers: ['example.com/a'] } });
    disk.faults = { capacity: usedBytes(disk) };
    return { disk, cluster, maps, warnings, options };
  }

  test('continues reads, watches and deletions, and refuses other writes', async () => {
    const { disk, cluster, maps, warnings } = await fullDisk();
    const events = (await maps.watch())[Symbol.asyncIterator]();
    for (let initial = 0; initial < 4; initial++) await events.next();
    expect(await failureOf(maps.create({ metadata: { name: 'new' } }))).toMatchObject(FULL);
    expect(await failureOf(maps.patch('a', mergePatch({ data: { size: 'm' } })))).toMatchObject(FULL);
    await maps.delete('a');
    expect((await events.next()).value).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'a' } } });
    await events.return?.();
    // The space of the reserve is not for other writes.
    expect(await failureOf(maps.create({ metadata: { name: 'new' } }))).toMatchObject(FULL);
    await maps.delete('b');
    // A deletion that waits for finalizers consists of updates.
    await maps.delete('held');
    await maps.patch('held', mergePatch({ metadata: { finalizers: null } }));
    expect((await maps.list()).items.map(({ metadata }) => metadata.name)).toEqual(['c']);
    expect(warnings).toEqual([expect.stringContaining('the disk is full')]);
    const version = cluster.resourceVersion;
    const again = createCluster({ journal: simulatedJournal(disk.afterKill()) });
    expect(again.resourceVersion).toBe(version);
  });

  test('continues all writes when there is space again', async () => {
    const { disk, cluster, maps, warnings } = await fullDisk();
    await maps.delete('a');
    const rest = disk.content('data/reserve').length;
    expect(rest).toBeLessThan(RESERVE_BYTES);
    // Not enough for the reserve.
    disk.faults = { capacity: usedBytes(disk) + 10_000 };
    expect(await failureOf(maps.create({ metadata: { name: 'new' } }))).toMatchObject(FULL);
    expect(disk.content('data/reserve').length).toBeGreaterThan(rest);
    disk.faults = {};
    await maps.create({ metadata: { name: 'new' } });
    expect(disk.content('data/reserve')).toHaveLength(RESERVE_BYTES);
    expect(warnings).toEqual([expect.stringContaining('the disk is full'), expect.stringContaining('has space again')]);
    await cluster.close();
  });

  test('continues all writes when deletions have left so little that a checkpoint fits into the reserve', async () => {
    const reserve = 500_000;
    const { disk, cluster, maps, options } = await fullDisk(reserve);
    // Updates of the same object, so that the journal is much longer than the state.
    disk.faults = {};
    for (let round = 0; round < 40; round++) await maps.patch('c', mergePatch({ data: text(9_000 + round) }));
    disk.faults = { capacity: usedBytes(disk) };
    await maps.delete('a');
    await maps.create({ metadata: { name: 'new' } });
    expect(disk.content('data/reserve')).toHaveLength(reserve);
    const version = cluster.resourceVersion;
    const killed = disk.afterKill();
    expect(killed.paths).not.toContain('data/journal-1');
    const again = createCluster({ journal: simulatedJournal(killed, options) });
    expect(again.resourceVersion).toBe(version);
    expect((await again.api(ConfigMap).list()).items.map(({ metadata }) => metadata.name)).toContain('new');
  });

  test('tries a checkpoint again only when deletions have saved a part of the reserve', async () => {
    const { disk, maps } = await fullDisk(300_000);
    disk.faults = {};
    const large = Array.from({ length: 4 }, (_, index) => `large-${index}`);
    for (const name of large) await maps.create({ metadata: { name }, data: text(60_000) });
    const small = Array.from({ length: 10 }, (_, index) => `small-${index}`);
    for (const name of small) await maps.create({ metadata: { name } });
    disk.faults = { capacity: usedBytes(disk) };
    const opened = vi.spyOn(disk, 'open');
    const attempts = () => opened.mock.calls.filter(([path]) => path.includes('checkpoint')).length;
    for (const name of small) {
      expect(await failureOf(maps.create({ metadata: { name: 'new' } }))).toMatchObject(FULL);
      await maps.delete(name);
    }
    expect(attempts()).toBe(1);
    for (const name of large) await maps.delete(name);
    await maps.create({ metadata: { name: 'new' } });
    expect(attempts()).toBe(2);
  });

  test('deletes objects that are together larger than the reserve, and restores the events', async () => {
    const { disk, cluster, maps, options } = await fullDisk();
    disk.faults = {};
    const names = Array.from({ length: 8 }, (_, index) => `big-${index}`);
    for (const name of names) await maps.create({ metadata: { name, labels: { size: 'l' } }, data: text(45_000) });
    const { metadata } = await maps.list();
    disk.faults = { capacity: usedBytes(disk) };
    for (const name of names) await maps.delete(name);
    const eventsOf = async (from: typeof cluster) => {
      const { resourceVersion = '' } = metadata;
      const watch = from.api(ConfigMap).watch({ resourceVersion, labels: 'size=l' });
      const events = [];
      for await (const event of watch) if (events.push(event) === names.length) break;
      return events;
    };
    const events = await eventsOf(cluster);
    expect(events.map(({ type, object }) => [type, (object as ConfigMap).metadata.name])).toEqual(
      names.map((name) => ['DELETED', name]),
    );
    const again = createCluster({ journal: simulatedJournal(disk.afterKill(), options) });
    expect(await eventsOf(again)).toEqual(events);
  });

  test('opens with a torn last record, and accepts deletions', async () => {
    const { disk, cluster, maps, options } = await fullDisk();
    await maps.delete('a');
    const version = cluster.resourceVersion;
    const after = disk.afterKill();
    const journal = after.content('data/journal-1');
    after.put('data/journal-1', Buffer.concat([journal, Buffer.from([0xfe, 0x4a, 0x52, 0xff, 1, 2, 3])]));
    after.faults = { capacity: usedBytes(after) };
    const again = createCluster({ journal: simulatedJournal(after, options) });
    expect(again.resourceVersion).toBe(version);
    // The reserve has taken the space of the torn record.
    expect(await failureOf(again.api(ConfigMap).create({ metadata: { name: 'new' } }))).toMatchObject(FULL);
    await again.api(ConfigMap).delete('b');
    expect((await again.api(ConfigMap).list()).items).toHaveLength(2);
  });

  test('refuses deletions when the reserve is used up', async () => {
    const { disk, maps } = await fullDisk();
    disk.faults = {};
    const names = Array.from({ length: 4 }, (_, index) => `big-${index}`);
    // Their deletions begin with updates, which are stored whole.
    const finalizers = ['example.com/a'];
    for (const name of names) await maps.create({ metadata: { name, finalizers }, data: text(40_000) });
    disk.faults = { capacity: usedBytes(disk) };
    await maps.delete('big-0');
    await maps.delete('big-1');
    expect(await failureOf(maps.delete('big-2'))).toMatchObject(FULL);
    expect((await maps.get('big-2')).metadata.deletionTimestamp).toBeUndefined();
    disk.faults = {};
    await maps.delete('big-2');
  });

  test('aborts a checkpoint whose space a deletion needs', async () => {
    const disk = new SimulatedDisk();
    const journal = simulatedJournal(disk, { reserve: 0, compactAfter: 850_000 });
    const cluster = createCluster({ journal });
    const maps = cluster.api(ConfigMap);
    const names = Array.from({ length: 4 }, (_, index) => `big-${index}`);
    for (const name of names) await maps.create({ metadata: { name }, data: text(200_000) });
    await maps.create({ metadata: { name: 'middle' }, data: text(100_000) });
    // Starts a checkpoint, which is written in slices.
    const small = maps.create({ metadata: { name: 'small' } });
    for (let step = 0; step < 20 && !disk.paths.includes('data/checkpoint-2.tmp'); step++) await Promise.resolve();
    expect(disk.paths).toContain('data/checkpoint-2.tmp');
    disk.faults = { capacity: usedBytes(disk) };
    expect(await failureOf(maps.delete('middle'))).toMatchObject(FULL);
    await small;
    for (let turn = 0; turn < 5; turn++) await nextTurn();
    // Without the checkpoint, a deletion fits.
    await maps.delete('middle');
    disk.faults = {};
    await maps.create({ metadata: { name: 'last' } });
    const state = (await maps.list()).items;
    expect(state.map(({ metadata }) => metadata.name)).toEqual([...names, 'last', 'small']);
    await cluster.close();
    const again = createCluster({ journal: simulatedJournal(disk.afterKill()) });
    expect((await again.api(ConfigMap).list()).items).toEqual(state);
  });

  test('uses the reserve for the lock file when it opens', async () => {
    const disk = new SimulatedDisk();
    const options = { reserve: RESERVE_BYTES };
    await createCluster({ journal: simulatedJournal(disk, options) }).close();
    disk.faults = { capacity: usedBytes(disk) };
    const { FileJournal } = await import('../../../../src/node/journal/file-journal.js');
    const lock = () => {
      disk.open('data/lock', 'new').write(Buffer.from('{}'), 0);
      return { requireHeld: () => undefined, release: () => disk.remove('data/lock') };
    };
    const journal = new FileJournal('data', { ...options, onWarning: () => undefined }, { files: disk, lock });
    const cluster = createCluster({ journal });
    expect(await failureOf(cluster.api(ConfigMap).create({ metadata: { name: 'a' } }))).toMatchObject(FULL);
    await cluster.close();
  });

  test('leaves space for the lock file in the reserve', async () => {
    const { disk, maps } = await fullDisk();
    disk.faults = {};
    const finalizers = ['example.com/a'];
    for (let n = 0; n < 4; n++) await maps.create({ metadata: { name: `b${n}`, finalizers }, data: text(45_000) });
    disk.faults = { capacity: usedBytes(disk) };
    const deletions = await Promise.allSettled([0, 1, 2, 3].map((n) => maps.delete(`b${n}`)));
    expect(deletions.at(-1)?.status).toBe('rejected');
    expect(disk.content('data/reserve').length).toBeGreaterThan(10_000);
  });

  test('has a reserve of 4 MiB, or of the given size', async () => {
    const path = newFolder();
    await createCluster({ journal: fileJournal(path) }).close();
    expect(statSync(join(path, 'reserve'))).toMatchObject({ size: 4 * 1024 * 1024 });
    await createCluster({ journal: fileJournal(path, { reserve: 5_000 }) }).close();
    expect(statSync(join(path, 'reserve')).size).toBe(5_000);
    const other = newFolder();
    await createCluster({ journal: fileJournal(other, { reserve: 0 }) }).close();
    expect(statSync(join(other, 'reserve')).size).toBe(0);
    expect(() => fileJournal(other, { reserve: -1 })).toThrow(/reserve of fileJournal/);
  });
});

describe('a journal in IndexedDB on a full disk', () => {
  test('reports the name of an error without a message', () => {
    const { message } = journalError('it failed', new DOMException('', 'QuotaExceededError'));
    expect(message).toBe('orchplane: it failed: QuotaExceededError');
    expect(journalError('it failed', new Error('why')).message).toBe('orchplane: it failed: why');
    expect(journalError('it failed', 'text').message).toBe('orchplane: it failed: text');
  });
});

describe('a file journal whose folder is removed', () => {
  const REMOVED = {
    code: 503,
    reason: 'ServiceUnavailable',
    message: expect.stringMatching(/was removed or replaced/),
  };
  const onWarning = () => undefined;

  test.each(['group', 'each', 'never'] as const)('refuses writes and continues reads, with sync %s', async (sync) => {
    const path = newFolder();
    const cluster = createCluster({ journal: fileJournal(path, { sync, onWarning }) });
    const maps = cluster.api(ConfigMap);
    await maps.create({ metadata: { name: 'a' } });
    rmSync(path, { recursive: true });
    expect(await failureOf(maps.create({ metadata: { name: 'b' } }))).toMatchObject(REMOVED);
    expect(await failureOf(maps.delete('a'))).toMatchObject(REMOVED);
    expect((await maps.list()).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    // Another folder at its place is not the cluster's.
    mkdirSync(path);
    writeFileSync(join(path, 'journal-1'), '');
    expect(await failureOf(maps.create({ metadata: { name: 'b' } }))).toMatchObject(REMOVED);
    await cluster.close();
  });

  test('continues writes when a folder that was moved is at its place again', async () => {
    const path = newFolder();
    const cluster = createCluster({ journal: fileJournal(path, { onWarning }) });
    const maps = cluster.api(ConfigMap);
    renameSync(path, `${path}-moved`);
    expect(await failureOf(maps.create({ metadata: { name: 'a' } }))).toMatchObject(REMOVED);
    renameSync(`${path}-moved`, path);
    await maps.create({ metadata: { name: 'a' } });
    await cluster.close();
    const again = createCluster({ journal: fileJournal(path) });
    expect((await again.api(ConfigMap).list()).items).toHaveLength(1);
    await again.close();
  });

  test.each(['group', 'each'] as const)('acknowledges no write if it is removed before the sync: %s', async (sync) => {
    const disk = new SimulatedDisk();
    const cluster = createCluster({ journal: simulatedJournal(disk, { sync }) });
    const maps = cluster.api(ConfigMap);
    await maps.create({ metadata: { name: 'a' } });
    disk.faults = { removedBySync: 'data/journal-1' };
    expect(await failureOf(maps.create({ metadata: { name: 'b' } }))).toMatchObject(REMOVED);
    expect((await failureOf(maps.create({ metadata: { name: 'c' } }))).message).toMatch(/until it is opened again/);
  });
});
