/**
 * What a pod asks for and is limited to as a whole: its containers as they are by now, what it says itself, and its
 * overhead.
 */
import type { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ContainerStatus } from '../../kinds/core/v1/pod/status.js';
import type { Container } from '../../kinds/core/v1/pod-spec/container.js';
import { isHugePages } from '../../kinds/shared/resources.js';
import {
  type AmountField,
  type Amounts,
  addAmounts,
  isSidecar,
  type PodAmountsOptions,
  podAmounts,
  raiseAmounts,
  readAmounts,
} from '../plugins/pod-amounts.js';
import type { Terms } from './evaluator.js';

export interface PodNeeds {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export function podNeeds(pod: Pod, { features }: Terms): PodNeeds {
  const { spec } = pod;
  const options: PodAmountsOptions = {
    ...(features.enabled('InPlacePodVerticalScaling') ? { amountsOf: amountsByNow(pod) } : {}),
    isPodLevel: features.enabled('PodLevelResources') ? isPodLevel : () => false,
  };
  const [requests, limits] = [podAmounts(spec, 'requests', options), podAmounts(spec, 'limits', options)];
  const overhead = readAmounts(spec.overhead);
  addAmounts(requests, overhead);
  for (const [name, amount] of overhead) {
    const limit = limits.get(name);
    // Without a limit the overhead has none either.
    if (limit !== undefined && !limit.isZero()) limits.set(name, limit.add(amount));
  }
  return { requests, limits };
}

/** Which resources a pod may state for all its containers together. */
export function isPodLevel(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

/**
 * A container that runs may be resized: until that has happened, it counts with the greater of what it has and what it
 * is to have. What will never happen does not count.
 */
function amountsByNow({ spec, status }: Pod): (container: Container, field: AmountField) => Amounts {
  const statuses = new Map(
    [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].map((each) => [each.name, each]),
  );
  const pending = status.conditions?.find(({ type }) => type === 'PodResizePending');
  const isInfeasible = pending?.reason === 'Infeasible';
  // Init containers that end are never resized.
  const fixed = new Set((spec.initContainers ?? []).filter((container) => !isSidecar(container)));
  return (container, field) => {
    const wanted = readAmounts(container.resources[field]);
    const has = fixed.has(container) ? undefined : statuses.get(container.name);
    if (has?.resources === undefined) return wanted;
    const amounts = new Map(isInfeasible ? [] : wanted);
    for (const list of listsIn(has, field)) raiseAmounts(amounts, readAmounts(list));
    return amounts;
  };
}

function listsIn({ resources, allocatedResources }: ContainerStatus, field: AmountField) {
  return field === 'limits' ? [resources?.limits] : [resources?.requests, allocatedResources];
}
