/**
 * Deletion of a CustomResourceDefinition: the first delete only marks it, and its objects are deleted before it.
 */

import type { DeletionDecision, DeletionRequest } from '../../kinds/deletion.js';
import type { HookContext } from '../../kinds/kind.js';
import { failedDeletePrecondition } from '../../kinds/shared/finalizers.js';
import type { Dialect } from '../../meta/dialect.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { copyJson } from '../../util/json.js';
import { withCondition, withReadableStatus } from './conditions.js';

/** The finalizer that keeps a CRD until its objects are deleted. */
export function cleanupFinalizer(dialect: Dialect): string {
  return `customresourcecleanup.${dialect.group(serviceGroup('apiextensions'))}`;
}

/** Marks a CRD as terminating on its first delete. */
export function markTerminating(
  live: ApiObject,
  request: DeletionRequest,
  { now, dialect }: HookContext,
): DeletionDecision {
  const why = failedDeletePrecondition(live, request);
  if (why !== undefined) return { type: 'conflict', why };
  if (live.metadata.deletionTimestamp !== undefined) return { type: 'proceed' };
  const draft = copyJson(live) as DraftObject;
  draft.metadata.deletionTimestamp = now;
  const finalizers = draft.metadata.finalizers ?? [];
  const finalizer = cleanupFinalizer(dialect);
  draft.metadata.finalizers = finalizers.includes(finalizer) ? finalizers : [...finalizers, finalizer];
  const { status } = withReadableStatus(live);
  const conditions = withCondition(
    status.conditions,
    {
      type: 'Terminating',
      status: 'True',
      reason: 'InstanceDeletionPending',
      message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
    },
    now,
  );
  draft['status'] = { ...status, conditions };
  return { type: 'update', object: draft };
}
