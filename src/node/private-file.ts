/**
 * Writes files with secrets: readable by their owner only, replaced as a whole, and never through a symbolic link, which
 * may lead to a file of another program.
 */
import { randomUUID } from 'node:crypto';
import { lstat, open, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { nodeFiles } from './journal/files.js';

const MODE = 0o600;

/** The text of a regular file; undefined if there is none. Rejects for a symbolic link or a device. */
export async function readPrivateFile(file: string): Promise<string | undefined> {
  return (await readPresent(file))?.text;
}

/** Writes the file unless it has this content. Rejects for a symbolic link or a device. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const present = await readPresent(file);
  // On a full disk, a server that is started again needs no space for its files.
  if (present?.text === text && present.mode === MODE) return;
  // The name is new, so it cannot be a link; renaming replaces a link instead of following it.
  const draft = join(dirname(file), `.${basename(file)}.${randomUUID()}`);
  try {
    const handle = await open(draft, 'wx', MODE);
    try {
      // The mode above is reduced by the umask.
      await handle.chmod(MODE);
      await handle.writeFile(text);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  nodeFiles.syncFolder(dirname(file));
}

async function readPresent(file: string): Promise<{ readonly text: string; readonly mode: number } | undefined> {
  try {
    const status = await lstat(file);
    if (status.isSymbolicLink()) throw new Error(`${file} is a symbolic link; it is left as it is`);
    // Reading a device or a pipe may never end, and its permissions must not change.
    if (!status.isFile()) throw new Error(`${file} is no regular file; it is left as it is`);
    return { text: await readFile(file, 'utf8'), mode: status.mode & 0o777 };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
