/**
 * The lock file of a journal folder: one writer at a time. The lock of a dead process is taken over.
 *
 *   lock           the current holder; created atomically with its content
 *   lock.taking    held by the process that is removing a stale lock
 *   lock.<id>      the temporary file that is linked to `lock`
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readlinkSync, realpathSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { JournalError } from '../../storage/journal/types.js';
import { systemClock, type Undo } from '../../util/clock.js';
import { nodeFiles } from './files.js';

export interface FolderLock {
  /** Taken from a process in another container that has not touched it: it may be stopped, and continue later. */
  readonly isTakenOver?: boolean;
  /** Throws if the lock was removed, or taken over by another process. */
  requireHeld(): void;
  release(): void;
}

interface LockHolder {
  readonly pid: number;
  readonly host: string;
  /** The start time of the process, if known: its PID may have been reused. */
  readonly began?: string | undefined;
  /** On Linux: the start of the machine, and the namespace of the PID. A container has its own. */
  readonly boot?: string | undefined;
  readonly pids?: string | undefined;
  /** Distinguishes the locks of one process. */
  readonly id?: string | undefined;
}

/** The folders locked by this thread, shared with other copies of this module in a bundle. */
const LOCKED_PATHS = Symbol.for('orchplane.journal.held');
const shared = globalThis as { [LOCKED_PATHS]?: Set<string> };
shared[LOCKED_PATHS] ??= new Set();
const lockedPaths = shared[LOCKED_PATHS];

/** Our released locks, in case their files still exist. */
const releasedLocks = new Set<string>();

/** The number of attempts when several processes compete for the lock. */
const ATTEMPTS = 5;

/** How often a holder touches its lock, for processes that cannot see whether it is alive. */
const TOUCH_MS = 5_000;

/** A lock in another container that was not touched for so long is no longer held. */
const ABANDONED_MS = 30_000;

/** Locks an existing folder. Throws JournalError that names the holder. */
export function lockFolder(folder: string): FolderLock {
  // Resolve links, so that each folder has one path.
  const path = join(realpathSync(folder), 'lock');
  if (lockedPaths.has(path)) throw inUseError(folder, 'another cluster of this process');
  const own = newLock();
  let isTakenOver = false;
  for (let attempt = 1; !tryCreate(path, own); attempt++) {
    const text = readIfPresent(path);
    if (text === undefined && attempt <= ATTEMPTS) continue;
    const holder = parseHolder(text ?? '');
    if (attempt > ATTEMPTS || isAlive(holder, { path, text })) throw inUseError(folder, describe(holder, path));
    isTakenOver ||= isOther(holder?.pids, machine().pids);
    removeStaleLock(path, text ?? '');
  }
  removeDrafts(path);
  lockedPaths.add(path);
  let known = versionOf(path);
  let undo: Undo;
  const touchLater = (): void => {
    const touch = (): void => {
      touchIfHeld(path, own);
      touchLater();
    };
    undo = systemClock.after(TOUCH_MS, touch, { background: true });
  };
  touchLater();
  return {
    isTakenOver,
    requireHeld() {
      const present = versionOf(path);
      if (present !== undefined && present === known) return;
      if (readIfPresent(path) !== own) throw new Error(`${path} was removed, or taken over by another process`);
      known = present;
    },
    release() {
      if (!lockedPaths.delete(path)) return;
      undo();
      releasedLocks.add(own);
      if (readIfPresent(path) === own) rmSync(path, { force: true });
    },
  };
}

/** If the lock is not ours any more, nothing is done: the next write fails. */
function touchIfHeld(path: string, own: string): void {
  try {
    if (readIfPresent(path) !== own) return;
    const seconds = systemClock.now() / 1000;
    utimesSync(path, seconds, seconds);
  } catch (error) {
    // The disk fails, or it was removed meanwhile; others may then take it over, which the next write notices.
    if (codeOf(error) === undefined) throw error;
  }
}

