/**
 * How an object goes: at once, after its grace period, or when its finalizers let it. spec: delete
 */
import type { DeletionRequest, Strategy } from '../kinds/kind.js';
import { finalizersAfterDelete } from '../kinds/shared/finalizers.js';
import { failedPrecondition } from '../kinds/shared/storage-conflict.js';
import { errors } from '../meta/errors.js';
import type { ApiObject, DraftMeta } from '../meta/object.js';
import { zeroFields } from '../schema/decode.js';
import { StorageError } from '../storage/types.js';
import { formatTime, timeToMs } from '../text/time/time.js';
import { chain, type MaybePromise, rescue } from '../util/maybe-promise.js';
import { preconditionFailed } from './precondition.js';
import { admit, runEffects } from './steps/admit.js';
import { commitDelete, commitDraft, commitMetadata, readLive, storageFailure } from './steps/commit.js';
import { seal } from './steps/seal.js';
import { strategyContext } from './strategy-context.js';
import type { WriteOperation } from './write-operation.js';

export interface Deleted {
  /** The object as it is now, or as it was last. */
  readonly object: ApiObject;
  /** False when it waits for its finalizers. */
  readonly removed: boolean;
  /** The object is the answer, although it is gone. */
  readonly isShown?: boolean;
}

/** More lost races than any honest contention brings. */
const MAX_ATTEMPTS = 100;

/** Whoever deletes is told of what that does not do, whether it comes to it or not. */
export function warnOfDeletion(deletion: DeletionRequest, { served, warnings }: WriteOperation): void {
  warnings.push(...(served.kind.strategy.delete.warnings?.(deletion) ?? []));
}

/** Deletes one object by name. A write that came in between, by whatever hand, makes it look again. */
export function deleteObject(
  name: string,
  deletion: DeletionRequest,
  write: WriteOperation,
  attempt = 1,
): MaybePromise<Deleted> {
  const again = (error: unknown): MaybePromise<Deleted> => {
    if (!(error instanceof StorageError)) throw error;
    if (attempt < MAX_ATTEMPTS) return deleteObject(name, deletion, write, attempt + 1);
    throw storageFailure(error, { verb: 'delete', draft: { metadata: { name } } }, write);
  };
  return rescue(() => deleteLive(name, deletion, write), again);
}

function deleteLive(name: string, deletion: DeletionRequest, write: WriteOperation): MaybePromise<Deleted> {
  // 1. What is there, and is it what the client meant?
  const live = readLive(write, name);
  if (live === undefined) throw errors.notFound(write.served.groupResource, name);
  const verdict = write.served.kind.strategy.delete.intercept?.(live, deletion, write.context) ?? { type: 'proceed' };
  if (verdict.type === 'conflict') throw errors.conflict(write.served.groupResource, name, verdict.why);
  if (verdict.type === 'unchanged') return { object: live, removed: false };
  if (verdict.type === 'proceed') checkPreconditions(live, deletion, write);
  // 2. May it go?
  const admitted = { operation: 'DELETE', oldObject: live } as const;
  // A collection was asked about as a whole.
  const mutated = write.isCollectionDelete === true ? undefined : admit('mutate', admitted, write);
  const allowed = chain(mutated, () => admit('validate', admitted, write));
  // 3. Then it goes, or begins to.
  return chain(allowed, (): Deleted => {
    runEffects(write);
    if (verdict.type === 'update') return { object: commitDraft(verdict.object, live, write), removed: false };
    return remove(live, deletion, write);
  });
}

/** Takes the object away, or marks it when something still holds it. */
function remove(live: ApiObject, deletion: DeletionRequest, write: WriteOperation): Deleted {
  const { gracePeriod, defaultPropagation } = write.served.kind.strategy.delete;
  const grace = gracePeriod === undefined ? NO_GRACE : graceFor(live, gracePeriod, { deletion, write });
  if (grace.type === 'pending') return { object: live, removed: false };
  const before = live.metadata.finalizers ?? [];
  const finalizers = finalizersAfterDelete(before, deletion, defaultPropagation);
  if (grace.type === 'none' && finalizers.length === 0) {
    const stripped = before.length === 0 ? undefined : whenStripped(live, deletion, write);
    return stripped ?? { object: removeObject(live, write), removed: true };
  }
  const draft = { ...live.metadata, finalizers: [...finalizers] } as DraftMeta;
  if (grace.type === 'until') startGrace(draft, live, grace);
  else markDeleting(draft, live, write);
  const marked = commitMetadata(draft, live, write);
  const stays = grace.type !== 'until' || grace.seconds > 0 || finalizers.length > 0;
  // A dry run has marked nothing that could be taken away.
  if (stays || write.dryRun) return { object: marked, removed: !stays };
  // Without any grace it is marked and taken away in one go; both are told to watchers.
  return { object: removeObject(marked, write), removed: true };
}

