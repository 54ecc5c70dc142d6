/**
 * A journal recovers from crashes with a state that existed and with every acknowledged write.
 */
import { describe, expect, test } from 'vitest';
import { type ApiObject, JournalError } from '../../src/index.js';
import type { FileJournalOptions } from '../../src/node/journal/options.js';
import { nextTurn } from '../../src/util/clock.js';
import { deepFreeze } from '../../src/util/json.js';
import { Driver, fingerprintOf, openStore, simulatedJournal } from '../unit/storage/journal/driver.js';
import { Random } from '../unit/storage/journal/random.js';
import { type DiskFaults, PowerLoss, SimulatedDisk } from '../unit/storage/journal/simulated-disk.js';
import fc from './seeded.js';

const WRITES = 25;
/** Small enough for several checkpoints in a run. */
const OPTIONS: FileJournalOptions = { compactAfter: 3_000 };

const FULL_DISK: FileJournalOptions = { ...OPTIONS, reserve: 8_000 };

function mapOf(name: string, text: string): ApiObject {
  return { kind: 'K', apiVersion: 'v1', metadata: { name, namespace: 'default' }, text } as unknown as ApiObject;
}

function withVersion(object: ApiObject, resourceVersion: string): ApiObject {
  return deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion } });
}

interface Run {
  readonly disk: SimulatedDisk;
  readonly driver: Driver | undefined;
  readonly end: unknown;
}

/** Writes until the end or until the first failure. */
async function run(seed: number, faults: DiskFaults, options: FileJournalOptions = OPTIONS): Promise<Run> {
  const disk = new SimulatedDisk();
  disk.faults = faults;
  let driver: Driver | undefined;
  try {
    driver = new Driver(simulatedJournal(disk, options), new Random(seed));
    for (let i = 0; i < WRITES; i++) await driver.step();
    await driver.journal.close();
    return { disk, driver, end: undefined };
  } catch (error) {
    // Lets pending operations finish; they cannot succeed any more.
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
    return { disk, driver, end: error };
  }
}

/** Opens the remaining files, checks the state and continues with it. */
async function checkReopened({ driver }: Run, disk: SimulatedDisk, random: Random): Promise<void> {
  const journal = simulatedJournal(disk, OPTIONS);
  const store = openStore(journal);
  const state = fingerprintOf(store);
  const possible = driver?.possible ?? [];
  // Without a driver the cluster was never created and has no states.
  if (driver !== undefined && !possible.includes(state)) {
    expect(state, `one of ${possible.length} states`).toBe(possible[0]);
  }
  await journal.close();
  // The journal accepts writes and restores them.
  const next = new Driver(simulatedJournal(disk, OPTIONS), random);
  expect(next.states[0]).toBe(state);
  for (let i = 0; i < 5; i++) await next.step();
  const last = next.states.at(-1);
  const again = simulatedJournal(disk.afterKill(), OPTIONS);
  expect(fingerprintOf(openStore(again))).toBe(last);
}

const isExpected = (error: unknown): boolean =>
  error instanceof PowerLoss || error instanceof JournalError || error === undefined;

describe('journal after a power loss', () => {
  test('recovers an earlier state after a crash at every disk operation', async () => {
    const whole = await run(7, {});
    expect(whole.end).toBeUndefined();
    const { operations } = whole.disk;
    expect(operations).toBeGreaterThan(80);
    expect(whole.driver?.journal).toBeDefined();
    for (let crashAt = 1; crashAt <= operations; crashAt++) {
      for (const tornAfter of [0, 1, 19, 21, 200, 100_000]) {
        const crashed = await run(7, { crashAt, tornAfter });
        expect(isExpected(crashed.end), String(crashed.end)).toBe(true);
        await checkReopened(crashed, crashed.disk.afterKill(), new Random(crashAt));
        await checkReopened(crashed, crashed.disk.afterPowerLoss(new Random(crashAt * 31 + tornAfter)), new Random(1));
      }
    }
  }, 120_000);

  test('recovers an earlier state after random crashes with each sync mode', async () => {
    const property = fc.asyncProperty(
      fc.integer(),
      fc.nat(250),
      fc.nat(2_000),
      fc.constantFrom('group' as const, 'each' as const),
      async (seed, crashAt, tornAfter, sync) => {
        const crashed = await run(seed, { crashAt, tornAfter }, { ...OPTIONS, sync });
        expect(isExpected(crashed.end), String(crashed.end)).toBe(true);
        await checkReopened(crashed, crashed.disk.afterPowerLoss(new Random(seed)), new Random(seed));
      },
    );
    await fc.assert(property, { numRuns: 400 });
  }, 120_000);

  test('loses no write when only the process ends, even without syncs', async () => {
    const property = fc.asyncProperty(fc.integer(), fc.nat(200), async (seed, crashAt) => {
      const killed = await run(seed, { crashAt }, { ...OPTIONS, sync: 'never' });
      expect(isExpected(killed.end), String(killed.end)).toBe(true);
      await checkReopened(killed, killed.disk.afterKill(), new Random(seed));
    });
    await fc.assert(property, { numRuns: 100 });
  }, 60_000);
});

