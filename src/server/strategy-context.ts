/**
 * What strategies and actions can do beyond their own object: read others and change some. Each change is a synchronous
 * compare-and-swap without admission, because the request itself was admitted.
 */

import type { DeletionRequest } from '../kinds/deletion.js';
import type { StrategyContext } from '../kinds/kind.js';
import type { ObjectAddress, ObjectReader, Objects } from '../kinds/objects.js';
import { SERVER_MANAGER } from '../meta/dialect.js';
import type { GroupResource, GroupVersionKind } from '../meta/gvk.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import type { Registry } from '../registry/registry.js';
import type { Store } from '../storage/store.js';
import { type KeyIndex, type KeysOf, StorageError } from '../storage/types.js';
import { invariant } from '../util/invariant.js';
import { copyJson, isRecord, type MutableRecord } from '../util/json.js';
import { chain, type MaybePromise } from '../util/maybe-promise.js';
import { NO_PLUGINS } from './plugins.js';
import { commitCreate, commitDelete, commitDraft, readLive } from './steps/commit.js';
import { trackOwnershipOnUpdate } from './steps/managed-fields.js';
import { seal } from './steps/seal.js';
import { startWrite, type WriteOperation } from './write-operation.js';

/** `deleteObject` of `deletion.ts`, passed in to avoid an import cycle. */
export type DeleteObject = (name: string, deletion: DeletionRequest, write: WriteOperation) => MaybePromise<unknown>;

export function strategyContext(write: WriteOperation, deleteObject: DeleteObject): StrategyContext {
  const { dialect, now, features, settings } = write.hookContext;
  const { request, user, namespace, dryRun, warnings, server } = write;
  const random = () => server.ids.random();
  return {
    dialect,
    now,
    features,
    settings,
    request,
    user,
    namespace,
    dryRun,
    warnings,
    random,
    access: server.access,
    tokens: server.authentication.tokens,
    objects: objectsFor(write, deleteObject),
  };
}

/** Read-only access to all stored objects. */
export function objectReader(store: Store, registry: Registry): ObjectReader {
  return {
    get: (address) => readStored(address, store, registry),
    list: (resource, namespace) => listStored(resource, namespace, { store, registry }),
  };
}

/** An index of the stored objects of a resource; empty for a kind that is not served. */
export function keyIndex<Key>(
  resource: GroupResource,
  keysOf: KeysOf<Key>,
  { store, registry }: { readonly store: Store; readonly registry: Registry },
): KeyIndex<Key> {
  const stored = registry.storageKindOf(resource);
  return stored === undefined ? NO_KEYS : store.index(stored.storageKey, keysOf);
}

function readStored(address: ObjectAddress, store: Store, registry: Registry): ApiObject | undefined {
  const stored = registry.storageKindOf(address);
  if (stored === undefined) return undefined;
  return store.get({ storageKey: stored.storageKey, namespace: address.namespace, name: address.name });
}

function listStored(
  resource: GroupResource,
  namespace: string | undefined,
  { store, registry }: { readonly store: Store; readonly registry: Registry },
): readonly ApiObject[] {
  const stored = registry.storageKindOf(resource);
  if (stored === undefined) return [];
  const range = stored.namespaced && namespace !== undefined ? { namespace } : {};
  return store.list({ storageKey: stored.storageKey, ...range }).items;
}

/** The index of a kind that is not served. */
const NO_KEYS = { has: () => false, keys: () => [] };

export function objectsFor(write: WriteOperation, deleteObject: DeleteObject): Objects {
  return new WriteObjects(write, deleteObject);
}

/** A class, because one is made for every write of some kinds. */
class WriteObjects implements Objects {
  readonly #write: WriteOperation;
  readonly #deleteObject: DeleteObject;

  constructor(write: WriteOperation, deleteObject: DeleteObject) {
    this.#write = write;
    this.#deleteObject = deleteObject;
  }

  get(address: ObjectAddress): ApiObject | undefined {
    const { store, registry } = this.#write.server;
    return readStored(address, store, registry);
  }

  list(resource: GroupResource, namespace?: string): readonly ApiObject[] {
    const { store, registry } = this.#write.server;
    return listStored(resource, namespace, { store, registry });
  }

  index<Key>(resource: GroupResource, keysOf: KeysOf<Key>): KeyIndex<Key> {
    return keyIndex(resource, keysOf, this.#write.server);
  }

  stores(resource: GroupResource): boolean {
    return this.#write.server.registry.storageKindOf(resource) !== undefined;
  }

  resourceOf(gvk: GroupVersionKind): string | undefined {
    return this.#write.server.registry.byKind(gvk)?.gvr.resource;
  }

  create(address: ObjectAddress, draft: DraftObject): ApiObject {
    const of = this.#operationFor(address);
    draft.metadata.creationTimestamp = this.#write.hookContext.now;
    draft.metadata.uid = this.#write.server.ids.uid();
    draft.metadata.name = address.name;
    if (of.served.namespaced) draft.metadata.namespace = address.namespace;
    const typed: DraftObject = { ...draft, kind: of.served.gvk.kind, apiVersion: of.served.apiVersion };
    return commitCreate(seal(of.served.schema, typed, ''), of);
  }

  change(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject {
    return this.#commitChanged(address, change, (object) => copyJson(object) as unknown as DraftObject);
  }

  changeParts(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject {
    return this.#commitChanged(address, change, copyOfParts);
  }

  changeStatus(address: ObjectAddress, change: (draft: DraftObject) => void): ApiObject {
    const { request, ...of } = this.#operationFor(address);
    const options = { ...request.options, fieldManager: SERVER_MANAGER };
    const byServer: WriteOperation = { ...of, request: { ...request, subresource: 'status', options } };
    return commitChange(address, byServer, (before) => {
      const draft = copyOfParts(before);
      change(draft);
      trackOwnershipOnUpdate(draft, before, byServer);
      return draft;
    });
  }

  #commitChanged(
    address: ObjectAddress,
    change: (draft: DraftObject) => void,
    draftOf: (object: ApiObject) => DraftObject,
  ): ApiObject {
    return commitChange(address, this.#operationFor(address), (before) => {
      const draft = draftOf(before);
      change(draft);
      return draft;
    });
  }

  remove(address: ObjectAddress): void {
    const of = this.#operationFor(address);
    const object = readLive(of, address.name);
    if (object !== undefined) commitDelete(object, of);
  }

  delete(address: ObjectAddress, deletion: DeletionRequest): MaybePromise<void> {
    const withoutAdmission = {
      ...this.#operationFor(address),
      server: { ...this.#write.server, admission: NO_PLUGINS },
    };
    return chain(this.#deleteObject(address.name, deletion, withoutAdmission), () => undefined);
  }

  #operationFor(address: ObjectAddress): WriteOperation {
    const { server, request, dryRun } = this.#write;
    const served = server.registry.storageKindOf(address);
    invariant(served !== undefined, `${address.resource} are served`);
    return startWrite(server, { ...request, namespace: address.namespace }, { served, dryRun });
  }
}

function commitChange(
  { name }: ObjectAddress,
  write: WriteOperation,
  changed: (before: ApiObject) => DraftObject,
): ApiObject {
  const before = readLive(write, name);
  if (before === undefined) throw new StorageError('missing');
  return commitDraft(changed(before), before, write);
}

/** Copies the object and its top-level parts (metadata, spec, status); deeper values are shared with the stored object. */
function copyOfParts(object: ApiObject): DraftObject {
  const copy: MutableRecord = { ...object };
  for (const name in copy) if (isRecord(copy[name])) copy[name] = { ...copy[name] };
  return copy as unknown as DraftObject;
}
