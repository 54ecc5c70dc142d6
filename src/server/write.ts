/**
 * The write pipeline: create and update from the decoded body to the committed object. The steps are in `steps/`.
 * spec: Operations
 *
 * All steps before the commit work on a draft of their own, so a write that fails has changed nothing. The pipeline is
 * synchronous unless an admission plugin or a conversion returns a promise. Then another write may change the live
 * object in the meantime; the commit fails with a StorageError, and the write starts again from the new live object.
 */

import { EXTENSION_GROUPS, failedPrecondition } from '../kinds/shared/storage-conflict.js';
import type { SubresourceStrategy } from '../kinds/subresource.js';
import { errors } from '../meta/errors.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { excessiveBytes } from '../schema/stored-bytes.js';
import { StorageError } from '../storage/types.js';
import { append } from '../util/arrays.js';
import { copyJson, deepFreeze, isRecord } from '../util/json.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import { authorizeCreation } from './authorize.js';
import { deleteObject, removeObject } from './deletion.js';
import { parseRevision } from './revision.js';
import { type AdmissionInput, runAdmissionPhase, runCommitEffects } from './steps/admit.js';
import {
  commitCreate,
  commitUpdate,
  inTransaction,
  namespaceUid,
  preconditionFailed,
  readLive,
  requireCreatable,
  storageErrorToStatus,
} from './steps/commit.js';
import { detachManagedFields, trackOwnershipOnCreate, trackOwnershipOnUpdate } from './steps/managed-fields.js';
import {
  dedupOwnerReferences,
  ensureApiVersion,
  ensureNameMatches,
  ensureNamespaceMatches,
} from './steps/match-address.js';
import { clearSystemFields, prepare } from './steps/prepare.js';
import { redecodeMutated } from './steps/redecode.js';
import { liveIfSame } from './steps/same-as-live.js';
import { seal, sealContent } from './steps/seal.js';
import { groupKindOf, validate } from './steps/validate.js';
import { strategyContext } from './strategy-context.js';
import { convertBeforeCommit, convertedForm } from './versions.js';
import { mayRace, type ViewUpdate, type WriteOperation, type WriteTarget } from './write-operation.js';

export interface WriteResult {
  readonly object: ApiObject;
  readonly created: boolean;
}

export interface CreateParameters {
  /** The draft already contains its managedFields. */
  readonly hasManagedFields?: boolean | undefined;
  /** An update or a patch creates the object: the user needs the permission to create as well. */
  readonly fromUpdate?: boolean;
}

/** How an update makes its draft from the live object. upstream: apiserver/pkg/registry/rest/rest.go UpdatedObjectInfo */
export interface UpdatedObjectInfo {
  readonly name: string;
  readonly subresource: SubresourceStrategy | undefined;
  /** An update of an absent name creates the object, if the kind allows that. */
  readonly allowCreateOnUpdate: boolean;
  /** A live object with another uid is a conflict. */
  readonly expectedUid?: string;
  /** The draft already contains its managedFields. */
  readonly hasManagedFields?: boolean;
  /** Makes a new draft from the live object; called again after a lost race. */
  readonly makeDraft: (live: ApiObject | undefined) => DraftObject;
  /** Present when the client updates a view (`scale`): `makeDraft` returns the view, and plugins see the view. */
  readonly view?: ViewUpdate;
}

