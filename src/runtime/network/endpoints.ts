/**
 * Chooses the endpoint of a connection to a Service, as kube-proxy does: ready endpoints, or terminating ones that still
 * serve, by traffic policy, topology hints and session affinity. Endpoints take turns, so that a run is repeatable.
 * upstream: pkg/proxy/topology.go CategorizeEndpoints
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import { keyOf, type Lookup, type SharedInformer } from '../../controllers/runtime/shared-informer.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import { EndpointSlice } from '../../kinds/discovery/v1/endpoint-slice.js';
import type { ObjectOf } from '../../kinds/kind.js';
import type { SocketAddress } from '../../protocol/connection.js';
import { getOrInsertComputed } from '../../util/once.js';

export type StoredService = ObjectOf<typeof Service>;
export type ServicePort = NonNullable<StoredService['spec']['ports']>[number];
export type StoredSlice = ObjectOf<typeof EndpointSlice>;
export type SliceEndpoint = StoredSlice['endpoints'][number];

/** How a connection arrives at a Service. */
export interface Arrival {
  readonly family: 'IPv4' | 'IPv6';
  readonly clientAddress: string;
  /** The node of the client; undefined outside of the cluster. */
  readonly clientNode: string | undefined;
  /** Only endpoints of this node are used (traffic policy `Local`). */
  readonly localTo?: string | undefined;
  /** Only these endpoints exist for the client; absent: all. */
  readonly accepts?: ((address: string, endpoint: SliceEndpoint) => boolean) | undefined;
}

/** Refused: there are no endpoints at all. Dropped: there are none on the node. */
export type Choice = SocketAddress | 'refused' | 'dropped';

interface Candidate extends SocketAddress {
  readonly endpoint: SliceEndpoint;
}

/** What is remembered about a Service. */
interface ServiceState {
  /** The number of connections by port and family. */
  readonly turns: Map<string, number>;
  /** The last endpoint by port and client. */
  readonly affinity: Map<string, { readonly target: string; readonly atMs: number }>;
}

const DEFAULT_AFFINITY_SECONDS = 10_800;
/** Above this number, expired entries of a Service are removed. */
const MAX_AFFINITY_ENTRIES = 1000;

export class ServiceEndpoints {
  readonly #context: ControllerContext;
  readonly #slices: Lookup<StoredSlice>;
  readonly #nodes: SharedInformer<typeof Node>;
  readonly #states = new Map<string, ServiceState>();

