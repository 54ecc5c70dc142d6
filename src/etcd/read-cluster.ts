/**
 * Reads all objects of a running cluster through its API, at one revision. The cluster may be a real one.
 */
import { CustomResourceDefinition } from '../crd/index.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { StatusError } from '../meta/errors.js';
import { type GroupVersionResource, qualifiedResource } from '../meta/gvk.js';
import type { ApiList, ApiObject } from '../meta/object.js';
import type { RequestOptions } from '../protocol/request.js';
import type { Transport } from '../protocol/transport.js';
import { toStored } from '../server/versions.js';
import { type PlacedObject, placedObject } from '../storage/state.js';
import { builtInKindsIn } from './built-in-kinds.js';
import type { ClusterContent } from './write-snapshot.js';

/**
 * Lists every built-in kind and every custom resource at the revision of the first list. Objects of kinds that the
 * cluster does not serve cannot be read. Rejects with StatusError, such as Expired if the cluster compacts meanwhile.
 */
export async function readCluster(transport: Transport): Promise<ClusterContent> {
  const { dialect } = transport;
  const kinds = builtInKindsIn(dialect);
  let options: RequestOptions = {};
  const objects: PlacedObject[] = [];
  const crds: CrdObject[] = [];
  for (const [storageKey, stored] of kinds.storageKinds) {
    const found = await listFirst(transport, [stored, ...kinds.otherVersions(storageKey)], options);
    if (found === undefined) continue;
    const { served, list } = found;
    options = { resourceVersion: list.metadata.resourceVersion ?? '', resourceVersionMatch: 'Exact' };
    for (const item of list.items) {
      // The items of a list have no type.
      const object = { ...item, kind: served.gvk.kind, apiVersion: served.apiVersion } as ApiObject;
      objects.push(placedObject(storageKey, served === stored ? object : toStored(served, object)));
      if (stored.kind === CustomResourceDefinition) crds.push(object as CrdObject);
    }
  }
  for (const { spec } of crds) {
    const version = spec.versions.find(({ storage }) => storage) ?? spec.versions[0];
    const served = version?.served === true ? version : spec.versions.find((one) => one.served);
    if (served === undefined) continue;
    const resource = { group: spec.group, version: served.name, resource: spec.names.plural };
    const list = await listIfServed(transport, resource, options);
    for (const item of list?.items ?? []) objects.push(placedObject(qualifiedResource(resource), item));
  }
  return { dialect, revision: Number(options.resourceVersion), objects };
}

interface CrdObject extends ApiObject {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean; readonly storage: boolean }[];
  };
}

async function listFirst(
  transport: Transport,
  versions: readonly ServedKind[],
  options: RequestOptions,
): Promise<{ readonly served: ServedKind; readonly list: ApiList } | undefined> {
  for (const served of versions) {
    const list = await listIfServed(transport, served.gvr, options);
    if (list !== undefined) return { served, list };
  }
  return undefined;
}

/** All objects of a resource; undefined if it is not served. */
async function listIfServed(
  transport: Transport,
  resource: GroupVersionResource,
  options: RequestOptions,
): Promise<ApiList | undefined> {
  try {
    const response = await transport.send({ verb: 'list', resource, options });
    return response.type === 'object' ? (response.object as ApiList) : undefined;
  } catch (error) {
    if (StatusError.is(error, 'NotFound')) return undefined;
    throw error;
  }
}
