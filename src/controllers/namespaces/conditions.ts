/**
 * The status conditions of a terminating namespace.
 */
import type { NamespaceCondition } from '../../kinds/core/v1/namespace.js';
import type { DeepReadonly } from '../../meta/object.js';

/** The result of an attempt to delete the content. */
export interface DeletionProgress {
  /** Error messages of failed deletions. */
  readonly failures: readonly string[];
  /** The number of remaining objects by resource, `name.group`; absent: not reported. */
  readonly remaining?: ReadonlyMap<string, number> | undefined;
  /** The number of remaining objects by finalizer. */
  readonly finalizers?: ReadonlyMap<string, number> | undefined;
}

type Condition = DeepReadonly<NamespaceCondition>;

interface ConditionValues {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The conditions without problems, in the order in which they are added. */
const CONDITIONS_WITHOUT_PROBLEM: readonly (readonly [type: string, reason: string, message: string])[] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
];

/** The conditions for the progress; undefined if nothing changes. */
export function nextConditions(
  before: readonly Condition[],
  progress: DeletionProgress,
  now: string,
): readonly Condition[] | undefined {
  const problems = problemsIn(progress);
  const conditions = [...before];
  let hasChanged = false;
  for (const [type, reason, message] of CONDITIONS_WITHOUT_PROBLEM) {
    const wanted = problems.get(type) ?? { status: 'False', reason, message };
    const index = conditions.findIndex((condition) => condition.type === type);
    const known = conditions[index];
    if (known === undefined) {
      conditions.push({
        type,
        status: wanted.status,
        lastTransitionTime: now,
        reason: wanted.reason,
        message: wanted.message,
      });
    } else if (isSame(known, wanted)) continue;
    else {
      // lastTransitionTime changes with the status only, not with reason or message.
      conditions[index] = {
        ...known,
        ...wanted,
        ...(known.status === wanted.status ? {} : { lastTransitionTime: now }),
      };
    }
    hasChanged = true;
  }
  return hasChanged ? conditions : undefined;
}

function problemsIn({ failures, remaining, finalizers }: DeletionProgress): ReadonlyMap<string, ConditionValues> {
  const problems = new Map<string, ConditionValues>();
  const add = (type: string, reason: string, message: string) =>
    problems.set(type, { status: 'True', reason, message });
  if (failures.length > 0) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${joined(failures)}`;
    add('NamespaceDeletionContentFailure', 'ContentDeletionFailed', message);
  }
  if (remaining !== undefined && remaining.size > 0) {
    const counts = [...remaining].map(([resource, count]) => `${resource} has ${count} resource instances`);
    add('NamespaceContentRemaining', 'SomeResourcesRemain', `Some resources are remaining: ${joined(counts)}`);
  }
  if (finalizers !== undefined && finalizers.size > 0) {
    const counts = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    const message = `Some content in the namespace has finalizers remaining: ${joined(counts)}`;
    add('NamespaceFinalizersRemaining', 'SomeFinalizersRemain', message);
  }
  return problems;
}

function joined(texts: readonly string[]): string {
  return [...texts].sort().join(', ');
}

function isSame({ status, reason, message }: Condition, wanted: ConditionValues): boolean {
  return status === wanted.status && reason === wanted.reason && message === wanted.message;
}