/** Creates an object from a decoded body; the draft belongs to this function from now on. */
export function createObject(
  draft: DraftObject,
  write: WriteOperation,
  parameters: CreateParameters = {},
): MaybePromise<WriteResult> {
  write.namespaceUid ??= mayRace(write) ? namespaceUid(write) : undefined;
  clearSystemFields(draft.metadata, parameters.fromUpdate);
  // A new object that is stored never has one; an update or an apply that creates nothing shows it.
  if (!write.dryRun) draft.metadata.selfLink = undefined;
  ensureNamespaceMatches(draft.metadata, write);
  dedupOwnerReferences(draft.metadata, 'as sent', write.warnings);
  if (parameters.hasManagedFields !== true) trackOwnershipOnCreate(draft, write);
  const restoreManagedFields = detachManagedFields(draft, write);
  return chain(runAdmissionPhase('mutate', { operation: 'CREATE', object: draft }, write), () => {
    const mutated = redecodeMutated(draft, write);
    restoreManagedFields(mutated);
    if (parameters.fromUpdate === true) {
      // There is no live object to compare with, but the syntax of a given resourceVersion is checked.
      checkResourceVersionSyntax(mutated);
      if (!write.dryRun) mutated.metadata.resourceVersion = undefined;
    }
    return chain(finishCreate(mutated, write, parameters), (object) => ({ object, created: true }));
  });
}

const MAX_CREATE_ATTEMPTS = 8;
/** Creations in a namespace with a quota change the same object. Each attempt that fails lets another one succeed. */
const MAX_SHARED_ATTEMPTS = 1_000;

/** Stores a new object; tries again when its generated name is taken or its allocation was lost. */
function finishCreate(
  draft: DraftObject,
  write: WriteOperation,
  parameters: CreateParameters,
  attempt = 1,
): MaybePromise<ApiObject> {
  const { fromUpdate = false } = parameters;
  const hasGeneratedName = !draft.metadata.name && Boolean(draft.metadata.generateName);
  const isShared = write.server.store.shared !== undefined;
  const mayRetry = isShared || hasGeneratedName || write.served.kind.strategy.write.allocate !== undefined;
  const maxAttempts = isShared ? MAX_SHARED_ATTEMPTS : MAX_CREATE_ATTEMPTS;
  // The reference server copies an object whose name it generates, so its labels are not those of a Job's template any more.
  // upstream: apiserver/pkg/registry/generic/registry/store.go Store.createWithGenerateNameRetry
  if (hasGeneratedName && draft.metadata.labels !== undefined) draft.metadata.labels = { ...draft.metadata.labels };
  // Each attempt starts from the same draft, because `finishWrite` fills it in and freezes parts of it.
  const original = mayRetry ? copyJson(draft) : undefined;
  const target: WriteTarget = { live: undefined, fromUpdate, retriesTakenName: hasGeneratedName || fromUpdate };
  const recover = (error: unknown): MaybePromise<ApiObject> => {
    if (!(error instanceof StorageError)) throw error;
    // `updateObject` starts again, as an update.
    if (fromUpdate && error.failure === 'exists') throw error;
    const isRetried = hasGeneratedName || error.failure === 'stale';
    if (original === undefined || !isRetried || attempt >= maxAttempts) {
      throw storageErrorToStatus(error, { verb: 'create', draft }, write);
    }
    return finishCreate(original, write, parameters, attempt + 1);
  };
  return rescue(() => finishWrite(draft, target, write), recover);
}

/** Updates, patches or (for PUT) creates an object. */
export function updateObject(info: UpdatedObjectInfo, write: WriteOperation, attempt = 1): MaybePromise<WriteResult> {
  const live = readLive(write, info.name);
  checkUidPrecondition(info, live, write);
  if (live === undefined && !info.allowCreateOnUpdate) throw errors.notFound(write.served.groupResource, info.name);
  const draft = info.makeDraft(live);
  ensureNamespaceMatches(draft.metadata, write);
  ensureNameMatches(draft.metadata, info.name);
  ensureApiVersion(draft);
  const recover = (error: unknown): MaybePromise<WriteResult> => {
    if (!(error instanceof StorageError)) throw error;
    if (attempt < MAX_UPDATE_ATTEMPTS) return updateObject(info, write, attempt + 1);
    throw storageErrorToStatus(error, { verb: 'update', draft }, write);
  };
  return rescue(() => {
    if (live === undefined) {
      return createObject(draft, write, { hasManagedFields: info.hasManagedFields, fromUpdate: true });
    }
    const stored =
      info.view === undefined
        ? updateLive(draft, live, info, write)
        : updateView(draft, live, { view: info.view, info }, write);
    return chain(stored, (object) => ({ object, created: false }));
  }, recover);
}

