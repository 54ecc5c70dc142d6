/**
 * The files of a container, in memory: a root directory of its own, and the volumes that are mounted below it.
 */
import { getOrInsertComputed } from '../../util/once.js';

/** The content of a volume or of a container's root directory. Paths are relative, without leading or trailing slash. */
export interface Volume {
  /** All files by path. A volume with live content returns another map after a change. */
  entries(): ReadonlyMap<string, FileEntry>;
  /** Whether there are files below a path. Absent: the entries tell. */
  readonly hasDirectory?: ((path: string) => boolean) | undefined;
  /** Absent: the volume is read-only. */
  readonly write?: ((path: string, entry: FileEntry | undefined) => void) | undefined;
  /** The directory of the machine that a hostPath volume names, for processes. */
  readonly hostPath?: string | undefined;
  /** The medium of an emptyDir volume. */
  readonly medium?: string | undefined;
  /** True: the volume outlives pods, and several pods may use it. */
  readonly isShared?: boolean | undefined;
}

export interface FileEntry {
  readonly bytes: Uint8Array;
  readonly mode: number;
  /** False: neither the file nor its content needs room, so that a container can start when its volumes are full. */
  readonly isCounted?: boolean | undefined;
}

/** What a volume in memory can hold: clients that execute commands in a container decide how much is written. */
export const MAX_VOLUME_BYTES = 256 * 1024 * 1024;
/** Of files, and of directories. */
const MAX_VOLUME_FILES = 100_000;
const MAX_PATH_LENGTH = 4096;
/** What a file takes besides its content and its path, and each directory of its path: measured with Node 22. */
const FILE_BYTES = 256;
const DIRECTORY_BYTES = 64;

/** The memory that volumes take their bytes from, and containers their texts. */
export interface MemoryShare {
  /** False: there is no room. A negative number gives back. */
  take(amount: number): boolean;
}

export const UNLIMITED: MemoryShare = { take: () => true };

/**
 * What the pods of a runtime hold together, for example in volumes. A namespace may hold as much as it leaves free: one that fills
 * its share gets half, the next one half of the rest.
 */
