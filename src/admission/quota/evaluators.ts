/**
 * Which resources quotas are about, and who measures each of them.
 */
import type { ResourceQuota } from '../../kinds/core/v1/resource-quota.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { GroupResource } from '../../meta/gvk.js';
import { qualifiedResource } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { deviceClaimEvaluator } from './device-claim-evaluator.js';
import type { Evaluator, Terms } from './evaluator.js';
import { countEvaluator, countName, ONE } from './evaluator.js';
import { podEvaluator } from './pod-evaluator.js';
import { volumeClaimEvaluator } from './volume-claim-evaluator.js';

const COUNT = countName({ group: '', resource: 'services' });

const NODE_PORTS = 'services.nodeports';

const LOAD_BALANCERS = 'services.loadbalancers';

const NAMES: readonly string[] = [COUNT, 'services', NODE_PORTS, LOAD_BALANCERS];

const serviceEvaluator: Evaluator = {
  measured: (inQuota) => inQuota.filter((name) => NAMES.includes(name)),
  // An update may change the type.
  handles: ({ subresource }) => subresource === '',
  // Fewer ports of the same type are noticed when everything is counted for another reason.
  givesBack: (before, after) => costlyType(before) !== costlyType(after),
  usageOf: (object) =>
    new Map([
      [COUNT, ONE],
      ['services', ONE],
      [NODE_PORTS, Quantity.of(BigInt(nodePorts(object)))],
      [LOAD_BALANCERS, specOf(object).type === 'LoadBalancer' ? ONE : Quantity.zero],
    ]),
};

/** Never counted, by canonical names: what is not stored, and events. */
const EXCEPTIONS: ReadonlySet<string> = new Set(
  (
    [
      ['', ['bindings', 'componentstatuses', 'events']],
      [serviceGroup('events'), ['events']],
      [serviceGroup('authentication'), ['tokenreviews', 'selfsubjectreviews']],
      [
        serviceGroup('authorization'),
        ['subjectaccessreviews', 'selfsubjectaccessreviews', 'localsubjectaccessreviews', 'selfsubjectrulesreviews'],
      ],
    ] as const
  ).flatMap(([group, resources]) => resources.map((resource) => qualifiedResource({ group, resource }))),
);

/** Whether a namespace can have a quota on objects of a kind. */
export function isCountable({ namespaced, kind }: ServedKind): boolean {
  return namespaced && !EXCEPTIONS.has(qualifiedResource({ group: kind.group, resource: kind.names.plural }));
}

/** Who measures a resource. Its group is spelt as clients see it. */
export function evaluatorFor(resource: GroupResource, { dialect, features }: Terms): Evaluator {
  if (resource.group === '') {
    const known = CORE.get(resource.resource);
    if (known !== undefined) return known;
  }
  if (
    resource.resource === 'resourceclaims' &&
    resource.group === dialect.group(serviceGroup('resource')) &&
    features.enabled('DynamicResourceAllocation')
  ) {
    return deviceClaimEvaluator;
  }
  return countEvaluator(resource);
}

/** Whether what a quota is on has anything to do with a resource: who counts need not list the others. */
export function isAbout(quota: ResourceQuota, resource: GroupResource, terms: Terms): boolean {
  return evaluatorFor(resource, terms).measured(Object.keys(quota.spec.hard ?? {}), terms).length > 0;
}

const CORE: ReadonlyMap<string, Evaluator> = new Map([
  ['pods', podEvaluator],
  ['services', serviceEvaluator],
  ['persistentvolumeclaims', volumeClaimEvaluator],
]);

function specOf(object: ApiObject): Service['spec'] {
  return (object as unknown as Service).spec;
}

function costlyType(object: ApiObject): string | undefined {
  const { type } = specOf(object);
  return type === 'NodePort' || type === 'LoadBalancer' ? type : undefined;
}

/** Ports may not have been given out yet, so that it counts how many are wanted. */
function nodePorts(object: ApiObject): number {
  const { type, ports = [], allocateLoadBalancerNodePorts } = specOf(object);
  if (type === 'NodePort') return ports.length;
  if (type !== 'LoadBalancer') return 0;
  if (allocateLoadBalancerNodePorts !== false) return ports.length;
  return ports.filter(({ nodePort }) => nodePort).length;
}
