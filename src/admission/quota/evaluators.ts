/**
 * The registry of quota evaluators, and the evaluator of Services.
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
import type { Evaluator, EvaluatorContext } from './evaluator.js';
import { countEvaluator, countName, ONE } from './evaluator.js';
import { podEvaluator } from './pod-evaluator.js';
import { volumeClaimEvaluator } from './volume-claim-evaluator.js';

const COUNT = countName({ group: '', resource: 'services' });

const NODE_PORTS = 'services.nodeports';

const LOAD_BALANCERS = 'services.loadbalancers';

const NAMES: readonly string[] = [COUNT, 'services', NODE_PORTS, LOAD_BALANCERS];

const serviceEvaluator: Evaluator = {
  matchingResources: (inQuota) => inQuota.filter((name) => NAMES.includes(name)),
  // An update may change the type.
  handles: ({ subresource }) => subresource === '',
  // As in the reference server, a smaller number of ports triggers no recalculation.
  // upstream: pkg/quota/v1/install/update_filter.go DefaultUpdateFilter
  releasesUsage: (before, after) => costlyType(before) !== costlyType(after),
  usageOf: (object) =>
    new Map([
      [COUNT, ONE],
      ['services', ONE],
      [NODE_PORTS, Quantity.of(BigInt(nodePorts(object)))],
      [LOAD_BALANCERS, specOf(object).type === 'LoadBalancer' ? ONE : Quantity.zero],
    ]),
};

/** Resources that are never counted, by canonical names: virtual resources and events. */
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

/** Whether quotas can count objects of a kind. */
export function isCountable({ namespaced, kind }: ServedKind): boolean {
  return namespaced && !EXCEPTIONS.has(qualifiedResource({ group: kind.group, resource: kind.names.plural }));
}

/** The evaluator of a resource, whose group is spelt as clients see it. */
export function evaluatorFor(resource: GroupResource, { dialect, features }: EvaluatorContext): Evaluator {
  if (resource.group === '') {
    const evaluator = CORE.get(resource.resource);
    if (evaluator !== undefined) return evaluator;
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

/** Whether a quota limits a resource; the quota controller need not list the others. */
export function limitsResource(quota: ResourceQuota, resource: GroupResource, context: EvaluatorContext): boolean {
  return evaluatorFor(resource, context).matchingResources(Object.keys(quota.spec.hard ?? {}), context).length > 0;
}

const CORE: ReadonlyMap<string, Evaluator> = new Map([
  ['pods', podEvaluator],
  ['services', serviceEvaluator],
  ['persistentvolumeclaims', volumeClaimEvaluator],
]);

function specOf(object: ApiObject): Service['spec'] {
  return object['spec'] as Service['spec'];
}

function costlyType(object: ApiObject): string | undefined {
  const { type } = specOf(object);
  return type === 'NodePort' || type === 'LoadBalancer' ? type : undefined;
}

/** The number of wanted node ports; they may not be allocated yet. */
function nodePorts(object: ApiObject): number {
  const { type, ports = [], allocateLoadBalancerNodePorts } = specOf(object);
  if (type === 'NodePort') return ports.length;
  if (type !== 'LoadBalancer') return 0;
  if (allocateLoadBalancerNodePorts !== false) return ports.length;
  return ports.filter(({ nodePort }) => nodePort).length;
}
