/**
 * The endpoints of the control plane's Service: the addresses on which the API server listens.
 * upstream: pkg/controlplane/reconcilers/endpointsadapter.go
 */
import { parseIpSloppy } from '../../../meta/ip.js';
import type { EndpointSubset } from '../../generated/core-v1.js';
import type { Endpoint, EndpointSlicePort } from '../../generated/discovery-v1.js';
import type { ServerListener } from '../../reconciler.js';

/** The made-up address of a cluster that does not listen, from a range that is reserved for documentation (RFC 5737). */
export const IN_PROCESS = { address: '192.0.2.1', port: 6443 } as const satisfies ServerListener;

/** The subsets of the Endpoints; none without addresses, or if no port is known. */
export function subsetsOf(listeners: readonly ServerListener[]): EndpointSubset[] {
  const ports = portsOf(listeners);
  if (ports === undefined) return [];
  return [{ addresses: addressesOf(listeners), ports }];
}

export function addressesOf(listeners: readonly ServerListener[]): NonNullable<EndpointSubset['addresses']> {
  const ips = [...new Set(listeners.map(({ address }) => address))].sort(byBytes);
  return ips.map((ip) => ({ ip }));
}

/** As the reference server, the Endpoints have the port of one of the servers. */
export function portsOf(listeners: readonly ServerListener[]): EndpointSubset['ports'] {
  const port = listeners.find((listener) => listener.port !== undefined)?.port;
  return port === undefined ? undefined : [{ name: 'https', port, protocol: 'TCP' }];
}

function byBytes(left: string, right: string): number {
  const [one, other] = [parseIpSloppy(left)?.value ?? 0n, parseIpSloppy(right)?.value ?? 0n];
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** What an EndpointSlice says. */
export interface SliceContent {
  readonly addressType: 'IPv4' | 'IPv6';
  readonly endpoints: readonly Endpoint[];
  readonly ports: readonly EndpointSlicePort[];
}

/** The EndpointSlice of Endpoints with at most one subset. Addresses of the other family are omitted. */
export function sliceOf([subset]: readonly EndpointSubset[]): SliceContent {
  const { addresses = [], notReadyAddresses = [], ports = [] } = subset ?? {};
  const all = [...addresses, ...notReadyAddresses];
  const addressType = all.length > 0 && all.every(({ ip }) => isIPv6(ip)) ? 'IPv6' : 'IPv4';
  const endpoints = (list: typeof addresses, ready: boolean): Endpoint[] =>
    list
      .filter(({ ip }) => isIPv6(ip) === (addressType === 'IPv6'))
      .map(({ ip, targetRef, nodeName }) => ({
        addresses: [ip],
        conditions: { ready },
        ...(targetRef === undefined ? {} : { targetRef }),
        ...(nodeName === undefined ? {} : { nodeName }),
      }));
  return {
    addressType,
    endpoints: [...endpoints(addresses, true), ...endpoints(notReadyAddresses, false)],
    ports: ports.map(({ name = '', protocol, port }) => ({ name, protocol, port })),
  };
}

function isIPv6(ip: string): boolean {
  return parseIpSloppy(ip)?.family === 'IPv6';
}
