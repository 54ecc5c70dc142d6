/**
 * Deletion of one object: at once, after its grace period, or when its finalizers are removed. spec: Operations
 * upstream: apiserver/pkg/registry/generic/registry/store.go Store.Delete, apiserver/pkg/registry/rest/delete.go BeforeDelete
 */

import type { DeletionRequest } from '../kinds/deletion.js';
import type { Strategy } from '../kinds/kind.js';
import { finalizersAfterDelete } from '../kinds/shared/finalizers.js';
import { failedPrecondition } from '../kinds/shared/storage-conflict.js';
import { errors } from '../meta/errors.js';
import type { ApiObject, DraftMeta } from '../meta/object.js';
import { StorageError } from '../storage/types.js';
import { formatTime, timeToMs } from '../text/time/time.js';
import { append } from '../util/arrays.js';
import { systemClock } from '../util/clock.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { runAdmissionPhase, runCommitEffects } from './steps/admit.js';
import {
  commitDelete,
  commitDraft,
  commitMetadata,
  inTransaction,
  preconditionFailed,
  readLive,
  storageErrorToStatus,
} from './steps/commit.js';
import { zeroFields } from './steps/prepare.js';
import { seal } from './steps/seal.js';
import { strategyContext } from './strategy-context.js';
import type { WriteOperation } from './write-operation.js';

export interface Deleted {
  /** The current object, or its last state. */
  readonly object: ApiObject;
  /** False when the object remains until its finalizers are removed or its grace period ends. */
  readonly removed: boolean;
  /** The response is the object even though it was removed. */
  readonly returnsObject?: boolean;
}

/** More lost races than real contention causes. */
const MAX_ATTEMPTS = 100;

/** Adds the kind's warnings about the deletion, whether or not it succeeds. */
export function warnOfDeletion(deletion: DeletionRequest, { served, warnings }: WriteOperation): void {
  append(warnings, served.kind.strategy.delete.warnings?.(deletion) ?? []);
}

/** Deletes one object by name; starts again when another write came first. */
export function deleteObject(
  name: string,
  deletion: DeletionRequest,
  write: WriteOperation,
  attempt = 1,
): MaybePromise<Deleted> {
  const again = (error: unknown): MaybePromise<Deleted> => {
    if (!(error instanceof StorageError)) throw error;
    if (attempt < MAX_ATTEMPTS) return deleteObject(name, deletion, write, attempt + 1);
    throw storageErrorToStatus(error, { verb: 'delete', draft: { metadata: { name } } }, write);
  };
  return rescue(() => deleteLive(name, deletion, write), again);
}

function deleteLive(name: string, deletion: DeletionRequest, write: WriteOperation): MaybePromise<Deleted> {
  // 1. Read the live object and check the preconditions.
  const live = readLive(write, name);
  if (live === undefined) throw errors.notFound(write.served.groupResource, name);
  // As in the reference server, a kind decides about deletions by name only.
  const intercept = write.isCollectionDelete ? undefined : write.served.kind.strategy.delete.intercept;
  const verdict = intercept?.(live, deletion, write.hookContext) ?? { type: 'proceed' };
  if (verdict.type === 'conflict') throw errors.conflict(write.served.groupResource, name, verdict.why);
  if (verdict.type === 'unchanged') return { object: live, removed: false };
  if (verdict.type === 'proceed') checkPreconditions(live, deletion, write);
  // 2. Admission.
  const admitted = { operation: 'DELETE', oldObject: live } as const;
  const allowed = chain(runAdmissionPhase('mutate', admitted, write), () =>
    runAdmissionPhase('validate', admitted, write),
  );
  // 3. Remove the object, or mark it as terminating.
  return chain(allowed, (): MaybePromise<Deleted> => {
    if (verdict.type !== 'update') return removeOrMarkDeleting(live, deletion, write);
    const updated = inTransaction(write, () => {
      runCommitEffects(write);
      return commitDraft(verdict.object, live, write);
    });
    return chain(updated, (object) => ({ object, removed: false }));
  });
}

