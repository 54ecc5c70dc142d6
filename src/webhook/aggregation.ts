/**
 * Connects to the servers of aggregated API versions: a function of this process, a configured address, or an endpoint of
 * the Service.
 */
import type {
  AggregatedApi,
  AggregatedHandler,
  AggregatedTarget,
  Aggregation,
} from '../kinds/apiregistration/reach.js';
import { joinHostPort } from '../meta/ip.js';
import { type Backend, canConnectToAddresses, joinsHeaders, sendToBackend } from './connection.js';
import { resolveService, type ServiceView, serviceHost } from './service-address.js';

/** A resolved target. */
export interface AggregationTarget {
  /** The base URL without a trailing slash. */
  readonly address: string;
  /** The target is reached over a network and may be unavailable. */
  readonly isRemote: boolean;
  /** Headers of one name are joined by a comma and a space on the way. */
  readonly joinsHeaders: boolean;
  /** Sends a request; `url` starts with the address. Rejects if there is no response, and with UnreadableBundle. */
  send(url: string, init: RequestInit): Promise<Response>;
}

/** Resolves the target of an aggregated API. Throws UnresolvedService if its Service has no address. */
export function resolveAggregation(
  aggregation: Aggregation | undefined,
  api: AggregatedApi,
  view: ServiceView,
): AggregationTarget {
  const target = targetOf(aggregation, api);
  if (typeof target === 'function') return functionTarget(target, api);
  const { caBundle, insecureSkipTLSVerify, service } = api;
  const backend: Backend = { caBundle, insecureSkipTLSVerify, serverName: serviceHost(service) };
  if (target !== undefined) return remoteTarget(target, backend);
  if (!canConnectToAddresses(view)) return remoteTarget(dnsAddress(api), backend);
  const address = resolveService(service, view);
  return remoteTarget(`https://${joinHostPort(address)}`, { ...backend, address });
}

function remoteTarget(address: string, backend: Backend): AggregationTarget {
  return {
    address: address.endsWith('/') ? address.slice(0, -1) : address,
    isRemote: true,
    joinsHeaders: joinsHeaders(address, backend),
    send: (url, init) => sendToBackend(url, { ...init, redirect: 'manual' }, backend),
  };
}

function functionTarget(handler: AggregatedHandler, api: AggregatedApi): AggregationTarget {
  return {
    address: dnsAddress(api),
    isRemote: false,
    joinsHeaders: true,
    send: async (url, init) => {
      const response = await handler(new Request(url, init));
      if (!(response instanceof Response)) throw new TypeError(`the handler of ${api.name} returned no Response`);
      return response;
    },
  };
}

function dnsAddress({ service }: AggregatedApi): string {
  return `https://${serviceHost(service)}:${service.port}`;
}

function targetOf(aggregation: Aggregation | undefined, api: AggregatedApi): AggregatedTarget | undefined {
  if (typeof aggregation === 'function') return aggregation(api);
  return aggregation !== undefined && Object.hasOwn(aggregation, api.name) ? aggregation[api.name] : undefined;
}