describe('damaged journal', () => {
  test('never opens without an acknowledged write', async () => {
    let rejected = 0;
    const property = fc.asyncProperty(
      fc.integer(),
      fc.nat(),
      fc.nat(),
      fc.constantFrom('bit', 'sector', 'garbage', 'empty', 'missing'),
      async (seed, which, where, how) => {
        const { disk, driver, end } = await run(seed, {});
        expect(end).toBeUndefined();
        const damaged = disk.afterKill();
        const path = damaged.paths[which % damaged.paths.length] ?? '';
        const bytes = Buffer.from(damaged.content(path));
        const at = where % bytes.length;
        if (how === 'bit') bytes[at] = (bytes[at] ?? 0) ^ (1 << (where % 8));
        else bytes.subarray(at - (at % 512), at - (at % 512) + 512).fill(how === 'garbage' ? 0xaa : 0);
        if (how === 'missing') damaged.remove(path);
        else damaged.put(path, how === 'empty' ? Buffer.alloc(0) : bytes);
        let state: string;
        try {
          state = fingerprintOf(openStore(simulatedJournal(damaged, OPTIONS)));
        } catch (error) {
          expect(error).toBeInstanceOf(JournalError);
          rejected++;
          return;
        }
        expect(state).toBe(driver?.states.at(-1));
      },
    );
    await fc.assert(property, { numRuns: 400 });
    expect(rejected).toBeGreaterThan(200);
  }, 60_000);
});

describe('journal on a failing disk', () => {
  test('rejects writes without disk space, changes nothing, and continues when there is space', async () => {
    const property = fc.asyncProperty(fc.integer(), fc.integer({ min: 200, max: 9_000 }), async (seed, capacity) => {
      const disk = new SimulatedDisk();
      const driver = new Driver(simulatedJournal(disk, OPTIONS), new Random(seed));
      disk.faults = { capacity, shortWrites: 100 };
      let rejected = 0;
      for (let i = 0; i < WRITES; i++) {
        const before = fingerprintOf(driver.store);
        try {
          await driver.step();
        } catch (error) {
          expect(error).toBeInstanceOf(JournalError);
          expect((error as Error).message).toContain('no space left');
          expect(fingerprintOf(driver.store)).toBe(before);
          driver.attempted = undefined;
          rejected++;
        }
        if (rejected > 3) disk.faults = {};
      }
      await driver.journal.whenDurable();
      const last = fingerprintOf(driver.store);
      expect(fingerprintOf(openStore(simulatedJournal(disk.afterKill(), OPTIONS)))).toBe(last);
      expect(fingerprintOf(openStore(simulatedJournal(disk.afterPowerLoss(new Random(seed)), OPTIONS)))).toBe(last);
    });
    await fc.assert(property, { numRuns: 150 });
  }, 60_000);

  test('acknowledges nothing after a failed sync and loses no acknowledged write', async () => {
    let broken = 0;
    const property = fc.asyncProperty(fc.integer(), fc.integer({ min: 5, max: 40 }), async (seed, at) => {
      const disk = new SimulatedDisk();
      const driver = new Driver(simulatedJournal(disk, OPTIONS), new Random(seed));
      disk.faults = { failSyncs: (count) => count === at };
      let failure: unknown;
      if (at % 3 === 0) driver.restoresOften = true;
      for (let i = 0; i < WRITES && failure === undefined; i++) {
        await driver.step().catch((error: unknown) => {
          failure = error;
        });
      }
      // A checkpoint that fails before a restore does no harm: the old state remains.
      if (failure !== undefined && String(failure).includes('until it is opened again')) {
        broken++;
        const { acknowledged, attempted } = driver;
        await expect(driver.step()).rejects.toThrow(/could not be written/);
        expect(driver.acknowledged).toBe(acknowledged);
        // The last write that reached the disk.
        driver.attempted = attempted;
      }
      const crashed: Run = { disk, driver, end: failure };
      await checkReopened(crashed, disk.afterPowerLoss(new Random(seed)), new Random(seed));
    });
    await fc.assert(property, { numRuns: 300 });
    expect(broken).toBeGreaterThan(50);
  }, 60_000);

  test('accepts deletions on a full disk, and all writes when little is left, whatever happened before', async () => {
    const property = fc.asyncProperty(
      fc.integer(),
      fc.integer({ min: 25_000, max: 60_000 }),
      async (seed, capacity) => {
        const random = new Random(seed);
        let disk = new SimulatedDisk();
        let store = openStore(simulatedJournal(disk, FULL_DISK));
        disk.faults = { capacity };
        const restart = (): void => {
          disk = disk.afterKill();
          disk.faults = { capacity };
          store = openStore(simulatedJournal(disk, FULL_DISK));
        };
        const names = (): readonly string[] =>
          store.list({ storageKey: 'configmaps' }).items.map(({ metadata }) => metadata.name);
        /** Whether the write was accepted. */
        const write = (name: string): boolean => {
          const key = { storageKey: 'configmaps', namespace: 'default', name };
          const expected = store.get(key);
          const text = 'x'.repeat(random.int(500, 3_000));
          const makeObject = (resourceVersion: string) => withVersion(expected ?? mapOf(name, text), resourceVersion);
          try {
            if (expected === undefined) store.commit({ type: 'create', key, makeObject });
            else store.commit({ type: 'delete', key, expected, makeObject });
            return true;
          } catch (error) {
            if (disk.isOff) restart();
            else expect(String(error)).toContain('no space left');
            return false;
          }
        };
        /** A checkpoint in the background may have taken the space. */
        const eventually = async (name: string): Promise<boolean> => {
          for (let turn = 0; turn < 10; turn++) {
            if (write(name)) return true;
            await nextTurn();
          }
          return false;
        };
        for (let step = 0; step < 150; step++) {
          if (random.chance(0.05)) restart();
          if (random.chance(0.05)) disk.faults = { capacity, crashAt: disk.operations + random.int(1, 30) };
          write(random.chance(0.35) ? random.pick([...names(), 'first']) : `n${step}`);
          if (random.chance(0.3)) await nextTurn();
        }
        restart();
        for (const name of names().slice(1)) expect(await eventually(name), `deletion of ${name}`).toBe(true);
        expect(await eventually('last'), 'creation').toBe(true);
        const last = fingerprintOf(store);
        restart();
        expect(fingerprintOf(store)).toBe(last);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  }, 60_000);
});
