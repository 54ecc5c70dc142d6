/**
 * A definition goes after the objects it defines: deleting it only begins that.
 */

import type { DeletionRequest, DeletionVerdict, WriteContext } from '../../kinds/kind.js';
import { conflictingPrecondition } from '../../kinds/shared/propagation.js';
import type { Dialect } from '../../meta/dialect.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import { copyJson } from '../../util/json.js';
import { type Definition, withCondition } from './conditions.js';

/** Keeps a definition until its objects are gone. */
export function cleanupFinalizer(dialect: Dialect): string {
  return `customresourcecleanup.${dialect.group(serviceGroup('apiextensions'))}`;
}

export function beforeDelete(
  live: ApiObject,
  request: DeletionRequest,
  { now, dialect }: WriteContext,
): DeletionVerdict {
  const why = conflictingPrecondition(live, request);
  if (why !== undefined) return { type: 'conflict', why };
  if (live.metadata.deletionTimestamp !== undefined) return { type: 'proceed' };
  const draft = copyJson(live) as unknown as DraftObject;
  draft.metadata.deletionTimestamp = now;
  const finalizers = draft.metadata.finalizers ?? [];
  const own = cleanupFinalizer(dialect);
  draft.metadata.finalizers = finalizers.includes(own) ? finalizers : [...finalizers, own];
  const { status } = live as unknown as Definition;
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
