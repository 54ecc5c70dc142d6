/**
 * Writes files as a whole: under another name until they are complete, and never in the place of a symbolic link, which may
 * lead to a file of another program, or of a device.
 */
import { randomUUID } from 'node:crypto';
import { rmSync, type Stats } from 'node:fs';
import { lstat, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import process from 'node:process';
import { messageOf } from '../util/message-of.js';

/** The mode of a file that only its owner can read. */
export const PRIVATE = 0o600;

/** The status of a regular file; undefined if there is none. Rejects for a folder, a symbolic link or a device. */
export async function regularFile(file: string): Promise<Stats | undefined> {
  const status = await unlessMissing(lstat(file));
  if (status?.isSymbolicLink() === true) throw new Error(`${file} is a symbolic link; it is left as it is`);
  // Reading a device or a pipe may never end, and renaming would remove it.
  if (status?.isFile() === false) throw new Error(`${file} is no regular file; it is left as it is`);
  return status;
}

/** Rejects for what {@link replaceFile} does not replace, and for a file in a folder that does not exist. */
export async function requireReplaceable(file: string): Promise<void> {
  if ((await regularFile(file)) !== undefined) return;
  const folder = dirname(file);
  if ((await unlessMissing(stat(folder))) === undefined) throw new Error(`${file}: there is no folder ${folder}`);
}

function unlessMissing(status: Promise<Stats>): Promise<Stats | undefined> {
  return status.catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
}

/** Adds a part to a file. */
export type Append = (part: string | Uint8Array) => Promise<void>;

/** Creates or replaces a file; `mode` absent: that of other new files. Nothing remains if `write` rejects. */
export async function replaceFile(
  file: string,
  mode: number | undefined,
  write: (append: Append) => Promise<void>,
): Promise<void> {
  await requireReplaceable(file);
  const fail = (error: unknown): never => {
    // Without the name of the draft: `EACCES: permission denied, open '…'`.
    const why = messageOf(error).replace(/, \w+ '.*$/s, '');
    throw new Error(`${file} cannot be written: ${why}`, { cause: error });
  };
  // The name is new, so it is no link, and no other process writes it.
  const draft = join(dirname(file), `.${basename(file)}.${randomUUID()}`);
  using _draft = removedOnSignal(draft);
  try {
    {
      // Closed before it is renamed, as Windows requires.
      await using handle = await open(draft, 'wx', mode).catch(fail);
      // The umask reduces the mode above.
      if (mode !== undefined) await handle.chmod(mode);
      await write((part) => handle.writeFile(part).catch(fail));
      await handle.sync().catch(fail);
    }
    await rename(draft, file).catch(fail);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

/** The drafts of this process. */
const drafts = new Set<string>();

/** Until it is disposed, a signal that ends the process removes the draft first. */
function removedOnSignal(draft: string): Disposable {
  if (drafts.size === 0) process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  drafts.add(draft);
  return {
    [Symbol.dispose]() {
      drafts.delete(draft);
      if (drafts.size === 0) process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    },
  };
}

function onSignal(signal: NodeJS.Signals): void {
  // Another listener decides whether the process ends.
  if (process.listenerCount(signal) > 1) return;
  for (const draft of drafts) rmSync(draft, { force: true });
  process.off(signal, onSignal).kill(process.pid, signal);
}
