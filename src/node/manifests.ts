/**
 * Loads manifests from files into a cluster.
 */

import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AppliedManifest, ApplySettings, ManifestTarget } from '../manifests/apply.js';
import { applyManifests, failedReport, unreadableReport } from '../manifests/apply.js';
import { type Manifest, ManifestError, type ManifestText, placeText, readManifests } from '../manifests/read.js';
import { sendForResponse } from '../manifests/send.js';
import { StatusError } from '../meta/errors.js';
import type { ApiObject } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import { isRecord } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';

/** The options of {@link loadManifests}. */
export interface LoadOptions extends Pick<ApplySettings, 'fieldManager' | 'force' | 'namespace' | 'mode'> {
  /**
   * Also writes the status of each object that has one, after all objects exist. Without this the server ignores the status
   * of kinds that have a status subresource.
   */
  readonly keepStatus?: boolean | undefined;
}

const OPTIONS = [
  'fieldManager',
  'force',
  'namespace',
  'mode',
  'keepStatus',
] as const satisfies readonly (keyof LoadOptions)[];

/**
 * Applies all objects of the texts with server-side apply, or creates them, and reports the outcome of each, in the order in
 * which they were applied. CustomResourceDefinitions are applied first and awaited, then namespaces and other prerequisites, then
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
  const { keepStatus = false, ...settings } = options;
  if (typeof keepStatus !== 'boolean') throw new TypeError('orchplane: loadManifests: keepStatus is true or false');
  if (!['apply', 'create', undefined].includes(settings.mode))
    throw new TypeError(`orchplane: loadManifests: mode is apply or create, not ${String(settings.mode)}`);
  const read = texts.flatMap(readManifests);
  const broken = read.filter((each) => each instanceof ManifestError);
  if (broken.length > 0) return broken.map(unreadableReport);
  const manifests = read.filter((each): each is Manifest => !(each instanceof ManifestError));
  const applied = await applyManifests(cluster, manifests, settings);
  if (!keepStatus) return applied;
  const byPlace = new Map(manifests.map((manifest) => [placeText(manifest.place), manifest]));
  const complete: AppliedManifest[] = [];
  for (const report of applied) complete.push(await withStatus(cluster, report, byPlace.get(report.place), settings));
  return complete;
}

/** Writes the status of an object and returns the report about it. */
async function withStatus(
  cluster: ManifestTarget,
  report: AppliedManifest,
  manifest: Manifest | undefined,
  { fieldManager = 'orchplane' }: LoadOptions,
): Promise<AppliedManifest> {
  if (report.outcome === 'failed' || manifest === undefined) return report;
  const { value } = manifest.body.read();
  const status = isRecord(value) ? value['status'] : undefined;
  const served = cluster.kinds().find((each) => each.apiVersion === report.apiVersion && each.gvk.kind === report.kind);
  const subresources = served?.subresources ?? Object.keys(served?.kind?.subresources ?? {});
  if (status === undefined || served === undefined || !subresources.includes('status')) return report;
  const { name, namespace } = report;
  try {
    const response = await sendForResponse(cluster, {
      verb: 'patch',
      resource: served.gvr,
      subresource: 'status',
      ...(namespace === undefined ? {} : { namespace }),
      name,
      patchType: 'merge',
      options: { fieldManager, fieldValidation: 'Strict' },
      body: valueBody({ status }),
    });
    return { ...report, object: response.object as ApiObject, warnings: [...report.warnings, ...response.warnings] };
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    return failedReport(manifest, `the status of ${report.kind} ${name}: ${error.message}`, error);
  }
}

/**
 * Reads manifests from files, folders (sorted by name, with their subfolders if `recursive`) and standard input (`-`), in the
 * given order. Rejects for files that cannot be read and for a folder without manifests.
 */
export async function readManifestFiles(
  names: readonly string[],
  stdin: NodeJS.ReadableStream = process.stdin,
  { recursive = false }: { readonly recursive?: boolean } = {},
): Promise<ManifestText[]> {
  if (names.filter((name) => name === '-').length > 1) throw new Error('standard input can be read only once');
  const texts: ManifestText[] = [];
  for (const name of names) {
    if (name === '-') texts.push({ name: 'stdin', text: await text(stdin) });
    else
      for (const file of await manifestFilesAt(name, recursive))
        texts.push({ name: file, text: await readFile(file, 'utf8') });
  }
  return texts;
}

/** The extensions of manifests in a folder; a file given by name may have any. */
const EXTENSIONS: ReadonlySet<string> = new Set(['.yaml', '.yml', '.json']);

/** Whether a file in a folder may contain manifests. */
export function isManifestFile(name: string): boolean {
  return EXTENSIONS.has(extname(name).toLowerCase());
}

async function manifestFilesAt(name: string, recursive: boolean): Promise<string[]> {
  if (!(await stat(name)).isDirectory()) return [name];
  const entries = await readdir(name, { withFileTypes: true, recursive });
  const files: string[] = [];
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    // Reading a device or a pipe, which a link may lead to, may never end.
    if (!entry.isDirectory() && isManifestFile(entry.name) && (await stat(file)).isFile()) files.push(file);
  }
  if (files.length === 0) {
    const hint = !recursive && entries.some((entry) => entry.isDirectory()) ? '; -R reads its subfolders' : '';
    throw new Error(`${name} holds no .yaml, .yml or .json file${hint}`);
  }
  return files.sort();
}
