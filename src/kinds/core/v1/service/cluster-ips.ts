/**
 * The allocator of cluster IPs.
 *
 * An address is taken if a Service has it or if an IPAddress object of its name exists. Both are checked, because the
 * cluster may not serve IPAddress, or may have started to serve it after Services were created.
 */

import { type Dialect, serviceGroup } from '../../../../meta/dialect.js';
import { errors } from '../../../../meta/errors.js';
import { invalid, required } from '../../../../meta/field-error.js';
import type { GroupResource } from '../../../../meta/gvk.js';
import {
  type Cidr,
  cidrSize,
  contains,
  type Ip,
  type IpFamily,
  parseCidrSloppy,
  parseIpSloppy,
  printCidr,
  printIp,
} from '../../../../meta/ip.js';
import { pathSegmentProblems } from '../../../../meta/names.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import type { ServiceSpec } from '../../../generated/core-v1.js';
import type { StrategyContext } from '../../../kind.js';
import type { ObjectAddress, Objects } from '../../../objects.js';
import { DEFAULT_SETTINGS } from '../../../shared/cluster-settings.js';
import { addressLabels, SERVICES } from '../../../shared/control-plane/initial-objects.js';
import { HEADLESS } from './needs.js';

const IP_ADDRESSES: GroupResource = { group: serviceGroup('networking'), resource: 'ipaddresses' };
const SERVICE_CIDRS: GroupResource = { group: serviceGroup('networking'), resource: 'servicecidrs' };

/** The message about an address that cannot be allocated. */
export type Refusal = string;

/** Only `allocate` and `release` change objects. */
export interface ClusterIPAllocator {
  /** Why this address cannot be allocated for a Service of this name; undefined if it can. */
  refusal(address: string, owner: string): Refusal | undefined;
  /** A free address; undefined if all ranges of the family are full. */
  findFree(family: IpFamily): string | undefined;
  /** Creates the IPAddress object with the Service as parent. */
  allocate(address: string, owner: { readonly namespace?: string | undefined; readonly name: string }): void;
  release(address: string): void;
}

/** The allocator for one write; that of a dry run changes nothing. */
export function clusterIPAllocator(context: StrategyContext): ClusterIPAllocator {
  return context.dryRun ? dryRunAllocator(context) : objectAllocator(context);
}

/**
 * In a dry run nothing is allocated. As in the reference server, only the first range is checked, and the chosen address
 * is that of the network.
 */
function dryRunAllocator(context: StrategyContext): ClusterIPAllocator {
  const ranges = rangesOf(context);
  const firstOf = (family: IpFamily | undefined) => ranges.find(({ network }) => network.family === family);
  return {
    refusal(address) {
      const ip = parseIpSloppy(address);
      const range = firstOf(ip?.family);
      if (ip === undefined || range === undefined) return NO_RANGE;
      return isUsable(range, ip) ? undefined : outOfRange(range, ip);
    },
    findFree(family) {
      const range = firstOf(family);
      return range === undefined ? undefined : printIp(range.network);
    },
    allocate: () => undefined,
    release: () => undefined,
  };
}

const NO_RANGE: Refusal = 'the provided network does not match the current range';

