/**
 * What a Service needs by its type and its policies. Everything that allocates, releases or judges goes by these.
 */
import type { ServiceSpec } from './schema.js';

/** In place of an address: there is none, the endpoints are found by name. */
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

/** Load balancers ask the nodes whether they have an endpoint of their own. */
export function needsHealthCheck({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local';
}

export function isExternallyAccessible(spec: ServiceSpec): boolean {
  return needsNodePorts(spec) || (spec.type === 'ClusterIP' && (spec.externalIPs ?? []).length > 0);
}

/** The ports on the nodes, each as often as it is named. */
export function nodePortsOf({ ports = [] }: ServiceSpec): number[] {
  return ports.flatMap(({ nodePort }) => nodePort || []);
}
