/**
 * The only step that changes anything: compare-and-swap into the store, or, on a dry run, the answer the store would
 * have given. Storage failures are translated to Status errors here and nowhere else.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import type { ObjectKey } from '../../storage/types.js';
import { StorageError } from '../../storage/types.js';
import { deepEqual } from '../../util/json.js';
import { parseRevision } from '../revision.js';
import { cacheConverted, storedObjectOf, toServed, toStored, withRevision } from '../versions.js';
import type { WriteOperation } from '../write-operation.js';
import { seal, sealMetadata } from './seal.js';

/** The live object, in the version of the request. */
export function readLive(job: WriteOperation, name: string): ApiObject | undefined {
  const stored = job.server.store.get(keyFor(job, name));
  return stored === undefined ? undefined : toServed(job.served, stored);
}

/** The live object that the request names. Throws the 404 of one that is not there. */
export function requireLive(job: WriteOperation): ApiObject {
  const name = job.request.name ?? '';
  const live = readLive(job, name);
  if (live === undefined) throw errors.notFound(job.served.groupResource, name);
  return live;
}

export function keyFor(job: WriteOperation, name: string): ObjectKey {
  return { resource: job.served.storage, namespace: job.namespace, name };
}

/** A new object has no version; one that was sent is refused, except on a dry run. */
export function refuseRevision(resourceVersion: string | undefined): void {
  if (!hasRevision(resourceVersion)) return;
  throw errors.plain('resourceVersion should not be set on objects to be created');
}

/** Stores a new object, sealed with an empty version that keeps the place of the real one. Throws StorageError `exists` when the name is taken. */
export function commitCreate(sealed: ApiObject, job: WriteOperation): ApiObject {
  const { store } = job.server;
  const key = keyFor(job, sealed.metadata.name);
  requireServed(job);
  if (job.dryRun) {
    if (store.get(key) !== undefined) throw new StorageError('exists');
    return sealed;
  }
  const { served } = job;
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
function requireServed({ served, server: context }: WriteOperation): void {
  if (served.kind.custom === undefined) return;
  const now = context.registry.byResource(served.gvr);
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
export function commitDraft(draft: DraftObject, live: ApiObject, job: WriteOperation): ApiObject {
  const next = seal(job.served.schema, draft, live.metadata.resourceVersion);
  return commitUpdate(deepEqual(next, live) ? live : next, live, job);
}

/**
 * Stores a new version, sealed at the live one's. An update that changes nothing, which is then the live object itself,
 * keeps that, version and all.
 */
export function commitUpdate(next: ApiObject, live: ApiObject, job: WriteOperation): ApiObject {
  const key = keyFor(job, live.metadata.name);
  if (next === live && isStoredSo(next, live, job.served)) {
    // No change to an object that has changed meanwhile may well be one.
    if (job.server.store.get(key) !== storedObjectOf(live)) throw new StorageError('stale');
    return live;
  }
  if (job.dryRun) return next;
  const { served } = job;
  return toServed(
    served,
    job.server.store.commit({
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
export function commitMetadata(draft: DraftMeta, live: ApiObject, job: WriteOperation): ApiObject {
  const { served } = job;
  const metadata = sealMetadata(draft, live.metadata.resourceVersion);
  if (deepEqual(metadata, live.metadata))
    return served.kind.custom === undefined ? commitUpdate(live, live, job) : live;
  const next: ApiObject = Object.freeze({ ...live, metadata });
  if (served.kind.custom === undefined) return commitUpdate(next, live, job);
  if (job.dryRun) return next;
  const before = storedObjectOf(live);
  const form = Object.freeze({ ...before, metadata });
  const seen = (resourceVersion: string): ApiObject => {
    const stored = withRevision(form, resourceVersion);
    cacheConverted(served, stored, withRevision(next, resourceVersion));
    return stored;
  };
  const key = keyFor(job, live.metadata.name);
  return toServed(served, job.server.store.commit({ type: 'update', key, expected: before, seal: seen }));
}

/** Removes an object. The answer, and the event, carry the version of the deletion. */
export function commitDelete(live: ApiObject, job: WriteOperation): ApiObject {
  if (job.dryRun) return live;
  const { served } = job;
  const stored = storedObjectOf(live);
  const gone = (resourceVersion: string): ApiObject => {
    const last = withRevision(stored, resourceVersion);
    if (stored !== live) cacheConverted(served, last, withRevision(live, resourceVersion));
    return last;
  };
  const key = keyFor(job, live.metadata.name);
  return toServed(served, job.server.store.commit({ type: 'delete', key, expected: stored, seal: gone }));
}

/** The Status for a name that is taken. */
export function alreadyExists(draft: DraftObject, job: WriteOperation): Error {
  const name = draft.metadata.name ?? '';
  const { groupResource } = job.served;
  const present = job.server.store.get(keyFor(job, name));
  const terminating = present?.metadata.deletionTimestamp !== undefined;
  // A prefix, even beside a name, says the client would take a generated one.
  if (draft.metadata.generateName) return errors.generateNameConflict(groupResource, name, { terminating });
  return errors.alreadyExists(groupResource, name, { terminating });
}
