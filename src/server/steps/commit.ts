/**
 * The only step that changes anything: compare-and-swap into the store. A dry run returns what the store would have
 * returned. `storageFailure` translates StorageErrors to Status errors.
 */
import type { ServedKind } from '../../kinds/served-kind.js';
import { EXTENSION_GROUPS, storageConflictMessage } from '../../kinds/shared/storage-conflict.js';
import { errors, type StatusError } from '../../meta/errors.js';
import { pathSegmentProblems } from '../../meta/names.js';
import type { ApiObject, DraftMeta, DraftObject } from '../../meta/object.js';
import { type ObjectKey, StorageError } from '../../storage/types.js';
import { quote } from '../../text/go/go-text.js';
import { deepEqual } from '../../util/json.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { nonOwnableParts } from '../ownable-fields.js';
import { parseRevision } from '../revision.js';
import {
  cacheConverted,
  differsFromStored,
  storedObjectOf,
  toServed,
  toStored,
  withResourceVersion,
} from '../versions.js';
import type { WriteOperation } from '../write-operation.js';
import { hasPrunedFields } from './prepare.js';
import { seal, sealMetadata } from './seal.js';

/** The live object in the version of the request. */
export function readLive(write: WriteOperation, name: string): ApiObject | undefined {
  const stored = write.server.store.get(keyFor(write, name));
  if (stored !== undefined) return toServed(write.served, stored);
  requireKeyName(name);
  return undefined;
}

/**
 * Rejects a name that cannot be part of a storage key; no object has one.
 * upstream: apiserver/pkg/registry/generic/registry/store.go NamespaceKeyFunc
 */
export function requireKeyName(name: string): void {
  const problems = pathSegmentProblems(name);
  if (problems.length === 0) return;
  throw errors.badRequest(`Name parameter invalid: ${quote(name)}: ${problems.join(';')}`);
}

/** The live object that the request names. Throws 404 if there is none. */
export function requireLive(write: WriteOperation): ApiObject {
  const name = write.request.name ?? '';
  const live = readLive(write, name);
  if (live === undefined) throw errors.notFound(write.served.groupResource, name);
  return live;
}

export function keyFor(write: WriteOperation, name: string): ObjectKey {
  return { storageKey: write.served.storageKey, namespace: write.namespace, name };
}

/** Runs commits that belong together and returns the stored object; see `Store.transaction`. */
export function inTransaction(write: WriteOperation, run: () => ApiObject): MaybePromise<ApiObject> {
  return write.server.store.transaction(run, (object, resourceVersion) => {
    if (object.metadata.resourceVersion !== '') return object;
    const { served, server } = write;
    const stored = server.store.get(keyFor(write, object.metadata.name));
    // Otherwise it was deleted, or has changed again.
    const isLive = stored?.metadata.resourceVersion === resourceVersion;
    if (isLive && !differsFromStored(served)) return stored;
    const confirmed = withResourceVersion(object, resourceVersion);
    if (isLive) cacheConverted(served, stored, confirmed);
    return confirmed;
  });
}

/** Stores a new object, which is sealed with an empty resourceVersion. Throws StorageError `exists` if the name is taken. */
export function commitCreate(sealed: ApiObject, write: WriteOperation): ApiObject {
  const { served, server } = write;
  const { store } = server;
  const key = keyFor(write, sealed.metadata.name);
  if (write.dryRun) {
    if (store.get(key) !== undefined) throw new StorageError('exists');
    // The conversions to the storage version and back set the defaults of both.
    return toServed(served, toStored(served, sealed));
  }
  const stored = store.commit({
    type: 'create',
    key,
    makeObject: (resourceVersion) => toStored(served, sealed, resourceVersion),
  });
  return committed(stored, write);
}

/**
 * Custom resources that the reference server has stored with fields that it drops when it reads them. The next write
 * without them is a change.
 * upstream: apiserver/pkg/storage/etcd3/store.go store.GuaranteedUpdate
 */
const withHiddenFields = new WeakSet<ApiObject>();

function hasHiddenFields(write: WriteOperation): boolean {
  // The conversion to the storage version drops them.
  return write.served.storageKind === undefined && (write.hasEmptyMetadata || hasPrunedFields(write));
}

function committed(stored: ApiObject, write: WriteOperation): ApiObject {
  if (hasHiddenFields(write)) withHiddenFields.add(stored);
  return toServed(write.served, stored);
}

/**
 * Rejects a new object that has a resourceVersion, except on a dry run, and one whose CRD or namespace was deleted while a plugin
 * or conversion ran. Others that have the same names since may have another schema and other owners.
 */
