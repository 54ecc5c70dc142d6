/**
 * What a table shows of a Service.
 */
import type { ApiObject } from '../../../../meta/object.js';
import type { Column } from '../../../columns.js';
import { ageColumn, NONE, nameColumn, textColumn, UNKNOWN } from '../../../shared/common-columns.js';
import type { ServiceSpec, ServiceStatus } from './schema.js';

const specOf = (object: ApiObject) => object['spec'] as ServiceSpec;

export const serviceColumns: readonly Column[] = [
  nameColumn,
  textColumn('Type', 'How it can be reached.', (object) => specOf(object).type),
  textColumn('Cluster-IP', 'Its address inside the cluster.', (object) => specOf(object).clusterIPs?.[0] ?? NONE),
  textColumn('External-IP', 'Its addresses for the world outside.', externalCell),
  textColumn('Port(s)', 'The ports that it listens on.', portsCell),
  ageColumn,
  {
    name: 'Selector',
    type: 'string',
    description: 'The labels of the pods that it leads to.',
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
