/**
 * Builds canonical subsets of Endpoints: addresses with the same ports are grouped, ports with the same addresses are merged.
 * Ports, also those of EndpointSlices, are sorted by the MD5 of their Go representation, because clients see the reference
 * server's order.
 */

import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../kinds/generated/core-v1.js';
import type { DeepReadonly } from '../../meta/object.js';
import { encodeSorted } from '../../util/json.js';
import { getOrInsertComputed } from '../../util/once.js';
import { byKey, compareText } from '../../util/order.js';

export type Address = DeepReadonly<EndpointAddress>;

type Port = DeepReadonly<EndpointPort>;

export type Subset = DeepReadonly<EndpointSubset>;

/** The most addresses of all subsets together, if subsets of the input share ports. A large object has fewer. */
const MAX_ADDRESSES = 200_000;

export interface RepackedSubsets {
  readonly subsets: readonly Subset[];
  /** The number of ports that are missing because the subsets would have too many addresses together. */
  readonly omittedPorts: number;
}

/**
 * Brings subsets into the canonical form. An address that is both ready and not ready at the same port counts as not ready.
 *
 * a:80, b:80 and a:81 become two subsets, { a b, port 80 } and { a, port 81 }; with b:81 as well they are one,
 * { a b, ports 80 81 }.
 *
 * A port has the addresses of the subsets that list it, so ports that the same subsets list have the same addresses. The work
 * is proportional to the input and the output, not to the product of ports and addresses.
 * upstream: pkg/api/v1/endpoints/util.go RepackSubsets
 */
export function repackSubsets(all: readonly Subset[]): RepackedSubsets {
  const inputs = all.filter((subset) => countAddresses(subset) > 0);
  const byPort = new Map<string, { readonly port: Port | undefined; readonly listedBy: Set<Subset> }>();
  for (const subset of inputs) {
    const { ports = [] } = subset;
    for (const port of ports.length === 0 ? [undefined] : ports) {
      const portKey = port === undefined ? '' : `${port.name}\n${port.port}\n${port.protocol}\n${port.appProtocol}`;
      getOrInsertComputed(byPort, portKey, () => ({ port, listedBy: new Set() })).listedBy.add(subset);
    }
  }
  const groups = new Map<string, { readonly ports: Port[]; readonly listedBy: ReadonlySet<Subset> }>();
  const numbers = new Map(inputs.map((subset, index) => [subset, index]));
  for (const { port, listedBy } of byPort.values()) {
    const key = Array.from(listedBy, (subset) => numbers.get(subset)).join();
    const { ports } = getOrInsertComputed(groups, key, () => ({ ports: [], listedBy }));
    if (port !== undefined) ports.push(port);
  }
  let left = Math.max(MAX_ADDRESSES, sum(inputs));
  let omittedPorts = 0;
  const byAddresses = new Map<string, { readonly ports: Port[]; readonly entries: readonly Readiness[] }>();
  for (const { ports, listedBy } of groups.values()) {
    const size = sum(listedBy);
    if (size > left) {
      omittedPorts += Math.max(ports.length, 1);
      continue;
    }
    left -= size;
    const entries = addressesOf(listedBy);
    const key = entries.map(({ address, isReady }) => `${addressKey(address)}\n${isReady}`).join('\n\n');
    const known = getOrInsertComputed(byAddresses, key, () => ({ ports: [], entries }));
    for (const port of ports) known.ports.push(port);
  }
  // The reference server sorts subsets by hashes that depend on uids; any stable order will do.
  // upstream: pkg/api/v1/endpoints/util.go subsetsByHash
  const subsets = Array.from(byAddresses.values(), toSubset);
  const encoded = subsets.map((subset) => [encodeSorted(subset), subset] as const);
  return { subsets: encoded.sort(byKey).map(([, subset]) => subset), omittedPorts };
}

/** Describes omitted ports, for an event; undefined: none. */
export function omittedPortsText(omittedPorts: number): string | undefined {
  if (omittedPorts === 0) return undefined;
  return `Skipped ${omittedPorts} ports: subsets that share ports can have at most ${MAX_ADDRESSES} addresses together`;
}

function countAddresses({ addresses = [], notReadyAddresses = [] }: Subset): number {
  return addresses.length + notReadyAddresses.length;
}

function sum(subsets: Iterable<Subset>): number {
  let count = 0;
  for (const subset of subsets) count += countAddresses(subset);
  return count;
}

function addressesOf(subsets: Iterable<Subset>): readonly Readiness[] {
  const byAddress = new Map<string, Readiness>();
  const add = (address: Address, isReady: boolean): void => {
    const known = getOrInsertComputed(byAddress, addressKey(address), () => ({ address, isReady }));
    if (known.isReady) known.isReady = isReady;
  };
  for (const { addresses = [], notReadyAddresses = [] } of subsets) {
    for (const address of addresses) add(address, true);
    for (const address of notReadyAddresses) add(address, false);
  }
  return [...byAddress.values()].sort((a, b) => compareAddresses(a.address, b.address));
}

