/**
 * One process at a time: a file in the folder says which. The lock of a process that is no more is taken over.
 */
import { closeSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { JournalError } from '../../storage/journal/types.js';

/** Lets go of a folder. */
export type Unlock = () => void;

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** When that process began, where the system tells: another one may have got its number since. */
  readonly began?: string | undefined;
}

/** Folders of this process. */
const held = new Set<string>();

/** Throws JournalError that says who holds the folder. */
export function lockFolder(folder: string): Unlock {
  const path = resolve(folder, 'lock');
  if (held.has(path)) throw inUse(folder, 'another cluster of this process');
  const own = JSON.stringify({ pid: process.pid, host: hostname(), began: beginningOf(process.pid) } satisfies Holder);
  // More than one attempt is needed only when several processes start at the same time.
  for (let attempt = 1; !tryCreate(path, own); attempt++) {
    const text = readIfThere(path);
    if (text === undefined) continue;
    const holder = parseHolder(text);
    if (attempt > 5 || isAlive(holder)) throw inUse(folder, describe(holder, path));
    takeAway(path, text);
  }
  held.add(path);
  return () => {
    if (!held.delete(path)) return;
    if (readIfThere(path) === own) rmSync(path, { force: true });
  };
}

function tryCreate(path: string, text: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'wx', 0o600);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
  return true;
}

/** Removes a lock that was judged to be of nobody, unless it is another one by now. */
function takeAway(path: string, judged: string): void {
  const aside = `${path}.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    // Somebody else was faster.
    if (codeOf(error) === 'ENOENT') return;
    throw error;
  }
  if (readIfThere(aside) === judged) rmSync(aside, { force: true });
  else renameSync(aside, path);
}

/** Undefined for what is no lock of ours, such as one that was being written when the power went. */
function parseHolder(text: string): Holder | undefined {
  try {
    const holder: unknown = JSON.parse(text);
    return typeof holder === 'object' && holder !== null && 'pid' in holder ? (holder as Holder) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAlive(holder: Holder | undefined): boolean {
  if (holder === undefined) return false;
  // What runs on another machine cannot be seen from here.
  if (holder.host !== hostname()) return true;
  // Our own number, and yet not held by us: it was given to another process before.
  if (holder.pid === process.pid) return false;
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
  if (holder.host === hostname()) return `process ${holder.pid}`;
  return `process ${holder.pid} on ${holder.host} (if that is no more, remove ${path})`;
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