/** More lost races than real contention causes. A plugin that writes the same object would loop forever. */
const MAX_UPDATE_ATTEMPTS = 100;

function updateLive(
  draft: DraftObject,
  live: ApiObject,
  info: UpdatedObjectInfo,
  write: WriteOperation,
): MaybePromise<ApiObject> {
  if (info.hasManagedFields !== true) trackOwnershipOnUpdate(draft, live, write);
  const restoreManagedFields = detachManagedFields(draft, write);
  return chain(runAdmissionPhase('mutate', { operation: 'UPDATE', object: draft, oldObject: live }, write), () => {
    const mutated = redecodeMutated(draft, write);
    restoreManagedFields(mutated);
    return finishWrite(mutated, { live, subresource: info.subresource }, write);
  });
}

/** Mutating plugins see and may change the view; the object is derived from the result. */
function updateView(
  draft: DraftObject,
  live: ApiObject,
  { view, info }: { readonly view: ViewUpdate; readonly info: UpdatedObjectInfo },
  write: WriteOperation,
): MaybePromise<ApiObject> {
  const input: AdmissionInput = {
    operation: 'UPDATE',
    object: draft,
    oldObject: view.toView(live),
    objectKind: view.kind,
  };
  return chain(runAdmissionPhase('mutate', input, write), () => {
    const next = view.fromView(redecodeMutated(draft, { ...write, served: view.kind }), live);
    ensureNamespaceMatches(next.metadata, write);
    ensureNameMatches(next.metadata, info.name);
    return finishWrite(next, { live, subresource: info.subresource, view }, write);
  });
}

/** The steps after mutating admission, for create and update: prepare, validate, seal, admit, commit. */
function finishWrite(draft: DraftObject, target: WriteTarget, write: WriteOperation): MaybePromise<ApiObject> {
  const { live, subresource } = target;
  const { served, server } = write;
  const { strategy } = served.kind;
  dedupOwnerReferences(draft.metadata, 'after admission', write.warnings);
  strategy.write.authorize?.(copyJson(draft) as unknown as ApiObject, live, strategyContext(write, deleteObject));
  if (live !== undefined) checkResourceVersion(draft, live, write);
  const allocation =
    subresource === undefined
      ? strategy.write.allocate?.(draft, live, strategyContext(write, deleteObject))
      : undefined;
  if (live !== undefined) subresource?.lookUp?.(draft, live, strategyContext(write, deleteObject));
  write.groupKind = groupKindOf(draft, served);
  prepare(draft, target, write);
  validate(draft, target, write);
  addWarnings(draft, target, write);
  strategy.write.canonicalize?.(draft, write.hookContext);
  const { resourceVersion } = draft.metadata;
  // From here on the content cannot change, even if a plugin kept the draft. After `sealContent` the object and its
  // metadata stay mutable until the commit.
  const sealed = sealDraft(draft, live, write);
  server.reusableParts.register(served.schema, sealed, live);
  strategy.write.authorizeValidated?.(sealed, live, strategyContext(write, deleteObject));
  if (target.fromUpdate === true) authorizeCreation(server, write.request);
  let next = sealed;
  const admitted = chain(runAdmissionPhase('validate', validationInput(sealed, target), write), () =>
    chain(convertBeforeCommit(served, sealed), () => {
      next = withinStorageLimit(sealed, target, write);
      return next === sealed ? undefined : convertBeforeCommit(served, next);
    }),
  );
  const commit = (): ApiObject => {
    if (live === undefined) requireCreatable(resourceVersion, write);
    if (write.commitEffects.length > 0) {
      // The effects of a write that starts again run with its last attempt.
      if (live !== undefined || target.retriesTakenName === true) requireUnchanged(sealed, live, write);
      runCommitEffects(write);
    }
    if (live !== undefined && shouldDeleteDuringUpdate(sealed, live, write)) {
      deleteWithoutFinalizers(live, write);
      // The response is the object that the client asked to store.
      return deepFreeze(withEmptyValues(sealed, draft)) as ApiObject;
    }
    if (allocation !== undefined && !write.dryRun) {
      // Nothing may fail after the allocation is committed.
      requireUnchanged(sealed, live, write);
      allocation.commit(sealed);
    }
    return live === undefined ? commitCreate(next, write) : commitUpdate(next, live, write);
  };
  return chain(admitted, () => inTransaction(write, commit));
}

