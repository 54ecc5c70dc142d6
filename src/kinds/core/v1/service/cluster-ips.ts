/**
 * The allocator of cluster IPs.
 *
 * An address is taken if a Service has it or if an IPAddress object of its name exists. Both are checked, because the
 * cluster may not serve IPAddress, or may have started to serve it after Services were created.
 */

import { serviceGroup } from '../../../../meta/dialect.js';
import type { GroupResource } from '../../../../meta/gvk.js';
import {
  type Cidr,
  cidrSize,
  contains,
  type Ip,
  parseCidrSloppy,
  parseIpSloppy,
  printCidr,
  printIp,
} from '../../../../meta/ip.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import type { ServiceSpec } from '../../../generated/core-v1.js';
import type { StrategyContext } from '../../../kind.js';
import type { ObjectAddress, Objects } from '../../../objects.js';
import { addressLabels, SERVICES } from '../../../shared/control-plane/initial-objects.js';
import { DEFAULT_SERVICE_CIDR } from '../../../shared/service-cidr.js';
import { HEADLESS } from './needs.js';

const IP_ADDRESSES: GroupResource = { group: serviceGroup('networking'), resource: 'ipaddresses' };
const SERVICE_CIDRS: GroupResource = { group: serviceGroup('networking'), resource: 'servicecidrs' };

/** The message about an address that cannot be allocated. */
export type Refusal = string;

/** Only `allocate` and `release` change objects. */
export interface ClusterIPAllocator {
  /** Why this address cannot be allocated; undefined if it can. */
  refusal(address: string): Refusal | undefined;
  /** A free address; undefined if all ranges are full. */
  findFree(): string | undefined;
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
  const [range] = rangesOf(context);
  return {
    refusal(address) {
      const ip = parseIpSloppy(address);
      if (ip === undefined || range === undefined) return NO_RANGE;
      return isUsable(range, ip) ? undefined : outOfRange(range, ip);
    },
    findFree: () => (range === undefined ? undefined : printIp(range.network)),
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
  const hasObjects = objects.serves(IP_ADDRESSES);
  const isTaken = takenIn(objects);
  const ranges = rangesOf(context);
  return {
    refusal(address) {
      const ip = parseIpSloppy(address);
      const range = ip === undefined ? undefined : ranges.find((candidate) => contains(candidate, ip));
      if (ip === undefined || range === undefined) return NO_RANGE;
      if (!isUsable(range, ip)) return outOfRange(range, ip);
      return isTaken(Number(ip.value)) ? 'provided IP is already allocated' : undefined;
    },
    findFree() {
      for (const range of ranges) {
        const found = freeIn(range, isTaken, context);
        if (found !== undefined) return printIp({ family: 'IPv4', value: BigInt(found), mapped: false });
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

/** The cluster IPs that a Service has allocated. */
export function addressesOf({ type, clusterIPs: addresses = [] }: ServiceSpec): readonly string[] {
  return type === 'ExternalName' ? [] : addresses.filter((address) => address !== HEADLESS);
}

function objectOf(address: string): ObjectAddress {
  const ip = parseIpSloppy(address);
  return { ...IP_ADDRESSES, namespace: '', name: ip === undefined ? address : printIp(ip) };
}

type IsTaken = (address: number) => boolean;

function takenIn(objects: Objects): IsTaken {
  const byServices = objects.index(SERVICES, serviceAddresses);
  const byObjects = objects.index(IP_ADDRESSES, namedAddress);
  return (address) => byServices.has(address) || byObjects.has(address);
}

const serviceAddresses = (service: ApiObject): number[] => numbersOf(addressesOf(service['spec'] as ServiceSpec));
const namedAddress = ({ metadata }: ApiObject): number[] => numbersOf([metadata.name]);

/** IPv4 addresses as numbers. IPv6 addresses are omitted, because no range contains them. */
function numbersOf(addresses: readonly string[]): number[] {
  return addresses.flatMap((address) => {
    const ip = parseIpSloppy(address);
    return ip?.family === 'IPv4' ? [Number(ip.value)] : [];
  });
}

interface Range {
  readonly spec: { readonly cidrs?: readonly string[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The default range, followed by the ServiceCIDR objects that are ready and not being deleted. */
function rangesOf({ objects }: StrategyContext): Cidr[] {
  const texts = new Set([DEFAULT_SERVICE_CIDR]);
  for (const object of objects.list(SERVICE_CIDRS)) {
    const { spec, status } = object as ApiObject & Range;
    const ready = (status.conditions ?? []).find(({ type }) => type === 'Ready')?.status ?? 'True';
    if (ready !== 'True' || object.metadata.deletionTimestamp !== undefined) continue;
    for (const cidr of spec.cidrs ?? []) texts.add(cidr);
  }
  const ranges = [...texts].flatMap((text) => parseCidrSloppy(text) ?? []);
  return ranges.filter(({ network }) => network.family === 'IPv4');
}

/** Excludes the network address and the broadcast address. */
function isUsable(range: Cidr, ip: Ip): boolean {
  const index = ip.value - range.network.value;
  return index > 0n && index < cidrSize(range) - 1n;
}

/**
 * Chooses an address from the upper part of a range, starting at a random position. The lower part is reserved for
 * addresses that clients request, and used when the upper part is full.
 */
function freeIn(range: Cidr, isTaken: IsTaken, { random }: StrategyContext): number | undefined {
  const usable = Number(cidrSize(range)) - 2;
  const reserved = reservedOf(usable);
  // Skips the network address.
  const first = Number(range.network.value) + 1;
  return (
    findFreeNumber({ first: first + reserved, size: usable - reserved }, isTaken, random) ??
    findFreeNumber({ first, size: reserved }, isTaken, random)
  );
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
