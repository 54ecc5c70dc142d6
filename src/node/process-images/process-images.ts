/**
 * Images whose containers are child processes of this process. They have the rights of this process: this is not a sandbox.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import type { Volume } from '../../runtime/files/file-tree.js';
import type { ContainerSetup, ProcessExit, ProcessImage, RunningProcess } from '../../runtime/index.js';
import { systemClock } from '../../util/clock.js';
import { isPromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { NamespaceHost } from './namespaces.js';
import { PlainHost, signalGroup } from './plain-host.js';
import type { ProcessHost } from './process-host.js';

export interface ProcessImageDefinition {
  /** What runs if the container has no command: the entry point of the image. */
  readonly command: readonly string[];
  /** Its arguments if the container has no arguments; none unless given. */
  readonly args?: readonly string[] | undefined;
  /** Programs of the image by their path in the image, with their path on this machine: `{ '/agnhost': '/opt/agnhost' }`. */
  readonly programs?: Readonly<Record<string, string>> | undefined;
  /** Variables of the image. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly workingDir?: string | undefined;
  /** With namespaces: a directory with the files of the image; `/` unless given. */
  readonly root?: string | undefined;
}

export interface ProcessImagesOptions {
  /**
   * `none`: the processes see the files and the network of this machine. Volumes are below the directory
   * `$ORCHPLANE_ROOT`, and servers have to listen on `$ORCHPLANE_ADDRESS`, an address in 127.0.0.0/8.
   * `namespaces`: each container has its own files and each pod its own network interface with its address, by means of
   * Linux namespaces. Requires Linux, root, and the commands unshare, nsenter, chroot and ip. `none` unless given.
   */
  readonly isolation?: 'none' | 'namespaces' | undefined;
}

/**
 * Images for `runtime()` whose containers are processes of this machine. The key `*` stands for all other images.
 *
 * @example
 * runtime({ images: processImages({ busybox: { command: ['sh'] } }), network: { sockets: nodeSockets } });
 */
export function processImages(
  definitions: Readonly<Record<string, ProcessImageDefinition>>,
  options: ProcessImagesOptions = {},
): Readonly<Record<string, ProcessImage>> {
  refuseUnknownOptions('processImages', options, ['isolation']);
  const { isolation = 'none' } = options;
  if (isolation !== 'none' && isolation !== 'namespaces') {
    throw new TypeError(
      `orchplane: processImages: isolation is 'none' or 'namespaces', not ${JSON.stringify(isolation)}`,
    );
  }
  const host = isolation === 'none' ? new PlainHost() : new NamespaceHost();
  return Object.fromEntries(
    Object.entries(definitions).map(([name, definition]) => {
      if (!Array.isArray(definition?.command)) throw new TypeError(`orchplane: processImages: ${name} has no command`);
      return [name, new ProcessImageOf(host, definition)];
    }),
  );
}

class ProcessImageOf implements ProcessImage {
  readonly #host: ProcessHost;
  readonly #definition: ProcessImageDefinition;

  constructor(host: ProcessHost, definition: ProcessImageDefinition) {
    this.#host = host;
    this.#definition = definition;
  }

  start(setup: ContainerSetup): RunningProcess {
    const started = new StartedProcess(setup);
    void started.run(this.#host, this.#definition, commandOf(setup, this.#definition));
    return started;
  }

  release(podUid: string, network: ContainerSetup['network']): void {
    this.#host.release(podUid, network);
  }

  removeVolumes(volumes: Iterable<Volume>): void {
    this.#host.removeVolumes(volumes);
  }
}

/** A command of the container replaces the entry point and the arguments of the image. */
function commandOf({ exec, command, args }: ContainerSetup, definition: ProcessImageDefinition): readonly string[] {
  if (exec !== undefined) return exec;
  if (command.length > 0) return [...command, ...args];
  return [...definition.command, ...(args.length > 0 ? args : (definition.args ?? []))];
}

/** Exit codes of a shell for a command that does not exist, and for one that cannot be executed. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** How long the output of a process may last after its end. */
const OUTPUT_GRACE_MS = 1_000;

class StartedProcess implements RunningProcess {
  readonly started: Promise<void>;
  readonly exit: Promise<ProcessExit>;
  readonly #setup: ContainerSetup;
  #resolve: (exit: ProcessExit) => void = () => undefined;
  #resolveStarted: () => void = () => undefined;
  #child: ChildProcess | undefined;
  #isEnded = false;
  #killedWith: 'SIGTERM' | 'SIGKILL' | undefined;
  #signal: ((child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL') => void) | undefined;

