/**
 * Removes directories that processes have written to. One with many files is removed by another process, because the cluster
 * would wait for it.
 */
import { spawn } from 'node:child_process';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const MAX_AT_ONCE = 1_000;
/** A process that was killed a moment ago may still write. */
const OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 };

export function removeFolder(path: string): void {
  if (countBelow(path, MAX_AT_ONCE) < MAX_AT_ONCE) {
    rmSync(path, OPTIONS);
    return;
  }
  // It continues when this process ends.
  const child = spawn('rm', ['-rf', '--', path], { stdio: 'ignore', detached: true });
  // There is no such command.
  child.once('error', () => rmSync(path, OPTIONS));
  child.unref();
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