/** Removes the object, or sets its deletionTimestamp when a grace period or finalizers keep it. */
function removeOrMarkDeleting(
  live: ApiObject,
  deletion: DeletionRequest,
  write: WriteOperation,
): MaybePromise<Deleted> {
  const { gracePeriod, defaultPropagation } = write.served.kind.strategy.delete;
  const grace = gracePeriod === undefined ? NO_GRACE_PERIOD : gracePeriodFor(live, gracePeriod, { deletion, write });
  if (grace.type === 'pending') return { object: live, removed: false };
  const before = live.metadata.finalizers ?? [];
  const finalizers = finalizersAfterDelete(before, deletion, defaultPropagation);
  if (grace.type === 'none' && finalizers.length === 0) {
    const stripped = before.length === 0 ? undefined : emptyObjectQuirk(live, deletion, write);
    return (
      stripped ??
      chain(
        inTransaction(write, () => removeObject(live, write)),
        isRemoved,
      )
    );
  }
  const draft = { ...live.metadata, finalizers: [...finalizers] } as DraftMeta;
  if (grace.type === 'until') startGracePeriod(draft, live, grace);
  else markDeleting(draft, live, write);
  const stored = inTransaction(write, () => {
    runCommitEffects(write);
    return commitMetadata(draft, live, write);
  });
  const stays = grace.type !== 'until' || grace.seconds > 0 || finalizers.length > 0;
  return chain(stored, (marked) => {
    // A dry run has stored nothing that could be removed.
    if (stays || write.dryRun) return { object: marked, removed: !stays };
    // Without a grace period the object is marked and removed at once; watchers see both events.
    return chain(write.request.isPaced === true ? pauseBeforeRemoval() : undefined, () => {
      const current = readLive(write, marked.metadata.name);
      // During a pause, another client may have removed or changed it.
      if (current?.metadata.uid !== marked.metadata.uid) return isRemoved(marked);
      if (current.metadata.resourceVersion !== marked.metadata.resourceVersion) throw new StorageError('stale');
      return chain(
        inTransaction(write, () => removeObject(current, write)),
        isRemoved,
      );
    });
  });
}

function isRemoved(object: ApiObject): Deleted {
  return { object, removed: true };
}

/** The time between both events in the reference server is 1 to 3 ms. Controllers read their caches in between. */
const REMOVAL_PAUSE_MS = 2;

/** In real time: a client over a network waits for it. */
function pauseBeforeRemoval(): Promise<void> {
  return new Promise((resolve) => systemClock.after(REMOVAL_PAUSE_MS, resolve));
}

/**
 * Two bugs of the reference server when a delete removes the last finalizers: it continues with an empty object, which a
 * dry run returns, and whose resourceVersion is compared with the precondition.
 * upstream: apiserver/pkg/registry/generic/registry/store.go Store.updateForGracefulDeletionAndFinalizers
 */
function emptyObjectQuirk(
  live: ApiObject,
  { preconditions }: DeletionRequest,
  write: WriteOperation,
): Deleted | undefined {
  const { served, dryRun } = write;
  if (dryRun) {
    const empty = {
      ...zeroFields(served.schema),
      kind: served.gvk.kind,
      apiVersion: served.apiVersion,
      metadata: {},
    };
    return { object: seal(served.schema, empty, undefined), removed: true, returnsObject: true };
  }
  if (preconditions.resourceVersion === undefined) return undefined;
  const { name, resourceVersion } = live.metadata;
  const why = failedPrecondition({ resourceVersion: '' }, { resourceVersion }) ?? '';
  throw preconditionFailed(write, name, why);
}

