/**
 * Which ranges of addresses hold an address, or another range.
 */

import type { ObjectOf } from '../../kinds/kind.js';
import type { ServiceCIDR } from '../../kinds/networking/v1/service-cidr.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { type Cidr, cidrSize, contains, type Ip, parseCidrSloppy, parseIpSloppy } from '../../meta/ip.js';
import type { Labels } from '../../meta/labels.js';

export type StoredRange = ObjectOf<typeof ServiceCIDR>;

/** The ranges with this address in them. */
export function rangesAround(ranges: readonly StoredRange[], address: string): readonly StoredRange[] {
  const ip = parseIpSloppy(address);
  return ip === undefined ? [] : ranges.filter((range) => cidrsOf(range).some((cidr) => contains(cidr, ip)));
}

/** Whether each cidr of a range lies within another range. */
export function isCovered(range: StoredRange, ranges: readonly StoredRange[]): boolean {
  return cidrsOf(range).every((cidr) =>
    ranges.some(
      (other) => other.metadata.name !== range.metadata.name && cidrsOf(other).some((by) => isWithin(cidr, by)),
    ),
  );
}

function isWithin(cidr: Cidr, by: Cidr): boolean {
  const last: Ip = { ...cidr.network, value: cidr.network.value + cidrSize(cidr) - 1n };
  return contains(by, cidr.network) && contains(by, last);
}

function cidrsOf({ spec }: StoredRange): readonly Cidr[] {
  return (spec.cidrs ?? []).flatMap((text) => parseCidrSloppy(text) ?? []);
}

/** The labels of an address that was given to a Service. */
export function addressLabels(address: string, dialect: Dialect): Labels {
  return {
    [dialect.subkey('ipaddress', 'ip-family')]: parseIpSloppy(address)?.family ?? '',
    [dialect.subkey('ipaddress', 'managed-by')]: allocator(dialect),
  };
}

/** Whether an address was given by the server, and not written down by somebody else. */
export function isAllocated(labels: Labels | undefined, dialect: Dialect): boolean {
  return labels?.[dialect.subkey('ipaddress', 'managed-by')] === allocator(dialect);
}

function allocator(dialect: Dialect): string {
  return dialect.group(serviceGroup('ipallocator'));
}
