/**
 * Names on a command line → texts of manifests: files, the manifests in a folder, or standard input.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { ManifestText } from '../manifests/read.js';

/** What counts as a manifest in a folder; a file that is named counts whatever its name. */
const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/**
 * The texts in the order of the names; those of a folder, which is not searched deeper, in the order of theirs. `-` is
 * standard input. Rejects for what cannot be read, and for a folder without manifests.
 */
export async function readManifestFiles(
  names: readonly string[],
  stdin: NodeJS.ReadableStream = process.stdin,
): Promise<ManifestText[]> {
  if (names.filter((name) => name === '-').length > 1) throw new Error('standard input can be read only once');
  const texts: ManifestText[] = [];
  for (const name of names) {
    if (name === '-') texts.push({ name: 'stdin', text: await text(stdin) });
    else for (const file of await filesAt(name)) texts.push({ name: file, text: await readFile(file, 'utf8') });
  }
  return texts;
}

async function filesAt(name: string): Promise<string[]> {
  if (!(await stat(name)).isDirectory()) return [name];
  const entries = await readdir(name, { withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory() && EXTENSIONS.has(extname(entry.name).toLowerCase()));
  if (files.length === 0) throw new Error(`${name} holds no .yaml, .yml or .json file`);
  return files.map((entry) => join(name, entry.name)).sort();
}