/** Removes an object from storage and releases its allocations. */
export function removeObject(live: ApiObject, write: WriteOperation): ApiObject {
  runCommitEffects(write);
  const gone = commitDelete(live, write);
  if (!write.dryRun) write.served.kind.strategy.write.release?.(live, strategyContext(write, deleteObject));
  return gone;
}

/** `pending`: the grace period of an earlier delete has not ended; `none`: no grace period applies. */
type GracePeriodState =
  | { readonly type: 'none' }
  | { readonly type: 'pending' }
  | { readonly type: 'until'; readonly seconds: number; readonly at: string };

const NO_GRACE_PERIOD: GracePeriodState = { type: 'none' };

function gracePeriodFor(
  live: ApiObject,
  gracePeriod: NonNullable<Strategy['delete']['gracePeriod']>,
  request: { readonly deletion: DeletionRequest; readonly write: WriteOperation },
): GracePeriodState {
  const { deletionTimestamp, deletionGracePeriodSeconds } = live.metadata;
  const now = timeToMs(request.write.hookContext.now);
  // A period beyond what a number holds exactly arrives as a bigint.
  const sent: unknown = request.deletion.gracePeriodSeconds;
  const requested = sent === undefined ? undefined : clampToEndOfTime(Number(sent), now);
  if (deletionTimestamp === undefined) {
    const seconds = clampToEndOfTime(Number(gracePeriod(live, requested)), now);
    return { type: 'until', seconds, at: formatTime(now + seconds * 1000) };
  }
  // The grace period is over.
  if (!deletionGracePeriodSeconds) return NO_GRACE_PERIOD;
  // A later delete can only shorten the grace period.
  if (requested === undefined || requested >= deletionGracePeriodSeconds) return { type: 'pending' };
  const end = timeToMs(deletionTimestamp) - deletionGracePeriodSeconds * 1000 + requested * 1000;
  if (end >= now) return { type: 'until', seconds: requested, at: formatTime(end) };
  // An end in the past becomes now, with the shortest grace period.
  return { type: 'until', seconds: Math.min(requested, 1), at: formatTime(now) };
}

/** The last second that an RFC 3339 time can express. */
const END_OF_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

function clampToEndOfTime(seconds: number, nowMs: number): number {
  return Math.min(seconds, Math.floor((END_OF_TIME_MS - nowMs) / 1000));
}

function startGracePeriod(
  draft: DraftMeta,
  live: ApiObject,
  grace: { readonly seconds: number; readonly at: string },
): void {
  const { deletionTimestamp, generation } = live.metadata;
  draft.deletionTimestamp = grace.at;
  draft.deletionGracePeriodSeconds = grace.seconds;
  if (deletionTimestamp === undefined && generation !== undefined && generation > 0) {
    draft.generation = increment(generation);
  }
}

/** A generation above 2^53 is a bigint. Kinds without generations keep the client's value. */
function increment(generation: number): number {
  const exact: unknown = generation;
  return typeof exact === 'bigint' ? ((exact + 1n) as unknown as number) : generation + 1;
}

function markDeleting(draft: DraftMeta, live: ApiObject, write: WriteOperation): void {
  const { deletionTimestamp, generation } = live.metadata;
  const { now } = write.hookContext;
  if (deletionTimestamp === undefined) {
    if (generation !== undefined && generation > 0) draft.generation = increment(generation);
    draft.deletionTimestamp = now;
  } else if (timeToMs(deletionTimestamp) > timeToMs(now)) {
    // The remaining grace period is dropped.
    draft.deletionTimestamp = now;
  }
  draft.deletionGracePeriodSeconds = 0;
}

function checkPreconditions(live: ApiObject, deletion: DeletionRequest, write: WriteOperation): void {
  const { uid, resourceVersion } = deletion.preconditions;
  const { groupKind } = write.served;
  const { metadata } = live;
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw errors.deleteConflict(groupKind, metadata.name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw errors.deleteConflict(groupKind, metadata.name, why);
  }
}
