/**
 * The only step that changes anything: compare-and-swap into the store, or, on a dry run, the answer the store would
 * have given. Storage failures are translated to Status errors here and nowhere else.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors, type StatusError } from '../../meta/errors.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import type { ObjectKey } from '../../storage/types.js';
import { StorageError } from '../../storage/types.js';
import { deepEqual } from '../../util/json.js';
import { parseRevision } from '../revision.js';
import { cacheConverted, storedObjectOf, toServed, toStored, withRevision } from '../versions.js';
import type { WriteOperation } from '../write-operation.js';
import { seal, sealMetadata } from './seal.js';

/** The live object, in the version of the request. */
export function readLive(write: WriteOperation, name: string): ApiObject | undefined {
  const stored = write.server.store.get(keyFor(write, name));
  return stored === undefined ? undefined : toServed(write.served, stored);
}

/** The live object that the request names. Throws the 404 of one that is not there. */
export function requireLive(write: WriteOperation): ApiObject {
  const name = write.request.name ?? '';
  const live = readLive(write, name);
  if (live === undefined) throw errors.notFound(write.served.groupResource, name);
  return live;
}

export function keyFor(write: WriteOperation, name: string): ObjectKey {
  return { resource: write.served.storage, namespace: write.namespace, name };
}

/** Rejects a new object that has a resourceVersion. Dry runs accept it. */
export function rejectRevision(resourceVersion: string | undefined): void {
  if (!hasRevision(resourceVersion)) return;
  throw errors.plain('resourceVersion should not be set on objects to be created');
}

/** Stores a new object, sealed with an empty version that keeps the place of the real one. Throws StorageError `exists` when the name is taken. */
export function commitCreate(sealed: ApiObject, write: WriteOperation): ApiObject {
  const { store } = write.server;
  const key = keyFor(write, sealed.metadata.name);
  requireServed(write);
  if (write.dryRun) {
    if (store.get(key) !== undefined) throw new StorageError('exists');
    return sealed;
  }
  const { served } = write;
  return toServed(
    served,
    store.commit({
      type: 'create',
      key,
      seal: (resourceVersion) => toStored(served, sealed, resourceVersion),
    }),
  );
}

/** The definition of a custom kind may have gone, or begun to, while something was waited for. */
function requireServed({ served, server }: WriteOperation): void {
  if (served.kind.custom === undefined) return;
  const now = server.registry.byResource(served.gvr);
  if (now === served) return;
  if (now === undefined || now.namespaced !== served.namespaced) throw errors.router('NotFound');
  if (now.kind.custom?.isTerminating === true) throw errors.terminatingDefinition(served.groupResource);
}

/** A text that is no number is not noticed on a create. */
function hasRevision(text: string | undefined): boolean {
  try {
    return parseRevision(text) !== 0;
  } catch {
    // The reference server ignores what it cannot read here, and so do we.
    return false;
  }
}

/** Seals a draft and stores it as a new version. */
export function commitDraft(draft: DraftObject, live: ApiObject, write: WriteOperation): ApiObject {
  const next = seal(write.served.schema, draft, live.metadata.resourceVersion);
  return commitUpdate(deepEqual(next, live) ? live : next, live, write);
}

/**
 * Stores a new version, sealed at the live one's. An update that changes nothing, which is then the live object itself,
 * keeps that, version and all.
 */
export function commitUpdate(next: ApiObject, live: ApiObject, write: WriteOperation): ApiObject {
  const key = keyFor(write, live.metadata.name);
  if (next === live && isStoredSo(next, live, write.served)) {
    // No change to an object that has changed meanwhile may well be one.
    if (write.server.store.get(key) !== storedObjectOf(live)) throw new StorageError('stale');
    return live;
  }
  if (write.dryRun) return next;
  const { served } = write;
  return toServed(
    served,
    write.server.store.commit({
      type: 'update',
      key,
      expected: storedObjectOf(live),
      seal: (resourceVersion) => toStored(served, next, resourceVersion),
    }),
  );
}

/**
 * What is shown of a custom object may not be what is stored: its definition has changed since. An update that changes
 * nothing stores it as it would be stored today.
 */
function isStoredSo(next: ApiObject, live: ApiObject, served: ServedKind): boolean {
  const stored = storedObjectOf(live);
  if (served.kind.custom === undefined) return true;
  // Even what is shown as it is stored may have to be stored in another version today.
  if (stored === live && served.storageKind === undefined) return true;
  return deepEqual(toStored(served, next), stored);
}

/** Stores other metadata and nothing else: what is below needs no sealing, and no conversion, neither there nor back. */
export function commitMetadata(draft: DraftMeta, live: ApiObject, write: WriteOperation): ApiObject {
  const { served } = write;
  const metadata = sealMetadata(draft, live.metadata.resourceVersion);
  if (deepEqual(metadata, live.metadata))
    return served.kind.custom === undefined ? commitUpdate(live, live, write) : live;
  const next: ApiObject = Object.freeze({ ...live, metadata });
  if (served.kind.custom === undefined) return commitUpdate(next, live, write);
  if (write.dryRun) return next;
  const before = storedObjectOf(live);
  const form = Object.freeze({ ...before, metadata });
  const seen = (resourceVersion: string): ApiObject => {
    const stored = withRevision(form, resourceVersion);
    cacheConverted(served, stored, withRevision(next, resourceVersion));
    return stored;
  };
  const key = keyFor(write, live.metadata.name);
  return toServed(served, write.server.store.commit({ type: 'update', key, expected: before, seal: seen }));
}

/** Removes an object. The answer, and the event, carry the version of the deletion. */
export function commitDelete(live: ApiObject, write: WriteOperation): ApiObject {
  if (write.dryRun) return live;
  const { served } = write;
  const stored = storedObjectOf(live);
  const gone = (resourceVersion: string): ApiObject => {
    const last = withRevision(stored, resourceVersion);
    if (stored !== live) cacheConverted(served, last, withRevision(live, resourceVersion));
    return last;
  };
  const key = keyFor(write, live.metadata.name);
  return toServed(served, write.server.store.commit({ type: 'delete', key, expected: stored, seal: gone }));
}

/**
 * The Status of a write that storage rejected, after the last attempt. This is the only translation of StorageErrors.
 * `update`: another client changed the object. `delete`, and a create that lost its allocation: server timeout.
 */
export function storageFailure(
  { failure }: StorageError,
  { verb, draft }: FailedWrite,
  write: Pick<WriteOperation, 'served'> & Partial<Pick<WriteOperation, 'server' | 'namespace'>>,
): StatusError {
  const { groupResource } = write.served;
  const name = draft.metadata.name ?? '';
  if (verb === 'update') return errors.conflict(groupResource, name, MODIFIED);
  if (verb === 'delete' || failure === 'stale') return errors.serverTimeout(groupResource, verb, 2);
  const { server, namespace = '' } = write;
  const taken = server?.store.get({ resource: write.served.storage, namespace, name });
  const terminating = taken?.metadata.deletionTimestamp !== undefined;
  // A generateName, even beside a name, means that the client accepts a generated one.
  if (draft.metadata.generateName) return errors.generateNameConflict(groupResource, name, { terminating });
  return errors.alreadyExists(groupResource, name, { terminating });
}

export interface FailedWrite {
  readonly verb: 'create' | 'update' | 'delete';
  readonly draft: { readonly metadata: Pick<DraftMeta, 'name' | 'generateName'> };
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';
