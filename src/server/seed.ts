/**
 * The objects of a new cluster: the default namespaces and the initial objects of kinds.
 */
import type { InitialManager, InitialObject } from '../kinds/kind.js';
import type { ServedKind } from '../kinds/served-kind.js';
import { SERVER_MANAGER } from '../meta/dialect.js';
import { StatusError } from '../meta/errors.js';
import { compareVersions, type GroupVersion } from '../meta/gvk.js';
import type { ApiObject, ManagedFieldsEntry } from '../meta/object.js';
import { valueBody } from '../protocol/body.js';
import type { PlacedObject } from '../storage/state.js';
import { StorageError } from '../storage/types.js';
import { formatTime } from '../text/time/time.js';
import { uidFromText } from '../util/ids.js';
import { deepFreeze } from '../util/json.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { once } from '../util/once.js';
import type { ServerContext } from './context.js';
import { dispatch } from './dispatch.js';
import { withResourceVersion } from './versions.js';

/** The same names in both dialects. */
export const DEFAULT_NAMESPACES: readonly string[] = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Synchronous unless the store is shared. The context has no plugins. */
export function seedNamespaces(context: ServerContext): MaybePromise<void> {
  const resource = { group: '', version: 'v1', resource: 'namespaces' };
  let done: MaybePromise<unknown>;
  for (const name of DEFAULT_NAMESPACES) {
    if (context.store.get({ storageKey: 'namespaces', namespace: '', name }) !== undefined) continue;
    const options = { fieldManager: SERVER_MANAGER };
    const create = () =>
      dispatch(context, { verb: 'create', resource, options, body: valueBody({ metadata: { name } }) });
    done = chain(done, () => ignoreTaken(create));
  }
  return chain(done, () => undefined);
}

/** Another process may have created the object. */
function ignoreTaken(create: () => MaybePromise<unknown>): MaybePromise<unknown> {
  return rescue(create, (error) => {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  });
}

/** Clusters that are created within the same second share equal initial objects. */
const lastSeeded = new WeakMap<InitialObject, ApiObject>();

type SeedContext = Pick<ServerContext, 'store' | 'dialect' | 'clock' | 'registry' | 'settings' | 'features'>;

/** Stores the initial objects of kinds, at the revision of the last default namespace. */
export function seedInitialObjects(context: SeedContext, kinds: readonly ServedKind[]): void {
  const { store, registry, clock } = context;
  const resourceVersion = String(store.revision);
  const creationTimestamp = formatTime(clock.now());
  const served = registry.all();
  const versions = once(() => servedVersions(served));
  for (const kind of kinds) {
    if (kind.kind.initial === undefined) continue;
    const written = managedFieldsKind(kind, context);
    const makeObjects = () => initialObjects(kind, context, { written, versions, resourceVersion, creationTimestamp });
    if (store.journal === undefined && store.seedLater(kind.storageKey, makeObjects)) continue;
    for (const { key, object } of makeObjects()) {
      if (store.get(key) !== undefined) continue;
      // In a cluster that resumes from a journal, a new initial object is a write with an event.
      if (store.journal === undefined) store.seed(key, object);
      else store.commit({ type: 'create', key, makeObject: (version) => withResourceVersion(object, version) });
    }
  }
}

/** The most operations of one transaction of etcd are 128. */
const TRANSACTION_SIZE = 100;

/** Creates the initial objects that a shared store lacks. */
export async function seedSharedObjects(context: SeedContext): Promise<void> {
  const { store, registry, clock } = context;
  const served = registry.all();
  const state = {
    versions: once(() => servedVersions(served)),
    resourceVersion: '',
    creationTimestamp: formatTime(clock.now()),
  };
  const all = registry
    .storageKinds()
    .filter(({ kind }) => kind.initial !== undefined)
    .flatMap((kind) => initialObjects(kind, context, { ...state, written: managedFieldsKind(kind, context) }));
  for (;;) {
    const isMissing = ({ key }: PlacedObject) => store.get(key) === undefined && !store.shared?.problemIn(key);
    const missing = all.filter(isMissing).slice(0, TRANSACTION_SIZE);
    if (missing.length === 0) return;
    const create = (): void => {
      for (const { key, object } of missing) store.commit({ type: 'create', key, makeObject: () => object });
    };
    try {
      await store.transaction(create, () => undefined);
    } catch (error) {
      // Another process has created some of them.
      if (!(error instanceof StorageError)) throw error;
    }
  }
}

interface InitialState {
  /** The kind in whose version the server owns the fields. */
  readonly written: ServedKind;
  readonly versions: () => readonly GroupVersion[];
  readonly resourceVersion: string;
  readonly creationTimestamp: string;
}

function initialObjects(
  { kind, storageKey, gvk, apiVersion }: ServedKind,
  { dialect, settings, features }: SeedContext,
  { written, versions, resourceVersion, creationTimestamp }: InitialState,
): readonly PlacedObject[] {
  const objects = written.kind.initial ?? kind.initial;
  const initialOnes = objects?.(dialect, creationTimestamp, versions, settings, features) ?? [];
  return initialOnes.map((initial) => {
    const { metadata, ...body } = initial;
    const { name, namespace, generation, labels, annotations, managers } = metadata;
    const key = { storageKey, namespace: namespace ?? '', name };
    const before = lastSeeded.get(initial);
    if (
      before?.metadata.resourceVersion === resourceVersion &&
      before.metadata.creationTimestamp === creationTimestamp &&
      before.metadata.managedFields?.[0]?.apiVersion === written.apiVersion
    ) {
      return { key, object: before };
    }
    const filledIn = {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      // Not from the cluster's ids: the ids that users see must not depend on the initial objects.
      uid: uidFromText(`${storageKey}/${namespace === undefined ? '' : `${namespace}/`}${name}`),
      resourceVersion,
      ...(generation === undefined ? {} : { generation }),
      creationTimestamp,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
      managedFields: managers.map((manager) => initialEntry(manager, written.apiVersion, creationTimestamp)),
    };
    const object = deepFreeze({ kind: gvk.kind, apiVersion, metadata: filledIn, ...body }) as unknown as ApiObject;
    lastSeeded.set(initial, object);
    return { key, object };
  });
}

function servedVersions(kinds: readonly ServedKind[]): readonly GroupVersion[] {
  const versions = new Map(
    kinds.map(({ apiVersion, gvr }) => [apiVersion, { group: gvr.group, version: gvr.version }]),
  );
  return [...versions.values()];
}

/** The version in which the server owns the fields of initial objects: the storage version, or the best served one. */
function managedFieldsKind(stored: ServedKind, { registry }: SeedContext): ServedKind {
  const served = registry.versionsOf(stored);
  if (served.some(({ kind }) => kind === stored.kind)) return stored;
  const [best = stored] = [...served].sort((left, right) => compareVersions(left.gvr.version, right.gvr.version));
  return best;
}

function initialEntry(
  { manager, operation, subresource, fields }: InitialManager,
  apiVersion: string,
  time: string,
): ManagedFieldsEntry {
  return {
    manager,
    operation: operation ?? 'Update',
    apiVersion,
    time,
    fieldsType: 'FieldsV1',
    fieldsV1: fields as Record<string, unknown>,
    ...(subresource === undefined ? {} : { subresource }),
  };
}
