/**
 * A write from top to bottom. Each function reads like the list of its steps; what a step does stands in `steps/`.
 * spec: Operations (all kinds)
 *
 * Everything up to the commit works on a draft of its own, so a write that fails has changed nothing. The path is
 * synchronous unless a plugin makes it wait; then the live object may have changed meanwhile, the swap fails, and
 * the write starts again from the new one.
 */

import type { ServedKind } from '../kinds/served-kind.js';
import { failedPrecondition } from '../kinds/shared/storage-conflict.js';
import type { SubresourceStrategy } from '../kinds/subresource.js';
import { errors, StatusError } from '../meta/errors.js';
import type { ApiObject, DraftObject } from '../meta/object.js';
import { StorageError } from '../storage/types.js';
import { copyJson } from '../util/json.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { messageOf } from '../util/message-of.js';
import { authorizeCreation } from './authorize.js';
import { deleteObject, removeObject } from './deletion.js';
import { preconditionFailed } from './precondition.js';
import { needsRedecoding } from './redecoding.js';
import { parseRevision } from './revision.js';
import { type AdmissionInput, admit, runEffects } from './steps/admit.js';
import { alreadyExists, commitCreate, commitUpdate, readLive, refuseRevision } from './steps/commit.js';
import { dropRepeatedOwners, ensureNameMatches, ensureNamespaceMatches } from './steps/match-address.js';
import { normalized } from './steps/normalize.js';
import { detachManagedFields, ownNew, ownUpdated } from './steps/own.js';
import { assignIdentity, prepareForCreate, prepareForUpdate, wipeSystemFields } from './steps/prepare.js';
import { liveIfSame } from './steps/same-as-live.js';
import { seal, sealExceptMetadata } from './steps/seal.js';
import { validateCreate, validateUpdate } from './steps/validate.js';
import { strategyContext } from './strategy-context.js';
import { planConversion } from './versions.js';
import { mayRace, type WriteOperation } from './write-operation.js';

export interface WriteResult {
  readonly object: ApiObject;
  readonly created: boolean;
}

export interface CreatePlan {
  /** The draft says already who manages it. */
  readonly hasManagedFields?: boolean | undefined;
  /** It was asked for by an update or a patch: who may do that may not create yet. */
  readonly fromUpdate?: boolean;
}

/** Creates an object from a decoded body, which it takes over. */
export function createObject(
  draft: DraftObject,
  job: WriteOperation,
  about: CreatePlan = {},
): MaybePromise<WriteResult> {
  const { hasManagedFields: isOwned = false } = about;
  wipeSystemFields(draft.metadata);
  ensureNamespaceMatches(draft.metadata, job);
  dropRepeatedOwners(draft.metadata, 'as sent', job.warnings);
  if (!isOwned) ownNew(draft, job);
  const takeBack = detachManagedFields(draft, job);
  return chain(admit('mutate', { operation: 'CREATE', object: draft }, job), () => {
    const mutated = checkMutated(draft, job);
    takeBack(mutated);
    dropRepeatedOwners(mutated.metadata, 'after admission', job.warnings);
    return chain(storeNew(mutated, job, about), (object) => ({ object, created: true }));
  });
}

const MAX_ATTEMPTS_TO_CREATE = 8;