/** Differs when the content does: an inode alone may be used again. */
function versionOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}/${found.ino}/${found.mtimeMs}`;
}

/** Unknown elsewhere than on Linux. */
function machine(): Pick<LockHolder, 'boot' | 'pids'> {
  return {
    boot: readIfPresent('/proc/sys/kernel/random/boot_id')?.trim(),
    pids: readIfPresent('/proc/self/ns/pid', (path) => readlinkSync(path)),
  };
}

function newLock(): string {
  const holder: LockHolder = {
    pid: process.pid,
    host: hostname(),
    began: processStartTime(process.pid),
    ...machine(),
    id: randomUUID(),
  };
  return JSON.stringify(holder);
}

/** Creates the file with its content atomically. Returns whether it succeeded. */
function tryCreate(path: string, text: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    linkSync(draft, path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    // Some file systems (FAT, for example) have no hard links.
    if (code === undefined || !LINK_UNSUPPORTED_CODES.has(code)) throw error;
    return createWithoutLink(path, text);
  } finally {
    rmSync(draft, { force: true });
  }
  return readIfPresent(path) === text;
}

/** Removes the drafts of processes that were killed. A young one may be in use. */
function removeDrafts(path: string): void {
  const folder = dirname(path);
  try {
    for (const name of nodeFiles.list(folder)) {
      const draft = join(folder, name);
      if (DRAFT.test(name) && !wasTouched(draft)) rmSync(draft, { force: true });
    }
  } catch (error) {
    // A draft only takes space. An exception would leave the folder locked by this process, which lives on.
    if (codeOf(error) === undefined) throw error;
  }
}

const DRAFT = /^lock\.[0-9a-f]{8}-[0-9a-f-]{27}$/;

const LINK_UNSUPPORTED_CODES = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

function createWithoutLink(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes a stale lock unless it has been replaced. `lock.taking` ensures that only one process at a time does this, so
 * that no new lock is removed by mistake.
 */
function removeStaleLock(path: string, expected: string): void {
  const guard = `${path}.taking`;
  const own = newLock();
  if (!tryCreate(guard, own)) {
    const taker = readIfPresent(guard);
    // The process that held `lock.taking` was killed.
    if (taker !== undefined && !isAlive(parseHolder(taker), { path: guard, text: taker }))
      removeIfUnchanged(guard, taker);
    return;
  }
  try {
    removeIfUnchanged(path, expected);
  } finally {
    if (readIfPresent(guard) === own) rmSync(guard, { force: true });
  }
}

function removeIfUnchanged(path: string, expected: string): void {
  if (readIfPresent(path) !== expected) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
    // If the lock was replaced in between, restore it, but do not overwrite a newer one.
    if (readIfPresent(aside) !== expected) linkSync(aside, path);
  } catch (error) {
    // Another process was faster.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Undefined for invalid content, such as a lock that was not on disk when the power failed. */
function parseHolder(text: string): LockHolder | undefined {
  try {
    const holder: unknown = JSON.parse(text);
    return typeof holder === 'object' && holder !== null && 'pid' in holder ? (holder as LockHolder) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(
  holder: LockHolder | undefined,
  { path, text }: { readonly path: string; readonly text: string | undefined },
): boolean {
  if (holder === undefined) return false;
  const { boot, pids } = machine();
  // Processes on another machine cannot be checked, and its clock may differ. A container may have another host name.
  if (holder.host !== hostname() && (holder.boot === undefined || holder.boot !== boot)) return true;
  if (isOther(holder.boot, boot)) return false;
  // The processes of another container are not visible here.
  if (isOther(holder.pids, pids)) return wasTouched(path);
  // This process may hold it in another thread, unless the start time differs: then only the PID is the same.
  if (holder.pid === process.pid)
    return holder.began === processStartTime(process.pid) && !releasedLocks.has(text ?? '');
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
  const began = processStartTime(holder.pid);
  return holder.began === undefined || began === undefined || began === holder.began;
}

function wasTouched(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && Math.abs(systemClock.now() - found.mtimeMs) < ABANDONED_MS;
}

function isOther(fact: string | undefined, own: string | undefined): boolean {
  return fact !== undefined && own !== undefined && fact !== own;
}

/** Field 22 of /proc/PID/stat on Linux; undefined elsewhere. */
function processStartTime(pid: number): string | undefined {
  const stat = readIfPresent(`/proc/${pid}/stat`);
  // The second field is a name in parentheses and may contain anything.
  return stat
    ?.slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .at(19);
}

function describe(holder: LockHolder | undefined, path: string): string {
  if (holder === undefined) return `the process that writes ${path}`;
  const { pid, host } = holder;
  const { boot, pids } = machine();
  if (holder.boot !== undefined && holder.boot === boot && isOther(holder.pids, pids))
    return `process ${pid} in another container (if that has ended, try again in ${ABANDONED_MS / 1000} seconds)`;
  if (host !== hostname()) return `process ${pid} on ${host} (if that has ended, remove ${path})`;
  return pid === process.pid ? `this process, maybe in another thread (if not, remove ${path})` : `process ${pid}`;
}

function inUseError(folder: string, who: string): JournalError {
  return new JournalError(`orchplane: the journal in ${join(folder)} is in use by ${who}`);
}

/** Throws for a pipe or a link, which a folder from others may contain. */
function readIfPresent(path: string, read = (from: string) => String(nodeFiles.read(from))): string | undefined {
  try {
    return read(path);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
