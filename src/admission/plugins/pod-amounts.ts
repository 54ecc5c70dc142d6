/**
 * How much of each resource a pod needs as a whole, from what its containers say. Overhead does not count.
 */
import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import type { ResourceList } from '../../kinds/shared/resources.js';
import { Quantity } from '../../meta/quantity.js';

/** By name of the resource. */
export type Amounts = ReadonlyMap<string, Quantity>;

export function readAmounts(list: ResourceList = {}): Map<string, Quantity> {
  return new Map(Object.entries(list).map(([name, text]) => [name, Quantity.parse(text)]));
}

/** Resources that a pod may state for all its containers together. */
const POD_LEVEL: ReadonlySet<string> = new Set(['cpu', 'memory']);

/**
 * Containers run side by side, so theirs add up. Init containers run one after the other before them, each beside the
 * sidecars that were started by then; a pod needs what the greediest of these moments needs.
 */
export function podAmounts(spec: PodSpec, field: 'limits' | 'requests'): Map<string, Quantity> {
  const total = new Map<string, Quantity>();
  for (const { resources } of spec.containers ?? []) add(total, readAmounts(resources[field]));
  const sidecars = new Map<string, Quantity>();
  const starting = new Map<string, Quantity>();
  for (const { resources, restartPolicy } of spec.initContainers ?? []) {
    const amounts = readAmounts(resources[field]);
    if (restartPolicy === 'Always') {
      add(total, amounts);
      add(sidecars, amounts);
      raise(starting, sidecars);
    } else {
      add(amounts, sidecars);
      raise(starting, amounts);
    }
  }
  raise(total, starting);
  for (const [name, amount] of readAmounts(spec.resources?.[field])) {
    if (POD_LEVEL.has(name)) total.set(name, amount);
  }
  return total;
}

function add(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) total.set(name, total.get(name)?.add(amount) ?? amount);
}

/** To the greater of both. */
function raise(total: Map<string, Quantity>, amounts: Amounts): void {
  for (const [name, amount] of amounts) {
    const present = total.get(name);
    if (present === undefined || amount.cmp(present) > 0) total.set(name, amount);
  }
}