  constructor(setup: ContainerSetup) {
    this.#setup = setup;
    this.started = new Promise((resolve) => {
      this.#resolveStarted = resolve;
    });
    this.exit = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  kill(signal: 'SIGTERM' | 'SIGKILL'): void {
    this.#killedWith = signal;
    if (this.#isEnded) return;
    if (this.#child === undefined) {
      // The process has not been started yet.
      if (signal === 'SIGKILL') this.#resolve({ exitCode: 128 + constants.signals.SIGKILL });
      return;
    }
    this.#signal?.(this.#child, signal);
  }

  async run(host: ProcessHost, definition: ProcessImageDefinition, command: readonly string[]): Promise<void> {
    const { stderr } = this.#setup;
    try {
      const prepared = await host.prepare(this.#setup, definition, command);
      if (this.#killedWith !== undefined) {
        this.#resolve({ exitCode: 128 + constants.signals[this.#killedWith] });
        return;
      }
      const [file = '', ...args] = prepared.command;
      const child = spawn(file, args, { env: prepared.env, cwd: prepared.cwd, stdio: 'pipe', detached: true });
      this.#child = child;
      this.#signal = prepared.signal;
      this.#connect(child);
      const running = prepared.created?.(child.pid) ?? Promise.resolve();
      // A process that ends at once has started, too.
      running.then(this.#resolveStarted, this.#resolveStarted);
      child.once('error', (error) => {
        stderr(new TextEncoder().encode(`${error.message}\n`));
        this.#resolve({ exitCode: 'code' in error && error.code === 'ENOENT' ? NOT_FOUND : NOT_EXECUTABLE });
      });
      // Processes that it has left behind would hold its output, also those in groups of their own.
      child.once('exit', () => {
        signalGroup(child.pid, 'SIGKILL');
        const close = () => {
          child.stdout.destroy();
          child.stderr.destroy();
        };
        child.once('close', systemClock.after(OUTPUT_GRACE_MS, close, { background: true }));
      });
      // After the end of the output.
      child.once('close', (code, signal) => {
        try {
          prepared.ended?.();
        } catch (error) {
          stderr(new TextEncoder().encode(`${messageOf(error)}\n`));
        }
        this.#child = undefined;
        this.#isEnded = true;
        this.#resolve({ exitCode: code ?? 128 + constants.signals[signal ?? 'SIGKILL'] });
      });
    } catch (error) {
      stderr(new TextEncoder().encode(`${error instanceof Error ? error.message : String(error)}\n`));
      this.#resolve({ exitCode: NOT_EXECUTABLE, reason: 'StartError' });
    }
  }

  #connect({ stdin, stdout, stderr }: ChildProcess): void {
    const setup = this.#setup;
    passOutput(stdout, setup.stdout);
    passOutput(stderr, setup.stderr);
    if (stdin === null) return;
    const input = Readable.fromWeb(setup.stdin as NodeReadableStream);
    // The process may end before it has read everything, and the input may be aborted.
    stdin.on('error', () => input.destroy());
    input.on('error', () => stdin.destroy());
    input.pipe(stdin);
  }
}

/** Reads no more than what is taken: a process waits for a client that does not read. */
function passOutput(output: Readable | null, write: ContainerSetup['stdout']): void {
  output?.on('data', (bytes: Uint8Array) => {
    const written = write(bytes);
    if (!isPromise(written)) return;
    output.pause();
    void written.then(() => output.resume());
  });
}
