/**
 * Commands that every program image has, so that `kubectl exec`, probes and hooks can inspect a container: a small part of
 * what busybox offers. There is no shell.
 */
import { JoinedBytes } from '../util/bytes.js';
import { nextTurn } from '../util/clock.js';
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
  cat: async ({ args, files, stdin, stdout, stderr, signal }) => {
    if (args.length === 0) {
      for await (const bytes of chunksOf(stdin)) stdout.write(bytes);
      return 0;
    }
    return forEachPath({ args, stderr, signal }, 'cat', (path) => stdout.write(files.read(path)));
  },
  ls: ({ args, files, stdout, stderr, signal }) => {
    const paths = args.filter((arg) => !arg.startsWith('-'));
    return forEachPath({ args: paths.length === 0 ? ['/'] : paths, stderr, signal }, 'ls', (path) => {
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
  rm: ({ args, files, stderr, signal }) => {
    const paths = args.filter((arg) => !arg.startsWith('-'));
    return forEachPath({ args: paths, stderr, signal }, 'rm', (path) => files.remove(path));
  },
  tee: async ({ args, files, stdin, stdout, stderr, signal }) => {
    const content = new JoinedBytes();
    for await (const bytes of chunksOf(stdin)) {
      stdout.write(bytes);
      content.add(bytes);
      if (content.length <= MAX_VOLUME_BYTES) continue;
      stderr.write('tee: no space left on device\n');
      return 1;
    }
    const bytes = content.bytes();
    return forEachPath({ args, stderr, signal }, 'tee', (path) => files.write(path, bytes));
  },
};

function printEnvironment({ env, stdout }: Pick<ProgramContainer, 'args' | 'env' | 'stdout'>): number {
  for (const [name, value] of Object.entries(env)) stdout.write(`${name}=${value}\n`);
  return 0;
}

/** Exit code 1 if an operation failed; the message goes to standard error. */
async function forEachPath(
  { args, stderr, signal }: Pick<ProgramContainer, 'args' | 'stderr' | 'signal'>,
  command: string,
  run: (path: string) => void,
): Promise<number> {
  let code = 0;
  for (const [at, path] of args.entries()) {
    // A client can name thousands of files.
    if (at > 0) await nextTurn();
    if (signal.aborted) return 1;
    try {
      run(path);
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
