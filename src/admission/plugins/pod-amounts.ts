/**
 * Computes the total resources of a pod from those of its containers, without overhead.
 */

import type {
  ContainerStatus,
  PodCondition,
  Container as PodContainer,
  PodSpec,
} from '../../kinds/generated/core-v1.js';
import { isHugePages, type ResourceList } from '../../kinds/shared/resources.js';
import type { DeepReadonly } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';

type Container = DeepReadonly<PodContainer>;

/** By resource name. */
export type Amounts = ReadonlyMap<string, Quantity>;

export function readAmounts(list: ResourceList = {}): Map<string, Quantity> {
  return new Map(Object.entries(list).map(([name, text]) => [name, Quantity.parse(text)]));
}

export type AmountField = 'limits' | 'requests';

export interface PodAmountsOptions {
  /** The amounts of a container; default: those of its spec. */
  readonly amountsOf?: (container: Container, field: AmountField) => Amounts;
  /** Whether the pod-level amount of a resource replaces those of the containers. */
  readonly isPodLevel: (name: string) => boolean;
}

/**
 * Containers run in parallel, so their amounts add up. Init containers run one after the other before them, each beside
 * the sidecars started so far. The result is the maximum over these phases.
 */
export function podAmounts(
  spec: DeepReadonly<PodSpec>,
  field: AmountField,
  options: PodAmountsOptions,
): Map<string, Quantity> {
  const { amountsOf = amountsInSpec, isPodLevel } = options;
  const total = new Map<string, Quantity>();
  for (const container of spec.containers ?? []) addAmounts(total, amountsOf(container, field));
  const sidecars = new Map<string, Quantity>();
  const starting = new Map<string, Quantity>();
  for (const container of spec.initContainers ?? []) {
    const amounts = amountsOf(container, field);
    if (isSidecar(container)) {
      addAmounts(total, amounts);
      addAmounts(sidecars, amounts);
      raiseAmounts(starting, amountsNamedBy(amounts, sidecars));
    } else {
      const phase = new Map(amounts);
      addAmounts(phase, amountsNamedBy(amounts, sidecars));
      raiseAmounts(starting, phase);
    }
  }
  raiseAmounts(total, starting);
  for (const [name, amount] of readAmounts(spec.resources?.[field])) {
    if (isPodLevel(name)) total.set(name, amount);
  }
  return total;
}

/** Only resources that a container names can reach a new maximum when it starts. */
function amountsNamedBy(names: Amounts, sidecars: Amounts): Amounts {
  const found = new Map<string, Quantity>();
  for (const name of names.keys()) {
    const amount = sidecars.get(name);
    if (amount !== undefined) found.set(name, amount);
  }
  return found;
}

function amountsInSpec({ resources }: Container, field: AmountField): Amounts {
  return readAmounts(resources[field]);
}

/** A restartable init container, which keeps running beside the containers. */
function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

/** Adds `amounts` to `total` in place. */
export function addAmounts(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) total.set(name, total.get(name)?.add(amount) ?? amount);
}

/** Raises `total` in place to the maximum of both. */
function raiseAmounts(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const present = total.get(name);
    if (present === undefined || amount.cmp(present) > 0) total.set(name, amount);
  }
}

/** The resources that can be specified at pod level. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name);
}

interface ResizablePod {
  readonly spec: DeepReadonly<PodSpec>;
  readonly status: {
    readonly containerStatuses?: readonly DeepReadonly<ContainerStatus>[];
    readonly initContainerStatuses?: readonly DeepReadonly<ContainerStatus>[];
    readonly conditions?: readonly DeepReadonly<PodCondition>[];
  };
}

/**
 * The amounts of a container, considering resizes: while one is pending, the maximum of the current and the desired
 * resources counts. An infeasible resize does not count.
 */
export function resizableAmounts({
  spec,
  status,
}: ResizablePod): (container: Container, field: AmountField) => Amounts {
  const statuses = new Map(
    [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].map((each) => [each.name, each]),
  );
  const pending = status.conditions?.find(({ type }) => type === 'PodResizePending');
  const isInfeasible = pending?.reason === 'Infeasible';
  // Only sidecars and regular containers can be resized.
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

function listsIn({ resources, allocatedResources }: DeepReadonly<ContainerStatus>, field: AmountField) {
  return field === 'limits' ? [resources?.limits] : [resources?.requests, allocatedResources];
}
