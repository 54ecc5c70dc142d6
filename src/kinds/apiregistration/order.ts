/**
 * The order of groups and versions in discovery, by the priorities in APIServices.
 */
import { compareVersions } from '../../meta/gvk.js';
import { compareText } from '../../util/order.js';
import type { APIService } from './v1/api-service.js';

/** The fields that determine the order. */
export interface RankedVersion {
  readonly metadata: Pick<APIService['metadata'], 'name'>;
  readonly spec: Pick<APIService['spec'], 'group' | 'version' | 'groupPriorityMinimum' | 'versionPriority'>;
}

/**
 * The versions by group: groups by the highest minimum that any version of theirs asks for, versions by their own
 * priority, the preferred one first. Where two ask for the same, names decide between groups and the usual order of
 * versions (`v2`, `v1`, `v1beta1`) within one.
 */
export function orderApiServices<Ranked extends RankedVersion>(services: readonly Ranked[]): Ranked[][] {
  const groups = new Map<string, Ranked[]>();
  for (const service of [...services].sort(byGroupPriority)) {
    const group = service.spec.group ?? '';
    const known = groups.get(group);
    if (known === undefined) groups.set(group, [service]);
    else known.push(service);
  }
  return [...groups.values()].map((versions) => versions.sort(byVersionPriority));
}

function byGroupPriority(left: RankedVersion, right: RankedVersion): number {
  const higher = right.spec.groupPriorityMinimum - left.spec.groupPriorityMinimum;
  return higher || compareText(left.metadata.name, right.metadata.name);
}

function byVersionPriority(left: RankedVersion, right: RankedVersion): number {
  const higher = right.spec.versionPriority - left.spec.versionPriority;
  return higher !== 0 ? higher : compareVersions(left.spec.version ?? '', right.spec.version ?? '');
}
