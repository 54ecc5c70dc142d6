/**
 * What a delete does to dependents is said with two finalizers on the object itself. spec: propagationPolicy
 */
import type { ApiObject } from '../../meta/object.js';
import type { DeletionRequest, PropagationPolicy } from '../kind.js';
import { FOREGROUND, ORPHAN } from './finalizers.js';
import { failedPrecondition } from './storage-conflict.js';

/**
 * The finalizers after a delete: others first, then the garbage collector's. Returns the same array when nothing
 * changes.
 */
export function finalizersAfterDelete(
  finalizers: readonly string[],
  request: DeletionRequest,
  otherwise: PropagationPolicy = 'Background',
): readonly string[] {
  const policy = policyOf(finalizers, request) ?? otherwise;
  const others = finalizers.filter((name) => name !== ORPHAN && name !== FOREGROUND);
  const wanted = [...others];
  if (policy === 'Orphan') wanted.push(ORPHAN);
  if (policy === 'Foreground') wanted.push(FOREGROUND);
  const same = wanted.length === finalizers.length && wanted.every((name) => finalizers.includes(name));
  return same ? finalizers : wanted;
}

/** An explicit wish counts first, then what an earlier delete asked for. */
function policyOf(finalizers: readonly string[], request: DeletionRequest): PropagationPolicy | undefined {
  if (request.orphanDependents !== undefined) return request.orphanDependents ? 'Orphan' : 'Background';
  if (request.propagationPolicy !== undefined) return request.propagationPolicy;
  if (finalizers.includes(ORPHAN)) return 'Orphan';
  return finalizers.includes(FOREGROUND) ? 'Foreground' : undefined;
}

/** Why a delete that is carried out by the kind itself meets another object than it expects. */
export function conflictingPrecondition(live: ApiObject, { preconditions }: DeletionRequest): string | undefined {
  return failedPrecondition(preconditions, live.metadata);
}
