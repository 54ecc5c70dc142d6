/**
 * Finds the destination of a connection: addresses of pods and nodes, and the addresses and node ports of Services.
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import type { Lookup, SharedInformer } from '../../controllers/runtime/shared-informer.js';
import { isPodAddress } from '../../controllers/stages/pod-selection.js';
import { isPodFinished, type StoredPod } from '../../controllers/workloads/pod-state.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Service } from '../../kinds/core/v1/service/service.js';
import { DEFAULT_SERVICE } from '../../meta/dialect.js';
import { classifyIp, parseIp } from '../../meta/ip.js';
import type { SocketAddress } from '../../protocol/connection.js';
import type { Arrival, Choice, ServiceEndpoints, ServicePort, StoredService } from './endpoints.js';
import type { AddressTable, Source } from './types.js';

/** A client, with the address that servers see. */
export interface Client {
  readonly pod: StoredPod | undefined;
  readonly address: string;
  readonly nodeName: string | undefined;
}

/** Where a connection leads. */
export type Destination = SocketAddress &
  (
    | { readonly type: 'server'; readonly pod: StoredPod }
    | { readonly type: 'api' | 'external' }
    /** Refused: an answer says so. Dropped: there is no answer. */
    | { readonly type: 'refused' | 'dropped' }
  );

export interface RouterParts {
  readonly services: SharedInformer<typeof Service>;
  readonly endpoints: ServiceEndpoints;
  readonly addresses: AddressTable;
  /** Whether a pod listens on a port. */
  listens(pod: StoredPod, port: number): boolean;
  /** Whether the Service of the API server leads to the option `apiServer`. */
  readonly hasApiServer: boolean;
}

interface ServiceMatch {
  readonly service: StoredService;
  readonly port: ServicePort;
  /** It is addressed from outside: by a node port, external or load balancer address. */
  readonly isExternal: boolean;
  /** The node whose port is addressed. */
  readonly node?: string | undefined;
  readonly accepts?: Arrival['accepts'];
}

/** The address of clients outside of the cluster if it has no node. */
const UNKNOWN_ADDRESS = '0.0.0.0';

export class Router {
  readonly #parts: RouterParts;
  readonly #pods: SharedInformer<typeof Pod>;
  readonly #addresses: AddressTable;
  readonly #nodes: SharedInformer<typeof Node>;
  readonly #nodesAt: Lookup<{ readonly metadata: { readonly name: string } }>;
  readonly #byClusterIp: Lookup<StoredService>;
  readonly #byExternalIp: Lookup<StoredService>;
  readonly #byNodePort: Lookup<StoredService>;