/** Prepares, validates and stores a new object; with a generated name, until one is free. */
function storeNew(draft: DraftObject, job: WriteOperation, about: CreatePlan, attempt = 1): MaybePromise<ApiObject> {
  const { strategy } = job.served.kind;
  const nameIsGenerated = !draft.metadata.name && Boolean(draft.metadata.generateName);
  // Another attempt begins with what was sent: this one fills the draft in, and freezes parts of it.
  const mayLose = (nameIsGenerated && mayRace(job)) || strategy.write.allocate !== undefined;
  let untouched = mayLose ? copyJson(draft) : undefined;
  strategy.write.authorize?.(copyJson(draft) as unknown as ApiObject, undefined, strategyContext(job, deleteObject));
  const allocation = strategy.write.allocate?.(draft, undefined, strategyContext(job, deleteObject));
  assignIdentity(draft, job);
  // Where nobody comes in between, a name that is free now will be free then.
  if (nameIsGenerated && !mayLose && readLive(job, draft.metadata.name ?? '') !== undefined)
    untouched = nameless(draft);
  prepareForCreate(draft, job);
  job.warnings.push(...(strategy.create.warnings?.(draft as unknown as ApiObject) ?? []));
  validateCreate(draft, job);
  job.warnings.push(...(strategy.write.warnings?.(draft as unknown as ApiObject, undefined, job.context) ?? []));
  strategy.write.canonicalize?.(draft, job.context);
  // From here on nobody can change it, not even who kept the draft.
  const { resourceVersion } = draft.metadata;
  const sealed = sealerOf(job)(job.served.schema, draft, job.dryRun ? undefined : '');
  job.server.known.note(job.served.schema, sealed);
  strategy.write.authorizeValidated?.(sealed, undefined, strategyContext(job, deleteObject));
  if (about.fromUpdate === true) authorizeCreation(job.server, job.request);
  const admitted = chain(admit('validate', { operation: 'CREATE', object: sealed }, job), () =>
    planConversion(job.served, sealed),
  );
  return chain(admitted, () => {
    try {
      if (!job.dryRun) refuseRevision(resourceVersion);
      if (job.effects.length > 0) {
        // What is tried again is done with the last try. A name that the client chose is found taken afterwards.
        const triesAgain = nameIsGenerated || about.fromUpdate === true;
        if (triesAgain && readLive(job, sealed.metadata.name) !== undefined) throw new StorageError('exists');
        runEffects(job);
      }
      if (allocation !== undefined && !job.dryRun) {
        // Nothing may fail after what was set aside is taken.
        if (readLive(job, sealed.metadata.name) !== undefined) throw new StorageError('exists');
        allocation.commit(sealed);
      }
      return commitCreate(sealed, job);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      // `stale`: what was set aside is gone when it was to be taken. A name that the client chose stays taken.
      const lostRace = error.failure === 'stale';
      if (untouched === undefined || !(nameIsGenerated || lostRace)) throw alreadyExists(draft, job);
      if (attempt >= MAX_ATTEMPTS_TO_CREATE) {
        throw lostRace ? errors.serverTimeout(job.served.groupResource, 'create', 2) : alreadyExists(draft, job);
      }
      return storeNew(untouched, job, about, attempt + 1);
    }
  });
}

/** As it was before it was given a name. */
function nameless(draft: DraftObject): DraftObject {
  const copy = copyJson(draft);
  copy.metadata.name = undefined;
  return copy;
}

/** How an update comes by its draft, and what it may do. */
export interface UpdatePlan {
  readonly name: string;
  readonly subresource: SubresourceStrategy | undefined;
  /** PUT to an absent name creates it, where the kind allows. */
  readonly mayCreate: boolean;
  /** The identity the client saw; another one in its place is a conflict. */
  readonly expectedUid?: string;
  /** How often this has been tried, this time included. */
  readonly attempt?: number;
  /** The draft says already who manages its fields. */
  readonly hasManagedFields?: boolean;
  /** Makes a fresh draft from the live object; called again after a lost race. */
  readonly draft: (live: ApiObject | undefined) => DraftObject;
  /** Present when plugins see something else than the object: then `draft` makes that. */
  readonly view?: ViewUpdate;
}

/** An update that is under way. */
interface Update {
  readonly update: UpdatePlan;
  readonly job: WriteOperation;
}

/** An update by way of another object that stands for a part of this one. */
export interface ViewUpdate {
  readonly kind: ServedKind;
  /** What stands for an object. */
  toView(object: ApiObject): ApiObject;
  /** What the object becomes by what was made of that. */
  fromView(shown: DraftObject, live: ApiObject): DraftObject;
}

