/**
 * The class of service that a pod gets, from what its containers ask for and are limited to.
 */
import { Quantity } from '../../../../meta/quantity.js';
import { own } from '../../../../util/json.js';
import type { FeatureGates } from '../../../feature-gates.js';
import type { PodSpec } from '../pod-spec/pod-spec.js';
import type { PodStatus } from './status.js';

const COUNTED = ['cpu', 'memory'];

/** What is asked for all containers together counts where that is known. */
export function qosClassOf(spec: PodSpec, features: FeatureGates): NonNullable<PodStatus['qosClass']> {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const shared = features.enabled('PodLevelResources') ? spec.resources : undefined;
  const lists = shared?.requests !== undefined || shared?.limits !== undefined ? [shared] : containers.map(resourcesOf);
  const asked = lists.some(({ requests = {}, limits = {} }) =>
    COUNTED.some((name) => isPositive(requests, name) || isPositive(limits, name)),
  );
  if (!asked) return 'BestEffort';
  const limited = lists.every(({ limits = {} }) => COUNTED.every((name) => isPositive(limits, name)));
  const same = COUNTED.every((name) => sum(lists, 'requests', name).equals(sum(lists, 'limits', name)));
  return limited && same ? 'Guaranteed' : 'Burstable';
}

type Lists = NonNullable<PodSpec['resources']>;
type Amounts = Readonly<Record<string, string>>;

function resourcesOf({ resources }: { readonly resources: Lists }): Lists {
  return resources;
}

function isPositive(amounts: Amounts, name: string): boolean {
  const amount = own(amounts, name);
  return amount !== undefined && Quantity.parse(amount).sign() > 0;
}

function sum(lists: readonly Lists[], field: 'limits' | 'requests', name: string): Quantity {
  let total = Quantity.parse('0');
  for (const list of lists) {
    const amount = own(list[field] ?? {}, name);
    if (amount !== undefined) total = total.add(Quantity.parse(amount));
  }
  return total;
}
