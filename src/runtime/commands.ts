/**
 * Commands that every program image has, so that `kubectl exec`, probes and hooks can inspect a container: a small part of
 * what busybox offers. There is no shell.
 */
import { TurnBudget } from '../controllers/runtime/request-tracker.js';
import { JoinedBytes } from '../util/bytes.js';
import { type Clock, nextTurn } from '../util/clock.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import { MAX_VOLUME_BYTES } from './files/file-tree.js';
import type { Program, ProgramContainer } from './program.js';

export const builtInCommands: Readonly<Record<string, Program>> = {
  true: () => 0,
  false: () => 1,
  echo: ({ args, stdout }) => {
    const isBare = args[0] === '-n';
    stdout.write(`${(isBare ? args.slice(1) : args).join(' ')}${isBare ? '' : '\n'}`);
  },
  env: printEnvironment,
  printenv: ({ args, env, stdout, ...container }) => {
    const [name] = args;
    if (name === undefined) return printEnvironment({ args, env, stdout, ...container });
    if (!Object.hasOwn(env, name)) return 1;
    stdout.write(`${env[name]}\n`);
    return 0;
  },
  hostname: ({ pod, stdout }) => stdout.write(`${pod.spec.hostname ?? pod.metadata.name}\n`),
  date: ({ clock, stdout }) => stdout.write(`${new Date(clock.now()).toUTCString()}\n`),
  sleep: async ({ args, sleep, untilStopped }) =>
    args[0] === 'infinity' ? untilStopped() : sleep(Number(args[0]) * 1000),
  cat: async ({ args, files, stdin, stdout, stderr, signal, clock }) => {
    if (args.length === 0) {
      for await (const bytes of chunksOf(stdin)) stdout.write(bytes);
      return 0;
    }
    return forEachPath({ args, stderr, signal, clock }, 'cat', async (path) => {
      let piece: Uint8Array;
      let at = 0;
      do {
        // A file may have 256 MiB, and a thousand probes may print it at the same time.
        if (at > 0) await nextCommandTurn(clock);
        piece = files.read(path, at, at + PIECE_BYTES);
        stdout.write(piece);
        at += PIECE_BYTES;
      } while (piece.length === PIECE_BYTES && !signal.aborted);
    });
  },
  ls: ({ args, files, stdout, stderr, signal, clock }) => {
    const paths = args.filter((arg) => !arg.startsWith('-'));
    return forEachPath({ args: paths.length === 0 ? ['/'] : paths, stderr, signal, clock }, 'ls', (path) => {
      const names = files.isDirectory(path) ? files.list(path) : [path];
      if (!files.exists(path)) files.read(path);
      stdout.write(names.map((name) => `${name}\n`).join(''));
    });
  },
  test: ({ args, files }) => {
    const [flag, path = ''] = args;
    if (flag === '-e') return files.exists(path) ? 0 : 1;
    if (flag === '-d') return files.isDirectory(path) ? 0 : 1;
    if (flag === '-f') return files.exists(path) && !files.isDirectory(path) ? 0 : 1;
    return 2;
  },
  rm: ({ args, files, stderr, signal, clock }) => {
    const paths = args.filter((arg) => !arg.startsWith('-'));
    return forEachPath({ args: paths, stderr, signal, clock }, 'rm', (path) => files.remove(path));
  },
  tee: async ({ args, files, stdin, stdout, stderr, signal, clock }) => {
    const content = new JoinedBytes();
    try {
      for await (const bytes of chunksOf(stdin)) {
        stdout.write(bytes);
        // Many commands may collect their input at the same time.
        if (content.length + bytes.length > MAX_VOLUME_BYTES || !files.reserve(bytes.length)) {
          stderr.write('tee: ENOSPC: no space left on device\n');
          return 1;
        }
        content.add(bytes);
      }
    } finally {
      files.reserve(-content.length);
    }
    // One copy, however many files it is written to. A single chunk still belongs to the client.
    const entry = { bytes: content.bytes().slice(), mode: 0o644 };
    return forEachPath({ args, stderr, signal, clock }, 'tee', (path) => files.put(path, entry));
  },
};

/** What `cat` prints in one turn of the event loop. */
const PIECE_BYTES = 64 * 1024;

function printEnvironment({ env, stdout }: Pick<ProgramContainer, 'args' | 'env' | 'stdout'>): number {
  for (const [name, value] of Object.entries(env)) stdout.write(`${name}=${value}\n`);
  return 0;
}

/** Shared by all commands of programs: the probes and hooks of a thousand containers may run at the same time. */
export const commandBudget = new TurnBudget();

async function nextCommandTurn(clock: Clock): Promise<void> {
  await nextTurn();
  await commandBudget.untilFree(clock);
}

/** Exit code 1 if an operation failed; the message goes to standard error. */
async function forEachPath(
  { args, stderr, signal, clock }: Pick<ProgramContainer, 'args' | 'stderr' | 'signal' | 'clock'>,
  command: string,
  run: (path: string) => MaybePromise<void>,
): Promise<number> {
  let code = 0;
  for (const [at, path] of args.entries()) {
    // A client can name thousands of files.
    if (at > 0) await nextCommandTurn(clock);
    if (signal.aborted) return 1;
    try {
      await run(path);
    } catch (error) {
      stderr.write(`${command}: ${error instanceof Error ? error.message : String(error)}\n`);
      code = 1;
    }
  }
  return code;
}

/** Not every browser can iterate over a stream. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
}
