/**
 * Objects of which only the number counts: `count/deployments.apps`, and for a few the shorter name of old.
 */
import type { GroupResource } from '../../meta/gvk.js';
import { qualifiedResource } from '../../meta/gvk.js';
import { Quantity } from '../../meta/quantity.js';
import type { Evaluator } from './evaluator.js';

/** What has been countable for longer than `count/…` exists. */
const OLD_NAMES: ReadonlySet<string> = new Set(['configmaps', 'replicationcontrollers', 'resourcequotas', 'secrets']);

export const ONE = Quantity.of(1n);

/** The group is spelt as clients see it. */
export function countName(resource: GroupResource): string {
  return `count/${qualifiedResource(resource)}`;
}

export function countEvaluator(resource: GroupResource): Evaluator {
  const isOld = resource.group === '' && OLD_NAMES.has(resource.resource);
  const names = [countName(resource), ...(isOld ? [resource.resource] : [])];
  const usage = new Map(names.map((name) => [name, ONE]));
  return {
    measured: (inQuota) => inQuota.filter((name) => usage.has(name)),
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    usageOf: () => usage,
  };
}