export function requireCreatable(resourceVersion: string | undefined, write: WriteOperation): void {
  if (!write.dryRun && hasResourceVersion(resourceVersion))
    throw errors.plain('resourceVersion should not be set on objects to be created');
  requireServed(write);
  const uid = write.namespaceUid === undefined ? undefined : namespaceUid(write);
  if (uid !== undefined && uid !== write.namespaceUid)
    throw errors.notFound({ group: '', resource: 'namespaces' }, write.namespace);
}

/** Undefined: there is no namespace, which admission plugins decide about. */
export function namespaceUid({ server, namespace }: WriteOperation): string | undefined {
  return namespace === '' ? undefined : server.clusterView.namespace(namespace)?.metadata.uid;
}

function requireServed({ served, server }: WriteOperation): void {
  const custom = served.kind.customResourceHandler;
  if (custom === undefined) return;
  const now = server.registry.byResource(served.gvr);
  if (now === served) return;
  const definition = now?.kind.customResourceHandler;
  if (definition?.definitionUid !== custom.definitionUid) throw errors.genericServerResponse('NotFound');
  if (definition.isTerminating) throw errors.terminatingDefinition(served.groupResource);
}

/**
 * On create the reference server ignores a resourceVersion that is not a number.
 * upstream: apiserver/pkg/storage/etcd3/store.go store.Create
 */
function hasResourceVersion(text: string | undefined): boolean {
  try {
    return parseRevision(text) !== 0;
  } catch {
    // As above.
    return false;
  }
}

/** Seals a draft and stores it at a new revision. */
export function commitDraft(draft: DraftObject, live: ApiObject, write: WriteOperation): ApiObject {
  const next = seal(write.served.schema, draft, live.metadata.resourceVersion);
  return commitUpdate(deepEqual(next, live) ? live : next, live, write);
}

/**
 * Stores the next state, which is sealed with the live resourceVersion. An update without a change passes the live object
 * as `next` and keeps its resourceVersion.
 */
export function commitUpdate(
  next: ApiObject,
  live: ApiObject,
  write: WriteOperation,
  changes: Changes = 'parts of the endpoint',
): ApiObject {
  const { served, server } = write;
  const key = keyFor(write, live.metadata.name);
  const before = storedObjectOf(live);
  const after = storedFormToCompare(next, live, write, changes);
  if (after !== undefined && deepEqual(after, before) && isReadAs(after, next, live, served)) {
    // The comparison is void if the object has changed meanwhile.
    if (server.store.get(key) !== before) throw new StorageError('stale');
    return live;
  }
  const toStore = (resourceVersion?: string): ApiObject =>
    withStoredParts(toStored(served, next, resourceVersion, after), before, write, changes);
  if (write.dryRun) return toServed(served, toStore());
  return committed(server.store.commit({ type: 'update', key, expected: before, makeObject: toStore }), write);
}

type Changes = 'parts of the endpoint' | 'metadata';

/**
 * The reference server also compares with the object as it was read, which has the defaults of the schema: a write that
 * removes a default stores the same object again. Conversion functions and webhooks are not called again for that.
 * upstream: apiserver/pkg/storage/etcd3/store.go store.getStateFromObject
 */
function isReadAs(after: ApiObject, next: ApiObject, live: ApiObject, served: ServedKind): boolean {
  if (next === live || served.kind.customResourceHandler?.mayBeAsynchronous !== false) return true;
  return deepEqual(after, toStored(served, live));
}

/** Whether objects of a built-in kind are stored in another version than `served`. */
function isConverted({ storageKind, kind }: ServedKind): boolean {
  return storageKind !== undefined && kind.customResourceHandler === undefined;
}

/** Keeps what the write does not change as it is stored: the requested version may lack some of its fields. */
function withStoredParts(form: ApiObject, before: ApiObject, write: WriteOperation, changes: Changes): ApiObject {
  const { served, request } = write;
  if (!isConverted(served)) return form;
  const parts = nonOwnableParts(served, request.subresource ?? '');
  const isKept = (part: string): boolean => (changes === 'metadata' ? part !== 'metadata' : parts.includes(part));
  const kept = Object.entries(before).filter(([part]) => isKept(part));
  return kept.length === 0 ? form : Object.freeze({ ...form, ...Object.fromEntries(kept) });
}

/**
 * The stored form of `next` if a write of it may change nothing. After a change of the CRD, an update without a change
 * may store the object in its current form; and an update may change only fields that the storage version does not have.
 */
