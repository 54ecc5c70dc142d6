/**
 * The QoS class of a pod, computed from the requests and limits of its containers.
 */
import { Quantity } from '../../../../meta/quantity.js';
import { own } from '../../../../util/json.js';
import type { FeatureGates } from '../../../feature-gates.js';
import type { PodSpec, PodStatus } from '../../../generated/core-v1.js';

const QOS_RESOURCES = ['cpu', 'memory'];

/** Pod-level resources take precedence over container resources, if they are enabled and set. */
export function qosClassOf(spec: PodSpec, features: FeatureGates): NonNullable<PodStatus['qosClass']> {
  const containers = [...(spec.containers ?? []), ...(spec.initContainers ?? [])];
  const podLevel = features.enabled('PodLevelResources') ? spec.resources : undefined;
  const lists =
    podLevel?.requests !== undefined || podLevel?.limits !== undefined ? [podLevel] : containers.map(resourcesOf);
  const isSet = lists.some(({ requests = {}, limits = {} }) =>
    QOS_RESOURCES.some((name) => isPositive(requests, name) || isPositive(limits, name)),
  );
  if (!isSet) return 'BestEffort';
  const isLimited = lists.every(({ limits = {} }) => QOS_RESOURCES.every((name) => isPositive(limits, name)));
  const isEqual = QOS_RESOURCES.every((name) => sum(lists, 'requests', name).equals(sum(lists, 'limits', name)));
  return isLimited && isEqual ? 'Guaranteed' : 'Burstable';
}

type Resources = NonNullable<PodSpec['resources']>;
type ResourceList = Readonly<Record<string, string>>;

function resourcesOf({ resources }: { readonly resources: Resources }): Resources {
  return resources;
}

function isPositive(amounts: ResourceList, name: string): boolean {
  const amount = own(amounts, name);
  return amount !== undefined && Quantity.parse(amount).sign() > 0;
}

function sum(lists: readonly Resources[], field: 'limits' | 'requests', name: string): Quantity {
  let total = Quantity.parse('0');
  for (const list of lists) {
    const amount = own(list[field] ?? {}, name);
    if (amount !== undefined) total = total.add(Quantity.parse(amount));
  }
  return total;
}
