/**
 * Names of finalizers. Bare names are reserved: everybody else's carry a domain.
 */
import { NAMESPACE_FINALIZER } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { invalid } from '../../meta/field-error.js';
import { qualifiedNameProblems } from '../../meta/names.js';

/** The garbage collector's own. */
export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

const STANDARD: ReadonlySet<string> = new Set([NAMESPACE_FINALIZER, ORPHAN, FOREGROUND]);

const NEITHER = 'name is neither a standard finalizer name nor is it fully qualified';

/** Problems with one entry of a namespace's `spec.finalizers`. */
export function standardFinalizerProblems(field: string, name: string): FieldError[] {
  const syntax = qualifiedNameProblems(name);
  if (syntax.length > 0) return syntax.map((detail) => invalid(field, name, detail));
  return bareFinalizerProblems(field, name);
}

/** Only what concerns a name without a domain. */
export function bareFinalizerProblems(field: string, name: string): FieldError[] {
  return name.includes('/') || STANDARD.has(name) ? [] : [invalid(field, name, NEITHER)];
}
