/**
 * A warning about names of pods, and of what makes them.
 */
import { dnsLabelProblems } from '../../meta/names.js';
import type { ApiObject } from '../../meta/object.js';

/** Names of pods begin with the name of what makes them, and a pod's name is its host name. */
export function podNameWarnings(
  object: ApiObject,
  live: ApiObject | undefined,
  usedIn = 'Pod names and hostnames',
): string[] {
  if (live !== undefined) return [];
  const problems = dnsLabelProblems(object.metadata.name);
  if (problems.length === 0) return [];
  return [
    `metadata.name: this is used in ${usedIn}, which can result in surprising behavior; a DNS label is recommended: [${problems.join(' ')}]`,
  ];
}
