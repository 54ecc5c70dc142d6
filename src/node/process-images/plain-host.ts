/**
 * Runs processes without isolation. Each container has a directory with its volumes; the address of a pod is one of the
 * addresses in 127.0.0.0/8, which all belong to this machine.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import type { Volume } from '../../runtime/files/file-tree.js';
import type { ContainerSetup } from '../../runtime/index.js';
import { own } from '../../util/json.js';
import type { PreparedProcess, ProcessHost } from './process-host.js';
import type { ProcessImageDefinition } from './process-images.js';
import { PodFolders, SharedFolders } from './volume-folders.js';

interface PodState {
  /** The network of its cluster. */
  readonly owner: ContainerSetup['network'];
  readonly folders: PodFolders;
  /** The directories of the containers by name. */
  readonly containers: Map<string, string>;
  readonly detach: () => void;
}

export class PlainHost implements ProcessHost {
  readonly #pods = new Map<string, PodState>();
  readonly #shared = new SharedFolders();

  async prepare(
    setup: ContainerSetup,
    { programs = {}, env, workingDir }: ProcessImageDefinition,
    command: readonly string[],
  ): Promise<PreparedProcess> {
    const pod = this.#podOf(setup);
    const { container, exec } = setup;
    const known = pod.containers.get(container.name);
    const root = exec !== undefined && known !== undefined ? known : this.#createRoot(setup, pod);
    const cwd = join(root, container.workingDir ?? workingDir ?? '/');
    mkdirSync(cwd, { recursive: true });
    const [program = '', ...args] = command;
    return {
      command: [own(programs, program) ?? program, ...args],
      cwd,
      env: {
        ...setup.env,
        PATH: process.env['PATH'] ?? setup.env['PATH'] ?? '',
        ...env,
        ORCHPLANE_ROOT: root,
        ORCHPLANE_ADDRESS: loopbackAddress(setup.pod.status.podIP ?? ''),
      },
      // The process leads a group of its own.
      signal: ({ pid }, name) => signalGroup(pid, name),
      ended: exec === undefined ? () => readTerminationMessage(setup, root) : undefined,
    };
  }

  release(podUid: string, network: ContainerSetup['network']): void {
    const pod = this.#pods.get(podUid);
    if (pod?.owner !== network) return;
    this.#pods.delete(podUid);
    pod.detach();
    pod.folders.remove();
  }

  removeVolumes(volumes: Iterable<Volume>): void {
    this.#shared.remove(volumes);
  }

  #podOf(setup: ContainerSetup): PodState {
    const { uid, name, namespace = '' } = setup.pod.metadata;
    const known = this.#pods.get(uid);
    if (known !== undefined) return requireOwner(known, setup);
    const address = loopbackAddress(setup.pod.status.podIP ?? '');
    const detach = setup.network.attach({ namespace, podName: name }, address);
    const created: PodState = {
      owner: setup.network,
      folders: new PodFolders(setup, this.#shared),
      containers: new Map(),
      detach,
    };
    this.#pods.set(uid, created);
    return created;
  }

  #createRoot(setup: ContainerSetup, { folders, containers }: PodState): string {
    const { files, container } = setup;
    const root = join(folders.root, `container-${container.name}-${setup.clock.now()}`);
    containers.set(container.name, root);
    for (const [path, { bytes }] of files.root.entries()) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), bytes);
    }
    // The shortest paths first, because a volume may be mounted inside of another one.
    for (const mount of [...files.mounts].reverse()) {
      const path = join(root, mount.mountPath);
      mkdirSync(dirname(path), { recursive: true });
      if (!existsSync(path)) symlinkSync(folders.sourceOf(mount), path);
    }
    return root;
  }
}

/** A fork has the same pods, whose directories and addresses exist only once. */
export function requireOwner<State extends { readonly owner: unknown }>(
  state: State,
  { network }: ContainerSetup,
): State {
  if (state.owner === network) return state;
  throw new Error('the processes of this pod run in another cluster; a fork needs images of its own');
}

/** The address in 127.0.0.0/8 at which the servers of a pod listen: 10.244.1.2 becomes 127.244.1.2. */
export function loopbackAddress(podIP: string): string {
  const [, ...rest] = podIP.split('.');
  return rest.length === 3 ? `127.${rest.join('.')}` : '127.0.0.1';
}

/** The process may have ended. */
export function signalGroup(pid: number | undefined, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const MESSAGE_BYTES = 4_096;
/** A process that was left behind may put a pipe in the place of the file at any time, and to open or read it must not wait. */
const OPEN_FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/** Gives kubelet the file with the termination message. */
export function readTerminationMessage({ files, container }: ContainerSetup, root: string): void {
  const { terminationMessagePath = '/dev/termination-log' } = container;
  const inner = normalize(terminationMessagePath).slice(1);
  const path = join(root, inner);
  if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
  const file = openSync(path, OPEN_FLAGS);
  try {
    if (!fstatSync(file).isFile()) return;
    const bytes = Buffer.alloc(MESSAGE_BYTES);
    const length = readSync(file, bytes, 0, MESSAGE_BYTES, 0);
    files.root.write?.(inner, { bytes: bytes.subarray(0, length), mode: 0o644 });
  } finally {
    closeSync(file);
  }
}
