/**
 * Loads manifests from files into a cluster.
 */

import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AppliedManifest, ApplySettings, ManifestTarget } from '../manifests/apply.js';
import { applyManifests, unreadableReport } from '../manifests/apply.js';
import { type Manifest, ManifestError, type ManifestText, readManifests } from '../manifests/read.js';
import { refuseUnknownOptions } from '../util/options.js';

/** The options of {@link loadManifests}. */
export interface LoadOptions extends Pick<ApplySettings, 'fieldManager' | 'force' | 'namespace'> {}

const OPTIONS = ['fieldManager', 'force', 'namespace'] as const satisfies readonly (keyof LoadOptions)[];

/**
 * Applies all objects of the texts with server-side apply and reports the outcome of each, in the order in which they
 * were applied. CustomResourceDefinitions are applied first and awaited, then namespaces and other prerequisites, then
 * the rest in order of appearance. Missing namespaces are not created: objects in them fail. When a document cannot be
 * read, nothing is applied; when an object is rejected, the others are still applied. Rejects with TypeError for
 * unknown options.
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
  if (broken.length > 0) return broken.map(unreadableReport);
  const manifests = read.filter((each): each is Manifest => !(each instanceof ManifestError));
  return applyManifests(cluster, manifests, options);
}

/**
 * Reads manifests from files, folders (not recursively, sorted by name) and standard input (`-`), in the given order.
 * Rejects for files that cannot be read and for a folder without manifests.
 */
export async function readManifestFiles(
  names: readonly string[],
  stdin: NodeJS.ReadableStream = process.stdin,
): Promise<ManifestText[]> {
  if (names.filter((name) => name === '-').length > 1) throw new Error('standard input can be read only once');
  const texts: ManifestText[] = [];
  for (const name of names) {
    if (name === '-') texts.push({ name: 'stdin', text: await text(stdin) });
    else for (const file of await manifestFilesAt(name)) texts.push({ name: file, text: await readFile(file, 'utf8') });
  }
  return texts;
}

/** The extensions of manifests in a folder; a file given by name may have any. */
const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** Whether a file in a folder may contain manifests. */
export function isManifestFile(name: string): boolean {
  return EXTENSIONS.has(extname(name).toLowerCase());
}

async function manifestFilesAt(name: string): Promise<string[]> {
  if (!(await stat(name)).isDirectory()) return [name];
  const entries = await readdir(name, { withFileTypes: true });
  const files = entries.filter((entry) => !entry.isDirectory() && isManifestFile(entry.name));
  if (files.length === 0) throw new Error(`${name} holds no .yaml, .yml or .json file`);
  return files.map((entry) => join(name, entry.name)).sort();
}
