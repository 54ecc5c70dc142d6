/**
 * The contract between the runtime and what it runs. An image name maps to an image; an image starts processes. A program is
 * a JavaScript function that acts as the main process of a container.
 */
import type { Client } from '../client/client.js';
import type { StoredPod } from '../controllers/workloads/pod-state.js';
import type { Usage } from '../protocol/connection.js';
import type { Clock } from '../util/clock.js';
import type { MaybePromise } from '../util/maybe-promise.js';
import type { FileTree, Volume } from './files/file-tree.js';
import type { ClusterNetwork, RequestInfo } from './network/types.js';

/**
 * A JavaScript function that runs as a container. It ends with an exit code (a number; 0 if it returns nothing). An error
 * that it throws is printed to standard error, and the exit code is 1.
 *
 * @example
 * const web: Program = async ({ listen, env, untilStopped }) => {
 *   listen(8080, () => new Response(`Hello from ${env['HOSTNAME']}`));
 *   await untilStopped();
 * };
 */
export type Program = (container: ProgramContainer) => MaybePromise<ProgramResult>;

// biome-ignore lint/suspicious/noConfusingVoidType: most programs return nothing.
export type ProgramResult = number | void;

/** What a program can use. All functions can be taken out of the object. */
export interface ProgramContainer {
  readonly name: string;
  /** The pod when the container started. */
  readonly pod: StoredPod;
  /** The arguments: those of the container, or the words after the name of a command. */
  readonly args: readonly string[];
  /** The command of the container, or the name of a command that is executed in it. Empty: that of the image. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The volumes of the pod and the container's own files. */
  readonly files: FileTree;
  readonly stdin: ReadableStream<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborts when the container is asked to stop (SIGTERM). After the grace period the container is considered as killed. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Sends requests to the API server as the pod's service account. */
  readonly client: Client;
  /** Sets what the container uses, for `kubectl top` and autoscalers: `use({ cpu: '250m', memory: '64Mi' })`. */
  use(usage: Usage): void;
  /** Prints a line to standard output. */
  log(...values: unknown[]): void;
  /** Ends the container. It throws, so that nothing after it runs. */
  exit(code: number): never;
  /** Waits on the cluster's clock. Rejects when the container is asked to stop. */
  sleep(ms: number): Promise<void>;
  /** Resolves when the container is asked to stop. */
  untilStopped(): Promise<void>;
  /** `fetch` on the cluster network: Services, pods and their names. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Serves HTTP on a port of the pod until the container ends. The result closes the server. */
  listen(port: number, handler: (request: Request, info: RequestInfo) => MaybePromise<Response>): () => void;
}

export type { Usage } from '../protocol/connection.js';

/** A standard output stream. */
export interface Output {
  write(data: string | Uint8Array): void;
}

/** A program with the commands that `exec`, probes and hooks can run in its containers. */
export interface ProgramImage {
  readonly run: Program;
  readonly commands?: Readonly<Record<string, Program>> | undefined;
  /** The time before the first start of a container, as if its image had to be pulled; 0 unless given. */
  readonly pullMs?: number | undefined;
}

/** What an image name maps to: a program, or something else that starts processes, for example `processImages`. */
export type Image = Program | ProgramImage | ProcessImage;

/** Starts processes. */
export interface ProcessImage {
  /** Starts the main process of a container, or with `exec` another one in it. Throws if it cannot be started. */
  start(setup: ContainerSetup): RunningProcess;
  /** Called when a pod is gone and when the cluster closes: removes everything that belongs to the pod in this network. */
  release?(podUid: string, network: ClusterNetwork): void;
  /** Removes volumes that outlive pods. Called when they are deleted, and when the cluster closes, after all pods were released. */
  removeVolumes?(volumes: Iterable<Volume>): void;
}

/** Everything that a process needs. */
export interface ContainerSetup {
  readonly pod: StoredPod;
  readonly container: ContainerSpec;
  /** The command to execute in the running container. Absent: the container's own. */
  readonly exec?: readonly string[] | undefined;
  readonly command: readonly string[];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly files: FileTree;
  readonly stdin: ReadableStream<Uint8Array>;
  /** A promise resolves when the client has read what was written; a process that can wait should. */
  readonly stdout: (bytes: Uint8Array) => MaybePromise<void>;
  readonly stderr: (bytes: Uint8Array) => MaybePromise<void>;
  readonly network: ClusterNetwork;
  readonly client: Client;
  readonly clock: Clock;
  /** Called when the usage of the container changes. */
  readonly onUsage: (usage: Usage) => void;
}

export type ContainerSpec = Omit<StoredPod['spec']['containers'][number], 'lifecycle'> &
  Pick<StoredPod['spec']['containers'][number], 'lifecycle'>;

export interface RunningProcess {
  /** Resolves when the process runs. Absent: it does. */
  readonly started?: Promise<void> | undefined;
  /** Resolves when the process has ended. Never rejects. */
  readonly exit: Promise<ProcessExit>;
  /** Asks the process to stop (SIGTERM), or ends it at once (SIGKILL). */
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

export interface ProcessExit {
  readonly exitCode: number;
  /** The reason in the status; `Completed` or `Error` unless given. */
  readonly reason?: string | undefined;
}

export const EXIT_CODES = { terminated: 143, killed: 137 } as const;
