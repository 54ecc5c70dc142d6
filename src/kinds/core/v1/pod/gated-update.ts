/**
 * How the choice of nodes may change while a pod is gated: it may be narrowed, never widened.
 */
import type { FieldError } from '../../../../meta/field-error.js';
import { childPath, invalid, keyPath } from '../../../../meta/field-error.js';
import { verbatim } from '../../../../text/go/go-text.js';
import { deepEqual, own } from '../../../../util/json.js';
import type { NodeAffinity } from '../pod-spec/affinity.js';
import type { NodeSelectorTerm } from '../scheduling-types.js';
import { dumpText } from './diff/index.js';

type Labels = Readonly<Record<string, string>>;

export function gatedSelectorProblems(path: string, next: Labels, live: Labels): FieldError[] {
  if (Object.entries(live).every(([key, value]) => own(next, key) === value)) return [];
  const detail = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)';
  return [invalid(path, next, detail)];
}

export function gatedAffinityProblems(
  path: string,
  next: NodeAffinity | undefined,
  live: NodeAffinity | undefined,
): FieldError[] {
  // Where there was nothing, anything may come.
  const before = termsOf(live);
  if (before.length === 0) return [];
  const at = childPath(path, 'requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms');
  const after = termsOf(next);
  if (before.length !== after.length) {
    const detail = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed';
    return [invalid(at, verbatim(dumpText('[]NodeSelectorTerm', after.length === 0 ? undefined : after)), detail)];
  }
  return before.flatMap((term, index) => {
    const now = after[index];
    if (now === undefined || onlyAdds(now, term)) return [];
    const detail = 'only additions are allowed (no mutations or deletions)';
    return [invalid(keyPath(at, index), verbatim(dumpText('NodeSelectorTerm', now)), detail)];
  });
}

function termsOf(affinity: NodeAffinity | undefined): readonly NodeSelectorTerm[] {
  return affinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
}

/** A term without requirements matches nothing, and would match more with some. */
function onlyAdds(next: NodeSelectorTerm, live: NodeSelectorTerm): boolean {
  const lists = ['matchExpressions', 'matchFields'] as const;
  if (lists.every((list) => (live[list] ?? []).length === 0)) {
    return lists.every((list) => (next[list] ?? []).length === 0);
  }
  return lists.every((list) => {
    const before = live[list] ?? [];
    return deepEqual((next[list] ?? []).slice(0, before.length), before);
  });
}
