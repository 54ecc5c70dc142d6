/** The file journal: the contract of all journals, locks, disk faults and damaged files. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { createCluster, JournalError, StatusError } from '../../../../src/index.js';
import { ConfigMap, ControllerRevision, CustomResourceDefinition } from '../../../../src/kinds/index.js';
import { fileJournal } from '../../../../src/node/index.js';
import type { FileJournal } from '../../../../src/node/journal/file-journal.js';
import { crc32, FrameWriter, scanFrames } from '../../../../src/node/journal/frame.js';
import { GroupSync } from '../../../../src/storage/journal/group-sync.js';
import { decodePlaced, encodePlaced } from '../../../../src/storage/journal/record.js';
import { nextTurn } from '../../../../src/util/clock.js';
import { journalCases } from './contract.js';
import { fingerprintOf, fingerprintOfContent, openStore, simulatedJournal } from './driver.js';
import { SimulatedDisk } from './simulated-disk.js';

const folder = mkdtempSync(join(tmpdir(), 'orchplane-journal-'));
let places = 0;
const newFolder = (): string => join(folder, String(++places));

afterAll(() => rmSync(folder, { recursive: true }));

describe('a file journal', () => {
  for (const [name, run] of Object.entries(journalCases)) {
    test(name, async () => {
      const path = newFolder();
      await expect(
        run({ open: (size) => fileJournal(path, size === 'small' ? { compactAfter: 20_000 } : {}) }),
      ).resolves.toBeUndefined();
    });
  }

  test.each(['each', 'never'] as const)('restores a cluster as it was with sync %s', async (sync) => {
    const run = journalCases['restores a cluster as it was'];
    const path = newFolder();
    await expect(run?.({ open: () => fileJournal(path, { sync }) })).resolves.toBeUndefined();
  });

  test('writes files that only their owner can read', async () => {
    const path = newFolder();
    await createCluster({ journal: fileJournal(path) }).close();
    expect(statSync(path).mode & 0o777).toBe(0o700);
    const files = readdirSync(path);
    expect(files.sort()).toEqual(['checkpoint-1', 'journal-1', 'reserve']);
    for (const name of files) expect(statSync(join(path, name)).mode & 0o777).toBe(0o600);
  });

  test('removes old files after a checkpoint', async () => {
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

  test('takes space in proportion to an object, however long the keys of its large numbers are', async () => {
    const path = newFolder();
    const first = createCluster({ journal: fileJournal(path) });
    const data = {
      ['k'.repeat(20_000)]: [1n, ...Array.from({ length: 400 }, () => 9007199254740993n), -0, 0, { n: 2n }],
    };
    await first.api(ControllerRevision).create({ metadata: { name: 'r' }, revision: 1, data } as never);
    await first.close();
    expect(statSync(join(path, 'journal-1')).size).toBeLessThan(120_000);
    const second = createCluster({ journal: fileJournal(path) });
    expect((await second.api(ControllerRevision).get('r')).data).toEqual(data);
    await second.close();
  });

  test('reads large numbers that earlier versions listed with their paths', () => {
    const { object } = decodePlaced(
      '["gadgets.example.com","default","a",{"spec":{"big":0,"at":[0,0]}},' +
        '[[["spec","big"],"12345678901234567890"],[["spec","at",1],"-0"]]]',
    );
    expect(object).toEqual({ spec: { big: 12345678901234567890n, at: [0, -0] } });
    const record = { key: { storageKey: 'gadgets.example.com', namespace: 'default', name: 'a' }, object };
    expect(decodePlaced(encodePlaced(record))).toEqual(record);
  });

  test.each([
    ['the path of', '[[["__proto__","polluted"],"5"]]'],
    ['the path to the prototype in', '[[["constructor","prototype","polluted"],"5"]]'],
    ['the shape of', '{"__proto__":{"polluted":"5"}}'],
    ['the shape of the prototype in', '{"constructor":{"prototype":{"polluted":"5"}}}'],
  ])('a record of a hostile folder with %s a large number changes no prototype', (_where, exceptions) => {
    try {
      expect(() => decodePlaced(`["configmaps","default","a",{"spec":{}},${exceptions}]`)).toThrow(TypeError);
      expect({}).not.toHaveProperty('polluted');
    } finally {
      Reflect.deleteProperty(Object.prototype, 'polluted');
    }
  });

  test('takes over the lock of a dead process, and reports the lock of another process', async () => {
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

  test.runIf(process.platform === 'linux')(
    'takes a lock over after a restart of the machine, not from a container',
    async () => {
      const path = newFolder();
      const lock = join(path, 'lock');
      const cluster = createCluster({ journal: fileJournal(path) });
      const own = JSON.parse(readFileSync(lock, 'utf8'));
      await cluster.close();
      const pid = process.ppid;
      writeFileSync(lock, JSON.stringify({ ...own, pid, began: undefined, boot: 'earlier', pids: 'pid:[1]' }));
      await createCluster({ journal: fileJournal(path) }).close();
      for (const other of [{ pid: 2 ** 22 + 5 }, { pid: process.pid, began: '1' }, { host: 'elsewhere' }]) {
        writeFileSync(lock, JSON.stringify({ ...own, ...other, pids: 'pid:[1]' }));
        expect(() => createCluster({ journal: fileJournal(path) })).toThrow(/in another container .*try again/);
        const past = Date.now() / 1000 - 31;
        utimesSync(lock, past, past);
        await createCluster({ journal: fileJournal(path) }).close();
      }
      // Nothing was written. The first write goes to files that a stopped holder does not know.
      expect(readdirSync(path)).toContain('checkpoint-1');
      writeFileSync(lock, JSON.stringify({ ...own, pids: 'pid:[1]' }));
      utimesSync(lock, 1, 1);
      const next = createCluster({ journal: fileJournal(path) });
      await next.api(ConfigMap).create({ metadata: { name: 'a' } });
      await next.close();
      expect(readdirSync(path).sort()).toEqual(['checkpoint-3', 'journal-3', 'reserve']);
    },
  );

  test('touches its lock, so that processes in other containers see that it is held', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const path = newFolder();
      const lock = join(path, 'lock');
      const cluster = createCluster({ journal: fileJournal(path) });
      utimesSync(lock, 1, 1);
      vi.advanceTimersByTime(5_000);
      expect(Date.now() - statSync(lock).mtimeMs).toBeLessThan(10_000);
      await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
      rmSync(lock);
      vi.advanceTimersByTime(5_000);
      await expect(cluster.api(ConfigMap).create({ metadata: { name: 'b' } })).rejects.toThrow('was removed');
      await cluster.close();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  test.each(['group', 'each', 'never'] as const)(
    'fails when its lock is no longer its own (sync: %s)',
    async (sync) => {
      const path = newFolder();
      const cluster = createCluster({ journal: fileJournal(path, { sync }) });
      const create = (name: string) => cluster.api(ConfigMap).create({ metadata: { name } });
      await create('before');
      const lock = join(path, 'lock');
      const own = readFileSync(lock, 'utf8');
      utimesSync(lock, 1, 1);
      await create('touched');
      rmSync(lock);
      writeFileSync(lock, JSON.stringify({ pid: 1, host: 'elsewhere' }));
      const { size } = statSync(join(path, 'journal-1'));
      await expect(create('after')).rejects.toThrow('taken over by another process');
      writeFileSync(lock, own);
      await expect(create('again')).rejects.toThrow('nothing is written until it is opened again');
      await cluster.close();
      expect(statSync(join(path, 'journal-1')).size).toBe(size);
    },
  );

  test('does not mark the end of a journal that another process has taken over', async () => {
    const path = newFolder();
    const cluster = createCluster({ journal: fileJournal(path) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    const { size } = statSync(join(path, 'journal-1'));
    writeFileSync(join(path, 'lock'), JSON.stringify({ pid: 1, host: 'elsewhere' }));
    await expect(cluster.close()).rejects.toThrow('taken over by another process');
    expect(statSync(join(path, 'journal-1')).size).toBe(size);
  });

  test('allows one writer, also through a symbolic link and in another thread', async () => {
    const path = newFolder();
    const cluster = createCluster({ journal: fileJournal(path) });
    symlinkSync(path, `${path}-link`);
    expect(() => createCluster({ journal: fileJournal(`${path}-link`) })).toThrow(/in use by another cluster/);
    const own = readFileSync(join(path, 'lock'), 'utf8');
    await cluster.close();
    // A lock of another thread belongs to this process, and its release cannot be detected.
    writeFileSync(join(path, 'lock'), JSON.stringify({ ...JSON.parse(own), id: 'of a thread' }));
    expect(() => createCluster({ journal: fileJournal(path) })).toThrow(
      /in use by this process, maybe in another thread/,
    );
    // A lock that this thread has released is free, and so is one of an earlier process with the same pid.
    writeFileSync(join(path, 'lock'), own);
    await createCluster({ journal: fileJournal(path) }).close();
    writeFileSync(join(path, 'lock'), JSON.stringify({ ...JSON.parse(own), began: '1', id: 'earlier' }));
    await createCluster({ journal: fileJournal(path) }).close();
    expect(readdirSync(path).filter((name) => name.startsWith('lock'))).toEqual([]);
  });

  test.each(['reserve', 'journal-1', 'journal-1.damaged'])(
    'does not write through a symbolic link with the name %s, which a folder from others may contain',
    async (name) => {
      const path = newFolder();
      const cluster = createCluster({ journal: fileJournal(path) });
      await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
      await cluster.close();
      const journal = readFileSync(join(path, 'journal-1'));
      // Also a damaged one, of which a copy is saved.
      const content = name === 'journal-1' ? journal : Buffer.from('precious');
      const target = join(folder, `precious-${name}`);
      writeFileSync(target, content);
      rmSync(join(path, name), { force: true });
      symlinkSync(target, join(path, name));
      if (name.endsWith('.damaged')) writeFileSync(join(path, 'journal-1'), Buffer.from(journal).fill(1, 100, 200));
      expect(() =>
        createCluster({ journal: fileJournal(path, { salvage: true, onWarning: () => undefined }) }),
      ).toThrow(/ELOOP/);
      expect(readFileSync(target).equals(content)).toBe(true);
    },
  );

  test.each(['checkpoint-1', 'journal-1', 'lock', 'lock.taking'])(
    'refuses a pipe with the name %s instead of waiting for it',
    async (name) => {
      const path = newFolder();
      const cluster = createCluster({ journal: fileJournal(path) });
      await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
      await cluster.close();
      rmSync(join(path, name), { force: true });
      if (name === 'lock.taking') writeFileSync(join(path, 'lock'), '{}');
      execFileSync('mkfifo', [join(path, name)]);
      expect(() => createCluster({ journal: fileJournal(path) })).toThrow(/is not a regular file/);
    },
  );

  test('does not read a lock through a symbolic link, which may lead to a device without an end', () => {
    const path = newFolder();
    mkdirSync(path);
    symlinkSync('/dev/zero', join(path, 'lock'));
    expect(() => createCluster({ journal: fileJournal(path) })).toThrow(/ELOOP/);
  });

  test('removes the drafts of lock files that killed processes have left', async () => {
    const path = newFolder();
    await createCluster({ journal: fileJournal(path) }).close();
    const draft = (digit: string) => join(path, `lock.${digit}0000000-0000-4000-8000-000000000000`);
    for (const digit of ['a', 'b']) writeFileSync(draft(digit), '');
    utimesSync(draft('a'), 1, 1);
    await createCluster({ journal: fileJournal(path) }).close();
    expect(existsSync(draft('a'))).toBe(false);
    // Another process may be about to use it.
    expect(existsSync(draft('b'))).toBe(true);
  });

  test('opens although a draft of a lock file cannot be removed', async () => {
    const path = newFolder();
    const draft = join(path, 'lock.a0000000-0000-4000-8000-000000000000');
    // It is a folder.
    mkdirSync(draft, { recursive: true });
    utimesSync(draft, 1, 1);
    await createCluster({ journal: fileJournal(path) }).close();
    expect(readdirSync(path)).not.toContain('lock');
  });

  test('takes over a lock whose takeover was interrupted', async () => {
    const path = newFolder();
    await createCluster({ journal: fileJournal(path) }).close();
    const { hostname } = await import('node:os');
    const dead = JSON.stringify({ pid: 2 ** 22 + 5, host: hostname() });
    writeFileSync(join(path, 'lock'), dead);
    writeFileSync(join(path, 'lock.taking'), dead);
    const cluster = createCluster({ journal: fileJournal(path) });
    expect(readdirSync(path).filter((name) => name.startsWith('lock'))).toEqual(['lock']);
    await cluster.close();
    // A live process is taking the lock over.
    writeFileSync(join(path, 'lock'), dead);
    writeFileSync(join(path, 'lock.taking'), JSON.stringify({ pid: process.ppid, host: hostname() }));
    expect(() => createCluster({ journal: fileJournal(path) })).toThrow(/in use by/);
  });

  test('releases the journal at once if creating the cluster fails', async () => {
    const path = newFolder();
    await createCluster({ journal: fileJournal(path) }).close();
    expect(() => createCluster({ journal: fileJournal(path), dialect: 'kubernetes' })).toThrow(/dialect/);
    const cluster = createCluster({ journal: fileJournal(path) });
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    await cluster.close();
    const fresh = newFolder();
    const from = { resourceVersion: '1', objects: [{}] } as never;
    expect(() => createCluster({ journal: fileJournal(fresh), from })).toThrow(TypeError);
    await createCluster({ journal: fileJournal(fresh) }).close();
  });

  test('reports an invalid initial state', () => {
    const begin = (from: unknown) => createCluster({ from: from as never });
    expect(() => begin(null)).toThrow('orchplane: from: takes a state, such as a capture, got null');
    for (const resourceVersion of ['9007199254740991', '9007199254740993', '99999999999999999999']) {
      expect(() => begin({ resourceVersion, objects: [] })).toThrow(/leaves no room for writes/);
    }
    expect(begin({ resourceVersion: String(2 ** 52), objects: [] }).resourceVersion).toBe(String(2 ** 52));
    const metadata = { name: 'a', namespace: 'default', uid: 'u', resourceVersion: '1', creationTimestamp: 'x' };
    const circle: Record<string, unknown> = { apiVersion: 'v1', kind: 'ConfigMap', metadata };
    circle['self'] = circle;
    expect(() => begin({ resourceVersion: '9', objects: [circle] })).toThrow(
      /^orchplane: from: ConfigMap default\/a is no JSON/,
    );
  });

  test('rejects unknown options', () => {
    expect(() => createCluster({ journal: './data' as never })).toThrow(/journal takes what fileJournal/);
    expect(() => fileJournal('')).toThrow(/takes a folder/);
    expect(() => fileJournal('x', { sync: 'sometimes' as never })).toThrow(/one of group, each, never/);
    expect(() => fileJournal('x', { compactAfter: -1 })).toThrow(/number of bytes/);
    expect(() => fileJournal('x', { sink: 1 } as never)).toThrow(/no option "sink"/);
  });
});

describe('group sync', () => {
  test('discards revisions from before a restore in a group sync', async () => {
    const ends: (() => void)[] = [];
    const group = new GroupSync({
      sync: () => new Promise((resolve) => ends.push(resolve)),
      later: queueMicrotask,
      fail: () => new JournalError('failed'),
    });
    const turns = () => new Promise((resolve) => setImmediate(resolve));
    group.noteWritten(100);
    await turns();
    group.noteWritten(50);
    group.noteWritten(51);
    ends[0]?.();
    await turns();
    expect([group.durableRevision, group.wait() === undefined]).toEqual([0, false]);
    ends[1]?.();
    await turns();
    expect([group.durableRevision, group.wait()]).toEqual([51, undefined]);
    // The same holds if the restored state is newer.
    group.noteWritten(52);
    await turns();
    group.noteReset(90);
    ends[2]?.();
    await turns();
    expect(group.durableRevision).toBe(0);
    group.break(new JournalError('failed'));
    ends[3]?.();
    await group.idle();
    group.noteDurable(99);
    expect(group.durableRevision).toBe(0);
    await expect(group.wait()).rejects.toThrow('failed');
  });
});

describe('a file journal on a simulated disk', () => {
  for (const [name, run] of Object.entries(journalCases)) {
    // This disk has no lock, so it cannot enforce one process at a time.
    if (name === 'allows one cluster at a time') continue;
    test(name, async () => {
      const disk = new SimulatedDisk();
      await expect(
        run({ open: (size) => simulatedJournal(disk, size === 'small' ? { compactAfter: 20_000 } : {}) }),
      ).resolves.toBeUndefined();
    });
  }

  test('rejects a write that does not fit on the disk with 503, and accepts the next one', async () => {
    const disk = new SimulatedDisk();
    const cluster = createCluster({ journal: simulatedJournal(disk) });
    disk.faults = { capacity: 1 };
    const version = cluster.resourceVersion;
    const error = await cluster
      .api(ConfigMap)
      .create({ metadata: { name: 'a' } })
      .catch((failure: unknown) => failure);
    expect(StatusError.is(error, 'ServiceUnavailable') && [error.code, error.message]).toEqual([
      503,
      'the disk is full, and until it has space, objects can only be deleted: ENOSPC: no space left on device, write',
    ]);
    expect([cluster.resourceVersion, (await cluster.api(ConfigMap).list()).items]).toEqual([version, []]);
    disk.faults = {};
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  });

  test('repeats derived writes that did not fit on the disk after the next write', async () => {
    for (let refused = 2; refused <= 4; refused++) {
      const disk = new SimulatedDisk();
      let count = 0;
      const open = disk.open.bind(disk);
      disk.open = (path, how) => {
        const file = open(path, how);
        const write: typeof file.write = (bytes, position) => {
          if (/journal-\d+$/.test(path) && ++count === refused + 1) throw new Error('ENOSPC: no space left on device');
          return file.write(bytes, position);
        };
        return { ...file, write };
      };
      const cluster = createCluster({ journal: simulatedJournal(disk) });
      // The first write is the header.
      expect(count).toBe(1);
      const schema = { openAPIV3Schema: { type: 'object' } };
      await cluster.api(CustomResourceDefinition).create({
        metadata: { name: 'gadgets.example.com' },
        spec: {
          group: 'example.com',
          scope: 'Namespaced',
          names: { plural: 'gadgets', kind: 'Gadget' },
          versions: [{ name: 'v1', served: true, storage: true, schema }],
        },
      } as never);
      await cluster.api(ConfigMap).create({ metadata: { name: 'next' } });
      const { status } = await cluster.api(CustomResourceDefinition).get('gadgets.example.com');
      expect(status?.conditions?.map(({ type, status: is }) => `${type} ${is}`)).toEqual([
        'NamesAccepted True',
        'Established True',
      ]);
      expect((await cluster.api(cluster.kind('example.com/v1', 'Gadget')).list()).items).toEqual([]);
      const version = cluster.resourceVersion;
      await cluster.close();
      // No work was left.
      expect(createCluster({ journal: simulatedJournal(disk.afterKill()) }).resourceVersion).toBe(version);
    }
  });

  test('reports a failed sync to the affected writers, and ends all writing', async () => {
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
    // A list that would contain the two objects fails as well.
    await expect(maps.list()).rejects.toThrow(/could not be written/);
    await cluster.close();
  });

  /** A disk that delays the syncs of journals, and then lets them fail or succeed. */
  function slowDisk(): { disk: SimulatedDisk; journal: FileJournal; end: (error?: Error) => void; fail: () => void } {
    const disk = new SimulatedDisk();
    let end: (error?: Error) => void = () => undefined;
    let fails = false;
    const open: SimulatedDisk['open'] = disk.open.bind(disk);
    disk.open = (path, how) => {
      const file = open(path, how);
      if (!path.includes('journal-')) return file;
      return {
        ...file,
        sync: () =>
          new Promise<void>((resolve, reject) => {
            end = (error) => (error === undefined ? resolve() : reject(error));
          }),
        syncNow: () => {
          if (fails && path.endsWith('journal-1')) throw new Error('EIO: i/o error, fdatasync');
          file.syncNow();
        },
      };
    };
    const journal = simulatedJournal(disk, { compactAfter: 2_000 });
    return {
      disk,
      journal,
      end: (error) => end(error),
      fail: () => {
        fails = true;
      },
    };
  }

  test.each(['the compacting sync fails', 'the running sync fails'])(
    'reports a disk error that affects two syncs to all writers: %s',
    async (which) => {
      const { journal, end, fail } = slowDisk();
      const cluster = createCluster({ journal });
      const maps = cluster.api(ConfigMap);
      const before = journal.durableRevision;
      const outcomes: string[] = [];
      const note = (made: Promise<unknown>) =>
        made.then(
          () => outcomes.push('written'),
          () => outcomes.push('rejected'),
        );
      const first = note(maps.create({ metadata: { name: 'a' }, data: { x: 'x'.repeat(500_000) } }));
      await nextTurn();
      if (which === 'the compacting sync fails') fail();
      const second = note(maps.create({ metadata: { name: 'b' } }));
      await nextTurn();
      expect(journal.durableRevision).toBe(before);
      end(which === 'the running sync fails' ? new Error('EIO: i/o error, fdatasync') : undefined);
      await Promise.all([first, second]);
      expect(outcomes).toEqual(['rejected', 'rejected']);
      expect(journal.durableRevision).toBe(before);
      await expect(maps.get('a')).rejects.toThrow(/EIO/);
    },
  );

  test('ends all writing but allows reading if a write cannot be undone', async () => {
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

  test('shows a write to readers and watches only when it is durable', async () => {
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

describe('a damaged file journal', () => {
  /** A journal of eight writes, and the state after each. */
  function written(): { disk: SimulatedDisk; fingerprints: string[] } {
    const disk = new SimulatedDisk();
    const journal = simulatedJournal(disk, { sync: 'each' });
    const store = openStore(journal);
    const fingerprints = [fingerprintOf(store)];
    for (let i = 0; i < 8; i++) {
      const name = `o${i}`;
      const key = { storageKey: 'configmaps', namespace: 'default', name };
      const seal = (resourceVersion: string) =>
        Object.freeze({
          kind: 'K',
          apiVersion: 'v1',
          metadata: { name, namespace: 'default', resourceVersion },
        }) as never;
      store.commit({ type: 'create', key, makeObject: seal });
      fingerprints.push(fingerprintOf(store));
    }
    return { disk, fingerprints };
  }

  const PATH = 'data/journal-1';
  const HEADER = 16;

  function withBytes(disk: SimulatedDisk, bytes: Buffer): SimulatedDisk {
    const copy = disk.afterKill();
    copy.put(PATH, bytes);
    return copy;
  }

  const load = (disk: SimulatedDisk, salvage = false): string =>
    fingerprintOfContent(simulatedJournal(disk, { salvage }).load());

  test('restores the earlier writes of a file that is truncated at any byte, and reports the lost bytes', () => {
    const { disk, fingerprints } = written();
    const bytes = disk.content(PATH);
    const ends = [HEADER, ...scanFrames(bytes, HEADER).frames.map(({ end }) => end)];
    for (let size = HEADER; size <= bytes.length; size++) {
      const warnings: string[] = [];
      const journal = simulatedJournal(withBytes(disk, bytes.subarray(0, size)), {
        onWarning: (w) => warnings.push(w),
      });
      const whole = ends.filter((end) => end <= size).length - 1;
      expect(fingerprintOfContent(journal.load())).toBe(fingerprints[whole]);
      const cut = size - (ends[whole] ?? 0);
      expect(warnings.length).toBe(cut > 0 ? 1 : 0);
      if (cut > 0) expect(warnings[0]).toContain(`the ${cut} bytes from ${ends[whole]} on`);
    }
  });

  test('rejects a journal without the header that was durable before the checkpoint', () => {
    const { disk, fingerprints } = written();
    const bytes = disk.content(PATH);
    for (let size = 0; size < HEADER; size++) {
      const cut = withBytes(disk, bytes.subarray(0, size));
      expect(() => load(cut)).toThrow(JournalError);
    }
    const zeros = withBytes(disk, Buffer.alloc(bytes.length));
    expect(() => load(zeros)).toThrow(/it is empty.*salvage/);
    expect(load(zeros, true)).toBe(fingerprints[0]);
    expect(zeros.content(`${PATH}.damaged`)).toHaveLength(bytes.length);
    expect(load(zeros)).toBe(fingerprints[0]);
    const missing = disk.afterKill();
    missing.remove(PATH);
    expect(() => load(missing)).toThrow(/journal-1: it is missing.*salvage/);
    expect(load(missing, true)).toBe(fingerprints[0]);
  });

  test('rejects a journal with a flipped bit in the complete last write', () => {
    const { disk, fingerprints } = written();
    const bytes = disk.content(PATH);
    const last = scanFrames(bytes, HEADER).frames.at(-1);
    for (let at = last?.start ?? 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
      expect(() => load(withBytes(disk, flipped))).toThrow(`damaged at byte ${last?.start}`);
      expect(load(withBytes(disk, flipped), true)).toBe(fingerprints[7]);
    }
  });

  test('rejects a journal with an empty sector after a clean close', async () => {
    const disk = new SimulatedDisk();
    const cluster = createCluster({ journal: simulatedJournal(disk) });
    const maps = cluster.api(ConfigMap);
    const data = { x: 'y'.repeat(600) };
    await Promise.all(Array.from({ length: 20 }, (_, i) => maps.create({ metadata: { name: `m${i}` }, data })));
    const open = disk.afterKill();
    await cluster.close();
    const damage = (from: SimulatedDisk): SimulatedDisk =>
      withBytes(from, Buffer.from(from.content(PATH)).fill(0, 1024, 1536));
    expect(() => load(damage(disk))).toThrow(/damaged at byte/);
    // The file does not record that this part was synced, so this looks like a power loss.
    expect(() => load(damage(open))).not.toThrow();
  });

  test('rejects a journal with garbage at its end', () => {
    const { disk } = written();
    const bytes = Buffer.from(disk.content(PATH));
    bytes.fill(0xaa, bytes.length - 300);
    expect(() => load(withBytes(disk, bytes))).toThrow(/damaged at byte/);
    expect(() => load(withBytes(disk, Buffer.concat([disk.content(PATH), Buffer.from('more')])))).toThrow(/damaged/);
  });

  test('rejects a journal with an earlier flipped bit with file and position, and salvages the writes before it', () => {
    const { disk, fingerprints } = written();
    const bytes = disk.content(PATH);
    const { frames } = scanFrames(bytes, HEADER);
    frames.slice(0, -1).forEach(({ start, end }, index) => {
      const flipped = Buffer.from(bytes);
      const at = start + ((end - start) >> 1);
      flipped[at] = (flipped[at] ?? 0) ^ 4;
      const damaged = withBytes(disk, flipped);
      expect(() => load(damaged.afterKill())).toThrow(`journal ${PATH}: damaged at byte ${start}`);
      const salvaged = damaged.afterKill();
      expect(load(salvaged, true)).toBe(fingerprints[index]);
      expect(salvaged.paths).toContain(`${PATH}.damaged`);
      expect(load(salvaged)).toBe(fingerprints[index]);
    });
  });

  test('rejects a journal with a hole before the synced position as damaged, not as truncated', () => {
    const { disk } = written();
    const bytes = Buffer.from(disk.content(PATH));
    const second = scanFrames(bytes, HEADER).frames[1];
    bytes.fill(0, second?.start, second?.end);
    expect(() => load(withBytes(disk, bytes))).toThrow(JournalError);
  });

  test('rejects a journal with a damaged checkpoint, and salvages the other objects', async () => {
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

  test('salvages a journal with a damaged start of the checkpoint from its end, and is complete afterwards', () => {
    const { disk, fingerprints } = written();
    for (const at of [3, HEADER + 30]) {
      const damaged = disk.afterKill();
      const bytes = Buffer.from(disk.content('data/checkpoint-1'));
      bytes[at] = (bytes[at] ?? 0) ^ 4;
      damaged.put('data/checkpoint-1', bytes);
      expect(() => load(damaged)).toThrow(/checkpoint-1: damaged at byte .*salvage/);
      expect(load(damaged, true)).toBe(fingerprints[8]);
      expect(damaged.paths).toContain('data/checkpoint-1.damaged');
      expect(load(damaged)).toBe(fingerprints[8]);
    }
    const gone = disk.afterKill();
    gone.put('data/checkpoint-1', disk.content('data/checkpoint-1').subarray(0, HEADER));
    expect(() => load(gone)).toThrow(/neither its first nor its last frame.*from a copy$/);
    expect(() => load(gone, true)).toThrow(/from a copy$/);
  });

  test('salvages a journal with a damaged header with all writes', () => {
    const { disk, fingerprints } = written();
    const bytes = Buffer.from(disk.content(PATH));
    bytes[3] = 0;
    const damaged = withBytes(disk, bytes);
    expect(() => load(damaged)).toThrow(/journal-1: damaged at byte 0.*salvage/);
    expect(load(damaged, true)).toBe(fingerprints[8]);
    expect(load(damaged)).toBe(fingerprints[8]);
    expect(damaged.paths).toContain(`${PATH}.damaged`);
  });

  test('rejects a journal with copies under another number', () => {
    const { disk } = written();
    const checkpoint = disk.afterKill();
    checkpoint.put('data/checkpoint-2', disk.content('data/checkpoint-1'));
    checkpoint.put('data/journal-2', disk.content(PATH));
    expect(() => load(checkpoint)).toThrow(/it is a copy of checkpoint-1/);
    const journal = disk.afterKill();
    journal.put('data/journal-2', disk.content(PATH));
    expect(() => load(journal)).toThrow(/version 1 at byte 16 should be 9/);
    expect(() => load(journal, true)).not.toThrow();
  });

  test('reports foreign files, other versions and missing files differently', () => {
    const { disk } = written();
    const other = disk.afterKill();
    other.put('data/checkpoint-1', Buffer.from('something else entirely, and long'));
    expect(() => load(other)).toThrow(/no file of a journal/);
    other.put('data/checkpoint-1', Buffer.alloc(40));
    expect(() => load(other)).toThrow(/it is empty/);
    const newer = disk.afterKill();
    const bytes = Buffer.from(disk.content(PATH));
    bytes[HEADER - 1] = 9;
    newer.put(PATH, bytes);
    expect(() => load(newer)).toThrow(/another version of orchplane/);
    const orphan = new SimulatedDisk();
    orphan.put(PATH, disk.content(PATH));
    expect(() => load(orphan)).toThrow(/checkpoint that it goes on from is missing/);
  });

  test('uses the standard CRC-32 checksum', () => {
    expect(crc32(Buffer.from('123456789'))).toBe(0xcbf43926);
    const frame = Buffer.from(new FrameWriter().frame('{"a":"é"}', 5));
    expect(crc32(frame.subarray(8))).toBe(frame.readUInt32LE(4));
    expect(scanFrames(frame, 0).frames[0]).toMatchObject({ text: '{"a":"é"}', synced: 5, end: frame.length });
  });

  test('opens a real truncated file', async () => {
    const path = newFolder();
    const cluster = createCluster({ journal: fileJournal(path) });
    for (const name of ['a', 'b']) await cluster.api(ConfigMap).create({ metadata: { name } });
    const file = join(path, 'journal-1');
    const bytes = readFileSync(file);
    await cluster.close();
    writeFileSync(file, bytes.subarray(0, -3));
    const warnings: string[] = [];
    const again = createCluster({ journal: fileJournal(path, { onWarning: (warning) => warnings.push(warning) }) });
    expect(warnings).toHaveLength(1);
    expect((await again.api(ConfigMap).list()).items.map(({ metadata }) => metadata.name)).toEqual(['a']);
    await again.close();
  });
});