function outOfRange(range: Cidr, ip: Ip): Refusal {
  const address = printIp(ip);
  return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${printCidr(range)}`;
}

function objectAllocator(context: StrategyContext): ClusterIPAllocator {
  const { objects, dialect } = context;
  const hasObjects = objects.stores(IP_ADDRESSES);
  const isTaken = takenIn(objects);
  const ranges = rangesOf(context);
  return {
    refusal(address, owner) {
      const ip = parseIpSloppy(address);
      const range = ip === undefined ? undefined : ranges.find((candidate) => contains(candidate, ip));
      if (ip === undefined || range === undefined) return NO_RANGE;
      if (!isUsable(range, ip)) return outOfRange(range, ip);
      if (isTaken(ip)) return 'provided IP is already allocated';
      return hasObjects ? invalidParent(printIp(ip), owner, dialect) : undefined;
    },
    findFree(family) {
      for (const range of ranges) {
        const found = range.network.family === family ? freeIn(range, isTaken, context) : undefined;
        if (found !== undefined) return printIp(found);
      }
      return undefined;
    },
    allocate(address, owner) {
      if (!hasObjects) return;
      const draft = {
        metadata: {
          labels: addressLabels(parseIpSloppy(address)?.family ?? '', dialect),
        },
        spec: { parentRef: { resource: SERVICES.resource, namespace: owner.namespace, name: owner.name } },
      };
      objects.create(objectOf(address), draft as unknown as DraftObject);
    },
    release(address) {
      if (hasObjects) objects.remove(objectOf(address));
    },
  };
}

/** The message about an IPAddress object whose parent is a Service with an invalid name, which is not validated yet. */
function invalidParent(address: string, owner: string, dialect: Dialect): Refusal | undefined {
  const field = 'spec.parentRef.name';
  const problems =
    owner === '' ? [required(field)] : pathSegmentProblems(owner).map((detail) => invalid(field, owner, detail));
  const groupKind = { group: dialect.group(IP_ADDRESSES.group), kind: 'IPAddress' };
  return problems.length === 0 ? undefined : errors.invalid(groupKind, address, problems).message;
}

/** The cluster IPs that a Service has allocated. */
export function addressesOf({ type, clusterIPs: addresses = [] }: ServiceSpec): readonly string[] {
  return type === 'ExternalName' ? [] : addresses.filter((address) => address !== HEADLESS);
}

function objectOf(address: string): ObjectAddress {
  const ip = parseIpSloppy(address);
  return { ...IP_ADDRESSES, namespace: '', name: ip === undefined ? address : printIp(ip) };
}

type IsTaken = (address: Ip) => boolean;

function takenIn(objects: Objects): IsTaken {
  const byServices = objects.index(SERVICES, serviceAddresses);
  const byObjects = objects.index(IP_ADDRESSES, namedAddress);
  return (address) => {
    const key = keyOf(address);
    return byServices.has(key) || byObjects.has(key);
  };
}

const serviceAddresses = (service: ApiObject): AddressKey[] => keysOf(addressesOf(service['spec'] as ServiceSpec));
const namedAddress = ({ metadata }: ApiObject): AddressKey[] => keysOf([metadata.name]);

/** IPv4 addresses as numbers, which are compared faster; IPv6 addresses need more bits. */
type AddressKey = number | bigint;

function keyOf({ family, value }: Ip): AddressKey {
  return family === 'IPv4' ? Number(value) : value;
}

function keysOf(addresses: readonly string[]): AddressKey[] {
  return addresses.flatMap((address) => {
    const ip = parseIpSloppy(address);
    return ip === undefined ? [] : [keyOf(ip)];
  });
}

interface Range {
  readonly spec: { readonly cidrs?: readonly string[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The configured ranges, followed by the ServiceCIDR objects that are ready and not being deleted. */
function rangesOf({ objects, settings = DEFAULT_SETTINGS }: StrategyContext): Cidr[] {
  const texts = new Set(settings.serviceCidrs);
  for (const object of objects.list(SERVICE_CIDRS)) {
    const { spec, status } = object as ApiObject & Range;
    const ready = (status.conditions ?? []).find(({ type }) => type === 'Ready')?.status ?? 'True';
    if (ready !== 'True' || object.metadata.deletionTimestamp !== undefined) continue;
    for (const cidr of spec.cidrs ?? []) texts.add(cidr);
  }
  const ranges = [...texts].flatMap((text) => parseCidrSloppy(text) ?? []);
  return ranges.filter(({ network }) => settings.serviceFamilies.includes(network.family));
}

/** Excludes the network address and, for IPv4, the broadcast address. */
function isUsable(range: Cidr, ip: Ip): boolean {
  const index = ip.value - range.network.value;
  return index > 0n && index <= usableIn(range);
}

/** The number of addresses that can be allocated. */
function usableIn(range: Cidr): bigint {
  return cidrSize(range) - (range.network.family === 'IPv4' ? 2n : 1n);
}

/** Ranges of IPv6 may have more addresses than a number can count; allocation uses this many. */
const MAX_CHOICES = 2 ** 52;

/**
 * Chooses an address from the upper part of a range, starting at a random position. The lower part is reserved for
 * addresses that clients request, and used when the upper part is full.
 */
function freeIn(range: Cidr, isTaken: IsTaken, { random }: StrategyContext): Ip | undefined {
  const { network } = range;
  const choices = Math.min(Number(usableIn(range)), MAX_CHOICES);
  const reserved = reservedOf(choices);
  const at = (index: number): Ip => ({ ...network, value: network.value + BigInt(index) });
  const isTakenAt = (index: number): boolean => isTaken(at(index));
  // The index 0 is the network address.
  const found =
    findFreeNumber({ first: 1 + reserved, size: choices - reserved }, isTakenAt, random) ??
    findFreeNumber({ first: 1, size: reserved }, isTakenAt, random);
  return found === undefined ? undefined : at(found);
}

/** The size of the reserved part: a sixteenth, at least 16 and at most 256. Ranges of up to 16 addresses reserve none. */
function reservedOf(usable: number): number {
  if (usable <= 16) return 0;
  return Math.min(Math.max(16, Math.floor(usable / 16)), 256);
}

interface NumberRange {
  readonly first: number;
  /** A range with a size of 0 or less is empty. */
  readonly size: number;
}

/**
 * Finds a free number. Starts at a random position and tries every number once; returns undefined if all are taken.
 * The search advances by a random stride that is coprime to the size. Steps of one would lengthen runs of taken numbers,
 * which later searches have to cross.
 */
export function findFreeNumber(
  { first, size }: NumberRange,
  isTaken: (value: number) => boolean,
  random: () => number,
): number | undefined {
  if (size <= 0) return undefined;
  let position = Math.floor(random() * size);
  if (!isTaken(first + position)) return first + position;
  const stride = coprimeStride(size, random);
  for (let tried = 1; tried < size; tried++) {
    position = (position + stride) % size;
    if (!isTaken(first + position)) return first + position;
  }
  return undefined;
}

/** A random stride that is coprime to the size, so that it reaches all positions. */
function coprimeStride(size: number, random: () => number): number {
  let stride = 1 + Math.floor(random() * (size - 1));
  while (greatestCommonDivisor(stride, size) !== 1) stride = (stride % size) + 1;
  return stride;
}

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right);
}
