/**
 * A disk that can lose power. Synced content and names are durable; of the rest, a crash keeps a random part: sectors
 * in any order, names up to some point. A killed process, in contrast, loses nothing.
 */
import type { JournalFile, JournalFiles } from '../../../../src/node/journal/files.js';
import type { Random } from './random.js';

/** Thrown by every operation after the power loss. */
export class PowerLoss extends Error {}

interface Inode {
  bytes: Buffer;
  /** The content of the last sync. */
  durable: Buffer;
}

type NameChange =
  | { readonly type: 'add'; readonly path: string; readonly inode: Inode }
  | { readonly type: 'remove'; readonly path: string }
  | { readonly type: 'rename'; readonly from: string; readonly to: string };

export interface DiskFaults {
  /** The number of the operation, from 1, at which the power fails. A write is cut after `tornAfter` bytes. */
  readonly crashAt?: number;
  readonly tornAfter?: number;
  /** The capacity of the disk in bytes. */
  readonly capacity?: number;
  /** The numbers of the syncs, from 1, that fail. */
  readonly failSyncs?: (count: number) => boolean;
  readonly failTruncates?: boolean;
  /** A file that another process removes during each sync. */
  readonly removedBySync?: string;
  /** The maximum number of bytes per write. */
  readonly shortWrites?: number;
}

const SECTOR = 512;

export class SimulatedDisk implements JournalFiles {
  faults: DiskFaults = {};
  operations = 0;
  syncs = 0;
  isOff = false;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  #changes: NameChange[] = [];

  makeFolder(): void {
    this.#step();
  }

  list(folder: string): readonly string[] {
    this.#step();
    return [...this.#names.keys()].map((path) => path.slice(folder.length + 1));
  }

  read(path: string): Buffer {
    this.#step();
    return Buffer.from(this.#inode(path).bytes);
  }

  open(path: string, how: 'new' | 'existing'): JournalFile {
    this.#step();
    if (how === 'new') {
      const inode = { bytes: Buffer.alloc(0), durable: Buffer.alloc(0) };
      this.#names.set(path, inode);
      this.#changes.push({ type: 'add', path, inode });
    }
    return this.#handle(path, this.#inode(path));
  }

  rename(from: string, to: string): void {
    this.#step();
    const inode = this.#inode(from);
    this.#names.delete(from);
    this.#names.set(to, inode);
    this.#changes.push({ type: 'rename', from, to });
  }

  remove(path: string): void {
    this.#step();
    if (this.#names.delete(path)) this.#changes.push({ type: 'remove', path });
  }

  syncFolder(): void {
    this.#step();
    this.#failSync();
    this.#durableNames = new Map(this.#names);
    this.#changes = [];
  }

  /** The content after the power returns. */
  afterPowerLoss(random: Random): SimulatedDisk {
    const names = new Map(this.#durableNames);
    const kept = random.int(0, this.#changes.length);
    for (const change of this.#changes.slice(0, kept)) {
      if (change.type === 'add') names.set(change.path, change.inode);
      else if (change.type === 'remove') names.delete(change.path);
      else {
        const inode = names.get(change.from);
        names.delete(change.from);
        if (inode !== undefined) names.set(change.to, inode);
      }
    }
    const disk = new SimulatedDisk();
    for (const [path, inode] of names) disk.put(path, survived(inode, random));
    return disk;
  }

  /** The content after the process ended without a power loss. */
  afterKill(): SimulatedDisk {
    const disk = new SimulatedDisk();
    for (const [path, { bytes }] of this.#names) disk.put(path, Buffer.from(bytes));
    return disk;
  }

  put(path: string, bytes: Buffer): void {
    const inode = { bytes, durable: Buffer.from(bytes) };
    this.#names.set(path, inode);
    this.#durableNames.set(path, inode);
  }

  get paths(): readonly string[] {
    return [...this.#names.keys()].sort();
  }

  content(path: string): Buffer {
    return this.#inode(path).bytes;
  }

  #handle(path: string, inode: Inode): JournalFile {
    return {
      write: (bytes, position) => this.#write(inode, bytes, position),
      truncate: (size) => {
        this.#step();
        if (this.faults.failTruncates === true) throw new Error('EIO: i/o error, ftruncate');
        inode.bytes = Buffer.from(inode.bytes.subarray(0, size));
      },
      syncNow: () => {
        this.#step();
        this.#failSync();
        inode.durable = Buffer.from(inode.bytes);
      },
      sync: async () => {
        this.#step();
        const bytes = Buffer.from(inode.bytes);
        await new Promise((resolve) => setImmediate(resolve));
        this.#step();
        this.#failSync();
        inode.durable = bytes;
      },
      size: () => inode.bytes.length,
      isInPlace: () => this.#names.get(path) === inode,
      close: () => undefined,
    };
  }

  #write(inode: Inode, bytes: Buffer, position: number): number {
    let length = Math.min(bytes.length, this.faults.shortWrites ?? bytes.length);
    const used = [...this.#names.values()].reduce((sum, each) => sum + each.bytes.length, 0);
    const room = Math.max(0, (this.faults.capacity ?? Number.POSITIVE_INFINITY) - used);
    if (room === 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    length = Math.min(length, room);
    const put = (count: number) => {
      const before = inode.bytes.subarray(0, position);
      inode.bytes = Buffer.concat([before, bytes.subarray(0, count), inode.bytes.subarray(position + count)]);
    };
    try {
      this.#step();
    } catch (error) {
      put(Math.min(length, this.faults.tornAfter ?? 0));
      throw error;
    }
    put(length);
    return length;
  }

  #failSync(): void {
    this.syncs++;
    if (this.faults.removedBySync !== undefined) this.#names.delete(this.faults.removedBySync);
    if (this.faults.failSyncs?.(this.syncs) === true) throw new Error('EIO: i/o error, fdatasync');
  }

  #step(): void {
    if (this.isOff) throw new PowerLoss('the power is off');
    this.operations++;
    if (this.operations !== this.faults.crashAt) return;
    this.isOff = true;
    throw new PowerLoss('the power is off');
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`);
    return inode;
  }
}

/** The durable content plus a random subset of later sectors. */
function survived({ bytes, durable }: Inode, random: Random): Buffer {
  const kept = Buffer.from(durable);
  if (bytes.length <= durable.length) return random.chance(0.5) ? kept : Buffer.from(bytes);
  const size = random.int(durable.length, bytes.length);
  const out = Buffer.concat([kept, Buffer.alloc(size - kept.length)]);
  const keptSectors = random.pick(['all', 'none', 'some']);
  for (let start = durable.length; start < size; ) {
    const end = Math.min(size, (Math.floor(start / SECTOR) + 1) * SECTOR);
    if (keptSectors === 'all' || (keptSectors === 'some' && random.chance(0.5))) {
      bytes.copy(out, start, start, end);
    }
    start = end;
  }
  return out;
}
