/**
 * Manifests of files → objects of a cluster, by server-side apply, so that loading the same files again changes nothing.
 */
import type { AppliedManifest, ApplySettings, ManifestTarget } from '../manifests/apply.js';
import { applyManifests, unreadable } from '../manifests/apply.js';
import { type Manifest, ManifestError, type ManifestText, readManifests } from '../manifests/read.js';
import { refuseUnknownOptions } from '../util/options.js';

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
