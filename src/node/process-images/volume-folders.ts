/**
 * Volumes of pods as directories of this machine. Volumes with live content have the layout that kubelet gives them: the
 * files are links to a directory that is replaced as a whole.
 * upstream: pkg/volume/util/atomic_writer.go
 */
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ContainerSetup } from '../../runtime/index.js';
import type { Clock, Undo } from '../../util/clock.js';
import { messageOf } from '../../util/message-of.js';
import { removeFolder } from './remove-folder.js';

type Mount = ContainerSetup['files']['mounts'][number];
type Volume = Mount['volume'];
type Entries = ReturnType<Volume['entries']>;

/** How often live volumes are compared with their source. */
const REFRESH_MS = 1_000;
/** A directory in memory, if the machine has one. */
const MEMORY_DIRECTORY = '/dev/shm';

interface Folder {
  readonly path: string;
  content: Entries | undefined;
}

/** The directories of volumes that outlive pods. */
export class SharedFolders {
  readonly #paths = new Map<Volume, string>();

  pathOf(volume: Volume, fsGroup: number | undefined): string {
    const known = this.#paths.get(volume);
    if (known !== undefined) return known;
    const path = mkdtempSync(join(tmpdir(), 'orchplane-volume-'));
    this.#paths.set(volume, path);
    makeDirectory(path, fsGroup);
    for (const [file, { bytes, mode }] of volume.entries()) writeBelow(path, file, bytes, mode);
    return path;
  }

  remove(volumes: Iterable<Volume>): void {
    for (const volume of volumes) {
      const path = this.#paths.get(volume);
      if (path !== undefined) removeFolder(path);
      this.#paths.delete(volume);
    }
  }
}

/** The directories of one pod. */
export class PodFolders {
  readonly root: string;
  readonly #clock: Clock;
  readonly #shared: SharedFolders;
  readonly #fsGroup: number | undefined;
  readonly #folders = new Map<Volume, Folder>();
  readonly #temporary: string[];
  /** The types of hostPath volumes by path. */
  readonly #hostTypes: ReadonlyMap<string, string | undefined>;
  #refresh: Undo | undefined;

