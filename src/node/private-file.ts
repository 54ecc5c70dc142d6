/**
 * Files with secrets: readable by their owner only, replaced as a whole, and never through a symbolic link.
 */
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PRIVATE, regularFile, replaceFile } from '../etcd/replaceable-file.js';
import { nodeFiles } from './journal/files.js';

/** The text of a regular file; undefined if there is none. Rejects for a symbolic link or a device. */
export async function readPrivateFile(file: string): Promise<string | undefined> {
  return (await regularFile(file)) === undefined ? undefined : await readFile(file, 'utf8');
}

/** Writes the file unless it has this content. Rejects for a symbolic link or a device. */
export async function writePrivateFile(file: string, text: string): Promise<void> {
  const status = await regularFile(file);
  // On a full disk, a server that is started again needs no space for its files.
  if (status !== undefined && (status.mode & 0o777) === PRIVATE && (await readFile(file, 'utf8')) === text) return;
  await replaceFile(file, PRIVATE, (append) => append(text));
  nodeFiles.syncFolder(dirname(file));
}
