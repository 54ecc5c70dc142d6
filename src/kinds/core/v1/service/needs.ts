/**
 * What a Service needs according to its type and policies. Allocation, release and validation use these functions.
 */
import type { ServiceSpec } from '../../../generated/core-v1.js';

/** The `clusterIP` of headless services, which have no address. */
export const HEADLESS = 'None';

export function isHeadless({ clusterIPs = [] }: ServiceSpec): boolean {
  return clusterIPs.length === 1 && clusterIPs[0] === HEADLESS;
}

export function needsClusterIP({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName';
}

export function needsNodePorts({ type }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer';
}

/** With `externalTrafficPolicy: Local`, load balancers check which nodes have a local endpoint. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return needsNodePorts(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
}

/** All node ports, including duplicates. */
export function nodePortsOf({ ports = [] }: ServiceSpec): number[] {
  return ports.flatMap(({ nodePort }) => nodePort || []);
}
