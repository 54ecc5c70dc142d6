/**
 * Cluster addresses: which ranges there are, which addresses of them are taken, and one that is free.
 *
 * Where the cluster serves IPAddress, an address is taken when there is an object of its name; otherwise the Services
 * themselves say so.
 */

import { serviceGroup } from '../../../../meta/dialect.js';
import type { GroupResource } from '../../../../meta/gvk.js';
import {
  type Cidr,
  cidrSize,
  contains,
  type Ip,
  nthAddress,
  parseCidrSloppy,
  parseIpSloppy,
  printCidr,
  printIp,
} from '../../../../meta/ip.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import type { PowerContext } from '../../../kind.js';
import type { ObjectAddress } from '../../../objects.js';
import { DEFAULT_SERVICE_CIDR } from '../../../shared/service-cidr.js';
import { HEADLESS } from './needs.js';
import type { ServiceSpec } from './schema.js';

export const SERVICES: GroupResource = { group: '', resource: 'services' };
const IP_ADDRESSES: GroupResource = { group: serviceGroup('networking'), resource: 'ipaddresses' };
const SERVICE_CIDRS: GroupResource = { group: serviceGroup('networking'), resource: 'servicecidrs' };

/** Says why an address cannot be had. */
export type Refusal = string;

/** The addresses of one moment. It changes nothing until `take` or `giveBack` is called. */
export interface ClusterIPs {
  /** Why this address cannot be had; undefined when it can. */
  refusal(address: string): Refusal | undefined;
  /** A free address, in the text it is stored in; undefined when there is none. */
  next(): string | undefined;
  /** Makes it the Service's. */
  take(address: string, owner: { readonly namespace: string; readonly name: string }): void;
  giveBack(address: string): void;
}

export function clusterIPs(context: PowerContext): ClusterIPs {
  const { objects, dialect } = context;
  const hasObjects = objects.serves(IP_ADDRESSES);
  const isTaken = hasObjects
    ? (address: string) => objects.get(objectOf(address)) !== undefined
    : takenByServices(objects.list(SERVICES));
  const ranges = rangesOf(context);
  return {
    refusal(address) {
      const ip = parseIpSloppy(address);
      const range = ip === undefined ? undefined : ranges.find((candidate) => contains(candidate, ip));
      if (ip === undefined || range === undefined) return 'the provided network does not match the current range';
      if (!isUsable(range, ip)) {
        const shown = printIp(ip);
        return `the provided IP (${shown}) is not in the valid range. The range of valid IPs is ${printCidr(range)}`;
      }
      return isTaken(printIp(ip)) ? 'provided IP is already allocated' : undefined;
    },
    next() {
      for (const range of ranges) {
        const found = freeIn(range, isTaken, context);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    take(address, owner) {
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
    giveBack(address) {
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

function takenByServices(services: readonly ApiObject[]): (address: string) => boolean {
  const taken = new Set<string>();
  for (const service of services) {
    for (const address of addressesOf(service['spec'] as ServiceSpec)) taken.add(objectOf(address).name);
  }
  return (address) => taken.has(address);
}

interface Range {
  readonly spec: { readonly cidrs?: readonly string[] };
  readonly status: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

/** The one from the beginning first. A range that is leaving, or said not to be ready, gives no addresses. */
function rangesOf({ objects }: PowerContext): Cidr[] {
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
function freeIn(range: Cidr, isTaken: (address: string) => boolean, { random }: PowerContext): string | undefined {
  const usable = Number(cidrSize(range)) - 2;
  const reserved = reservedOf(usable);
  const inPart = (start: number, size: number): string | undefined => {
    const first = Math.floor(random() * size);
    for (let step = 0; step < size; step++) {
      // One is added for the network's own address.
      const ip = nthAddress(range, BigInt(1 + start + ((first + step) % size)));
      const address = ip === undefined ? '' : printIp(ip);
      if (!isTaken(address)) return address;
    }
    return undefined;
  };
  return inPart(reserved, usable - reserved) ?? inPart(0, reserved);
}

/** A sixteenth, but at least 16 and at most 256; ranges too small for that reserve nothing. */
function reservedOf(usable: number): number {
  if (usable <= 16) return 0;
  return Math.min(Math.max(16, Math.floor(usable / 16)), 256);
}