export class SharedMemory {
  readonly #limit: number;
  #used = 0;
  readonly #usedBy = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The share of a namespace. Empty: that of the volumes that belong to none. */
  of(namespace: string): MemoryShare {
    return { take: (amount) => this.#take(namespace, amount) };
  }

  #take(namespace: string, amount: number): boolean {
    const own = (this.#usedBy.get(namespace) ?? 0) + amount;
    const used = this.#used + amount;
    if (amount > 0 && own > this.#limit - used) return false;
    this.#used = used;
    if (own === 0) this.#usedBy.delete(namespace);
    else this.#usedBy.set(namespace, own);
    return true;
  }
}

interface MemoryVolumeOptions extends Omit<Volume, 'entries' | 'hasDirectory' | 'write'> {
  readonly maxBytes?: number | undefined;
}

/** A volume whose files can be changed. */
export class MemoryVolume implements Volume {
  readonly hostPath: string | undefined;
  readonly medium: string | undefined;
  readonly isShared: boolean;
  /** What this volume and others share. */
  readonly memory: MemoryShare;
  readonly #maxBytes: number;
  readonly #entries = new Map<string, FileEntry>();
  /** The number of files below each directory. */
  readonly #directories = new Map<string, number>();
  #bytes = 0;
  #isReleased = false;

  constructor(
    { hostPath, medium, isShared = false, maxBytes = MAX_VOLUME_BYTES }: MemoryVolumeOptions = {},
    memory: MemoryShare = UNLIMITED,
  ) {
    this.hostPath = hostPath;
    this.medium = medium;
    this.isShared = isShared;
    this.#maxBytes = Math.min(maxBytes, MAX_VOLUME_BYTES);
    this.memory = memory;
  }

  entries(): ReadonlyMap<string, FileEntry> {
    return this.#entries;
  }

  hasDirectory(path: string): boolean {
    return this.#directories.has(path);
  }

  /** Throws an Error with the code ENOSPC or ENAMETOOLONG. */
  write(path: string, entry: FileEntry | undefined): void {
    if (path.length > MAX_PATH_LENGTH) throw fileError('ENAMETOOLONG', path);
    const isNew = entry !== undefined && !this.#entries.has(path);
    // A character of a path may have two bytes.
    const sizeOf = (file: FileEntry | undefined) =>
      file === undefined || file.isCounted === false
        ? 0
        : FILE_BYTES + 2 * path.length + DIRECTORY_BYTES * (path.split('/').length - 1) + file.bytes.length;
    const added = sizeOf(entry) - sizeOf(this.#entries.get(path));
    const isFull = isNew && Math.max(this.#entries.size, this.#directories.size) >= MAX_VOLUME_FILES;
    const isTooLarge = added > 0 && this.#bytes + added > this.#maxBytes;
    if (isFull || isTooLarge || this.#isReleased || !this.memory.take(added)) throw fileError('ENOSPC', path);
    this.#bytes += added;
    if (isNew) this.#countInDirectories(path, 1);
    if (entry !== undefined) this.#entries.set(path, entry);
    else if (this.#entries.delete(path)) this.#countInDirectories(path, -1);
  }

  #countInDirectories(path: string, change: 1 | -1): void {
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const directory = path.slice(0, end);
      const files = (this.#directories.get(directory) ?? 0) + change;
      if (files === 0) this.#directories.delete(directory);
      else this.#directories.set(directory, files);
    }
  }

  /** Removes all files, because the volume is gone. A program that still runs cannot write any more. */
  release(): void {
    this.#isReleased = true;
    this.memory.take(-this.#bytes);
    this.#bytes = 0;
    this.#entries.clear();
    this.#directories.clear();
  }
}

/** The volumes in memory that live as long as a pod or one of its containers. */
export class OwnVolumes {
  readonly #memory: MemoryShare;
  readonly #volumes = new Set<Volume>();

  constructor(memory: MemoryShare) {
    this.#memory = memory;
  }

  create(options?: MemoryVolumeOptions): MemoryVolume {
    const volume = new MemoryVolume(options, this.#memory);
    this.#volumes.add(volume);
    return volume;
  }

  release(volume: Volume): void {
    if (this.#volumes.delete(volume) && volume instanceof MemoryVolume) volume.release();
  }

  releaseAll(): void {
    for (const volume of this.#volumes) this.release(volume);
  }
}

/** Volumes that outlive pods, shared by all pods of a runtime. */
export class SharedVolumes {
  readonly memory: SharedMemory;
  readonly #volumes = new Map<string, MemoryVolume>();

  constructor(memory: SharedMemory) {
    this.memory = memory;
  }

  all(): Iterable<Volume> {
    return this.#volumes.values();
  }

  /** The volume of a claim in a namespace. */
  claimed(key: string, namespace: string): MemoryVolume {
    return getOrInsertComputed(
      this.#volumes,
      key,
      () => new MemoryVolume({ isShared: true }, this.memory.of(namespace)),
    );
  }

  /** A directory of a node. Pods of all namespaces write to it. */
  onHost(node: string, hostPath: string): MemoryVolume {
    return getOrInsertComputed(
      this.#volumes,
      `host/${node}/${hostPath}`,
      () => new MemoryVolume({ hostPath, isShared: true }, this.memory.of('')),
    );
  }

  /** Removes a volume with its content. Undefined: no pod has used it. */
  remove(key: string): Volume | undefined {
    const volume = this.#volumes.get(key);
    volume?.release();
    this.#volumes.delete(key);
    return volume;
  }
}

export interface Mount {
  /** Absolute. */
  readonly mountPath: string;
  /** A directory or file of the volume; empty: all of it. */
  readonly subPath: string;
  readonly readOnly: boolean;
  readonly volume: Volume;
}

/** Reads and writes the files of a container by absolute path. */
export class FileTree {
  readonly #root: Volume;
  readonly #mounts: readonly Mount[];

  /** Of several mounts that contain a path, the longest one is used. */
  constructor(root: Volume, mounts: readonly Mount[]) {
    this.#root = root;
    this.#mounts = [...mounts].sort((one, other) => other.mountPath.length - one.mountPath.length);
  }

  get mounts(): readonly Mount[] {
    return this.#mounts;
  }

  /** The root directory without the mounted volumes. */
  get root(): Volume {
    return this.#root;
  }

  /** Counts bytes that are not in a file yet. False: there is no room. A negative number gives bytes back. */
  reserve(bytes: number): boolean {
    return !(this.#root instanceof MemoryVolume) || this.#root.memory.take(bytes);
  }

  /** All bytes of a file, or those of a range. Throws an Error with the code ENOENT if there is no such file. */
  read(path: string, start = 0, end?: number): Uint8Array {
    const { volume, inner } = this.#locate(path);
    const found = volume.entries().get(inner);
    // A copy, because several volumes may have the same bytes.
    if (found !== undefined) return found.bytes.slice(start, end);
    throw fileError(this.isDirectory(path) ? 'EISDIR' : 'ENOENT', path);
  }

  readText(path: string): string {
    return new TextDecoder().decode(this.read(path));
  }

  /** Creates or replaces a file. Missing directories are created. Throws an Error with the code EROFS, EISDIR or ENOSPC. */
  write(path: string, content: string | Uint8Array, mode = 0o644): void {
    const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content.slice();
    this.put(path, { bytes, mode });
  }

  /** The same without a copy: several files can share the bytes, which must not change. */
  put(path: string, entry: FileEntry): void {
    const { volume, inner, readOnly } = this.#locate(path);
    if (readOnly || volume.write === undefined) throw fileError('EROFS', path);
    if (inner === '' || this.isDirectory(path)) throw fileError('EISDIR', path);
    volume.write(inner, entry);
  }

  /** Appends to a file, which is created if necessary. */
  append(path: string, content: string): void {
    this.write(path, (this.exists(path) ? this.readText(path) : '') + content);
  }

  remove(path: string): void {
    const { volume, inner, readOnly } = this.#locate(path);
    if (!volume.entries().has(inner)) throw fileError('ENOENT', path);
    if (readOnly || volume.write === undefined) throw fileError('EROFS', path);
    volume.write(inner, undefined);
  }

  exists(path: string): boolean {
    const { volume, inner } = this.#locate(path);
    return volume.entries().has(inner) || this.isDirectory(path);
  }

  isDirectory(path: string): boolean {
    const normal = normalize(path);
    if (normal === '/' || this.#mounts.some(({ mountPath }) => `${mountPath}/`.startsWith(`${normal}/`))) {
      return !this.#isFileMount(normal);
    }
    const { volume, inner } = this.#locate(normal);
    if (volume.hasDirectory !== undefined) return volume.hasDirectory(inner);
    for (const file of volume.entries().keys()) if (file.startsWith(`${inner}/`)) return true;
    return false;
  }

  /** The names in a directory, sorted. Throws an Error with the code ENOENT or ENOTDIR. */
  list(path: string): readonly string[] {
    const normal = normalize(path);
    if (!this.isDirectory(normal)) throw fileError(this.exists(normal) ? 'ENOTDIR' : 'ENOENT', path);
    const below = normal === '/' ? '/' : `${normal}/`;
    const names = new Set<string>();
    const add = (file: string): void => {
      const [name = ''] = file.startsWith(below) ? file.slice(below.length).split('/', 1) : [];
      if (name !== '') names.add(name);
    };
    for (const { mountPath } of this.#mounts) add(mountPath);
    const { volume, base, directory } = this.#locate(normal);
    const prefix = directory === '' ? '' : `${directory}/`;
    for (const file of volume.entries().keys()) {
      if (file.startsWith(prefix)) add(`${base === '/' ? '' : base}/${file.slice(prefix.length)}`);
    }
    return [...names].sort();
  }

  #isFileMount(path: string): boolean {
    const mount = this.#mounts.find(({ mountPath }) => mountPath === path);
    return mount !== undefined && mount.subPath !== '' && mount.volume.entries().has(mount.subPath);
  }

  /** The volume of a path, the path in the volume, and for directories where the volume is mounted. */
  #locate(path: string) {
    const normal = normalize(path);
    const mount = this.#mounts.find(({ mountPath }) => normal === mountPath || normal.startsWith(`${mountPath}/`));
    if (mount === undefined) {
      return { volume: this.#root, inner: normal.slice(1), readOnly: false, base: '/', directory: '' };
    }
    const { mountPath, subPath, volume, readOnly } = mount;
    const rest = normal.slice(mountPath.length + 1);
    const inner = [subPath, rest].filter((part) => part !== '').join('/');
    return { volume, inner, readOnly, base: mountPath, directory: subPath };
  }
}

/** An absolute path without `.`, `..` and repeated slashes. */
export function normalize(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

const TEXTS = {
  ENAMETOOLONG: 'file name too long',
  ENOENT: 'no such file or directory',
  EISDIR: 'illegal operation on a directory',
  ENOTDIR: 'not a directory',
  EROFS: 'read-only file system',
  ENOSPC: 'no space left on device',
} as const;

function fileError(code: keyof typeof TEXTS, path: string): Error {
  return Object.assign(new Error(`${code}: ${TEXTS[code]}, ${path}`), { code });
}
