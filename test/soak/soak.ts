/**
 * The soak test: many clients use one server, which is killed and restarted, while the promises of docs/reliability.md are
 * checked.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seededRandom } from 'orchplane/testing';
import { compareMemory, Ledger, Report, type Stored, type StoredList } from './checks.js';
import * as drivers from './drivers.js';
import { runRound } from './in-process.js';
import { pager, watcher } from './readers.js';
import { type Memory, pause, Server } from './server.js';

export interface SoakOptions {
  /** The path of the built command line. */
  readonly program: string;
  readonly seconds: number;
  readonly seed: number;
  readonly heapMegabytes: number;
  /** Gets a line from time to time. */
  readonly log: (line: string) => void;
}

export interface SoakResult {
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
  /** Of the server. `warm` is absent in a short run. */
  readonly memory: { readonly [time in 'start' | 'warm' | 'end']?: Memory };
}

/** The server is restarted in this part of the run. The rest shows how its memory grows. */
const RESTARTED_PART = 0.4;
const RESTART_EVERY_S = 25;
/** The age at which events leave the history, and a little more. */
const WARM_UP_S = 330;

/** The longest time in which the drivers end. */
const LAST_STEPS_MS = 60_000;

const DRIVERS: readonly drivers.Driver[] = [
  ...['a', 'b', 'c', 'd'].map(drivers.countingWriter),
  ...drivers.RECORDERS.map(drivers.recordingWriter),
  ...['x', 'y', 'z'].map(drivers.applier),
  drivers.largeWriter,
  drivers.quotaWriter,
  drivers.policyWriter,
  drivers.crdWriter,
  drivers.dropper,
  watcher({ path: drivers.MAPS, every: 40 }),
  watcher({ path: drivers.MAPS, every: 25, selector: 'part=counters' }),
  watcher({ path: '/api/v1/configmaps', every: 60, slow: 100 }),
  watcher({ path: drivers.LARGE, every: 10 }),
  watcher({ path: drivers.LARGE, every: 10, slow: 6_000 }),
  watcher({ path: drivers.SECRETS, every: 20, most: drivers.QUOTA }),
  pager(drivers.MAPS),
  pager('/apis/rbac.authorization.k8s.io/v1/clusterroles'),
];

export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const { seed, log } = options;
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-soak-'));
  const report = new Report(log);
  const server = new Server({ ...options, folder, report });
  const ledger = new Ledger();
  const memory: { [time in 'start' | 'warm' | 'end']?: Memory } = {};
  try {
    await server.start();
    await drivers.prepare(server);
    memory.start = await server.measure();
    server.allowRequests();
    const work = DRIVERS.map((driver, index) =>
      repeat(driver({ server, report, ledger, random: seededRandom(seed * 1_000 + index) }), report),
    );
    work.push(repeatRounds(seed, report));

    const { seconds } = options;
    const startedAt = Date.now();
    const elapsed = (): number => (Date.now() - startedAt) / 1_000;
    const untilSecond = async (second: number): Promise<void> => {
      while (elapsed() < second && !report.stopped.aborted) await pause(200);
    };
    const tell = (what: string): void => log(`${elapsed().toFixed(0)} s: ${what}; ${summary(report)}`);

    const random = seededRandom(seed);
    const restarts = Math.max(2, Math.floor((seconds * RESTARTED_PART) / RESTART_EVERY_S));
    for (let count = 1; count <= restarts && !report.stopped.aborted; count++) {
      await untilSecond((seconds * RESTARTED_PART * count) / restarts);
      const signal = count === 1 || (count > 2 && random.below(2) === 0) ? 'SIGKILL' : 'SIGTERM';
      await server.stop(signal);
      await server.start();
      await verify(server, ledger, report);
      server.allowRequests();
      report.count(`restarts after ${signal}`);
      tell(`restarted after ${signal}`);
    }
    const restartedAt = elapsed();
    while (elapsed() < seconds && !report.stopped.aborted) {
      await untilSecond(Math.min(seconds, elapsed() + 30));
      memory.end = await server.measure();
      if (elapsed() - restartedAt > WARM_UP_S) memory.warm ??= memory.end;
      tell(`heap ${memory.end.heap.toFixed(0)} MB, rss ${memory.end.rss.toFixed(0)} MB`);
    }
    report.stop();
    await finished(work, server);
    memory.end = await server.measure();
    if (memory.warm !== undefined) report.check('memory', compareMemory(memory.warm.heap, memory.end.heap));
    await verify(server, ledger, report);
    await server.stop('SIGTERM');
  } catch (error) {
    report.violation(textOf(error));
  } finally {
    report.stop();
    server.allowRequests();
    await server.stop('SIGKILL');
    rmSync(folder, { recursive: true });
  }
  return { counts: report.counts, violations: report.violations, memory };
}

/** Waits for the last steps of the drivers. */
async function finished(work: readonly Promise<void>[], server: Server): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end: ${server.pending.join(', ')}`)), LAST_STEPS_MS);
  });
  await Promise.race([Promise.all(work), tooLong]).finally(() => clearTimeout(timer));
}

function textOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

/** Repeats the steps of a driver. An error of a driver is a violation, too. */
async function repeat(step: () => Promise<void>, report: Report): Promise<void> {
  while (!report.stopped.aborted) {
    try {
      await step();
    } catch (error) {
      report.violation(textOf(error));
    }
    await pause(5);
  }
}

async function repeatRounds(seed: number, report: Report): Promise<void> {
  let round = 0;
  await repeat(async () => {
    await runRound(seed * 1_000_000 + round++, report);
    await pause(1_000);
  }, report);
}

/** While no request is running: every acknowledged write is there, and nothing that was deleted. */
async function verify(server: Server, ledger: Ledger, report: Report): Promise<void> {
  const { status, body } = await server.sendNow<StoredList>('GET', drivers.MAPS);
  if (status !== 200) return report.violation(`a list after a restart: ${status}`);
  const isRecorded = ({ metadata }: Stored): boolean =>
    drivers.RECORDERS.some((id) => metadata.name.startsWith(`${id}-`));
  const recorded = body.items.filter(isRecorded);
  const stored = new Map(recorded.map(({ metadata, data }) => [metadata.name, data?.['content']]));
  for (const name of new Set([...ledger.names(), ...stored.keys()])) {
    report.check('acknowledged writes', ledger.read(name, stored.get(name)));
  }
}

function summary({ counts, violations }: Report): string {
  const { requests = 0, 'watch events': events = 0, 'rounds in process': rounds = 0 } = counts;
  return `${requests} requests, ${events} watch events, ${rounds} rounds, ${violations.length} violations`;
}
