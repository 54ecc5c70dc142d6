/**
 * What a table shows of a Service.
 */
import type { ApiObject } from '../../../../meta/object.js';
import type { Column } from '../../../columns.js';
import { ageColumn, docs, NONE, nameColumn, textColumn, UNKNOWN } from '../../../shared/workload-columns.js';
import type { ServiceSpec, ServiceStatus } from './schema.js';

const specOf = (object: ApiObject) => object['spec'] as ServiceSpec;
const VIRTUAL_IPS = docs('concepts/services-networking/service/#virtual-ips-and-service-proxies');
const TYPES = docs('concepts/services-networking/service/#publishing-services-service-types');

export const serviceColumns: readonly Column[] = [
  nameColumn,
  textColumn(
    'Type',
    `type determines how the Service is exposed. Defaults to ClusterIP. Valid options are ExternalName, ClusterIP, NodePort, and LoadBalancer. "ClusterIP" allocates a cluster-internal IP address for load-balancing to endpoints. Endpoints are determined by the selector or if that is not specified, by manual construction of an Endpoints object or EndpointSlice objects. If clusterIP is "None", no virtual IP is allocated and the endpoints are published as a set of endpoints rather than a virtual IP. "NodePort" builds on ClusterIP and allocates a port on every node which routes to the same endpoints as the clusterIP. "LoadBalancer" builds on NodePort and creates an external load-balancer (if supported in the current cloud) which routes to the same endpoints as the clusterIP. "ExternalName" aliases this service to the specified externalName. Several other fields do not apply to ExternalName services. More info: ${TYPES}`,
    (object) => specOf(object).type,
  ),
  textColumn(
    'Cluster-IP',
    `clusterIP is the IP address of the service and is usually assigned randomly. If an address is specified manually, is in-range (as per system configuration), and is not in use, it will be allocated to the service; otherwise creation of the service will fail. This field may not be changed through updates unless the type field is also being changed to ExternalName (which requires this field to be blank) or the type field is being changed from ExternalName (in which case this field may optionally be specified, as describe above).  Valid values are "None", empty string (""), or a valid IP address. Setting this to "None" makes a "headless service" (no virtual IP), which is useful when direct endpoint connections are preferred and proxying is not required.  Only applies to types ClusterIP, NodePort, and LoadBalancer. If this field is specified when creating a Service of type ExternalName, creation will fail. This field will be wiped when updating a Service to type ExternalName. More info: ${VIRTUAL_IPS}`,
    (object) => specOf(object).clusterIPs?.[0] ?? NONE,
  ),
  textColumn(
    'External-IP',
    'externalIPs is a list of IP addresses for which nodes in the cluster will also accept traffic for this service.  These IPs are not managed by Orch.  The user is responsible for ensuring that traffic arrives at a node with this IP.  A common example is external load-balancers that are not part of the Orch system.',
    externalCell,
  ),
  textColumn('Port(s)', `The list of ports that are exposed by this service. More info: ${VIRTUAL_IPS}`, portsCell),
  ageColumn,
  {
    name: 'Selector',
    type: 'string',
    description: `Route service traffic to pods with label keys and values matching this selector. If empty or not present, the service is assumed to have an external process managing its endpoints, which Orch will not modify. Only applies to types ClusterIP, NodePort, and LoadBalancer. Ignored if type is ExternalName. More info: ${docs('concepts/services-networking/service/')}`,
    priority: 1,
    cell: selectorCell,
  },
];

function externalCell(object: ApiObject): string {
  const { type, externalIPs = [], externalName } = specOf(object);
  switch (type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.join(',') || NONE;
    case 'LoadBalancer':
      return [...balancerAddresses(object), ...externalIPs].join(',') || '<pending>';
    case 'ExternalName':
      return externalName ?? '';
    default:
      return UNKNOWN;
  }
}

function balancerAddresses(object: ApiObject): string[] {
  const points = (object['status'] as ServiceStatus).loadBalancer.ingress ?? [];
  const found = points.map(({ ip = '', hostname = '' }) => ip || hostname).filter((text) => text !== '');
  return [...new Set(found)].sort();
}

function portsCell(object: ApiObject): string {
  const ports = (specOf(object).ports ?? []).map(({ port, nodePort, protocol }) =>
    nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
  );
  return ports.join(',') || NONE;
}

function selectorCell(object: ApiObject): string {
  const pairs = Object.entries(specOf(object).selector ?? {}).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(',') || NONE;
}