  constructor(context: ControllerContext, services: SharedInformer<typeof Service>) {
    this.#context = context;
    const label = context.dialect.key('service-name');
    this.#slices = context.informer(EndpointSlice).index('service', ({ metadata }) => {
      const name = metadata.labels?.[label];
      return name === undefined ? [] : [`${metadata.namespace}/${name}`];
    });
    this.#nodes = context.informer(Node);
    services.subscribe(({ type, object }) => {
      if (type === 'DELETED') this.#states.delete(object.metadata.uid);
    });
  }

  /** The ready endpoints in all slices of a Service, for DNS. */
  ready(service: StoredService): readonly SliceEndpoint[] {
    return this.#slicesOf(service).flatMap(({ endpoints }) => (endpoints ?? []).filter(isReady));
  }

  choose(service: StoredService, port: ServicePort, arrival: Arrival): Choice {
    const { accepts } = arrival;
    const found = this.#candidates(service, port, arrival.family);
    const all = accepts === undefined ? found : found.filter(({ host, endpoint }) => accepts(host, endpoint));
    if (usable(all).length === 0) return 'refused';
    const { localTo } = arrival;
    const pool =
      localTo === undefined
        ? this.#inTopology(usable(all), arrival.clientNode)
        : usable(all.filter(({ endpoint }) => endpoint.nodeName === localTo));
    if (pool.length === 0) return 'dropped';
    return service.spec.sessionAffinity === 'ClientIP'
      ? this.#affine(pool, service, port, arrival)
      : this.#next(pool, service, `${port.name ?? ''}/${arrival.family}`);
  }

  #slicesOf(service: StoredService): readonly StoredSlice[] {
    return this.#slices(keyOf(service));
  }

  /** Without duplicates: an endpoint may be in two slices for a moment. */
  #candidates(service: StoredService, port: ServicePort, family: string): readonly Candidate[] {
    const found = new Map<string, Candidate>();
    for (const { addressType, ports, endpoints } of this.#slicesOf(service)) {
      // Lists that the writer has left empty may be null.
      const number = (ports ?? []).find(
        ({ name, protocol }) => name === (port.name ?? '') && protocol === port.protocol,
      )?.port;
      if (addressType !== family || number === undefined) continue;
      for (const endpoint of endpoints ?? []) {
        const [host] = endpoint.addresses;
        if (host !== undefined) found.set(`${host}:${number}`, { host, port: number, endpoint });
      }
    }
    return [...found.values()];
  }

  /** The candidates whose hints name the node or zone of the client, if all have hints and one matches. */
  #inTopology(ready: readonly Candidate[], nodeName: string | undefined): readonly Candidate[] {
    if (nodeName === undefined || !ready.every(({ endpoint }) => isReady(endpoint))) return ready;
    const zone = this.#nodes.get(nodeName)?.metadata.labels?.[this.#context.dialect.subkey('topology', 'zone')];
    const byNode = this.#context.features?.enabled('PreferSameTrafficDistribution') === true;
    return (
      (byNode ? hinted(ready, 'forNodes', nodeName) : undefined) ??
      (zone === undefined ? undefined : hinted(ready, 'forZones', zone)) ??
      ready
    );
  }

  #next(pool: readonly Candidate[], service: StoredService, key: string): Candidate {
    const { turns } = this.#stateOf(service);
    const turn = turns.get(key) ?? 0;
    turns.set(key, turn + 1);
    return pool[turn % pool.length] as Candidate;
  }

  /** The endpoint of the client's last connection, if that was within the timeout. */
  #affine(pool: readonly Candidate[], service: StoredService, port: ServicePort, arrival: Arrival): Candidate {
    const { affinity } = this.#stateOf(service);
    const seconds = service.spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? DEFAULT_AFFINITY_SECONDS;
    const nowMs = this.#context.clock.now();
    const isLive = ({ atMs }: { readonly atMs: number }): boolean => nowMs - atMs <= seconds * 1000;
    const portKey = `${port.name ?? ''}/${arrival.family}`;
    const key = `${portKey}/${arrival.clientAddress}`;
    const last = affinity.get(key);
    const known = last !== undefined && isLive(last) ? pool.find((one) => addressText(one) === last.target) : undefined;
    const chosen = known ?? this.#next(pool, service, portKey);
    affinity.set(key, { target: addressText(chosen), atMs: nowMs });
    if (affinity.size > MAX_AFFINITY_ENTRIES) {
      for (const [other, entry] of affinity) if (!isLive(entry)) affinity.delete(other);
    }
    return chosen;
  }

  #stateOf({ metadata }: StoredService): ServiceState {
    return getOrInsertComputed(this.#states, metadata.uid, () => ({ turns: new Map(), affinity: new Map() }));
  }
}

function hinted(
  candidates: readonly Candidate[],
  list: 'forNodes' | 'forZones',
  name: string,
): readonly Candidate[] | undefined {
  const namesOf = ({ endpoint }: Candidate) => (endpoint.hints?.[list] ?? []).map((hint) => hint.name);
  if (candidates.some((candidate) => namesOf(candidate).length === 0)) return undefined;
  const found = candidates.filter((candidate) => namesOf(candidate).includes(name));
  return found.length === 0 ? undefined : found;
}

/** The ready endpoints, or else the terminating ones that still serve. */
function usable(all: readonly Candidate[]): readonly Candidate[] {
  const ready = all.filter(({ endpoint }) => isReady(endpoint));
  if (ready.length > 0) return ready;
  return all.filter(({ endpoint: { conditions } }) => conditions.serving !== false && conditions.terminating === true);
}

/** No condition means ready. */
function isReady({ conditions }: SliceEndpoint): boolean {
  return conditions.ready !== false;
}

function addressText({ host, port }: SocketAddress): string {
  return `${host}:${port}`;
}
