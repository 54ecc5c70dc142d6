/**
 * One writer at a time: a file in the folder says who. The lock of a process that is no more is taken over.
 *
 *   lock           who has the folder; made in one step, with its content
 *   lock.taking    who is just taking the lock of a dead process away
 *   lock.<id>      what `lock` is made of, for a moment
 */
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { JournalError } from '../../storage/journal/types.js';

/** Lets go of a folder. */
export type Unlock = () => void;

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When that process began, where the system tells: another one may have got its number since. */
  readonly began?: string | undefined;
  /** Tells locks of one process apart. */
  readonly id?: string | undefined;
}

/** Folders of this thread: also of another copy of this module, which a bundle may hold. */
const HELD = Symbol.for('orchplane.journal.held');
const shared = globalThis as { [HELD]?: Set<string> };
shared[HELD] ??= new Set();
const held = shared[HELD];

/** Locks of ours that we have let go of, should their files still be there. */
const released = new Set<string>();

/** How often somebody else may come between, all starting at the same moment. */
const ATTEMPTS = 5;

/** Throws JournalError that says who holds the folder. The folder is there. */
export function lockFolder(folder: string): Unlock {
  // Under whatever name it was given.
  const path = join(realpathSync(folder), 'lock');
  if (held.has(path)) throw inUse(folder, 'another cluster of this process');
  const own = newLock();
  for (let attempt = 1; !tryCreate(path, own); attempt++) {
    const text = readIfThere(path);
    if (text === undefined && attempt <= ATTEMPTS) continue;
    const holder = parseHolder(text ?? '');
    if (attempt > ATTEMPTS || isAlive(holder, text)) throw inUse(folder, describe(holder, path));
    takeAway(path, text ?? '');
  }
  held.add(path);
  return () => {
    if (!held.delete(path)) return;
    released.add(own);
    if (readIfThere(path) === own) rmSync(path, { force: true });
  };
}

function newLock(): string {
  const holder: Holder = { pid: process.pid, host: hostname(), began: beginningOf(process.pid), id: randomUUID() };
  return JSON.stringify(holder);
}

/** Whether the file is now there with this text: it never is there without. */
function tryCreate(path: string, text: string): boolean {
  const draft = `${path}.${randomUUID()}`;
  writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
  try {
    linkSync(draft, path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'EEXIST') return false;
    // File systems without links, such as those of memory cards, have to do with less.
    if (code === undefined || !NO_LINKS.has(code)) throw error;
    return createPlainly(path, text);
  } finally {
    rmSync(draft, { force: true });
  }
  return readIfThere(path) === text;
}

const NO_LINKS = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

function createPlainly(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Removes a lock that was judged to be of nobody, unless it is another one by now. Only one at a time does that: while
 * `lock.taking` is ours, nobody else can remove what we have looked at, and so nobody can put another in its place.
 */
function takeAway(path: string, judged: string): void {
  const guard = `${path}.taking`;
  const own = newLock();
  if (!tryCreate(guard, own)) {
    const taker = readIfThere(guard);
    // Somebody was killed at just this.
    if (taker !== undefined && !isAlive(parseHolder(taker), taker)) removeIfStill(guard, taker);
    return;
  }
  try {
    removeIfStill(path, judged);
  } finally {
    if (readIfThere(guard) === own) rmSync(guard, { force: true });
  }
}

function removeIfStill(path: string, judged: string): void {
  if (readIfThere(path) !== judged) return;
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
    // Should it be another one after all, it comes back, but not over a third.
    if (readIfThere(aside) !== judged) linkSync(aside, path);
  } catch (error) {
    // Somebody else was faster.
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

/** Undefined for what is no lock of ours, such as one that had not reached the disk when the power went. */
function parseHolder(text: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(text);
    return typeof holder === 'object' && holder !== null && 'pid' in holder ? (holder as Holder) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(holder: Holder | undefined, text: string | undefined): boolean {
  if (holder === undefined) return false;
  // What runs on another machine cannot be seen from here.
  if (holder.host !== hostname()) return true;
  // Our own process may hold it in another thread. Unless it began at another time: then it only has the same number.
  if (holder.pid === process.pid) return holder.began === beginningOf(process.pid) && !released.has(text ?? '');
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return codeOf(error) !== 'ESRCH';
  }
  const began = beginningOf(holder.pid);
  return holder.began === undefined || began === undefined || began === holder.began;
}

/** The 22nd field of what Linux tells about a process; undefined elsewhere. */
function beginningOf(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`);
  // The second field is a name in parentheses and may hold anything.
  return stat
    ?.slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .at(19);
}

function describe(holder: Holder | undefined, path: string): string {
  if (holder === undefined) return `whoever writes ${path}`;
  const { pid, host } = holder;
  if (host !== hostname()) return `process ${pid} on ${host} (if that is no more, remove ${path})`;
  return pid === process.pid ? `this process, maybe in another thread (if not, remove ${path})` : `process ${pid}`;
}

function inUse(folder: string, who: string): JournalError {
  return new JournalError(`orchplane: the journal in ${join(folder)} is in use by ${who}`);
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ESRCH') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
