/**
 * delete: one object, now or when its finalizers let it go. spec: delete
 */
import type { DeletionRequest } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { finalizersAfterDelete } from '../../kinds/shared/propagation.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { successStatus } from '../../meta/status.js';
import { timeToMs } from '../../meta/time.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ObjectResponse } from '../../protocol/response.js';
import { StorageError } from '../../storage/types.js';
import { copyJson } from '../../util/json.js';
import { chain, type MaybePromise, rescue } from '../../util/maybe-promise.js';
import { answer } from '../answer.js';
import type { ServerContext } from '../context.js';
import { deleteOptionsOf } from '../delete-options.js';
import { startJob, type WriteJob } from '../job.js';
import { checkDeleteOptions } from '../options.js';
import { admit } from '../steps/admit.js';
import { commitDelete, commitDraft, keyFor } from '../steps/commit.js';

/** `delete` is a word of the language. */
export function deleteOne(
  context: ServerContext,
  request: ApiRequest,
  served: ServedKind,
): MaybePromise<ObjectResponse> {
  const options = deleteOptionsOf(request);
  const { dryRun, ...deletion } = checkDeleteOptions(options, context.dialect);
  const job: WriteJob = startJob(context, request, { served, dryRun });
  return chain(deleteObject(request.name ?? '', deletion, job), ({ object, removed }) => {
    const code = !removed && deletion.orphanDependents === false ? 202 : 200;
    if (!removed || served.kind.strategy.deleteReturnsObject) return answer(code, object, job.warnings);
    const { groupResource } = served;
    const status = successStatus({
      name: object.metadata.name,
      ...(groupResource.group === '' ? {} : { group: groupResource.group }),
      kind: groupResource.resource,
      uid: object.metadata.uid,
    });
    return answer(code, status, job.warnings);
  });
}

export interface Deleted {
  /** The object as it is now, or as it was last. */
  readonly object: ApiObject;
  /** False when it waits for its finalizers. */
  readonly removed: boolean;
}

/** More lost races than any honest contention brings. */
const MAX_ATTEMPTS = 100;

/** Deletes one object by name. A write that came in between, by whatever hand, makes it look again. */
export function deleteObject(
  name: string,
  deletion: DeletionRequest,
  job: WriteJob,
  attempt = 1,
): MaybePromise<Deleted> {
  const again = (error: unknown): MaybePromise<Deleted> => {
    if (!(error instanceof StorageError)) throw error;
    if (attempt < MAX_ATTEMPTS) return deleteObject(name, deletion, job, attempt + 1);
    throw errors.serverTimeout(job.served.groupResource, 'delete', 2);
  };
  return rescue(() => deleteLive(name, deletion, job), again);
}

function deleteLive(name: string, deletion: DeletionRequest, job: WriteJob): MaybePromise<Deleted> {
  // 1. What is there, and is it what the client meant?
  const live = job.context.store.get(keyFor(job, name));
  if (live === undefined) throw errors.notFound(job.served.groupResource, name);
  const verdict = job.served.kind.strategy.beforeDelete?.(live, deletion, job.moment) ?? { type: 'proceed' };
  if (verdict.type === 'conflict') throw errors.conflict(job.served.groupResource, name, verdict.why);
  if (verdict.type === 'unchanged') return { object: live, removed: false };
  if (verdict.type === 'proceed') checkPreconditions(live, deletion, job);
  // 2. May it go?
  const admitted = { operation: 'DELETE', oldObject: live } as const;
  const mutated = admit('mutate', admitted, job);
  const allowed = chain(mutated, () => admit('validate', admitted, job));
  // 3. Then it goes, or begins to.
  return chain(allowed, (): Deleted => {
    if (verdict.type === 'update') return { object: commitDraft(verdict.object, live, job), removed: false };
    return remove(live, deletion, job);
  });
}

/** Takes the object away, or marks it when something still holds it. */
function remove(live: ApiObject, deletion: DeletionRequest, job: WriteJob): Deleted {
  const before = live.metadata.finalizers ?? [];
  const finalizers = finalizersAfterDelete(before, deletion);
  if (finalizers.length === 0) return { object: commitDelete(live, job), removed: true };
  const draft = copyJson(live) as unknown as DraftObject;
  draft.metadata.finalizers = [...finalizers];
  markDeleting(draft, live, job);
  return { object: commitDraft(draft, live, job), removed: false };
}

/** A generation beyond what a number holds exactly arrives as a bigint; kinds that have none keep what was sent. */
function increment(generation: number): number {
  const exact: unknown = generation;
  return typeof exact === 'bigint' ? ((exact + 1n) as unknown as number) : generation + 1;
}

function markDeleting(draft: DraftObject, live: ApiObject, job: WriteJob): void {
  const { deletionTimestamp, generation } = live.metadata;
  const { now } = job.moment;
  if (deletionTimestamp === undefined) {
    if (generation !== undefined && generation > 0) draft.metadata.generation = increment(generation);
    draft.metadata.deletionTimestamp = now;
  } else if (timeToMs(deletionTimestamp) > timeToMs(now)) {
    // A grace period that is no longer waited for.
    draft.metadata.deletionTimestamp = now;
  }
  draft.metadata.deletionGracePeriodSeconds = 0;
}

function checkPreconditions(live: ApiObject, deletion: DeletionRequest, job: WriteJob): void {
  const { uid, resourceVersion } = deletion.preconditions;
  const { gvk } = job.served;
  const { metadata } = live;
  if (uid !== undefined && uid !== metadata.uid) {
    const why = `the UID in the precondition (${uid}) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`;
    throw errors.deleteConflict(gvk, metadata.name, why);
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata.resourceVersion) {
    const why = `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metadata.resourceVersion}). The object might have been modified`;
    throw errors.deleteConflict(gvk, metadata.name, why);
  }
}