function addWarnings(draft: DraftObject, { live, subresource }: WriteTarget, write: WriteOperation): void {
  const object = draft as unknown as ApiObject;
  const warnings =
    subresource === undefined || live === undefined
      ? write.served.kind.strategy.write.warnings?.(object, live, write.hookContext)
      : subresource.warnings?.(object, live, write.hookContext);
  if (warnings !== undefined) append(write.warnings, warnings);
  if (subresource === undefined) append(write.warnings, write.server.dialectNames(write.served, object));
}

/**
 * The object to store: in wire order and frozen, by `sealContent` only below the object and its metadata. An update without a
 * change returns the live object itself.
 */
function sealDraft(draft: DraftObject, live: ApiObject | undefined, write: WriteOperation): ApiObject {
  const { served, dryRun, server } = write;
  const isStoredAsIs = served.storageKind === undefined && served.kind.customResourceHandler === undefined;
  // Built-in plugins see the object but do not keep it, so the commit can set the resourceVersion in place and freeze it
  // then. An untrusted plugin needs a frozen object, and the commit copies it.
  const sealer = isStoredAsIs && !dryRun && !server.hasUntrustedPlugins(served) ? sealContent : seal;
  if (live !== undefined) {
    // The reference server drops selfLink when it stores the object, which a dry run and a removal do not do. Until then the
    // object differs from the live one, so it gets the new timestamps of managedFields.
    // upstream: apiserver/pkg/storage/api_object_versioner.go APIObjectVersioner.PrepareObjectForStorage
    const isStored = !dryRun && !shouldDeleteDuringUpdate(draft as unknown as ApiObject, live, write);
    const hasSelfLink = isStored && Boolean(draft.metadata.selfLink);
    if (hasSelfLink) draft.metadata.selfLink = undefined;
    return liveIfSame(
      live,
      sealer(served.schema, draft, live.metadata.resourceVersion),
      hasSelfLink || write.hasEmptyMetadata,
    );
  }
  // Admission plugins may have set it again.
  if (!dryRun) draft.metadata.selfLink = undefined;
  return sealer(served.schema, draft, dryRun ? draft.metadata.resourceVersion || undefined : '');
}

/** What the reference server sends to etcd at most. */
const MAX_SENT_BYTES = 2 * 1024 * 1024;

/**
 * Rejects an object that storage would reject for its size. An object that fits without its `managedFields` loses them, except
 * after an apply. upstream: apiserver/pkg/endpoints/handlers/create.go createHandler, isTooLargeError
 */
function withinStorageLimit(sealed: ApiObject, { live }: WriteTarget, write: WriteOperation): ApiObject {
  const { served, server, request, dryRun } = write;
  const isStored = !dryRun && sealed !== live;
  const { representation, group } = served.kind;
  const form = { schema: served.schema, isJson: representation === 'document' || EXTENSION_GROUPS.has(group) };
  const stored = convertedForm(sealed);
  const size = isStored ? excessiveBytes(form, stored, server.maxObjectBytes) : undefined;
  if (size === undefined) return sealed;
  if (live !== undefined && shouldDeleteDuringUpdate(sealed, live, write)) return sealed;
  const smaller = withoutManagedFields(stored);
  const remaining = request.patchType === 'apply' ? size : excessiveBytes(form, smaller, server.maxObjectBytes);
  if (remaining === undefined) return stored === sealed ? smaller : withoutManagedFields(sealed);
  throw errors.plain(
    remaining > MAX_SENT_BYTES
      ? `rpc error: code = ResourceExhausted desc = trying to send message larger than max (${remaining} vs. ${MAX_SENT_BYTES})`
      : 'etcdserver: request is too large',
  );
}

