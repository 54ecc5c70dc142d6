/**
 * A policy without rules. The store of the reference server does not tell an empty list from none, and this list is on
 * the wire either way.
 */
import type { JobSpec } from './schema.js';

/** Changes the spec. */
export function nullEmptyRules({ podFailurePolicy }: JobSpec): void {
  if (podFailurePolicy?.rules?.length !== 0) return;
  (podFailurePolicy as { rules: unknown }).rules = null;
}
