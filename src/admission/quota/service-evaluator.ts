/**
 * Services, and what they take up besides: ports of the nodes, and load balancers.
 */
import type { Service } from '../../kinds/core/v1/service/service.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { countName, ONE } from './count-evaluator.js';
import type { Evaluator } from './evaluator.js';

const COUNT = countName({ group: '', resource: 'services' });
const NODE_PORTS = 'services.nodeports';
const LOAD_BALANCERS = 'services.loadbalancers';
const NAMES: readonly string[] = [COUNT, 'services', NODE_PORTS, LOAD_BALANCERS];

export const serviceEvaluator: Evaluator = {
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
