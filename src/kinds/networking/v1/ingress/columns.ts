/**
 * The table columns of Ingresses.
 */
import type { ApiObject } from '../../../../meta/object.js';
import type { Column } from '../../../columns.js';
import type { IngressSpec, IngressStatus } from '../../../generated/networking-v1.js';
import { ageColumn, NONE, nameColumn, textColumn } from '../../../shared/common-columns.js';

const specOf = (object: ApiObject) => object['spec'] as IngressSpec;

/** The columns. */
export const ingressColumns: readonly Column[] = [
  nameColumn,
  textColumn('Class', 'The class that it belongs to.', (object) => specOf(object).ingressClassName ?? NONE),
  textColumn('Hosts', 'The host names that it has rules for.', hosts),
  textColumn('Address', 'Where it can be reached from outside.', (object) =>
    addresses((object['status'] as IngressStatus).loadBalancer.ingress ?? []),
  ),
  textColumn('Ports', 'The ports that it takes requests on.', (object) =>
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

/** The distinct addresses in order; the hostname of an entry without an IP. */
export function addresses(points: readonly { readonly ip?: string; readonly hostname?: string }[]): string {
  const found = points.map(({ ip = '', hostname = '' }) => ip || hostname).filter((text) => text !== '');
  return [...new Set(found)].sort().join(',');
}
