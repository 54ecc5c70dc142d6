/**
 * Rules of finalizer names, and the finalizers that a delete request adds to an object.
 * Names without a domain are reserved for the server.
 */
import { NAMESPACE_FINALIZER } from '../../meta/dialect.js';
import { type FieldError, invalid } from '../../meta/field-error.js';
import { qualifiedNameProblems } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import type { DeletionRequest, PropagationPolicy } from '../deletion.js';
import { failedPrecondition } from './storage-conflict.js';

/** The finalizers that the garbage collector handles. */
export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

const STANDARD: ReadonlySet<string> = new Set([NAMESPACE_FINALIZER, ORPHAN_FINALIZER, FOREGROUND_FINALIZER]);

const NEITHER = 'name is neither a standard finalizer name nor is it fully qualified';

/** Validates one entry of a namespace's `spec.finalizers`. */
export function standardFinalizerProblems(field: string, name: string): FieldError[] {
  const syntax = qualifiedNameProblems(name).map((detail) => invalid(field, name, detail));
  return [...syntax, ...unqualifiedFinalizerProblems(field, name)];
}

/** A name without a domain must be one of the standard finalizers. */
export function unqualifiedFinalizerProblems(field: string, name: string): FieldError[] {
  return name.includes('/') || STANDARD.has(name) ? [] : [invalid(field, name, NEITHER)];
}

/** Custom resources may have finalizers without a domain; adding one returns a warning. */
export function unqualifiedFinalizerWarnings(object: ApiObject, live: ApiObject | undefined): string[] {
  const present = new Set(live?.metadata.finalizers);
  const added = new Set((object.metadata.finalizers ?? []).filter((name) => !present.has(name)));
  return [...added]
    .sort()
    .filter((name) => unqualifiedFinalizerProblems('', name).length > 0)
    .map((name) => {
      const path = name.includes('.') ? ' including a path (/)' : '';
      return `metadata.finalizers: ${quote(name)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    });
}

/**
 * The finalizers of an object after a delete request. The propagation policy is stored as one of the garbage collector's
 * finalizers, after all others. Returns the same array if nothing changes. spec: Parameters
 */
export function finalizersAfterDelete(
  finalizers: readonly string[],
  request: DeletionRequest,
  defaultPolicy: PropagationPolicy | 'Unsupported' = 'Background',
): readonly string[] {
  const policy =
    defaultPolicy === 'Unsupported' ? 'Background' : (requestedPolicy(finalizers, request) ?? defaultPolicy);
  const others = finalizers.filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_FINALIZER);
  const result = [...others];
  if (policy === 'Orphan') result.push(ORPHAN_FINALIZER);
  if (policy === 'Foreground') result.push(FOREGROUND_FINALIZER);
  const before = new Set(finalizers);
  const same = result.length === finalizers.length && result.every((name) => before.has(name));
  return same ? finalizers : result;
}

/** The policy of this request, or the one that an earlier delete request stored as a finalizer. */
function requestedPolicy(finalizers: readonly string[], request: DeletionRequest): PropagationPolicy | undefined {
  if (request.orphanDependents !== undefined) return request.orphanDependents ? 'Orphan' : 'Background';
  if (request.propagationPolicy !== undefined) return request.propagationPolicy;
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : undefined;
}

/** The failed precondition of a delete request, for kinds that handle deletion themselves. */
export function failedDeletePrecondition(live: ApiObject, { preconditions }: DeletionRequest): string | undefined {
  return failedPrecondition(preconditions, live.metadata);
}