interface Readiness {
  readonly address: Address;
  isReady: boolean;
}

function toSubset({ ports, entries }: { ports: readonly Port[]; entries: readonly Readiness[] }): Subset {
  const addresses = entries.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReadyAddresses = entries.filter(({ isReady }) => !isReady).map(({ address }) => address);
  return {
    ...(addresses.length === 0 ? {} : { addresses }),
    ...(notReadyAddresses.length === 0 ? {} : { notReadyAddresses }),
    ...(ports.length === 0 ? {} : { ports: sortSubsetPorts(ports) }),
  };
}

function addressKey({ ip, targetRef }: Address): string {
  return `${ip}\n${targetRef?.uid ?? ''}`;
}

function compareAddresses(a: Address, b: Address): number {
  return compareText(a.ip, b.ip) || compareText(a.targetRef?.uid ?? '', b.targetRef?.uid ?? '');
}

/**
 * MD5 of a text. Not used for security: ports of endpoints are sorted by these hashes, and clients see that order.
 */

/** The common fields of a port in both kinds. */
export type AnyPort = DeepReadonly<{
  name?: string | undefined;
  port?: number | undefined;
  protocol?: string | undefined;
  appProtocol?: string | undefined;
}>;

const NIL = '<nil>';

export function sortSubsetPorts<Port extends AnyPort>(ports: readonly Port[]): Port[] {
  return sorted(ports, subsetForm);
}

export function sortSlicePorts<Port extends AnyPort>(ports: readonly Port[]): Port[] {
  return sorted(ports, sliceForm);
}

/** A key for a list of ports, independent of their order. */
export function portsKey(ports: readonly AnyPort[]): string {
  return ports.map(sliceForm).sort().join('\n');
}

function sorted<Port extends AnyPort>(ports: readonly Port[], form: (port: AnyPort) => string): Port[] {
  if (ports.length < 2) return [...ports];
  const hashed = ports.map((port) => ({ port, hash: md5(form(port)) }));
  return hashed.sort((a, b) => (a.hash < b.hash ? -1 : a.hash > b.hash ? 1 : 0)).map(({ port }) => port);
}

function subsetForm({ name = '', port = 0, protocol = '', appProtocol = NIL }: AnyPort): string {
  return (
    `(v1.EndpointPort){Name:(string)${name} Port:(int32)${port} ` +
    `Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol}}`
  );
}

function sliceForm({ name, port, protocol, appProtocol }: AnyPort): string {
  return (
    `(v1.EndpointPort){Name:(*string)${name ?? NIL} Protocol:(*v1.Protocol)${protocol ?? NIL} ` +
    `Port:(*int32)${port ?? NIL} AppProtocol:(*string)${appProtocol ?? NIL}}`
  );
}

const SHIFTS = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];

const SINES = Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32) >>> 0);

const BLOCK = 64;

/** Returns 32 lower-case hexadecimal digits. */
export function md5(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / BLOCK) * BLOCK);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(bytes.length) * 8n, true);
  let state: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < padded.length; at += BLOCK) state = withBlock(state, view, at);
  const digest = new DataView(new ArrayBuffer(16));
  for (const [index, word] of state.entries()) digest.setUint32(index * 4, word, true);
  return state
    .map((_, index) =>
      digest
        .getUint32(index * 4)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('');
}

type State = [number, number, number, number];

function withBlock(state: State, view: DataView, start: number): State {
  let [a, b, c, d] = state;
  for (let step = 0; step < 64; step++) {
    const [mixed, word] = mix(step, b, c, d);
    const sum = (a + mixed + (SINES[step] ?? 0) + view.getUint32(start + word * 4, true)) >>> 0;
    const shift = SHIFTS[(step >> 4) * 4 + (step & 3)] ?? 0;
    [a, d, c] = [d, c, b];
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) >>> 0;
  }
  return [(state[0] + a) >>> 0, (state[1] + b) >>> 0, (state[2] + c) >>> 0, (state[3] + d) >>> 0];
}

/** The mixing function of a step, and the index of the word of the block it uses. */
function mix(step: number, b: number, c: number, d: number): readonly [mixed: number, word: number] {
  if (step < 16) return [(b & c) | (~b & d), step];
  if (step < 32) return [(d & b) | (~d & c), (5 * step + 1) % 16];
  if (step < 48) return [b ^ c ^ d, (3 * step + 5) % 16];
  return [c ^ (b | ~d), (7 * step) % 16];
}