/** Updates, patches or (PUT) creates an object. */
export function updateObject(update: UpdatePlan, job: WriteOperation): MaybePromise<WriteResult> {
  const live = readLive(job, update.name);
  checkIdentity(update, live, job);
  if (live === undefined && !update.mayCreate) throw errors.notFound(job.served.groupResource, update.name);
  if (update.view !== undefined && live !== undefined) return updateThrough(update.view, live, { update, job });
  const draft = update.draft(live);
  ensureNamespaceMatches(draft.metadata, job);
  ensureNameMatches(draft.metadata, update.name);
  if (live === undefined) {
    // A version in the body means nothing where there is none to compare with, but it must be one.
    checkRevisionSyntax(draft);
    draft.metadata.resourceVersion = undefined;
    return retryLostRace(
      () => orLostRace(() => createObject(draft, job, { hasManagedFields: update.hasManagedFields, fromUpdate: true })),
      { update, job },
    );
  }
  if (update.hasManagedFields !== true) ownUpdated(draft, live, job);
  const takeBack = detachManagedFields(draft, job);
  const oldObject = live;
  const about = { update, job };
  return retryLostRace(() => {
    const mutated = admit('mutate', { operation: 'UPDATE', object: draft, oldObject }, job);
    return chain(mutated, () => {
      const checked = checkMutated(draft, job);
      takeBack(checked);
      return replace(checked, oldObject, about);
    });
  }, about);
}

/** Plugins see, and may change, what stands for the object. */
function updateThrough(through: ViewUpdate, live: ApiObject, about: Update): MaybePromise<WriteResult> {
  const { update, job } = about;
  const shown = update.draft(live);
  ensureNamespaceMatches(shown.metadata, job);
  ensureNameMatches(shown.metadata, update.name);
  const admitted: AdmissionInput = {
    operation: 'UPDATE',
    object: shown,
    oldObject: through.toView(live),
    as: through.kind,
  };
  return retryLostRace(
    () =>
      chain(admit('mutate', admitted, job), () => {
        const draft = through.fromView(checkMutated(shown, { ...job, served: through.kind }), live);
        ensureNamespaceMatches(draft.metadata, job);
        ensureNameMatches(draft.metadata, update.name);
        return replace(draft, live, about);
      }),
    about,
  );
}

function replace(draft: DraftObject, live: ApiObject, about: Update): MaybePromise<WriteResult> {
  const { job } = about;
  const { subresource } = about.update;
  const { strategy } = job.served.kind;
  dropRepeatedOwners(draft.metadata, 'after admission', job.warnings);
  strategy.write.authorize?.(copyJson(draft) as unknown as ApiObject, live, strategyContext(job, deleteObject));
  checkRevision(draft, live, about);
  const allocation =
    subresource === undefined ? strategy.write.allocate?.(draft, live, strategyContext(job, deleteObject)) : undefined;
  prepareForUpdate(draft, live, { job, subresource });
  validateUpdate(draft, live, { job, subresource });
  const { warnings } = subresource ?? strategy.write;
  job.warnings.push(...(warnings?.(draft as unknown as ApiObject, live, job.context) ?? []));
  strategy.write.canonicalize?.(draft, job.context);
  // From here on nobody can change it, not even who kept the draft.
  const sealed = liveIfSame(live, sealerOf(job)(job.served.schema, draft, live.metadata.resourceVersion));
  job.server.known.note(job.served.schema, sealed, live);
  strategy.write.authorizeValidated?.(sealed, live, strategyContext(job, deleteObject));
  const admitted = chain(admit('validate', judged(sealed, live, about.update), job), () =>
    planConversion(job.served, sealed),
  );
  return chain(admitted, () => {
    if (job.effects.length > 0) {
      // What is tried again is done with the last try.
      if (readLive(job, live.metadata.name) !== live) throw new StorageError('stale');
      runEffects(job);
    }
    if (isReadyForRemoval(sealed, live, job)) return { object: finalize(asSealed(sealed), live, job), created: false };
    if (allocation !== undefined && !job.dryRun) {
      // Nothing may fail after what was set aside is taken, least of all because somebody else was faster.
      if (readLive(job, live.metadata.name) !== live) throw new StorageError('stale');
      allocation.commit(sealed);
    }
    return { object: commitUpdate(sealed, live, job), created: false };
  });
}

/** Where nobody but ourselves gets to see an object before it is stored, it is frozen when it has its version. */
function sealerOf(job: WriteOperation): typeof seal {
  const { served, dryRun, server: context } = job;
  const isStoredAsIs = served.storageKind === undefined && served.kind.custom === undefined;
  return isStoredAsIs && !dryRun && !context.pluginsMayWait(served) ? sealExceptMetadata : seal;
}

