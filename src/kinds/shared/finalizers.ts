/**
 * Names of finalizers. Bare names are reserved: everybody else's carry a domain.
 */
import { NAMESPACE_FINALIZER } from '../../meta/dialect.js';
import type { FieldError } from '../../meta/field-error.js';
import { invalid } from '../../meta/field-error.js';
import { qualifiedNameProblems } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';

/** The garbage collector's own. */
export const ORPHAN = 'orphan';
export const FOREGROUND = 'foregroundDeletion';

const STANDARD: ReadonlySet<string> = new Set([NAMESPACE_FINALIZER, ORPHAN, FOREGROUND]);

const NEITHER = 'name is neither a standard finalizer name nor is it fully qualified';

/** Problems with one entry of a namespace's `spec.finalizers`. */
export function standardFinalizerProblems(field: string, name: string): FieldError[] {
  const syntax = qualifiedNameProblems(name).map((detail) => invalid(field, name, detail));
  return [...syntax, ...bareFinalizerProblems(field, name)];
}

/** Only what concerns a name without a domain. */
export function bareFinalizerProblems(field: string, name: string): FieldError[] {
  return name.includes('/') || STANDARD.has(name) ? [] : [invalid(field, name, NEITHER)];
}

/** Users' kinds may have such names; whoever adds one is told that it is not a good idea. */
export function bareFinalizerWarnings(object: ApiObject, live: ApiObject | undefined): string[] {
  const known = live?.metadata.finalizers ?? [];
  const added = (object.metadata.finalizers ?? []).filter((name) => !known.includes(name));
  return added
    .filter((name) => bareFinalizerProblems('', name).length > 0)
    .map((name) => {
      const path = name.includes('.') ? ' including a path (/)' : '';
      return `metadata.finalizers: ${quote(name)}: prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`;
    });
}
