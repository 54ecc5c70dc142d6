/**
 * Runs programs: JavaScript functions as processes of containers.
 */
import { once } from '../util/once.js';
import { checkListen, checkUsage } from './check-options.js';
import { builtInCommands } from './commands.js';
import {
  type ContainerSetup,
  EXIT_CODES,
  type Image,
  type Output,
  type ProcessExit,
  type ProcessImage,
  type Program,
  type ProgramContainer,
  type ProgramImage,
  type ProgramResult,
  type RunningProcess,
} from './program.js';

/** Thrown by `exit`. */
class Exit {
  readonly code: number;

  constructor(code: number) {
    this.code = code;
  }
}

/** The reason with which a program's signal aborts. */
class Stopped extends Error {
  override readonly name = 'AbortError';

  constructor() {
    super('the container is being stopped');
  }
}

/** The command of an `exec` does not exist in the image. */
export class CommandNotFound extends Error {}

/** The image as something that starts processes. */
export function processImageOf(image: Image): ProcessImage {
  if (typeof image === 'object' && 'start' in image) return image;
  const { run, commands = {}, pullMs = 0 }: ProgramImage = typeof image === 'function' ? { run: image } : image;
  return {
    start(setup) {
      if (setup.exec === undefined)
        return pullMs > 0 && isFirstStart(setup) ? runAfter(pullMs, run, setup) : runProgram(run, setup);
      const [name = '', ...args] = setup.exec;
      const command = commandNamed(name, commands);
      if (command === undefined)
        throw new CommandNotFound(`exec: ${JSON.stringify(name)}: executable file not found in $PATH`);
      return runProgram(command, { ...setup, command: [name], args });
    },
  };
}

/** A command can be given with its directory: `/bin/cat`. */
function commandNamed(path: string, commands: Readonly<Record<string, Program>>): Program | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  for (const known of [commands, builtInCommands]) {
    for (const key of [path, name]) if (Object.hasOwn(known, key)) return known[key];
  }
  return undefined;
}

function isFirstStart({ pod, container }: ContainerSetup): boolean {
  const { containerStatuses = [], initContainerStatuses = [] } = pod.status;
  const statuses = [...containerStatuses, ...initContainerStatuses];
  return !statuses.some(({ name, containerID }) => name === container.name && containerID !== undefined);
}

/** A process that starts later. Until then, both signals end it. */
function runAfter(delayMs: number, program: Program, setup: ContainerSetup): RunningProcess {
  let process: RunningProcess | undefined;
  let cancel = (): void => undefined;
  let setStarted = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    setStarted = resolve;
  });
  const exit = new Promise<ProcessExit>((resolve) => {
    const undo = setup.clock.after(delayMs, () => {
      process = runProgram(program, setup);
      setStarted();
      void process.exit.then(resolve);
    });
    cancel = () => {
      undo();
      resolve({ exitCode: EXIT_CODES.killed });
    };
  });
  return { started, exit, kill: (signal) => (process === undefined ? cancel() : process.kill(signal)) };
}

function runProgram(program: Program, setup: ContainerSetup): RunningProcess {
  const stopping = new AbortController();
  const closers = new Set<() => void>();
  let isEnded = false;
  let kill = (_exit: ProcessExit): void => undefined;
  const killed = new Promise<ProcessExit>((resolve) => {
    kill = resolve;
  });
  const container = containerOf(setup, stopping.signal, {
    isEnded: () => isEnded,
    end: (code) => kill({ exitCode: code & 255 }),
    onEnd: (close) => void closers.add(close),
  });
  const run = async (): Promise<ProcessExit> => {
    try {
      return { exitCode: exitCode(await program(container)) };
    } catch (error) {
      if (error instanceof Exit) return { exitCode: error.code & 255 };
      if (stopping.signal.aborted && isAbort(error)) return { exitCode: EXIT_CODES.terminated };
      container.stderr.write(`${textOf(error)}\n`);
      return { exitCode: 1 };
    }
  };
  const exit = Promise.race([run(), killed]).then((result) => {
    isEnded = true;
    stopping.abort(new Stopped());
    for (const close of closers) close();
    return result;
  });
  return {
    exit,
    kill(signal) {
      stopping.abort(new Stopped());
      if (signal === 'SIGKILL') kill({ exitCode: EXIT_CODES.killed });
    },
  };
}

function exitCode(result: ProgramResult): number {
  if (result === undefined) return 0;
  if (Number.isInteger(result)) return result & 255;
  throw new TypeError(`a program returns an exit code or nothing, not ${String(result)}`);
}

function isAbort(error: unknown): boolean {
  return error instanceof Stopped || (error instanceof Error && error.name === 'AbortError');
}

interface ProgramState {
  isEnded(): boolean;
  /** Ends the program also if it is called in a callback, whose errors do not reach the program. */
  end(exitCode: number): void;
  onEnd(close: () => void): void;
}

function containerOf(setup: ContainerSetup, signal: AbortSignal, state: ProgramState): ProgramContainer {
  const { pod, container, clock, network } = setup;
  const source = { namespace: pod.metadata.namespace ?? '', podName: pod.metadata.name };
  const outputTo = (write: (bytes: Uint8Array) => void): Output => ({
    write(data) {
      if (state.isEnded()) return;
      write(typeof data === 'string' ? new TextEncoder().encode(data) : data.slice());
    },
  });
  const stdout = outputTo(setup.stdout);
  return {
    name: container.name,
    pod,
    args: setup.args,
    command: setup.command,
    env: setup.env,
    files: setup.files,
    stdin: setup.stdin,
    stdout,
    stderr: outputTo(setup.stderr),
    signal,
    clock,
    client: setup.client,
    use: (usage) => {
      checkUsage(usage);
      if (!state.isEnded()) setup.onUsage(usage);
    },
    log: (...values) => stdout.write(`${values.map((value) => textOf(value)).join(' ')}\n`),
    exit(code) {
      state.end(code);
      throw new Exit(code);
    },
    sleep(ms) {
      const slept = new Promise<void>((resolve, reject) => {
        signal.throwIfAborted();
        const stop = (): void => {
          undo();
          reject(signal.reason);
        };
        const undo = clock.after(ms, () => {
          signal.removeEventListener('abort', stop);
          resolve();
        });
        signal.addEventListener('abort', stop, { once: true });
      });
      // If the program does not await the promise, its rejection would be unhandled and end the process.
      slept.catch(() => undefined);
      return slept;
    },
    untilStopped: () =>
      new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    fetch: async (input, init) => network.fetch(new Request(input, init), source),
    listen(port, handler) {
      checkListen(port, handler);
      if (state.isEnded()) throw new Error('the container has ended');
      const close = once(network.listen(source, port, { fetch: handler }));
      state.onEnd(close);
      return close;
    },
  };
}

/** Errors with their causes, up to this depth. */
const MAX_CAUSES = 5;

function textOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value;
  if (value instanceof Error) {
    const { cause, stack = value.message } = value;
    const hasCause = cause !== undefined && depth < MAX_CAUSES;
    return hasCause ? `${stack}\n  [cause]: ${textOf(cause, depth + 1)}` : stack;
  }
  try {
    return JSON.stringify(value) ?? String(value);
  } catch {
    // Cyclic objects and values such as BigInt have no JSON; an object may have no text either.
    return typeof value === 'object' ? Object.prototype.toString.call(value) : String(value);
  }
}
