/**
 * Names of finalizers. Bare names are reserved: everybody else's carry a domain.
 */
import { NAMESPACE_FINALIZER } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { invalid } from '../../meta/field-error.js';
import { qualifiedNameProblems } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import type { DeletionRequest, PropagationPolicy } from '../kind.js';
import { failedPrecondition } from './storage-conflict.js';

/** The garbage collector's own. */
export const ORPHAN_FINALIZER = 'orphan';
export const FOREGROUND_FINALIZER = 'foregroundDeletion';

const STANDARD: ReadonlySet<string> = new Set([NAMESPACE_FINALIZER, ORPHAN_FINALIZER, FOREGROUND_FINALIZER]);

const NEITHER = 'name is neither a standard finalizer name nor is it fully qualified';

/** Problems with one entry of a namespace's `spec.finalizers`. */
export function standardFinalizerProblems(field: string, name: string): FieldError[] {
  const syntax = qualifiedNameProblems(name).map((detail) => invalid(field, name, detail));
  return [...syntax, ...unqualifiedFinalizerProblems(field, name)];
}

/** Only what concerns a name without a domain. */
export function unqualifiedFinalizerProblems(field: string, name: string): FieldError[] {
  return name.includes('/') || STANDARD.has(name) ? [] : [invalid(field, name, NEITHER)];
}

/** Users' kinds may have such names; whoever adds one is told that it is not a good idea. */
export function unqualifiedFinalizerWarnings(object: ApiObject, live: ApiObject | undefined): string[] {
  const known = live?.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((name) => !known.includes(name));
  return added
    .filter((name) => unqualifiedFinalizerProblems('', name).length > 0)
    .map((name) => {
      const path = name.includes('.') ? ' including a path (/)' : '';
      return `metadata.finalizers: ${quote(name)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    });
}

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
  const others = finalizers.filter((name) => name !== ORPHAN_FINALIZER && name !== FOREGROUND_FINALIZER);
  const wanted = [...others];
  if (policy === 'Orphan') wanted.push(ORPHAN_FINALIZER);
  if (policy === 'Foreground') wanted.push(FOREGROUND_FINALIZER);
  const same = wanted.length === finalizers.length && wanted.every((name) => finalizers.includes(name));
  return same ? finalizers : wanted;
}

/** An explicit wish counts first, then what an earlier delete asked for. */
function policyOf(finalizers: readonly string[], request: DeletionRequest): PropagationPolicy | undefined {
  if (request.orphanDependents !== undefined) return request.orphanDependents ? 'Orphan' : 'Background';
  if (request.propagationPolicy !== undefined) return request.propagationPolicy;
  if (finalizers.includes(ORPHAN_FINALIZER)) return 'Orphan';
  return finalizers.includes(FOREGROUND_FINALIZER) ? 'Foreground' : undefined;
}

/** Why a delete that is carried out by the kind itself meets another object than it expects. */
export function failedDeletePrecondition(live: ApiObject, { preconditions }: DeletionRequest): string | undefined {
  return failedPrecondition(preconditions, live.metadata);
}
