/**
 * Manifests → objects of a cluster, by server-side apply, so that loading the same files again changes nothing.
 */
import type { ServedKind } from '../kinds/served-kind.js';
import { StatusError } from '../meta/errors.js';
import type { ApiRequest } from '../protocol/request.js';
import type { ApiResponse } from '../protocol/response.js';
import { refuseUnknownOptions } from '../util/options.js';
import { type Manifest, ManifestError, type ManifestText, placeText, readManifests } from './manifests.js';
import { whyNotServed } from './unknown-kind.js';

/** What loading needs of a cluster. */
export interface ManifestTarget {
  /** Everything it serves at this moment: a definition that was just loaded may have added to it. */
  kinds(): readonly ServedKind[];
  send(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}

export interface LoadOptions {
  /** Who owns the fields afterwards; `orchplane` unless said otherwise. */
  readonly fieldManager?: string | undefined;
  /** Takes fields away from other managers instead of failing. */
  readonly force?: boolean | undefined;
  /** For objects of namespaced kinds that name none; `default` unless said otherwise. */
  readonly namespace?: string | undefined;
}

const OPTIONS = ['fieldManager', 'force', 'namespace'] as const satisfies readonly (keyof LoadOptions)[];

/** What became of one object; or of one document, when it could not be read. */
export type LoadedObject = {
  /** `web.yaml:12 (document 3, item 2)`. */
  readonly place: string;
} & (
  | {
      readonly outcome: 'created' | 'applied';
      readonly apiVersion: string;
      readonly kind: string;
      readonly namespace?: string;
      readonly name: string;
      readonly warnings: readonly string[];
    }
  /** The message begins with the place. */
  | { readonly outcome: 'failed'; readonly error: Error }
);

/**
 * Applies all objects of the texts. Namespaces, definitions and what admission asks for come first, the rest in order of
 * appearance. A namespace that does not exist is not made up: objects in it fail. When a document cannot be read,
 * nothing is applied at all; when an object is refused, the others are applied all the same. Rejects with TypeError for
 * options it does not know.
 *
 * @example
 * const loaded = await loadManifests(cluster, [{ name: 'web.yaml', text: 'apiVersion: v1\nkind: …' }]);
 * const failed = loaded.filter(({ outcome }) => outcome === 'failed');
 */
export async function loadManifests(
  cluster: ManifestTarget,
  texts: readonly ManifestText[],
  options: LoadOptions = {},
): Promise<LoadedObject[]> {
  refuseUnknownOptions('loadManifests', options, OPTIONS);
  const read = texts.flatMap(readManifests);
  const unreadable = read.filter((each) => each instanceof ManifestError);
  if (unreadable.length > 0) return unreadable.map(failed);
  const manifests = read.filter((each): each is Manifest => !(each instanceof ManifestError));
  const loaded: LoadedObject[] = [];
  for (const manifest of manifests.toSorted((a, b) => rankOf(a) - rankOf(b))) {
    loaded.push(await load(cluster, manifest, options));
  }
  return loaded;
}

/** What others need to exist before them. */
const FIRST = [
  'Namespace',
  'CustomResourceDefinition',
  'PriorityClass',
  'RuntimeClass',
  'StorageClass',
  'IngressClass',
  'LimitRange',
  'ResourceQuota',
  'ServiceAccount',
];

function rankOf({ kind }: Manifest): number {
  const index = FIRST.indexOf(kind);
  return index === -1 ? FIRST.length : index;
}

async function load(cluster: ManifestTarget, manifest: Manifest, options: LoadOptions): Promise<LoadedObject> {
  const { place, apiVersion, kind, body } = manifest;
  const kinds = cluster.kinds();
  const served = kinds.find((each) => each.apiVersion === apiVersion && each.gvk.kind === kind);
  if (served === undefined) {
    const reason = whyNotServed({ apiVersion, kind }, kinds);
    return failed(new ManifestError(place, `no kind ${kind} in ${apiVersion} is served${reason}`));
  }
  if (!served.namespaced && manifest.namespace !== undefined) {
    return failed(new ManifestError(place, `${kind} is cluster-scoped and takes no namespace`));
  }
  const namespace = served.namespaced ? (manifest.namespace ?? options.namespace ?? 'default') : undefined;
  // What has no name yet, or cannot be patched, can only be created.
  const { name } = manifest;
  const call: Pick<ApiRequest, 'verb' | 'name' | 'patchType'> =
    name !== undefined && served.verbs.includes('patch')
      ? { verb: 'patch', name, patchType: 'apply' }
      : { verb: 'create' };
  try {
    const response = await cluster.send({
      ...call,
      resource: served.gvr,
      ...(namespace === undefined ? {} : { namespace }),
      options: {
        fieldManager: options.fieldManager ?? 'orchplane',
        fieldValidation: 'Strict',
        ...(call.verb === 'patch' && options.force === true ? { force: true } : {}),
      },
      body,
    });
    const made = response.type === 'object' && 'metadata' in response.object ? response.object.metadata : undefined;
    return {
      place: placeText(place),
      outcome: response.type === 'object' && response.code === 201 ? 'created' : 'applied',
      apiVersion,
      kind,
      ...(namespace === undefined ? {} : { namespace }),
      name: made !== undefined && 'name' in made && typeof made.name === 'string' ? made.name : (name ?? ''),
      warnings: response.warnings,
    };
  } catch (error) {
    if (!StatusError.is(error)) throw error;
    const who = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name ?? manifest.generateName}`;
    return failed(new ManifestError(place, `${who}: ${error.message}`));
  }
}

function failed(error: ManifestError): LoadedObject {
  return { place: placeText(error.place), outcome: 'failed', error };
}
