/**
 * What a namespace that becomes stricter is told about the pods that are in it already. They stay.
 */

import type { ApiObject } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { evaluatePod, printReasons } from './evaluate.js';
import { type LevelVersion, printLevel } from './policy.js';
import type { ReviewedPod } from './review.js';

/** More are not looked at. */
const MOST_PODS = 3000;

/** Warnings. The pods come in the order of their names. */
export function warningsAboutPods(
  pods: readonly ApiObject[],
  about: {
    readonly namespace: string;
    readonly enforce: LevelVersion;
    readonly review: (pod: ApiObject) => ReviewedPod;
  },
): string[] {
  const { namespace, enforce, review } = about;
  const found = new Map<string, string[]>();
  for (const pod of urgentFirst(pods).slice(0, MOST_PODS)) {
    const reasons = printReasons(evaluatePod(enforce, review(pod)));
    if (reasons !== '') found.set(reasons, [...(found.get(reasons) ?? []), pod.metadata.name]);
  }
  const warnings: string[] = [];
  if (pods.length > MOST_PODS) {
    warnings.push(
      `new PodSecurity enforce level only checked against the first ${MOST_PODS} of ${pods.length} existing pods`,
    );
  }
  if (found.size === 0) return warnings;
  const level = quote(printLevel(enforce));
  warnings.push(`existing pods in namespace ${quote(namespace)} violate the new PodSecurity enforce level ${level}`);
  return [...warnings, ...[...found].map(([reasons, names]) => `${someOf(names)}: ${reasons}`).sort()];
}

/** Pods of one controller are alike, so that its first pod is looked at before the second of any other. */
function urgentFirst(pods: readonly ApiObject[]): readonly ApiObject[] {
  if (pods.length <= MOST_PODS) return pods;
  const seen = new Set<string>();
  const repeated: ApiObject[] = [];
  const first = pods.filter((pod) => {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
    if (owner === undefined) return true;
    if (!seen.has(owner)) return seen.add(owner);
    repeated.push(pod);
    return false;
  });
  return [...first, ...repeated];
}

/** `a`, `a (and 1 other pod)`, `a (and 2 other pods)`: the first by name stands for all. */
function someOf(names: readonly string[]): string {
  const [first = ''] = [...names].sort();
  if (names.length === 1) return first;
  return `${first} (and ${names.length - 1} other ${names.length === 2 ? 'pod' : 'pods'})`;
}
