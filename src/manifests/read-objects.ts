/**
 * Reads the objects of a cluster through its API, for `orchplane import`.
 */
import { DEFAULT_SERVICE } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { qualifiedResource } from '../meta/gvk.js';
import type { ApiList, ApiObject } from '../meta/object.js';
import { continueTokens } from '../protocol/request.js';
import type { Transport } from '../protocol/transport.js';
import type { ManifestKind } from './apply.js';
import { redactSecret } from './redact.js';
import { sendForObject } from './send.js';

/** A resource that can be listed. */
export type ListedResource = Pick<ManifestKind, 'gvr' | 'gvk' | 'namespaced' | 'verbs'> & {
  readonly isPreferred: boolean;
};

export interface ReadObjectsOptions {
  /** Only objects of these namespaces, and the namespaces themselves; cluster-scoped objects are all read. */
  readonly namespaces?: readonly string[] | undefined;
  /** The names of resources that are left out: `events`. */
  readonly skip?: readonly string[] | undefined;
  /** Replaces the values of Secrets. */
  readonly redactSecrets?: boolean | undefined;
  /** Leaves out `metadata.managedFields`. */
  readonly withoutManagedFields?: boolean | undefined;
  /** Called before each resource is read. */
  readonly onResource?: ((progress: ReadProgress) => void) | undefined;
  /** Called for a resource that the server refuses to list. Absent: the error is thrown. */
  readonly onRefused?: ((resource: string, error: StatusError) => void) | undefined;
}

export interface ReadProgress {
  /** The resource in this form: `deployments.apps`. */
  readonly resource: string;
  /** The number of resources before it. */
  readonly done: number;
  readonly total: number;
  /** The number of objects so far. */
  readonly objects: number;
}

/** A page of objects. */
const PAGE_SIZE = 500;

/**
 * All objects that clients can create, of each kind in the version that the server prefers: CustomResourceDefinitions
 * first, then the others in the order of discovery. An object that is served in several groups is read once. What a
 * server writes about itself is left out.
 */
export async function* readObjects(
  transport: Transport,
  resources: readonly ListedResource[],
  options: ReadObjectsOptions = {},
): AsyncGenerator<{ readonly object: ApiObject; readonly listVersion: string }> {
  const read = importedResources(resources, options.skip ?? []);
  const seen = new Set<string>();
  for (const [index, resource] of read.entries()) {
    const name = qualifiedResource(resource.gvr);
    options.onResource?.({ resource: name, done: index, total: read.length, objects: seen.size });
    try {
      for await (const list of listsOf(transport, resource, options)) {
        for (const object of list.items as readonly ApiObject[]) {
          const { uid } = object.metadata;
          if (seen.has(uid) || isServersOwn(object)) continue;
          seen.add(uid);
          yield { object: reduced(object, transport, options), listVersion: list.metadata.resourceVersion ?? '' };
        }
      }
    } catch (error) {
      if (!StatusError.is(error) || options.onRefused === undefined || isConnectionError(error)) throw error;
      options.onRefused(name, error);
    }
  }
}

type ServersObject = Pick<ApiObject, 'kind'> & {
  readonly metadata: { readonly name?: unknown; readonly namespace?: unknown };
};

/** What every server writes about itself: its address, and the range of cluster IPs. */
export function isServersOwn({ kind, metadata: { name, namespace } }: ServersObject): boolean {
  if (name !== DEFAULT_SERVICE) return false;
  if (kind === 'ServiceCIDR') return namespace === undefined;
  return namespace === 'default' && ['Service', 'Endpoints', 'EndpointSlice'].includes(kind);
}

/** No response at all, in contrast to a response with an error. */
function isConnectionError({ cause }: StatusError): boolean {
  return cause !== undefined;
}

/** The resources that are read: without views that cannot be created, such as metrics. */
function importedResources(resources: readonly ListedResource[], skip: readonly string[]): readonly ListedResource[] {
  const chosen = resources.filter(
    ({ gvr, verbs, isPreferred }) =>
      isPreferred &&
      verbs.includes('list') &&
      verbs.includes('create') &&
      !skip.includes(gvr.resource) &&
      !skip.includes(qualifiedResource(gvr)),
  );
  const isDefinition = ({ gvk }: ListedResource): boolean => gvk.kind === 'CustomResourceDefinition';
  return [...chosen.filter(isDefinition), ...chosen.filter((resource) => !isDefinition(resource))];
}

async function* listsOf(
  transport: Transport,
  resource: ListedResource,
  { namespaces }: ReadObjectsOptions,
): AsyncGenerator<ApiList> {
  const isNamespace = resource.gvk.kind === 'Namespace' && resource.gvk.group === '';
  if (namespaces === undefined || !(resource.namespaced || isNamespace)) yield* pagesOf(transport, resource, {});
  else {
    for (const name of namespaces) {
      const place = isNamespace ? { fieldSelector: `metadata.name=${name}` } : { namespace: name };
      yield* pagesOf(transport, resource, place);
    }
  }
}

interface ListPlace {
  readonly namespace?: string;
  readonly fieldSelector?: string;
}

async function* pagesOf(
  transport: Transport,
  { gvr }: ListedResource,
  { namespace, ...selector }: ListPlace,
): AsyncGenerator<ApiList> {
  const nextToken = continueTokens(gvr.resource);
  let next: string | undefined;
  do {
    const options = { ...selector, limit: PAGE_SIZE, ...(next === undefined ? {} : { continue: next }) };
    const list: ApiList = await listPage(transport, { verb: 'list', resource: gvr, namespace, options });
    yield list;
    next = nextToken(list);
  } while (next !== undefined);
}

/** A page whose token has expired is replaced by the rest at a newer version, which the error offers. */
async function listPage(transport: Transport, request: Parameters<Transport['send']>[0]): Promise<ApiList> {
  try {
    return await sendForObject<ApiList>(transport, request);
  } catch (error) {
    const token = StatusError.is(error, 'Expired') ? error.status.metadata.continue : undefined;
    if (token === undefined || token === '' || token === request.options.continue) throw error;
    return listPage(transport, { ...request, options: { ...request.options, continue: token } });
  }
}

function reduced(object: ApiObject, { dialect }: Transport, options: ReadObjectsOptions): ApiObject {
  const shown = options.redactSecrets === true ? redactSecret(object, dialect) : object;
  if (options.withoutManagedFields !== true) return shown;
  const { managedFields: _managers, ...metadata } = shown.metadata;
  return { ...shown, metadata };
}
