/**
 * The ClusterView: what admission plugins and authorizers can read and change.
 */
import type { ClusterView } from '../admission/types.js';
import type { ObjectAddress, StorageReader } from '../kinds/objects.js';
import type { ExternalCalls } from '../kinds/reconciler.js';
import type { ServedKind } from '../kinds/served-kind.js';
import type { Dialect } from '../meta/dialect.js';
import { type GroupResource, qualifiedResource } from '../meta/gvk.js';
import type { ApiObject } from '../meta/object.js';
import type { Store } from '../storage/store.js';
import { invariant } from '../util/invariant.js';
import { copyJson, deepFreeze } from '../util/json.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { getOrInsertComputed } from '../util/once.js';
import type { ServerContext } from './context.js';
import { deleteObject } from './deletion.js';
import { objectReader, objectsFor } from './strategy-context.js';
import { ConversionPending, convertBeforeCommit, toServed, toStored } from './versions.js';
import { startWrite, type WriteOperation } from './write-operation.js';

/** `context` is a function because the context contains the view. */
export function clusterView(
  parts: Pick<ServerContext, 'store' | 'registry' | 'dialect' | 'features' | 'clock' | 'ids' | 'access' | 'authorize'>,
  external: ExternalCalls,
  context: () => ServerContext,
): ClusterView {
  const { store, registry, dialect, features, clock, ids, access, authorize } = parts;
  const operationFor = (address: ObjectAddress): WriteOperation => {
    const served = registry.storageKindOf(address);
    invariant(served !== undefined, `${address.resource} are served`);
    const request = { verb: 'update', resource: served.gvr, namespace: address.namespace, options: {} } as const;
    return startWrite(context(), request, { served, dryRun: false });
  };
  const { get, list } = objectReader(store, registry);
  // Without a spread: V8 gives each spread result its own hidden class.
  return {
    get,
    list,
    dialect,
    features,
    clock,
    ids,
    access,
    authorize,
    externalCalls: external,
    namespace: (name) => store.get({ storageKey: 'namespaces', namespace: '', name }),
    lastChange: lastChangeOf(store, dialect),
    kindNamed: (gvk) => registry.byKind(gvk),
    resourceNamed: (gvr) => registry.byResource(gvr),
    versionsOf: (served) => registry.versionsOf(served),
    convert: convertObject,
    create: (address, draft) => objectsFor(operationFor(address), deleteObject).create(address, draft),
    change: (address, change) => objectsFor(operationFor(address), deleteObject).change(address, change),
    changeParts: (address, change) => objectsFor(operationFor(address), deleteObject).changeParts(address, change),
  };
}

/** A function for `ClusterView.lastChange`. Storage keys are cached, because every request needs them. */
export function lastChangeOf(store: Store, dialect: Dialect): (resource: GroupResource) => number {
  const storageKeyOf = storageKeysIn(dialect);
  return (resource) => store.changes.last(storageKeyOf(resource));
}

export function storageKeysIn(dialect: Dialect): (resource: GroupResource) => string {
  const storageKeys = new WeakMap<GroupResource, string>();
  const make = ({ group, resource }: GroupResource) => qualifiedResource({ group: dialect.group(group), resource });
  return (resource) => getOrInsertComputed(storageKeys, resource, make);
}

function convertObject(object: ApiObject, from: ServedKind, to: ServedKind): MaybePromise<ApiObject> {
  if (from === to) return object;
  // A draft is copied first: conversions are cached by identity, and a draft may still change.
  const fixed = Object.isFrozen(object) ? object : (deepFreeze(copyJson(object)) as ApiObject);
  return chain(convertBeforeCommit(from, fixed), () => {
    const stored = toStored(from, fixed);
    const convert = () => toServed(to, stored);
    return rescue(convert, (error) => {
      if (!(error instanceof ConversionPending)) throw error;
      return error.ready.then(convert);
    });
  });
}

/** Reads the objects of a cluster for its handlers. */
export function storageReaderOf({ store, registry, clusterView }: ServerContext): StorageReader {
  return {
    objects: objectReader(store, registry),
    everything: () => store.allObjects(),
    lastChange: clusterView.lastChange,
    count: (resource) => store.count(qualifiedResource(resource)),
    check: () => store.shared?.check(),
  };
}