function withoutManagedFields(object: ApiObject): ApiObject {
  const { managedFields: _managedFields, ...metadata } = object.metadata;
  return Object.freeze({ ...object, metadata: Object.freeze(metadata) });
}

/** What validating plugins see. */
function validationInput(object: ApiObject, { live, view }: WriteTarget): AdmissionInput {
  if (live === undefined) return { operation: 'CREATE', object };
  if (view === undefined) return { operation: 'UPDATE', object, oldObject: live };
  return { operation: 'UPDATE', object: view.toView(object), oldObject: view.toView(live), objectKind: view.kind };
}

/** Throws a StorageError when another write has created or changed the object since it was read. */
function requireUnchanged({ metadata }: ApiObject, live: ApiObject | undefined, write: WriteOperation): void {
  if (readLive(write, metadata.name) !== live) throw new StorageError(live === undefined ? 'exists' : 'stale');
}

/** Whether the update removed the last finalizer of a terminating object. */
function shouldDeleteDuringUpdate(next: ApiObject, live: ApiObject, write: WriteOperation): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = live.metadata;
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) > 0) return false;
  if ((next.metadata.finalizers?.length ?? 0) > 0) return false;
  return write.served.kind.strategy.delete.shouldDeleteDuringUpdate?.(next) ?? true;
}

function deleteWithoutFinalizers(live: ApiObject, write: WriteOperation): void {
  try {
    removeObject(live, write);
  } catch (error) {
    // Another client removed the last finalizer while a plugin ran: the object is gone, as requested.
    if (!(error instanceof StorageError && error.failure === 'missing')) throw error;
  }
}

/** The object with the empty lists and maps of its draft, which are null in the stored form. */
function withEmptyValues(stored: unknown, draft: unknown): unknown {
  if (stored === null) return draft ?? null;
  if (Array.isArray(stored) && Array.isArray(draft)) return stored.map((item, at) => withEmptyValues(item, draft[at]));
  if (!isRecord(stored) || !isRecord(draft)) return stored;
  return Object.fromEntries(Object.entries(stored).map(([name, value]) => [name, withEmptyValues(value, draft[name])]));
}

function checkUidPrecondition(
  { expectedUid, name }: UpdatedObjectInfo,
  live: ApiObject | undefined,
  write: WriteOperation,
): void {
  const why = failedPrecondition({ uid: expectedUid || undefined }, live?.metadata);
  if (why !== undefined) throw preconditionFailed(write, name, why);
}

function checkResourceVersionSyntax(draft: DraftObject): number {
  try {
    return parseRevision(draft.metadata.resourceVersion);
  } catch (error) {
    throw errors.plain(messageOf(error));
  }
}

/** Optimistic locking: the resourceVersion in the draft must be that of the live object. */
function checkResourceVersion(draft: DraftObject, live: ApiObject, write: WriteOperation): void {
  const { served } = write;
  // The usual case needs no parsing: the live resourceVersion is well formed.
  if (draft.metadata.resourceVersion === live.metadata.resourceVersion) return;
  const wanted = checkResourceVersionSyntax(draft);
  if (wanted === 0) {
    if (served.kind.strategy.update.allowUnconditionalUpdate) return;
    throw errors.invalid({ group: served.gvr.group, kind: served.gvr.resource }, live.metadata.name, [
      {
        type: 'invalid',
        field: 'metadata.resourceVersion',
        message: 'Invalid value: 0x0: must be specified for an update',
      },
    ]);
  }
  if (wanted === Number(live.metadata.resourceVersion)) return;
  throw storageErrorToStatus(new StorageError('stale'), { verb: 'update', draft: live }, write);
}