/**
 * Two slips of the reference server where a delete takes away the finalizers that held the object: what it then has in
 * its hands is an empty object, which a rehearsal shows, and whose version is compared with the one that was asked for.
 */
function whenStripped(live: ApiObject, { preconditions }: DeletionRequest, write: WriteOperation): Deleted | undefined {
  const { served, dryRun } = write;
  if (dryRun) {
    const empty = {
      ...zeroFields(served.schema),
      kind: served.gvk.kind,
      apiVersion: served.apiVersion,
      metadata: {},
    };
    return { object: seal(served.schema, empty, undefined), removed: true, isShown: true };
  }
  if (preconditions.resourceVersion === undefined) return undefined;
  const { name, resourceVersion } = live.metadata;
  const why = failedPrecondition({ resourceVersion: '' }, { resourceVersion }) ?? '';
  throw preconditionFailed(write, name, why);
}

/** Removes an object that nothing holds any more, and gives back what was set aside for it. */
export function removeObject(live: ApiObject, write: WriteOperation): ApiObject {
  const gone = commitDelete(live, write);
  if (!write.dryRun) write.served.kind.strategy.write.release?.(live, strategyContext(write, deleteObject));
  return gone;
}

/** `pending`: an earlier delete runs its course; `none`: the object has no say in when it goes. */
type Grace =
  | { readonly type: 'none' }
  | { readonly type: 'pending' }
  | { readonly type: 'until'; readonly seconds: number; readonly at: string };

const NO_GRACE: Grace = { type: 'none' };

function graceFor(
  live: ApiObject,
  gracePeriod: NonNullable<Strategy['delete']['gracePeriod']>,
  about: { readonly deletion: DeletionRequest; readonly write: WriteOperation },
): Grace {
  const { deletionTimestamp, deletionGracePeriodSeconds } = live.metadata;
  const now = timeToMs(about.write.context.now);
  // A period beyond what a number holds exactly arrives as a bigint.
  const wish: unknown = about.deletion.gracePeriodSeconds;
  const asked = wish === undefined ? undefined : withinTime(Number(wish), now);
  if (deletionTimestamp === undefined) {
    const seconds = withinTime(Number(gracePeriod(live, asked)), now);
    return { type: 'until', seconds, at: formatTime(now + seconds * 1000) };
  }
  // The end has come already, and only the removal is missing.
  if (!deletionGracePeriodSeconds) return NO_GRACE;
  // The end may only come nearer.
  if (asked === undefined || asked >= deletionGracePeriodSeconds) return { type: 'pending' };
  const end = timeToMs(deletionTimestamp) - deletionGracePeriodSeconds * 1000 + asked * 1000;
  if (end >= now) return { type: 'until', seconds: asked, at: formatTime(end) };
  // What is over cannot end in the past; who lets it end is given the shortest period there is.
  return { type: 'until', seconds: Math.min(asked, 1), at: formatTime(now) };
}

/** The last second that can be written down. */
const END_OF_TIME_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

function withinTime(seconds: number, nowMs: number): number {
  return Math.min(seconds, Math.floor((END_OF_TIME_MS - nowMs) / 1000));
}

function startGrace(draft: DraftMeta, live: ApiObject, grace: { readonly seconds: number; readonly at: string }): void {
  const { deletionTimestamp, generation } = live.metadata;
  draft.deletionTimestamp = grace.at;
  draft.deletionGracePeriodSeconds = grace.seconds;
  if (deletionTimestamp === undefined && generation !== undefined && generation > 0) {
    draft.generation = increment(generation);
  }
}

/** A generation beyond what a number holds exactly arrives as a bigint; kinds that have none keep what was sent. */
function increment(generation: number): number {
  const exact: unknown = generation;
  return typeof exact === 'bigint' ? ((exact + 1n) as unknown as number) : generation + 1;
}

function markDeleting(draft: DraftMeta, live: ApiObject, write: WriteOperation): void {
  const { deletionTimestamp, generation } = live.metadata;
  const { now } = write.context;
  if (deletionTimestamp === undefined) {
    if (generation !== undefined && generation > 0) draft.generation = increment(generation);
    draft.deletionTimestamp = now;
  } else if (timeToMs(deletionTimestamp) > timeToMs(now)) {
    // A grace period that is no longer waited for.
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
