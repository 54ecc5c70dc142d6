/**
 * The journal in a folder: the promises of all journals, and what a folder can do to it.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createCluster, JournalError, StatusError } from '../../../src/index.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { fileJournal } from '../../../src/node/index.js';
import { crc32, FrameWriter, scanFrames } from '../../../src/node/journal/frame.js';
import { journalCases } from './contract.js';
import { openStore, pictureOf, pictureOfContent, simulatedJournal } from './driver.js';
import { SimulatedDisk } from './simulated-disk.js';

const folder = mkdtempSync(join(tmpdir(), 'orchplane-journal-'));
let places = 0;
const newFolder = (): string => join(folder, String(++places));

afterAll(() => rmSync(folder, { recursive: true }));

describe('in a folder', () => {
  for (const [name, run] of Object.entries(journalCases)) {
    test(name, async () => {
      const path = newFolder();
      await expect(
        run({ open: (size) => fileJournal(path, size === 'small' ? { compactAfter: 20_000 } : {}) }),
      ).resolves.toBeUndefined();
    });
  }

  test.each(['each', 'never'] as const)('with sync: %s it comes back as well', async (sync) => {
    const run = journalCases['a cluster comes back as it was'];
    const path = newFolder();
    await expect(run?.({ open: () => fileJournal(path, { sync }) })).resolves.toBeUndefined();
  });

  test('only its owner can read it', async () => {
    const path = newFolder();
    await createCluster({ journal: fileJournal(path) }).close();
    expect(statSync(path).mode & 0o777).toBe(0o700);
    const files = readdirSync(path);
    expect(files.sort()).toEqual(['checkpoint-1', 'journal-1']);
    for (const name of files) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  });

  test('old files go when a checkpoint is done', async () => {
    const path = newFolder();
    const cluster = createCluster({ journal: fileJournal(path, { compactAfter: 1 }) });
    const big = 'x'.repeat(500_000);
    for (let i = 0; i < 8; i++) await cluster.api(ConfigMap).create({ metadata: { name: `m${i}` }, data: { big } });
    await cluster.close();
    expect(readdirSync(path).length).toBeLessThanOrEqual(4);
    const again = createCluster({ journal: fileJournal(path) });
    expect((await again.api(ConfigMap).list()).items).toHaveLength(8);
    await again.close();
  });

  test('a lock of a process that is no more is taken over, one of another is told', async () => {
    const path = newFolder();
    await createCluster({ journal: fileJournal(path) }).close();
    const lock = join(path, 'lock');
    const { hostname } = await import('node:os');
    writeFileSync(lock, JSON.stringify({ pid: 2 ** 22 + 5, host: hostname() }));
    await createCluster({ journal: fileJournal(path) }).close();
    writeFileSync(lock, '{"pi');
    await createCluster({ journal: fileJournal(path) }).close();
    writeFileSync(lock, JSON.stringify({ pid: process.ppid, host: hostname() }));
    expect(() => createCluster({ journal: fileJournal(path) })).toThrow(`in use by process ${process.ppid}`);
    writeFileSync(lock, JSON.stringify({ pid: 1, host: 'elsewhere' }));
    expect(() => createCluster({ journal: fileJournal(path) })).toThrow(/process 1 on elsewhere .*remove/);
  });

  test('options that it does not know are refused', () => {
    expect(() => createCluster({ journal: './data' as never })).toThrow(/journal takes what fileJournal/);
    expect(() => fileJournal('')).toThrow(/takes a folder/);
    expect(() => fileJournal('x', { sync: 'sometimes' as never })).toThrow(/one of group, each, never/);
    expect(() => fileJournal('x', { compactAfter: -1 })).toThrow(/number of bytes/);
    expect(() => fileJournal('x', { sink: 1 } as never)).toThrow(/no option "sink"/);
  });
});

describe('on a simulated disk', () => {
  for (const [name, run] of Object.entries(journalCases)) {
    // One process at a time is the affair of a lock, which this disk has not.
    if (name === 'one cluster at a time has it') continue;
    test(name, async () => {
      const disk = new SimulatedDisk();
      await expect(
        run({ open: (size) => simulatedJournal(disk, size === 'small' ? { compactAfter: 20_000 } : {}) }),
      ).resolves.toBeUndefined();
    });
  }

  test('a write that does not fit is refused with 500, and the next one is served', async () => {
    const disk = new SimulatedDisk();
    const cluster = createCluster({ journal: simulatedJournal(disk) });
    disk.faults = { capacity: 1 };
    const version = cluster.resourceVersion;
    const error = await cluster
      .api(ConfigMap)
      .create({ metadata: { name: 'a' } })
      .catch((failure: unknown) => failure);
    expect(StatusError.is(error, 'InternalError') && error.message).toBe(
      'Internal error occurred: the journal could not be written: ENOSPC: no space left on device, write',
    );
    expect([cluster.resourceVersion, (await cluster.api(ConfigMap).list()).items]).toEqual([version, []]);
    disk.faults = {};
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  });

  test('a sync that fails is told to whom it concerns, and ends all writing', async () => {
    const disk = new SimulatedDisk();
    const cluster = createCluster({ journal: simulatedJournal(disk) });
    disk.faults = { failSyncs: () => true };
    const maps = cluster.api(ConfigMap);
    const both = await Promise.allSettled([
      maps.create({ metadata: { name: 'a' } }),
      maps.create({ metadata: { name: 'b' } }),
    ]);
    for (const { status } of both) expect(status).toBe('rejected');
    disk.faults = {};
    await expect(maps.create({ metadata: { name: 'c' } })).rejects.toThrow(
      /nothing is written until it is opened again/,
    );
    // What would show the two is not told either.
    await expect(maps.list()).rejects.toThrow(/could not be written/);
    await cluster.close();
  });

  test('what cannot be taken back ends all writing, and reading goes on', async () => {
    const disk = new SimulatedDisk();
    const cluster = createCluster({ journal: simulatedJournal(disk) });
    const used = disk.paths.reduce((sum, path) => sum + disk.content(path).length, 0);
    disk.faults = { capacity: used + 10, failTruncates: true };
    const maps = cluster.api(ConfigMap);
    await expect(maps.create({ metadata: { name: 'a' } })).rejects.toThrow(/ENOSPC.*ftruncate/);
    disk.faults = {};
    await expect(maps.create({ metadata: { name: 'a' } })).rejects.toThrow(/opened again/);
    expect((await maps.list()).items).toEqual([]);
  });

  test('nobody sees a write before it is durable: no reader, no watch', async () => {
    const disk = new SimulatedDisk();
    const cluster = createCluster({ journal: simulatedJournal(disk) });
    const maps = cluster.api(ConfigMap);
    const watch = maps.watch({ resourceVersion: cluster.resourceVersion });
    const order: string[] = [];
    const seen = watch.next().then(() => order.push('watch'));
    const created = maps.create({ metadata: { name: 'a' } }).then(() => order.push('create'));
    const listed = maps.list().then(() => order.push('list'));
    const syncsBefore = disk.syncs;
    for (let i = 0; i < 20; i++) await Promise.resolve();
    expect(order).toEqual([]);
    await Promise.all([seen, created, listed]);
    expect(disk.syncs).toBe(syncsBefore + 1);
  });
});

describe('files that were damaged', () => {
  /** A journal of eight writes, and the state after each. */
  function written(): { disk: SimulatedDisk; pictures: string[] } {
    const disk = new SimulatedDisk();
    const journal = simulatedJournal(disk, { sync: 'each' });
    const store = openStore(journal);
    const pictures = [pictureOf(store)];
    for (let i = 0; i < 8; i++) {
      const name = `o${i}`;
      const key = { resource: 'configmaps', namespace: 'default', name };
      const seal = (resourceVersion: string) =>
        Object.freeze({
          kind: 'K',
          apiVersion: 'v1',
          metadata: { name, namespace: 'default', resourceVersion },
        }) as never;
      store.commit({ type: 'create', key, seal });
      pictures.push(pictureOf(store));
    }
    return { disk, pictures };
  }

  const PATH = 'data/journal-1';
  const HEADER = 16;

  function withBytes(disk: SimulatedDisk, bytes: Buffer): SimulatedDisk {
    const copy = disk.afterKill();
    copy.put(PATH, bytes);
    return copy;
  }

  const load = (disk: SimulatedDisk, salvage = false): string =>
    pictureOfContent(simulatedJournal(disk, { salvage }).load());

  test('cut at any byte, they come back with the writes before it', () => {
    const { disk, pictures } = written();
    const bytes = disk.content(PATH);
    const ends = scanFrames(bytes, HEADER).frames.map(({ end }) => end);
    for (let size = 0; size <= bytes.length; size++) {
      const whole = ends.filter((end) => end <= size).length;
      expect(load(withBytes(disk, bytes.subarray(0, size)))).toBe(pictures[whole]);
    }
  });

  test('with any bit of the last write flipped, they come back without it', () => {
    const { disk, pictures } = written();
    const bytes = disk.content(PATH);
    const last = scanFrames(bytes, HEADER).frames.at(-1);
    for (let at = last?.start ?? 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      expect(load(withBytes(disk, flipped))).toBe(pictures[7]);
    }
  });

  test('with a bit flipped before that, they are refused by name and place, and salvage brings what is before it', () => {
    const { disk, pictures } = written();
    const bytes = disk.content(PATH);
    const { frames } = scanFrames(bytes, HEADER);
    frames.slice(0, -1).forEach(({ start, end }, index) => {
      const flipped = Buffer.from(bytes);
      const at = start + ((end - start) >> 1);
      flipped[at] = (flipped[at] ?? 0) ^ 4;
      const damaged = withBytes(disk, flipped);
      expect(() => load(damaged.afterKill())).toThrow(`journal ${PATH}: damaged at byte ${start}`);
      const salvaged = damaged.afterKill();
      expect(load(salvaged, true)).toBe(pictures[index]);
      expect(salvaged.paths).toContain(`${PATH}.damaged`);
      expect(load(salvaged)).toBe(pictures[index]);
    });
  });

  test('a hole where the disk had said that all was safe is damage, not a torn end', () => {
    const { disk } = written();
    const bytes = Buffer.from(disk.content(PATH));
    const second = scanFrames(bytes, HEADER).frames[1];
    bytes.fill(0, second?.start, second?.end);
    expect(() => load(withBytes(disk, bytes))).toThrow(JournalError);
  });

  test('damage in a checkpoint is refused; salvage brings the other objects', async () => {
    const disk = new SimulatedDisk();
    const cluster = createCluster({ journal: simulatedJournal(disk) });
    await cluster.close();
    const bytes = Buffer.from(disk.content('data/checkpoint-1'));
    const { frames } = scanFrames(bytes, HEADER);
    const victim = frames[5];
    bytes[(victim?.start ?? 0) + 30] = 0;
    const damaged = disk.afterKill();
    damaged.put('data/checkpoint-1', bytes);
    expect(() => load(damaged)).toThrow(`data/checkpoint-1: damaged at byte ${victim?.start}`);
    const content = simulatedJournal(damaged, { salvage: true }).load();
    expect([...(content?.checkpoint.objects ?? [])]).toHaveLength(frames.length - 3);
    const short = disk.afterKill();
    short.put('data/checkpoint-1', disk.content('data/checkpoint-1').subarray(0, frames.at(-1)?.start));
    expect(() => load(short)).toThrow(/ends too early/);
  });

  test('files of others, of other versions and missing ones are told apart', () => {
    const { disk } = written();
    const other = disk.afterKill();
    other.put('data/checkpoint-1', Buffer.from('something else entirely, and long'));
    expect(() => load(other)).toThrow(/no file of a journal/);
    const newer = disk.afterKill();
    const bytes = Buffer.from(disk.content(PATH));
    bytes[HEADER - 1] = 9;
    newer.put(PATH, bytes);
    expect(() => load(newer)).toThrow(/another version of orchplane/);
    const orphan = new SimulatedDisk();
    orphan.put(PATH, disk.content(PATH));
    expect(() => load(orphan)).toThrow(/checkpoint that it goes on from is missing/);
  });

  test('the checksum is the common one', () => {
    expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
    const frame = Buffer.from(new FrameWriter().frame('{"a":"é"}', 5));
    expect(crc32(frame.subarray(8))).toBe(frame.readUInt32LE(4));
    expect(scanFrames(frame, 0).frames[0]).toMatchObject({ text: '{"a":"é"}', synced: 5, end: frame.length });
  });

  test('a real file that was cut opens', async () => {
    const path = newFolder();
    const cluster = createCluster({ journal: fileJournal(path) });
    for (const name of ['a', 'b']) await cluster.api(ConfigMap).create({ metadata: { name } });
    await cluster.close();
    const file = join(path, 'journal-1');
    writeFileSync(file, readFileSync(file).subarray(0, -3));
    const again = createCluster({ journal: fileJournal(path) });
    expect((await again.api(ConfigMap).list()).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    await again.close();
  });
});
