/**
 * Manifests of files → objects of a cluster, by server-side apply, so that loading the same files again changes nothing.
 */

import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AppliedManifest, ApplySettings, ManifestTarget } from '../manifests/apply.js';
import { applyManifests, unreadable } from '../manifests/apply.js';
import { type Manifest, ManifestError, type ManifestText, readManifests } from '../manifests/read.js';
import { refuseUnknownOptions } from '../util/options.js';

/** What counts as a manifest in a folder; a file that is named counts whatever its name. */
const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

export interface LoadOptions extends Pick<ApplySettings, 'fieldManager' | 'force' | 'namespace'> {}

const OPTIONS = ['fieldManager', 'force', 'namespace'] as const satisfies readonly (keyof LoadOptions)[];

/**
 * Applies all objects of the texts and tells what became of each, in the order in which they were applied. Definitions
 * come first and are waited for, then namespaces and what admission asks for, then the rest in order of appearance. A
 * namespace that does not exist is not made up: objects in it fail. When a document cannot be read, nothing is applied at
 * all; when an object is refused, the others are applied all the same. Rejects with TypeError for options it does not
 * know.
 *
 * @example
 * const loaded = await loadManifests(cluster, [{ name: 'web.yaml', text: 'apiVersion: v1\nkind: …' }]);
 * const failed = loaded.filter(({ outcome }) => outcome === 'failed');
 */
export async function loadManifests(
  cluster: ManifestTarget,
  texts: readonly ManifestText[],
  options: LoadOptions = {},
): Promise<AppliedManifest[]> {
  refuseUnknownOptions('loadManifests', options, OPTIONS);
  const read = texts.flatMap(readManifests);
  const broken = read.filter((each) => each instanceof ManifestError);
  if (broken.length > 0) return broken.map(unreadable);
  const manifests = read.filter((each): each is Manifest => !(each instanceof ManifestError));
  return applyManifests(cluster, manifests, options);
}

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