  constructor(context: ControllerContext, parts: RouterParts) {
    this.#parts = parts;
    this.#pods = context.informer(Pod);
    this.#addresses = parts.addresses;
    this.#nodes = context.informer(Node);
    this.#nodesAt = this.#nodes.index('address', ({ status }) =>
      (status.addresses ?? []).map(({ address }) => address),
    );
    const { services } = parts;
    this.#byClusterIp = services.index('cluster IP', ({ spec }) => spec.clusterIPs ?? []);
    this.#byExternalIp = services.index('external IP', ({ spec, status }) => [
      ...(spec.externalIPs ?? []),
      ...(status.loadBalancer?.ingress ?? []).flatMap(({ ip }) => ip ?? []),
    ]);
    this.#byNodePort = services.index('node port', ({ spec }) =>
      (spec.ports ?? []).flatMap(({ nodePort }) => (nodePort ? [String(nodePort)] : [])),
    );
  }

  /** The client of a source; undefined if its pod has no address. */
  clientOf(from: Source | undefined): Client | undefined {
    if (from === undefined)
      return { pod: undefined, address: this.#nodeAddress() ?? UNKNOWN_ADDRESS, nodeName: undefined };
    const pod = this.#pods.get(from.podName, from.namespace);
    const address = pod === undefined ? undefined : this.#addresses.of(pod)[0];
    return pod === undefined || address === undefined ? undefined : { pod, address, nodeName: pod.spec.nodeName };
  }

  /** The pods that share the network of a pod. */
  sharingWith(pod: Source): readonly StoredPod[] {
    const own = this.#pods.get(pod.podName, pod.namespace);
    const isOnHost = own?.spec.hostNetwork === true;
    return isOnHost
      ? this.#addresses
          .of(own)
          .slice(0, 1)
          .flatMap((address) => this.#addresses.podsAt(address))
      : [];
  }

  /** Whether the address belongs to a pod or node. */
  isKnown(address: string): boolean {
    return this.#addresses.podsAt(address).length > 0 || this.#nodesAt(address).length > 0;
  }

  route(address: string, port: number, client: Client): Destination {
    const ip = parseIp(address);
    if (ip !== undefined && classifyIp(ip) === 'loopback') return this.#loopback(address, port, client);
    const match = this.#serviceAt(address, port);
    if (match === undefined) return this.#deliver(address, port);
    const choice = this.#choose(match, address.includes(':') ? 'IPv6' : 'IPv4', client);
    const { namespace, name } = match.service.metadata;
    if (this.#parts.hasApiServer && namespace === 'default' && name === DEFAULT_SERVICE) {
      return { type: 'api', ...(typeof choice === 'string' ? { host: address, port } : choice) };
    }
    return typeof choice === 'string' ? { type: choice, host: address, port } : this.#deliver(choice.host, choice.port);
  }

  /** The loopback address of a host is its own address: the same pods and node ports. */
  #loopback(host: string, port: number, client: Client): Destination {
    const { pod } = client;
    if (pod?.spec.hostNetwork === true) return this.route(client.address, port, client);
    const isServer = pod !== undefined && this.#parts.listens(pod, port);
    return isServer ? { type: 'server', pod, host, port } : { type: 'refused', host, port };
  }

  /**
   * The next endpoint of a Service port for proxies, which reach nothing but pods of its namespace, whatever addresses
   * someone has written.
   * upstream: pkg/registry/core/service/storage/storage.go isValidAddress
   */
  endpointOf(service: StoredService, port: ServicePort): SocketAddress | undefined {
    const client = this.clientOf(undefined);
    if (client === undefined) return undefined;
    const { namespace } = service.metadata;
    const accepts: Arrival['accepts'] = (address, { targetRef }) => {
      if (targetRef?.kind !== 'Pod' || targetRef.namespace !== namespace) return false;
      const pod = this.#pods.get(targetRef.name ?? '', namespace);
      return pod !== undefined && this.#addresses.of(pod).includes(address);
    };
    for (const family of service.spec.ipFamilies ?? ['IPv4', 'IPv6']) {
      const choice = this.#choose({ service, port, isExternal: false, accepts }, family, client);
      if (typeof choice !== 'string') return { host: choice.host, port: choice.port };
    }
    return undefined;
  }

  #choose(
    { service, port, isExternal, node, accepts }: ServiceMatch,
    family: Arrival['family'],
    client: Client,
  ): Choice {
    const { internalTrafficPolicy, externalTrafficPolicy } = service.spec;
    // Pods reach all endpoints at external addresses too, and a load balancer prefers nodes with endpoints.
    const isLocal = isExternal
      ? externalTrafficPolicy === 'Local' && client.pod === undefined
      : internalTrafficPolicy === 'Local';
    return this.#parts.endpoints.choose(service, port, {
      family,
      clientAddress: client.address,
      clientNode: client.nodeName,
      localTo: isLocal ? (isExternal ? node : client.nodeName) : undefined,
      accepts,
    });
  }

  #serviceAt(address: string, port: number): ServiceMatch | undefined {
    const isPort = (candidate: ServicePort): boolean => candidate.port === port;
    const [node] = this.#nodesAt(address);
    const nodePorts = node === undefined ? [] : this.#byNodePort(String(port));
    const external = matchOf(this.#byExternalIp(address), isPort, { isExternal: true });
    return (
      matchOf(this.#byClusterIp(address), isPort, { isExternal: false }) ??
      (external !== undefined && this.#isServedByPods(address, port) ? undefined : external) ??
      matchOf(nodePorts, ({ nodePort }) => nodePort === port, { isExternal: true, node: node?.metadata.name })
    );
  }

  /**
   * Authors of Services write external addresses: those of pods would lead probes and proxies to pods of others. Nodes share
   * theirs with pods in their network, which keep the ports that they declare, also while nothing listens, and those on which
   * they listen.
   */
  #isServedByPods(address: string, port: number): boolean {
    const isServer = (pod: StoredPod) =>
      pod.spec.hostNetwork !== true || declaredPorts(pod).includes(port) || this.#parts.listens(pod, port);
    return isPodAddress(address) || this.#addresses.podsAt(address).some(isServer);
  }

  /** Connects to an address without translation. */
  #deliver(host: string, port: number): Destination {
    const pods = this.#addresses.podsAt(host);
    const pod = pods.find((candidate) => this.#parts.listens(candidate, port));
    if (pod !== undefined) return { type: 'server', pod, host, port };
    // The address of a pod that has ended is still one of the cluster.
    const isInside = this.isKnown(host) || isPodAddress(host) || this.#byClusterIp(host).length > 0;
    return { type: isInside ? 'refused' : 'external', host, port };
  }

  /** The name of the node with an address. */
  nodeAt(address: string): string | undefined {
    return this.#nodesAt(address)[0]?.metadata.name;
  }

  #nodeAddress(): string | undefined {
    for (const { status } of this.#nodes.list()) {
      const found = status.addresses?.find(({ type }) => type === 'InternalIP');
      if (found !== undefined) return found.address;
    }
    return undefined;
  }
}

function matchOf(
  services: readonly StoredService[],
  isPort: (port: ServicePort) => boolean,
  how: Pick<ServiceMatch, 'isExternal' | 'node'>,
): ServiceMatch | undefined {
  for (const service of services) {
    const port = service.spec.ports?.find((candidate) => candidate.protocol === 'TCP' && isPort(candidate));
    if (port !== undefined) return { service, port, ...how };
  }
  return undefined;
}

/** For pods in the network of a node: the ports of containers are ports of the node. Init containers end, except sidecars. */
export function declaredPorts({ spec: { containers, initContainers = [] } }: StoredPod): readonly number[] {
  const sidecars = initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...sidecars, ...containers].flatMap(({ ports = [] }) =>
    ports.filter(({ protocol }) => protocol === 'TCP').map(({ containerPort }) => containerPort),
  );
}

/** The addresses that pods have in their status, for a network without a kubelet. */
export function addressesInStatus({ informer }: Pick<ControllerContext, 'informer'>): AddressTable {
  const podsAt = informer(Pod).index('address of a running pod', (pod) => (isPodFinished(pod) ? [] : addressesOf(pod)));
  return { of: addressesOf, podsAt };
}

function addressesOf({ status }: StoredPod): readonly string[] {
  const { podIPs = [], podIP } = status;
  return podIPs.length > 0 ? podIPs.map(({ ip }) => ip) : podIP ? [podIP] : [];
}
