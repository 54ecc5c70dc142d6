/**
 * Subsets in their one form: addresses with the same ports together, ports with the same addresses together, everything
 * in order.
 */
import type { EndpointAddress, EndpointPort, EndpointSubset } from '../../kinds/core/v1/endpoints.js';
import type { DeepReadonly } from '../../meta/object.js';
import { encodeSorted } from '../../util/json.js';
import { compareText } from '../../util/order.js';
import { sortSubsetPorts } from './port-order.js';

export type Address = DeepReadonly<EndpointAddress>;
export type Port = DeepReadonly<EndpointPort>;
export type Subset = DeepReadonly<EndpointSubset>;

/** An address at one port; without ports the address alone. */
export interface Placed {
  readonly address: Address;
  readonly port: Port | undefined;
  readonly isReady: boolean;
}

/**
 * Subsets of addresses at ports. Of an address that is both ready and not at the same port, the latter counts.
 *
 * a:80, b:80 and a:81 become two subsets, { a b, port 80 } and { a, port 81 }; with b:81 as well they are one,
 * { a b, ports 80 81 }.
 */
export function subsetsOf(placed: Iterable<Placed>): Subset[] {
  const byPort = new Map<string, { readonly port: Port | undefined; readonly at: Map<string, Standing> }>();
  for (const { address, port, isReady } of placed) {
    const portKey = port === undefined ? '' : `${port.name}\n${port.port}\n${port.protocol}\n${port.appProtocol}`;
    const group = byPort.get(portKey) ?? { port, at: new Map<string, Standing>() };
    byPort.set(portKey, group);
    const key = addressKey(address);
    const known = group.at.get(key);
    if (known === undefined) group.at.set(key, { address, isReady });
    else if (known.isReady) known.isReady = isReady;
  }
  const byAddresses = new Map<string, { readonly ports: Port[]; readonly standings: readonly Standing[] }>();
  for (const { port, at } of byPort.values()) {
    const standings = [...at.values()].sort((a, b) => compareAddresses(a.address, b.address));
    const key = standings.map(({ address, isReady }) => `${addressKey(address)}\n${isReady}`).join('\n\n');
    const known = byAddresses.get(key);
    if (known === undefined) byAddresses.set(key, { ports: port === undefined ? [] : [port], standings });
    else if (port !== undefined) known.ports.push(port);
  }
  return [...byAddresses.values()].map(toSubset).sort(compareSubsets);
}

/** The addresses of subsets, each at each port. */
export function* placedIn(subsets: readonly Subset[]): Iterable<Placed> {
  for (const { addresses = [], notReadyAddresses = [], ports = [] } of subsets) {
    for (const port of ports.length === 0 ? [undefined] : ports) {
      for (const address of addresses) yield { address, port, isReady: true };
      for (const address of notReadyAddresses) yield { address, port, isReady: false };
    }
  }
}

interface Standing {
  readonly address: Address;
  isReady: boolean;
}

function toSubset({ ports, standings }: { ports: readonly Port[]; standings: readonly Standing[] }): Subset {
  const addresses = standings.filter(({ isReady }) => isReady).map(({ address }) => address);
  const notReadyAddresses = standings.filter(({ isReady }) => !isReady).map(({ address }) => address);
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

/** The reference orders subsets by hashes that hang on uids; any order that stays the same will do. */
function compareSubsets(a: Subset, b: Subset): number {
  return compareText(encodeSorted(a), encodeSorted(b));
}
