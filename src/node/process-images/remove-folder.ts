/**
 * Removes directories that processes have written to. One with many files is removed in the background, because the cluster
 * would wait for it; the rest is removed when this process ends.
 */
import { readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../util/message-of.js';

const MAX_AT_ONCE = 1_000;
/** A process that was killed a moment ago may still write. */
const OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 };

const unfinished = new Set<string>();

export function removeFolder(path: string): void {
  if (countBelow(path, MAX_AT_ONCE) < MAX_AT_ONCE) {
    rmSync(path, OPTIONS);
    return;
  }
  if (unfinished.size === 0) process.once('exit', removeUnfinished);
  unfinished.add(path);
  rm(path, OPTIONS)
    .catch((error: unknown) => console.error(`orchplane: the directory ${path} is left: ${messageOf(error)}`))
    .finally(() => {
      unfinished.delete(path);
      if (unfinished.size === 0) process.off('exit', removeUnfinished);
    });
}

function removeUnfinished(): void {
  for (const path of unfinished) rmSync(path, OPTIONS);
}

/** The number of files and directories, up to a limit. */
function countBelow(path: string, limit: number): number {
  let count = 0;
  const rest = [path];
  for (let next = rest.pop(); next !== undefined && count < limit; next = rest.pop()) {
    for (const entry of entriesOf(next)) {
      count++;
      if (entry.isDirectory()) rest.push(join(next, entry.name));
    }
  }
  return count;
}

function entriesOf(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    // It does not exist, or it is removed at the moment.
    return [];
  }
}
