/**
 * What the status of a namespace that goes says about how far it has come.
 */
import type { NamespaceCondition } from '../../kinds/core/v1/namespace.js';
import type { DeepReadonly } from '../../meta/object.js';

/** What was found when the content was last deleted. */
export interface Findings {
  /** What could not be deleted, and why. */
  readonly failures: readonly string[];
  /** How many are left of each resource, `name.group`; absent: that is not told. */
  readonly remaining?: ReadonlyMap<string, number> | undefined;
  /** How many objects each finalizer holds back. */
  readonly finalizers?: ReadonlyMap<string, number> | undefined;
}

type Condition = DeepReadonly<NamespaceCondition>;

interface Claim {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** Types, and what they say when nothing is wrong, in the order in which they are added. */
const FINE: readonly (readonly [type: string, reason: string, message: string])[] = [
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

/** The conditions that follow from the findings; undefined when they are what they were. */
export function nextConditions(
  before: readonly Condition[],
  findings: Findings,
  now: string,
): readonly Condition[] | undefined {
  const problems = problemsIn(findings);
  const conditions = [...before];
  let hasChanged = false;
  for (const [type, reason, message] of FINE) {
    const claim = problems.get(type) ?? { status: 'False', reason, message };
    const index = conditions.findIndex((condition) => condition.type === type);
    const known = conditions[index];
    if (known === undefined) {
      conditions.push({
        type,
        status: claim.status,
        lastTransitionTime: now,
        reason: claim.reason,
        message: claim.message,
      });
    } else if (isSame(known, claim)) continue;
    else {
      // It is the time at which the status changed, not the words.
      conditions[index] = { ...known, ...claim, ...(known.status === claim.status ? {} : { lastTransitionTime: now }) };
    }
    hasChanged = true;
  }
  return hasChanged ? conditions : undefined;
}

function problemsIn({ failures, remaining, finalizers }: Findings): ReadonlyMap<string, Claim> {
  const problems = new Map<string, Claim>();
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

function isSame({ status, reason, message }: Condition, claim: Claim): boolean {
  return status === claim.status && reason === claim.reason && message === claim.message;
}
