/**
 * Builds canonical subsets: addresses with the same ports are grouped, ports with the same addresses are merged, and everything
 * is sorted.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../kinds/core/v1/endpoints.js';
import type { DeepReadonly } from '../../meta/object.js';
import { encodeSorted } from '../../util/json.js';
import { compareText } from '../../util/order.js';
import { sortSubsetPorts } from './port-order.js';

export type Address = DeepReadonly<EndpointAddress>;
export type Port = DeepReadonly<EndpointPort>;
export type Subset = DeepReadonly<EndpointSubset>;

/** An address with one port; without ports the address alone. */
export interface AddressWithPort {
  readonly address: Address;
  readonly port: Port | undefined;
  readonly isReady: boolean;
}

/**
 * Builds subsets. An address that is both ready and not ready at the same port counts as not ready.
 *
 * a:80, b:80 and a:81 become two subsets, { a b, port 80 } and { a, port 81 }; with b:81 as well they are one,
 * { a b, ports 80 81 }.
 */
export function subsetsOf(addresses: Iterable<AddressWithPort>): Subset[] {
  const byPort = new Map<string, { readonly port: Port | undefined; readonly at: Map<string, Readiness> }>();
  for (const { address, port, isReady } of addresses) {
    const portKey = port === undefined ? '' : `${port.name}\n${port.port}\n${port.protocol}\n${port.appProtocol}`;
    const group = byPort.get(portKey) ?? { port, at: new Map<string, Readiness>() };
    byPort.set(portKey, group);
    const key = addressKey(address);
    const known = group.at.get(key);
    if (known === undefined) group.at.set(key, { address, isReady });
    else if (known.isReady) known.isReady = isReady;
  }
  const byAddresses = new Map<string, { readonly ports: Port[]; readonly entries: readonly Readiness[] }>();
  for (const { port, at } of byPort.values()) {
    const entries = [...at.values()].sort((a, b) => compareAddresses(a.address, b.address));
    const key = entries.map(({ address, isReady }) => `${addressKey(address)}\n${isReady}`).join('\n\n');
    const known = byAddresses.get(key);
    if (known === undefined) byAddresses.set(key, { ports: port === undefined ? [] : [port], entries });
    else if (port !== undefined) known.ports.push(port);
  }
  return [...byAddresses.values()].map(toSubset).sort(compareSubsets);
}

/** The addresses of subsets, each combined with each port. */
export function* addressesIn(subsets: readonly Subset[]): Iterable<AddressWithPort> {
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length === 0 ? [undefined] : ports) {
      for (const address of addresses) yield { address, port, isReady: true };
      for (const address of notReadyAddresses) yield { address, port, isReady: false };
    }
  }
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

/** The reference server sorts subsets by hashes that depend on uids; any stable order will do. */
function compareSubsets(a: Subset, b: Subset): number {
  return compareText(encodeSorted(a), encodeSorted(b));
}
