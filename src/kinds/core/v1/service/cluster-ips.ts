/**
 * Cluster addresses: which ranges there are, which addresses of them are taken, and one that is free.
 *
 * An address is taken when a Service has it, and, where the cluster serves IPAddress, when there is an object of its
 * name. Neither is enough alone: the objects may have come to the cluster after the Services.
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
import type { StrategyContext } from '../../../kind.js';
import type { ObjectAddress, Objects } from '../../../objects.js';
import { DEFAULT_SERVICE_CIDR } from '../../../shared/service-cidr.js';
import { HEADLESS } from './needs.js';
import type { ServiceSpec } from './schema.js';

export const SERVICES: GroupResource = { group: '', resource: 'services' };
const IP_ADDRESSES: GroupResource = { group: serviceGroup('networking'), resource: 'ipaddresses' };
const SERVICE_CIDRS: GroupResource = { group: serviceGroup('networking'), resource: 'servicecidrs' };

/** Says why an address cannot be had. */
export type Refusal = string;

/** The addresses of one moment. It changes nothing until `take` or `giveBack` is called. */
export interface ClusterIPAllocator {
  /** Why this address cannot be had; undefined when it can. */
  refusal(address: string): Refusal | undefined;
  /** A free address, in the text it is stored in; undefined when there is none. */
  findFree(): string | undefined;
  /** Makes it the Service's. */
  allocate(address: string, owner: { readonly namespace?: string | undefined; readonly name: string }): void;
  release(address: string): void;
}

export function clusterIPAllocator(context: StrategyContext): ClusterIPAllocator {
  return context.dryRun ? triedIPs(context) : realIPs(context);
}

/** A dry run takes nothing and looks for nothing: it asks one range alone, and shows the address of the network itself. */
function triedIPs(context: StrategyContext): ClusterIPAllocator {
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
  const shown = printIp(ip);
  return `the provided IP (${shown}) is not in the valid range. The range of valid IPs is ${printCidr(range)}`;
}

function realIPs(context: StrategyContext): ClusterIPAllocator {
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
          labels: {
            [dialect.subkey('ipaddress', 'ip-family')]: parseIpSloppy(address)?.family ?? '',
            [dialect.subkey('ipaddress', 'managed-by')]: dialect.group(serviceGroup('ipallocator')),
          },
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

/** The addresses that a Service holds. */
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

/** Addresses as numbers. Those of the other family are left out: no range has any. */
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

/** The one from the beginning first. A range that is leaving, or said not to be ready, gives no addresses. */
function rangesOf({ objects }: StrategyContext): Cidr[] {
  const texts = new Set([DEFAULT_SERVICE_CIDR]);
  for (const object of objects.list(SERVICE_CIDRS)) {
    const { spec, status } = object as unknown as Range;
    const ready = (status.conditions ?? []).find(({ type }) => type === 'Ready')?.status ?? 'True';
    if (ready !== 'True' || object.metadata.deletionTimestamp !== undefined) continue;
    for (const cidr of spec.cidrs ?? []) texts.add(cidr);
  }
  const ranges = [...texts].flatMap((text) => parseCidrSloppy(text) ?? []);
  return ranges.filter(({ network }) => network.family === 'IPv4');
}

/** The first address is the network's own, and the last one reaches everybody. */
function isUsable(range: Cidr, ip: Ip): boolean {
  const index = ip.value - range.network.value;
  return index > 0n && index < cidrSize(range) - 1n;
}

/**
 * Addresses are given from the upper part of a range in random order of beginning, so that those at its start stay
 * free for people who name one; when the upper part is full, from the lower one.
 */
function freeIn(range: Cidr, isTaken: IsTaken, { random }: StrategyContext): number | undefined {
  const usable = Number(cidrSize(range)) - 2;
  const reserved = reservedOf(usable);
  // The first address is the network's own.
  const first = Number(range.network.value) + 1;
  return (
    findFreeNumber({ first: first + reserved, size: usable - reserved }, isTaken, random) ??
    findFreeNumber({ first, size: reserved }, isTaken, random)
  );
}

/** A sixteenth, but at least 16 and at most 256; ranges too small for that reserve nothing. */
function reservedOf(usable: number): number {
  if (usable <= 16) return 0;
  return Math.min(Math.max(16, Math.floor(usable / 16)), 256);
}

/**
 * A free number of a range: addresses and ports are picked alike.
 */

interface NumberRange {
  readonly first: number;
  /** None when it is not above zero. */
  readonly size: number;
}

/**
 * Begins anywhere and tries every number once, so that the last free one is found as well; undefined when there is none.
 * It goes on by strides that come to all numbers of the range. By ones it would lengthen every run of taken numbers
 * that it comes across, and cross it again the next time.
 */
export function findFreeNumber(
  { first, size }: NumberRange,
  isTaken: (value: number) => boolean,
  random: () => number,
): number | undefined {
  if (size <= 0) return undefined;
  let place = Math.floor(random() * size);
  if (!isTaken(first + place)) return first + place;
  const stride = strideOf(size, random);
  for (let tried = 1; tried < size; tried++) {
    place = (place + stride) % size;
    if (!isTaken(first + place)) return first + place;
  }
  return undefined;
}

/** Any stride without a common divisor with the size: it comes back to where it began only after all others. */
function strideOf(size: number, random: () => number): number {
  let stride = 1 + Math.floor(random() * (size - 1));
  while (divisorOf(stride, size) !== 1) stride = (stride % size) + 1;
  return stride;
}

function divisorOf(left: number, right: number): number {
  return right === 0 ? left : divisorOf(right, left % right);
}