function asSealed(object: ApiObject): ApiObject {
  Object.freeze(object.metadata);
  return Object.freeze(object);
}

/** What plugins judge of an update. */
function judged(object: ApiObject, oldObject: ApiObject, { view: through }: UpdatePlan): AdmissionInput {
  if (through === undefined) return { operation: 'UPDATE', object, oldObject };
  return {
    operation: 'UPDATE',
    object: through.toView(object),
    oldObject: through.toView(oldObject),
    as: through.kind,
  };
}

/** The last finalizer of a terminating object is gone: nothing keeps it any more. */
function isReadyForRemoval(next: ApiObject, live: ApiObject, job: WriteOperation): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = live.metadata;
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) > 0) return false;
  if ((next.metadata.finalizers?.length ?? 0) > 0) return false;
  return job.served.kind.strategy.delete.canBeRemoved?.(next) ?? true;
}

/** Removes the object, and answers with what the client had asked to store. */
function finalize(next: ApiObject, live: ApiObject, job: WriteOperation): ApiObject {
  try {
    removeObject(live, job);
  } catch (error) {
    // Somebody else took the last finalizer away while a plugin was waited for: it is gone, as was wished.
    if (!(error instanceof StorageError && error.failure === 'missing')) throw error;
  }
  return next;
}

/** A PUT that finds its name taken after all was an update from the beginning. */
function orLostRace(create: () => MaybePromise<WriteResult>): MaybePromise<WriteResult> {
  const lost = (error: unknown): never => {
    throw StatusError.is(error, 'AlreadyExists') ? new StorageError('exists') : error;
  };
  return rescue(create, lost);
}

/** More lost races than any honest contention brings; a plugin that writes the same object would never end. */
const MAX_ATTEMPTS = 100;

/**
 * Another write came first, while a plugin was waited for or by its hand: start over with what is there now. A client
 * that pinned a version gets its conflict from that second look.
 */
function retryLostRace(write: () => MaybePromise<WriteResult>, about: Update): MaybePromise<WriteResult> {
  const { update, job } = about;
  const attempt = update.attempt ?? 1;
  const again = (error: unknown): MaybePromise<WriteResult> => {
    if (!(error instanceof StorageError)) throw error;
    if (attempt < MAX_ATTEMPTS) return updateObject({ ...update, attempt: attempt + 1 }, job);
    throw errors.conflict(job.served.groupResource, update.name, MODIFIED);
  };
  return rescue(write, again);
}

const MODIFIED = 'the object has been modified; please apply your changes to the latest version and try again';

/** What plugins made of a draft, well formed again. A cluster whose plugins change nothing skips the look. */
export function checkMutated(draft: DraftObject, job: WriteOperation): DraftObject {
  return needsRedecoding(job.server) ? normalized(draft, job.served, job) : draft;
}

function checkIdentity({ expectedUid, name }: UpdatePlan, live: ApiObject | undefined, job: WriteOperation): void {
  const why = failedPrecondition({ uid: expectedUid || undefined }, live?.metadata);
  if (why !== undefined) throw preconditionFailed(job, name, why);
}

function checkRevisionSyntax(draft: DraftObject): number {
  try {
    return parseRevision(draft.metadata.resourceVersion);
  } catch (error) {
    throw errors.plain(messageOf(error));
  }
}

/** Optimistic locking: the version the client read must still be the live one. */
function checkRevision(draft: DraftObject, live: ApiObject, about: Update): void {
  const { served } = about.job;
  // Nearly always; the live one is well formed.
  if (draft.metadata.resourceVersion === live.metadata.resourceVersion) return;
  const wanted = checkRevisionSyntax(draft);
  if (wanted === 0) {
    if (served.kind.strategy.update.unconditional) return;
    throw errors.invalid({ group: served.gvr.group, kind: served.gvr.resource }, about.update.name, [
      {
        type: 'invalid',
        field: 'metadata.resourceVersion',
        message: 'Invalid value: 0x0: must be specified for an update',
      },
    ]);
  }
  if (wanted === Number(live.metadata.resourceVersion)) return;
  throw errors.conflict(served.groupResource, about.update.name, MODIFIED);
}
