/**
 * What a table shows of an Ingress.
 */
import type { ApiObject } from '../../../../meta/object.js';
import type { Column } from '../../../columns.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../../shared/workload-columns.js';
import type { IngressSpec, IngressStatus } from './schema.js';

const specOf = (object: ApiObject) => object['spec'] as IngressSpec;

export const ingressColumns: readonly Column[] = [
  nameColumn,
  textColumn(
    'Class',
    'The name of the IngressClass resource that should be used for additional configuration',
    (object) => specOf(object).ingressClassName ?? NONE,
  ),
  textColumn('Hosts', 'Hosts that incoming requests are matched against before the ingress rule', hosts),
  textColumn('Address', 'Address is a list containing ingress points for the load-balancer', (object) =>
    addresses((object['status'] as IngressStatus).loadBalancer.ingress ?? []),
  ),
  textColumn('Ports', 'Ports of TLS configurations that open', (object) =>
    specOf(object).tls?.length ? '80, 443' : '80',
  ),
  ageColumn,
];

const MOST_HOSTS = 3;

function hosts(object: ApiObject): string {
  const rules = specOf(object).rules ?? [];
  const shown: string[] = [];
  for (const { host = '' } of rules) {
    if (shown.length === MOST_HOSTS) return `${shown.join(',')} + ${rules.length - MOST_HOSTS} more...`;
    if (host !== '') shown.push(host);
  }
  return shown.length === 0 ? '*' : shown.join(',');
}

/** Every address once, in order; a name only where there is no address. */
export function addresses(points: readonly { readonly ip?: string; readonly hostname?: string }[]): string {
  const found = points.map(({ ip = '', hostname = '' }) => ip || hostname).filter((text) => text !== '');
  return [...new Set(found)].sort().join(',');
}
