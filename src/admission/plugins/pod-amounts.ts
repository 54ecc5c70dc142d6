/**
 * How much of each resource a pod needs as a whole, from what its containers say. Overhead does not count.
 */
import type { Container } from '../../kinds/core/v1/pod-spec/container.js';
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { Quantity } from '../../meta/quantity.js';

/** By name of the resource. */
export type Amounts = ReadonlyMap<string, Quantity>;

export function readAmounts(list: ResourceList = {}): Map<string, Quantity> {
  return new Map(Object.entries(list).map(([name, text]) => [name, Quantity.parse(text)]));
}

export type AmountField = 'limits' | 'requests';

export interface PodAmountsOptions {
  /** What a container counts with; absent: what stands in its spec. */
  readonly amountsOf?: (container: Container, field: AmountField) => Amounts;
  /** Which resources a pod may state for all its containers together. */
  readonly isPodLevel: (name: string) => boolean;
}

/**
 * Containers run side by side, so theirs add up. Init containers run one after the other before them, each beside the
 * sidecars that were started by then; a pod needs what the greediest of these moments needs.
 */
export function podAmounts(spec: PodSpec, field: AmountField, options: PodAmountsOptions): Map<string, Quantity> {
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
      raiseAmounts(starting, sidecars);
    } else {
      const moment = new Map(amounts);
      addAmounts(moment, sidecars);
      raiseAmounts(starting, moment);
    }
  }
  raiseAmounts(total, starting);
  for (const [name, amount] of readAmounts(spec.resources?.[field])) {
    if (isPodLevel(name)) total.set(name, amount);
  }
  return total;
}

function amountsInSpec({ resources }: Container, field: AmountField): Amounts {
  return readAmounts(resources[field]);
}

/** An init container that goes on running beside the others. */
export function isSidecar({ restartPolicy }: Container): boolean {
  return restartPolicy === 'Always';
}

/** Changes `total`. */
export function addAmounts(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) total.set(name, total.get(name)?.add(amount) ?? amount);
}

/** Changes `total`, to the greater of both. */
export function raiseAmounts(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const present = total.get(name);
    if (present === undefined || amount.cmp(present) > 0) total.set(name, amount);
  }
}