function storedFormToCompare(
  next: ApiObject,
  live: ApiObject,
  write: WriteOperation,
  changes: Changes,
): ApiObject | undefined {
  const { served } = write;
  const stored = storedObjectOf(live);
  if (served.kind.customResourceHandler === undefined) {
    if (next !== live) return undefined;
    // The conversion from the requested version may lose fields.
    return isConverted(served) ? withStoredParts(toStored(served, next), stored, write, changes) : stored;
  }
  if (next !== live && served.storageKind === undefined) return undefined;
  if (hasHiddenFields(write) || withHiddenFields.has(stored)) return undefined;
  // Even an object that is served as it is stored may have another storage version now.
  if (stored === live && served.storageKind === undefined) return stored;
  return toStored(served, next);
}

/** Stores changed metadata only; the rest of the object needs neither sealing nor conversion. */
export function commitMetadata(draft: DraftMeta, live: ApiObject, write: WriteOperation): ApiObject {
  const { served } = write;
  const metadata = sealMetadata(draft, live.metadata.resourceVersion);
  if (deepEqual(metadata, live.metadata))
    return served.kind.customResourceHandler === undefined ? commitUpdate(live, live, write, 'metadata') : live;
  const next: ApiObject = Object.freeze({ ...live, metadata });
  const { customResourceHandler: custom } = served.kind;
  if (custom === undefined) return commitUpdate(next, live, write, 'metadata');
  if (write.dryRun) return next;
  // The stored object gets the defaults that it lacks.
  if (served.storageKind === undefined || !custom.mayBeAsynchronous) return commitUpdate(next, live, write);
  const before = storedObjectOf(live);
  const unversioned = Object.freeze({ ...before, metadata });
  const makeStored = (resourceVersion: string): ApiObject => {
    const stored = withResourceVersion(unversioned, resourceVersion);
    cacheConverted(served, stored, withResourceVersion(next, resourceVersion));
    return stored;
  };
  const key = keyFor(write, live.metadata.name);
  return toServed(served, write.server.store.commit({ type: 'update', key, expected: before, makeObject: makeStored }));
}

/** Removes an object. The result and the event have the resourceVersion of the deletion. */
export function commitDelete(live: ApiObject, write: WriteOperation): ApiObject {
  if (write.dryRun) return live;
  const { served } = write;
  const stored = storedObjectOf(live);
  const makeDeleted = (resourceVersion: string): ApiObject => {
    const last = withResourceVersion(stored, resourceVersion);
    if (stored !== live) cacheConverted(served, last, withResourceVersion(live, resourceVersion));
    return last;
  };
  const key = keyFor(write, live.metadata.name);
  return toServed(
    served,
    write.server.store.commit({ type: 'delete', key, expected: stored, makeObject: makeDeleted }),
  );
}

/**
 * The Status of a write that storage rejected, after the last attempt. This is the only translation of StorageErrors.
 * `update`: another client changed the object. `delete`, and a create that lost its allocation: server timeout.
 */
export function storageErrorToStatus(
  { failure }: StorageError,
  { verb, draft }: FailedWrite,
  write: WriteOperation,
): StatusError {
  const { groupResource, groupKind } = write.served;
  const name = draft.metadata.name ?? '';
  if (verb === 'update') return errors.conflict(groupResource, name, MODIFIED);
  if (verb === 'delete' || failure === 'stale') return errors.serverTimeout(groupResource, verb, 2);
  const taken = write.server.store.get(keyFor(write, name));
  const terminating = taken?.metadata.deletionTimestamp !== undefined;
  // A generateName, even beside a name, means that the client accepts a generated one.
  // The reference server takes the group of its internal version here.
  if (draft.metadata.generateName)
    return errors.generateNameConflict({ ...groupResource, group: groupKind.group }, name, { terminating });
  return errors.alreadyExists(groupResource, name, { terminating });
}

export interface FailedWrite {
  readonly verb: 'create' | 'update' | 'delete';
  readonly draft: { readonly metadata: Pick<DraftMeta, 'name' | 'generateName'> };
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** The 409 of a write whose precondition (uid, resourceVersion) the live object does not meet; `why` names it. */
export function preconditionFailed(write: WriteOperation, name: string, why: string): StatusError {
  const { served, namespace, dryRun } = write;
  const resource = served.groupResource;
  const isBelowGroup = served.kind.representation === 'document' || EXTENSION_GROUPS.has(served.kind.group);
  return errors.conflict(
    resource,
    name,
    storageConflictMessage({ resource, isBelowGroup, namespace, name, dryRun }, why),
  );
}