  constructor({ pod, clock }: Pick<ContainerSetup, 'pod' | 'clock'>, shared: SharedFolders) {
    this.#clock = clock;
    this.#shared = shared;
    this.root = mkdtempSync(join(tmpdir(), `orchplane-pod-${pod.metadata.uid.slice(0, 8)}-`));
    this.#temporary = [this.root];
    this.#fsGroup = pod.spec.securityContext?.fsGroup;
    this.#hostTypes = new Map(
      (pod.spec.volumes ?? []).flatMap(({ hostPath }) => (hostPath ? [[hostPath.path, hostPath.type]] : [])),
    );
  }

  /** The directory or file of this machine that is mounted. */
  sourceOf({ volume, subPath }: Mount): string {
    if (volume.hostPath !== undefined) {
      checkHostPath(volume.hostPath, this.#hostTypes.get(volume.hostPath));
      return join(volume.hostPath, subPath);
    }
    const folder = this.#folders.get(volume) ?? this.#create(volume);
    const path = join(folder.path, subPath);
    if (subPath === '') return path;
    requireBelow(folder.path, path);
    if (!existsSync(path) && volume.write !== undefined) makeDirectory(path, this.#fsGroup);
    return path;
  }

  remove(): void {
    this.#refresh?.();
    for (const path of this.#temporary) removeFolder(path);
  }

  #create(volume: Volume): Folder {
    if (volume.isShared === true) {
      const shared: Folder = { path: this.#shared.pathOf(volume, this.#fsGroup), content: undefined };
      this.#folders.set(volume, shared);
      return shared;
    }
    const isInMemory = volume.medium === 'Memory' && existsSync(MEMORY_DIRECTORY);
    const path = isInMemory
      ? mkdtempSync(join(MEMORY_DIRECTORY, 'orchplane-pod-'))
      : join(this.root, `volume-${this.#folders.size}`);
    if (isInMemory) this.#temporary.push(path);
    const folder: Folder = { path, content: undefined };
    this.#folders.set(volume, folder);
    makeDirectory(path, this.#fsGroup);
    if (volume.write === undefined) {
      this.#update(volume, folder);
      this.#refresh ??= this.#refreshLater();
    } else {
      for (const [file, { bytes, mode }] of volume.entries()) writeBelow(path, file, bytes, mode);
    }
    return folder;
  }

  #refreshLater(): Undo {
    return this.#clock.after(
      REFRESH_MS,
      () => {
        for (const [volume, folder] of this.#folders) if (volume.write === undefined) this.#tryUpdate(volume, folder);
        this.#refresh = this.#refreshLater();
      },
      { background: true },
    );
  }

  /** A full disk, or a process that removes the directory, must not end the cluster. */
  #tryUpdate(volume: Volume, folder: Folder): void {
    try {
      this.#update(volume, folder);
    } catch (error) {
      console.error(`orchplane: the volume ${folder.path} is not updated: ${messageOf(error)}`);
    }
  }

  /** Writes a new directory and makes `..data` a link to it. */
  #update(volume: Volume, folder: Folder): void {
    const entries = volume.entries();
    if (folder.content !== undefined && isSameContent(folder.content, entries)) return;
    const { path } = folder;
    const version = mkdtempSync(join(path, '..data-'));
    chmodSync(version, 0o755);
    for (const [file, { bytes, mode }] of entries) {
      const written = writeBelow(version, file, bytes, mode);
      if (this.#fsGroup !== undefined) {
        chownSync(written, -1, this.#fsGroup);
        chmodSync(written, mode | 0o040);
      }
    }
    const before = folder.content;
    const link = join(path, '..data-link');
    symlinkSync(version.slice(path.length + 1), link);
    renameSync(link, join(path, '..data'));
    const names = new Set([...entries.keys()].map((file) => file.split('/')[0] ?? ''));
    for (const name of names) if (!isPresent(join(path, name))) symlinkSync(join('..data', name), join(path, name));
    for (const name of readdirSync(path)) {
      const isOld = name.startsWith('..data-')
        ? join(path, name) !== version
        : !name.startsWith('..') && !names.has(name);
      if (isOld && before !== undefined) rmSync(join(path, name), { recursive: true, force: true });
    }
    folder.content = new Map(entries);
  }
}

/** A link in a volume may lead out of it. */
function requireBelow(folder: string, path: string): void {
  let existing = path;
  while (!isPresent(existing)) existing = dirname(existing);
  const resolved = realpathSync(existing);
  const root = realpathSync(folder);
  if (resolved !== root && !resolved.startsWith(`${root}/`)) throw new Error(`${path} is not in its volume`);
}

function isPresent(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function isSameContent(one: Entries, other: Entries): boolean {
  if (one.size !== other.size) return false;
  for (const [path, { bytes, mode }] of one) {
    const now = other.get(path);
    if (now === undefined || now.mode !== mode || Buffer.compare(now.bytes, bytes) !== 0) return false;
  }
  return true;
}

const HOST_PATH_TYPES: Readonly<Record<string, [(stats: Stats) => boolean, description: string]>> = {
  Directory: [(stats) => stats.isDirectory(), 'a directory'],
  File: [(stats) => stats.isFile(), 'a file'],
  Socket: [(stats) => stats.isSocket(), 'a socket file'],
  CharDevice: [(stats) => stats.isCharacterDevice(), 'a character device'],
  BlockDevice: [(stats) => stats.isBlockDevice(), 'a block device'],
};

/**
 * Creates what a type `…OrCreate` names, and requires the type. Without a type, container runtimes create a directory.
 * upstream: pkg/volume/hostpath/host_path.go checkTypeInternal
 */
function checkHostPath(path: string, type = ''): void {
  if (!existsSync(path)) {
    if (type === '' || type === 'DirectoryOrCreate') mkdirSync(path, { recursive: true, mode: 0o755 });
    else if (type === 'FileOrCreate') writeFileSync(path, '', { flag: 'wx', mode: 0o644 });
  }
  const [isOfType, description] = HOST_PATH_TYPES[type.replace('OrCreate', '')] ?? [];
  const stats = statSync(path, { throwIfNoEntry: false });
  if (isOfType !== undefined && (stats === undefined || !isOfType(stats)))
    throw new Error(`hostPath type check failed: ${path} is not ${description}`);
}

function makeDirectory(path: string, fsGroup: number | undefined): void {
  mkdirSync(path, { recursive: true });
  if (fsGroup !== undefined) chownSync(path, -1, fsGroup);
  // All users of the pod's containers can write, and new files belong to the group of the volume.
  chmodSync(path, fsGroup === undefined ? 0o777 : 0o2777);
}

function writeBelow(directory: string, file: string, bytes: Uint8Array, mode: number): string {
  const path = join(directory, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes);
  chmodSync(path, mode);
  return path;
}
