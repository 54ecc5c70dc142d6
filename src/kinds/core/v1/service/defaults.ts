/**
 * Defaults of a Service that depend on other fields, and the removal of fields that its new type does not need.
 */
import type { DraftObject } from '../../../../meta/object.js';
import { deepEqual } from '../../../../util/json.js';
import type { ServiceSpec, ServiceStatus } from '../../../generated/core-v1.js';
import { isExternallyAccessible, needsClusterIP, needsHealthCheck, needsNodePorts, nodePortsOf } from './needs.js';

/** Three hours. */
const AFFINITY_SECONDS = 10800;

/** Sets the defaults of a Service in place. */
export function defaultService(draft: DraftObject): void {
  const spec = draft['spec'] as ServiceSpec;
  defaultAffinity(spec);
  for (const port of spec.ports ?? []) {
    if (!port.targetPort) port.targetPort = port.port;
  }
  if (isExternallyAccessible(spec)) spec.externalTrafficPolicy ||= 'Cluster';
  // Invalid types get no default; validation rejects them.
  if (needsNodePorts(spec) || spec.type === 'ClusterIP') spec.internalTrafficPolicy ??= 'Cluster';
  if (spec.type !== 'LoadBalancer') return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const point of (draft['status'] as ServiceStatus | undefined)?.loadBalancer.ingress ?? []) {
    if (point.ip) point.ipMode ??= 'VIP';
  }
}

function defaultAffinity(spec: ServiceSpec): void {
  if (spec.sessionAffinity === 'None') {
    delete spec.sessionAffinityConfig;
  } else if (
    spec.sessionAffinity === 'ClientIP' &&
    spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined
  ) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: AFFINITY_SECONDS } };
  }
}

/**
 * When the type changes, removes the fields that only the old type needs. A field that the client changed too stays, so
 * that validation reports it. upstream: pkg/registry/core/service/strategy.go dropTypeDependentFields
 */
export function dropTypeDependentFields(draft: DraftObject, live: ServiceSpec): void {
  const spec = draft['spec'] as ServiceSpec;
  const drop = (field: 'clusterIPs' | 'ipFamilies' | 'ipFamilyPolicy') => {
    if (deepEqual(spec[field], live[field])) delete spec[field];
  };
  if (needsClusterIP(live) && !needsClusterIP(spec)) {
    if (deepEqual(spec.clusterIPs, live.clusterIPs)) delete spec.clusterIP;
    drop('clusterIPs');
    drop('ipFamilies');
    drop('ipFamilyPolicy');
  }
  if (needsNodePorts(live) && !needsNodePorts(spec) && hasNoNewNodePort(spec, live)) {
    for (const port of spec.ports ?? []) delete port.nodePort;
  }
  if (needsHealthCheck(live) && !needsHealthCheck(spec) && spec.healthCheckNodePort === live.healthCheckNodePort) {
    delete spec.healthCheckNodePort;
  }
  if (isExternallyAccessible(live) && !isExternallyAccessible(spec)) {
    if (spec.externalTrafficPolicy === live.externalTrafficPolicy) delete spec.externalTrafficPolicy;
  }
  if (spec.type === 'LoadBalancer') return;
  if (live.type === 'LoadBalancer') dropLoadBalancer(spec, live);
  draft['status'] = { ...(draft['status'] as ServiceStatus), loadBalancer: {} };
}

/** ExternalName services have no internalTrafficPolicy. Field managers keep the ownership of the field. */
export function dropInternalTrafficPolicy(draft: DraftObject): void {
  const spec = draft['spec'] as ServiceSpec;
  if (spec.type === 'ExternalName') delete spec.internalTrafficPolicy;
}

function dropLoadBalancer(spec: ServiceSpec, live: ServiceSpec): void {
  if (spec.allocateLoadBalancerNodePorts === live.allocateLoadBalancerNodePorts) {
    delete spec.allocateLoadBalancerNodePorts;
  }
  if (spec.loadBalancerClass === live.loadBalancerClass) delete spec.loadBalancerClass;
}

/** True if all node ports of the new spec exist in the live spec. */
function hasNoNewNodePort(spec: ServiceSpec, live: ServiceSpec): boolean {
  const before = new Set(nodePortsOf(live));
  return nodePortsOf(spec).every((port) => before.has(port));
}
