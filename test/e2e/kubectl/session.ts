/**
 * Runs kubectl against a served cluster. Every test of `kubectlTests` has its own namespace; the tests of a file share
 * one server. Nothing is read from the user's home folder.
 *
 * The newest release runs all tests; the others divide the tests among themselves, because thousands of processes take
 * minutes. With ORCHPLANE_KUBECTL=all in the environment, every release runs all tests.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Cluster, ClusterOptions } from 'orchplane';
import { createCluster } from 'orchplane';
import { Namespace } from 'orchplane/kinds';
import type { ServedCluster } from 'orchplane/node';
import { serve } from 'orchplane/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildHttpThread } from '../../unit/node/http-thread-file.js';
import { type Binary, findBinaries, minorOf } from './binaries.js';
import { type Ended, type Running, startProgram } from './process.js';

export interface RunOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** A release of kubectl, a namespace for this test, and the cluster. */
export interface Session {
  readonly cluster: Cluster;
  readonly server: ServedCluster;
  readonly namespace: string;
  /** 33 for release 1.33. */
  readonly minor: number;
  /** Runs a command that must succeed; returns its standard output. The first argument must not be a flag. */
  run(command: string | readonly string[], options?: RunOptions): Promise<string>;
  /** Runs a command that must end with exit code 1; returns its standard error. */
  refused(command: string | readonly string[], options?: RunOptions): Promise<string>;
  /** Runs a command until it ends. */
  end(command: string | readonly string[], options?: RunOptions): Promise<Ended>;
  /** Starts a command that ends later or never. It is stopped with the test. */
  start(command: string | readonly string[], options?: RunOptions): Running;
  /** Resolves when the next request in this namespace with a matching log line has been answered. */
  answered(fits: RegExp): Promise<string>;
  /** Writes a file into a folder of this test; returns its path. */
  file(name: string, content: string): Promise<string>;
}

/** Enough for a dozen processes on a busy machine. */
const TEST_TIMEOUT_MS = 60_000;

type Body = (session: Session) => Promise<void>;

export function kubectlTests(
  title: string,
  define: (test: (name: string, body: Body) => void) => void,
  options: ClusterOptions = {},
): void {
  const binaries = findBinaries();
  if (binaries.length === 0) {
    test.skip(`skips kubectl ${title}, because there is no kubectl in PATH`, () => undefined);
    return;
  }
  const defined: { name: string; body: Body }[] = [];
  define((name, body) => defined.push({ name, body }));

  let shared: Shared;
  beforeAll(async () => {
    shared = await openShared(options);
  });
  afterAll(() => shared.close());

  for (const [place, binary] of binaries.entries()) {
    const runs = defined.filter((_, index) => isRunBy(place, binaries.length, index));
    if (runs.length === 0) continue;
    describe.concurrent(`kubectl ${binary.release} ${title}`, () => {
      for (const { name, body } of runs) {
        const namespace = `test-${binary.release.replace('.', '-')}-${defined.findIndex((each) => each.name === name)}`;
        const run = async () => {
          await using session = await openSession(shared, binary, namespace);
          await body(session);
        };
        test(name, run, TEST_TIMEOUT_MS);
      }
    });
  }
}

/** Whether the release with this index, of this many, runs the test with this index. */
function isRunBy(place: number, releases: number, index: number): boolean {
  const newest = place === releases - 1;
  return newest || process.env['ORCHPLANE_KUBECTL'] === 'all' || index % (releases - 1) === place;
}

/** The rows of a table that kubectl printed, by column title, without ages. */
export function rowsOf(table: string): Record<string, string>[] {
  const [head = '', ...lines] = table.trimEnd().split('\n');
  const columns = [...head.matchAll(/\S+(?: \S+)*/g)].map((match) => ({ title: match[0], start: match.index }));
  return lines.map((line) => {
    const cells = columns.map(({ title, start }, at) => [title, line.slice(start, columns[at + 1]?.start).trim()]);
    return Object.fromEntries(cells.filter(([title]) => title !== 'AGE' && title !== 'LAST SEEN'));
  });
}

interface Shared {
  readonly cluster: Cluster;
  readonly server: ServedCluster;
  readonly folder: string;
  readonly log: RequestLog;
  close(): Promise<void>;
}

async function openShared(options: ClusterOptions): Promise<Shared> {
  const folder = await mkdtemp(join(tmpdir(), 'orchplane-kubectl-'));
  const cluster = createCluster({ ...options, dialect: 'kubernetes' });
  const log = createRequestLog();
  const kubeconfig = join(folder, 'kubeconfig');
  const server = await serve(cluster, { tls: true, kubeconfig, log: log.add, thread: buildHttpThread() });
  const close = async () => {
    await server.close();
    await cluster.close();
    await rm(folder, { recursive: true });
  };
  return { cluster, server, folder, log, close };
}

async function openSession(shared: Shared, binary: Binary, namespace: string): Promise<Session & AsyncDisposable> {
  const { cluster, server, folder, log } = shared;
  const own = join(folder, namespace);
  const home = join(own, 'home');
  await mkdir(home, { recursive: true });
  await cluster.api(Namespace).create({ metadata: { name: namespace } });

  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    TMPDIR: own,
    KUBECONFIG: join(folder, 'kubeconfig'),
    // Garbage collection is wasted time for short-lived programs.
    GOGC: 'off',
  };
  // Discovery is cached for the following tests, as between the commands of a user.
  const flags = [`--cache-dir=${join(folder, binary.release)}`, `--namespace=${namespace}`];
  const started: Running[] = [];
  const start = (command: string | readonly string[], options: RunOptions = {}): Running => {
    const [verb = '', ...rest] = typeof command === 'string' ? command.split(' ') : command;
    const { input } = options;
    const running = startProgram(binary.path, [verb, ...flags, ...rest], {
      cwd: own,
      env: { ...env, ...options.env },
      ...(input === undefined ? {} : { input }),
    });
    started.push(running);
    return running;
  };
  const ending = async (code: number, command: string | readonly string[], options?: RunOptions): Promise<Ended> => {
    const ended = await start(command, options).ended;
    const output = `kubectl ${typeof command === 'string' ? command : command.join(' ')}\n${ended.stdout}${ended.stderr}`;
    expect(ended.code, output).toBe(code);
    return ended;
  };
  return {
    cluster,
    server,
    namespace,
    minor: minorOf(binary),
    run: async (command, options) => (await ending(0, command, options)).stdout,
    refused: async (command, options) => (await ending(1, command, options)).stderr,
    end: (command, options) => start(command, options).ended,
    start,
    answered: (fits) => log.next((line) => line.includes(`/${namespace}/`) && fits.test(line)),
    file: async (name, content) => {
      const path = join(own, name);
      await writeFile(path, content);
      return path;
    },
    [Symbol.asyncDispose]: async () => {
      for (const running of started) running.stop();
      await Promise.all(started.map(({ ended }) => ended));
    },
  };
}

interface RequestLog {
  readonly add: (line: string) => void;
  /** The first matching line from now on. */
  next(fits: (line: string) => boolean): Promise<string>;
}

function createRequestLog(): RequestLog {
  const waiting = new Set<(line: string) => void>();
  return {
    add: (line) => {
      for (const check of [...waiting]) check(line);
    },
    next: (fits) =>
      new Promise((resolve) => {
        const check = (line: string) => {
          if (!fits(line)) return;
          waiting.delete(check);
          resolve(line);
        };
        waiting.add(check);
      }),
  };
}
