/**
 * Pure functions on ServiceCIDRs: which ranges contain an address or another range.
 */

import type { ObjectOf } from '../../kinds/kind.js';
import type { ServiceCIDR } from '../../kinds/networking/v1/service-cidr.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { type Cidr, cidrSize, contains, type Ip, parseCidrSloppy, parseIpSloppy } from '../../meta/ip.js';
import type { Labels } from '../../meta/labels.js';

export type StoredRange = ObjectOf<typeof ServiceCIDR>;

/** The ranges that contain the address. */
export function rangesAround(ranges: readonly StoredRange[], address: string): readonly StoredRange[] {
  const ip = parseIpSloppy(address);
  return ip === undefined ? [] : ranges.filter((range) => cidrsOf(range).some((cidr) => contains(cidr, ip)));
}

/** Whether each CIDR of a range is inside another range. */
export function isCovered(range: StoredRange, ranges: readonly StoredRange[]): boolean {
  return cidrsOf(range).every((cidr) =>
    ranges.some(
      (other) => other.metadata.name !== range.metadata.name && cidrsOf(other).some((outer) => isWithin(cidr, outer)),
    ),
  );
}

function isWithin(cidr: Cidr, outer: Cidr): boolean {
  const last: Ip = { ...cidr.network, value: cidr.network.value + cidrSize(cidr) - 1n };
  return contains(outer, cidr.network) && contains(outer, last);
}

function cidrsOf({ spec }: StoredRange): readonly Cidr[] {
  return (spec.cidrs ?? []).flatMap((text) => parseCidrSloppy(text) ?? []);
}

/** The labels of an IPAddress that is allocated to a Service. */
export function addressLabels(address: string, dialect: Dialect): Labels {
  return {
    [dialect.subkey('ipaddress', 'ip-family')]: parseIpSloppy(address)?.family ?? '',
    [dialect.subkey('ipaddress', 'managed-by')]: allocator(dialect),
  };
}

/** Whether the server allocated the address. */
export function isAllocated(labels: Labels | undefined, dialect: Dialect): boolean {
  return labels?.[dialect.subkey('ipaddress', 'managed-by')] === allocator(dialect);
}

function allocator(dialect: Dialect): string {
  return dialect.group(serviceGroup('ipallocator'));
}
