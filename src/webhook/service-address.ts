/**
 * Finds the network address of a Service: one of its endpoints, because nothing routes cluster IPs here.
 * upstream: apiserver/pkg/util/proxy/proxy.go ResolveCluster, ResolveEndpoint
 */

import { ENDPOINTS, SERVICES } from '../kinds/apiregistration/v1/availability.js';
import type { ObjectAddress, ObjectReader } from '../kinds/objects.js';
import { type Dialect, serviceGroup } from '../meta/dialect.js';
import type { RuntimeSlot, ServerAccess, SocketAddress } from '../protocol/connection.js';
import { quote } from '../text/go/go-text.js';
import { isRecord } from '../util/json.js';

/** A Service as a client configuration names it. */
export interface ServiceTarget {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
}

/** Where to open a connection. */
export interface NetworkAddress extends SocketAddress {
  /** How the runtime of the cluster reaches it, if it is an address of a pod. */
  readonly via?: ServerAccess | undefined;
}

/** The objects that an address depends on. */
export interface ServiceView {
  readonly objects: {
    get(address: ObjectAddress): object | undefined;
    list: ObjectReader['list'];
  };
  readonly dialect: Dialect;
  readonly runtimeSlot?: RuntimeSlot | undefined;
}

/** A Service that has no address; the message is the reference server's. */
export class UnresolvedService extends Error {
  override readonly name = 'UnresolvedService';
}

/** The DNS name of a Service, which its certificate must contain. */
export function serviceHost({ namespace, name }: Pick<ServiceTarget, 'namespace' | 'name'>): string {
  return `${name}.${namespace}.svc`;
}

/** The spec of a Service that the reference server could route to. Throws {@link UnresolvedService}. */
export function routableSpec(
  { namespace, name, port }: ServiceTarget,
  { objects }: Pick<ServiceView, 'objects'>,
): Readonly<Record<string, unknown>> {
  const service = objects.get({ ...SERVICES, namespace, name });
  if (service === undefined) throw new UnresolvedService(`service ${quote(name)} not found`);
  const spec = isRecord(service) && isRecord(service['spec']) ? service['spec'] : {};
  if (spec['type'] === 'ExternalName') return spec;
  if (spec['clusterIP'] === 'None') throw new UnresolvedService('cannot route to service with ClusterIP "None"');
  if (listOf(spec['ports']).some((item) => item['port'] === port)) return spec;
  throw new UnresolvedService(`no service port ${port} found for service ${quote(name)}`);
}

/** The address of the first ready endpoint, or the external name. Throws {@link UnresolvedService}. */
export function resolveService(target: ServiceTarget, view: ServiceView): NetworkAddress {
  const address = addressOfService(target, view);
  return { ...address, via: view.runtimeSlot?.runtime?.serverAt?.(address) };
}

function addressOfService(target: ServiceTarget, view: ServiceView): SocketAddress {
  const spec = routableSpec(target, view);
  if (spec['type'] === 'ExternalName') return { host: String(spec['externalName']), port: target.port };
  const portName = nameOf(listOf(spec['ports']).find((item) => item['port'] === target.port));
  const found = endpointAddress(target, portName, view) ?? sliceAddress(target, portName, view);
  if (found !== undefined) return found;
  throw new UnresolvedService(`no endpoints available for service ${quote(target.name)}`);
}

function endpointAddress(
  { namespace, name }: ServiceTarget,
  portName: string,
  { objects }: ServiceView,
): SocketAddress | undefined {
  const endpoints = objects.get({ ...ENDPOINTS, namespace, name });
  for (const { addresses, ports } of listOf(isRecord(endpoints) ? endpoints['subsets'] : undefined)) {
    const found = addressOf(listOf(addresses)[0]?.['ip'], ports, portName);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** For Services whose endpoints are in EndpointSlices only. */
function sliceAddress(
  { namespace, name }: ServiceTarget,
  portName: string,
  { objects, dialect }: ServiceView,
): SocketAddress | undefined {
  const label = dialect.key('service-name');
  for (const slice of objects.list({ group: serviceGroup('discovery'), resource: 'endpointslices' }, namespace)) {
    if (slice.metadata.labels?.[label] !== name) continue;
    // No ready condition means ready.
    const ready = listOf(slice['endpoints']).find(
      ({ conditions }) => !isRecord(conditions) || conditions['ready'] !== false,
    );
    const addresses: unknown = ready?.['addresses'];
    const found = addressOf(Array.isArray(addresses) ? addresses[0] : undefined, slice['ports'], portName);
    if (found !== undefined) return found;
  }
  return undefined;
}

function addressOf(host: unknown, ports: unknown, portName: string): SocketAddress | undefined {
  const port = listOf(ports).find((item) => nameOf(item) === portName)?.['port'];
  return typeof host === 'string' && typeof port === 'number' ? { host, port } : undefined;
}

function nameOf(port: Readonly<Record<string, unknown>> | undefined): string {
  return typeof port?.['name'] === 'string' ? port['name'] : '';
}

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
