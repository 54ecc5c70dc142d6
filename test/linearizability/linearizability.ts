/**
 * Three servers share three members of etcd. Clients write a few objects through all servers, while members and servers are
 * killed, started again, stopped and continued. At the end the history of every object must be linearizable, and every
 * watcher must have the state of the list.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type SeededRandom, seededRandom } from 'orchplane/testing';
import { Report, type Stored } from '../soak/checks.js';
import { pause } from '../soak/server.js';
import { checkHistory, type Operation } from './checker.js';
import { MAPS, pick, type Run, readAll, send, Watcher, write } from './clients.js';
import { type Instance, makeProcesses, type Processes } from './processes.js';

export interface RunOptions {
  /** The path of the built command line. */
  readonly program: string;
  readonly seconds: number;
  readonly seed: number;
  readonly log: (line: string) => void;
}

export interface RunResult {
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
  readonly operations: number;
  readonly unknown: number;
}

const WRITERS = 16;
const WATCHERS = 4;
/** The longest time until all servers answer after the last fault. */
const RECOVERY_MS = 60_000;

export async function runLinearizability({ program, seconds, seed, log }: RunOptions): Promise<RunResult> {
  const folder = mkdtempSync(join(tmpdir(), 'orchplane-linearizability-'));
  const report = new Report(log);
  const processes = await makeProcesses({ program, folder, onExit: (problem) => report.violation(problem) });
  const history: Operation[] = [];
  const instances = [...processes.members, ...processes.servers];
  try {
    for (const instance of instances) instance.start();
    await recovered(processes, report);
    await driveClients(processes, { report, history, seconds, seed });
    for (const problem of checkHistory(history)) report.violation(problem);
  } catch (error) {
    report.violation(error instanceof Error ? (error.stack ?? error.message) : String(error));
  } finally {
    report.stop();
    await Promise.all(instances.map((instance) => instance.kill()));
    if (report.violations.length === 0) rmSync(folder, { recursive: true });
    else {
      writeFileSync(join(folder, 'history.json'), JSON.stringify(history));
      log(`the logs and the history are in ${folder}`);
    }
  }
  const unknown = history.filter(({ result }) => result === 'unknown').length;
  return { counts: report.counts, violations: report.violations, operations: history.length, unknown };
}

async function driveClients(
  processes: Processes,
  options: Pick<Run, 'report' | 'history'> & Pick<RunOptions, 'seconds' | 'seed'>,
): Promise<void> {
  const { report, history, seconds, seed } = options;
  const { members, servers } = processes;
  const end = new AbortController();
  const hasQuorum = () => members.filter(({ isRunning }) => isRunning).length > members.length / 2;
  const run: Run = { servers, report, history, written: end.signal, hasQuorum };
  const random = (index: number) => seededRandom(seed * 1_000 + index);
  const watchers = Array.from({ length: WATCHERS }, (_, index) => new Watcher(run, random(100 + index)));
  const following = watchers.map((watcher) => watcher.follow());
  const writing = Array.from({ length: WRITERS }, (_, index) => write(run, index, random(index)));
  const faults = [members, servers].map((group, index) => makeFaults(group, run, random(200 + index)));
  const ended = Promise.all([...writing, ...faults, ...following]);
  const stop = (): void => end.abort();
  report.stopped.addEventListener('abort', stop);
  await Promise.race([pauseUntil(end.signal, seconds * 1_000), ended]).finally(stop);
  await Promise.all([...writing, ...faults]);
  const recoveryMs = await recovered(processes, report);
  report.count('milliseconds until all servers answered', Math.round(recoveryMs));
  await readAll(run);
  await settle(servers, watchers);
  report.stop();
  await Promise.all(following);
  for (const watcher of watchers) {
    for (const server of servers) {
      if (!(await watcher.compare(server))) report.violation(`${server.name} has no list at the version of a watch`);
    }
  }
}

/** Waits until all watchers have received a last write. */
async function settle(servers: readonly Instance[], watchers: readonly Watcher[]): Promise<void> {
  const [server] = servers as [Instance];
  const body = { metadata: { name: 'last' } };
  const { status, body: last } = await send<Stored>(server, 'POST', MAPS, body);
  if (status !== 201) throw new Error(`the last write has status ${status}`);
  const until = Date.now() + RECOVERY_MS;
  const isBehind = ({ replica }: Watcher) => Number(replica.version) < Number(last.metadata.resourceVersion);
  while (watchers.some(isBehind)) {
    if (Date.now() > until) throw new Error('a watcher has not received the last write');
    await pause(50);
  }
}

/** Waits until every server reads from etcd. Returns how long that took. */
async function recovered({ servers }: Processes, report: Report): Promise<number> {
  const start = Date.now();
  for (const server of servers) {
    for (;;) {
      const { status } = await send(server, 'GET', `${MAPS}/none`);
      if (status === 404) break;
      if (report.stopped.aborted) throw new Error('stopped after too many violations');
      if (Date.now() - start > RECOVERY_MS)
        throw new Error(`${server.name} answers with ${status} after the last fault`);
      await pause(50);
    }
  }
  return Date.now() - start;
}

/** Kills or stops one or two instances at a time, and starts or continues them. */
async function makeFaults(group: readonly Instance[], { report, written }: Run, random: SeededRandom): Promise<void> {
  while (!written.aborted) {
    await pauseUntil(written, 300 + random.below(2_000));
    if (written.aborted) return;
    // One in five takes away the quorum.
    const targets = random.shuffle(group).slice(0, random.below(5) === 0 ? 2 : 1);
    const isKill = pick(random, [true, false]);
    report.count(`${isKill ? 'killed' : 'stopped'}: ${group[0]?.name.split('-')[0]}`, targets.length);
    if (isKill) await Promise.all(targets.map((target) => target.kill()));
    else for (const target of targets) target.stop();
    await pauseUntil(written, 100 + random.below(4_000));
    for (const target of targets) isKill ? target.start() : target.continue();
  }
}

async function pauseUntil(signal: AbortSignal, milliseconds: number): Promise<void> {
  const until = Date.now() + milliseconds;
  while (Date.now() < until && !signal.aborted) await pause(Math.min(50, until - Date.now()));
}
