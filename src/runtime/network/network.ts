/**
 * The network of a cluster whose pods are functions and processes of this machine: names, addresses, Services and
 * NetworkPolicies lead to the servers that containers have attached. All traffic is TCP.
 */
import type { ControllerContext } from '../../controllers/runtime/controller.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import { Namespace } from '../../kinds/core/v1/namespace.js';
import { Service } from '../../kinds/core/v1/service/service.js';
import { joinHostPort, parseIp } from '../../meta/ip.js';
import type { ByteConnection, ServerAccess, SocketAddress, Sockets } from '../../protocol/connection.js';
import { onAbort, untilAborted } from '../../util/abort.js';
import { bytePipe } from './byte-pipe.js';
import { type DnsZone, lookUp } from './dns.js';
import { ServiceEndpoints } from './endpoints.js';
import { type ExchangeLink, exchange, hangUp } from './exchange.js';
import { NetworkPolicies } from './policies.js';
import { followRedirects } from './redirects.js';
import { addressesInStatus, type Client, type Destination, Router } from './routing.js';
import {
  type AddressTable,
  type ClusterNetwork,
  NetworkError,
  type PodServer,
  type ServiceName,
  type Source,
} from './types.js';

export interface NetworkOptions {
  /** Answers requests to the Service of the API server. Absent: they go to its endpoints. */
  readonly apiServer?: ((request: Request) => Promise<Response>) | undefined;
  /** Sockets and HTTP over connections; `nodeSockets` of `orchplane/node`. Absent: functions are reached with `fetch` only. */
  readonly sockets?: Sockets | undefined;
  /**
   * Sends requests to hosts outside of the cluster, such as the global `fetch`. Absent: neither requests nor connections
   * reach them.
   */
  readonly externalFetch?: ((request: Request) => Promise<Response>) | undefined;
  /** The domain of DNS names; `cluster.local` unless given. */
  readonly clusterDomain?: string | undefined;
  /**
   * How long a dropped connection takes to fail, on the clock of the cluster; 10 seconds unless given. With 0 it fails at
   * once, for tests that do not advance the clock.
   */
  readonly dialTimeoutMs?: number | undefined;
}

const DIAL_TIMEOUT_MS = 10_000;

/** Creates the network of a cluster. Called while a controller starts, because it requests informers. */
export function createNetwork(
  context: ControllerContext,
  options: NetworkOptions = {},
  addresses: AddressTable = addressesInStatus(context),
): ClusterNetwork {
  return new Network(context, options, addresses);
}

/** A server of a pod. */
interface Listener {
  /** For reports of errors: `team/web-0:8080`. */
  readonly name: string;
  readonly server: PodServer;
  /** Aborts when the pod stops listening. */
  readonly closed: AbortController;
}

/** What a connection leads to. */
type Target =
  | {
      readonly type: 'server';
      readonly listener: Listener;
      readonly remoteAddress: string;
      readonly isFromOutside: boolean;
    }
  | { readonly type: 'external'; readonly host: string; readonly port: number };

class Network implements ClusterNetwork {
  readonly #context: ControllerContext;
  readonly #options: NetworkOptions;
  readonly #zone: DnsZone;
  readonly #router: Router;
  readonly #policies: NetworkPolicies;
  /** By pod and port. */
  readonly #listeners = new Map<string, Listener>();
  /** The addresses of pods whose servers are sockets of this machine. */
  readonly #hosts = new Map<string, string>();
  readonly #closed = new AbortController();
  /** The number of connections by name, so that the addresses of a name take turns. */
  readonly #turns = new Map<string, number>();
  readonly #apiServer: Listener | undefined;

  constructor(context: ControllerContext, options: NetworkOptions, addresses: AddressTable) {
    this.#context = context;
    this.#options = options;
    const services = context.informer(Service);
    const namespaces = context.informer(Namespace);
    const endpoints = new ServiceEndpoints(context, services);
    this.#zone = { domain: options.clusterDomain ?? 'cluster.local', services, namespaces, endpoints };
    const { apiServer } = options;
    this.#apiServer = apiServer && {
      name: 'of the API',
      server: { fetch: (request) => apiServer(request) },
      closed: this.#closed,
    };
    this.#router = new Router(context, {
      services,
      endpoints,
      addresses,
      listens: ({ metadata }, port) => this.#listenerAt(metadata.namespace, metadata.name, port) !== undefined,
      hasApiServer: apiServer !== undefined,
    });
    this.#policies = new NetworkPolicies(context, namespaces);
    context.onClose(() => {
      this.#closed.abort(new Error('the network is closed'));
      for (const { closed } of this.#listeners.values()) closed.abort(hangUp());
      this.#listeners.clear();
    });
  }

  listen(pod: Source, port: number, server: PodServer): () => void {
    const key = listenerKey(pod.namespace, pod.podName, port);
    const keys = this.#router
      .sharingWith(pod)
      .map(({ metadata }) => listenerKey(metadata.namespace, metadata.name, port));
    if ([key, ...keys].some((each) => this.#listeners.has(each))) {
      throw new Error(`listen tcp :${port}: bind: address already in use`);
    }
    const listener: Listener = { name: key, server, closed: new AbortController() };
    this.#listeners.set(key, listener);
    return () => {
      if (this.#listeners.get(key) === listener) this.#listeners.delete(key);
      listener.closed.abort(hangUp());
    };
  }

  attach(pod: Source, host: string): () => void {
    const key = podKey(pod.namespace, pod.podName);
    this.#hosts.set(key, host);
    return () => void this.#hosts.delete(key);
  }

  async fetch(request: Request, from?: Source): Promise<Response> {
    try {
      return await followRedirects(request, (next) => this.#send(next, from));
    } catch (error) {
      if (request.signal.aborted) throw request.signal.reason;
      throw error instanceof TypeError ? error : new TypeError('fetch failed', { cause: error });
    }
  }

  async connect(host: string, port: number, from?: Source): Promise<ByteConnection> {
    const target = await this.#dial(host, port, from);
    if (target.type === 'server') return this.#open(target);
    if (this.#options.externalFetch === undefined) throw unreachable(target);
    return this.#sockets().dial(target);
  }

  async connectToPod(pod: Source, port: number): Promise<ByteConnection> {
    const end = this.#clientOf(pod);
    const listener = this.#listenerAt(pod.namespace, pod.podName, port);
    if (listener === undefined) throw refused({ host: end.address, port });
    return this.#open({
      type: 'server',
      listener,
      remoteAddress: seenBy(end.pod, this.#clientOf(undefined)),
      isFromOutside: true,
    });
  }

  resolve(name: string, from?: Source): readonly string[] {
    const client = this.#router.clientOf(from);
    const found = client && lookUp(this.#zone, name, client.pod);
    return found === undefined || 'external' in found ? [] : found.addresses;
  }

  serverAt(address: SocketAddress): ServerAccess | undefined {
    const found = lookUp(this.#zone, address.host, undefined);
    if (found === undefined || 'external' in found) return undefined;
    const [host = ''] = found.addresses;
    const destination = this.#router.route(host, address.port, this.#clientOf(undefined));
    if (destination.type === 'external') return undefined;
    const listener = this.#listenerOf(destination);
    if (listener !== undefined && 'address' in listener.server) return listener.server.address;
    return async (request) => {
      const target = await this.#dialAddresses([host], address.port, this.#clientOf(undefined), request.signal);
      return this.#exchange(target, request, true);
    };
  }

  endpointOf({ namespace, name }: ServiceName, port: number | string): SocketAddress | undefined {
    const service = this.#zone.services.get(name, namespace);
    const found = service?.spec.ports?.find((each) => each.port === port || (each.name ?? '') === port);
    return service === undefined || found === undefined ? undefined : this.#router.endpointOf(service, found);
  }

  async #send(request: Request, from: Source | undefined): Promise<Response> {
    const { hostname, port, protocol } = new URL(request.url);
    const number = port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
    return this.#exchange(await this.#dial(hostname, number, from, request.signal), request);
  }

  async #exchange(target: Target, request: Request, isFromApiServer = false): Promise<Response> {
    if (target.type === 'external') return this.#sendOutside(target, request);
    const { listener, remoteAddress } = target;
    const { server } = listener;
    // As in the reference, probes and proxies accept any certificate.
    if (!('fetch' in server)) return this.#sockets().sendHttp(await this.#open(target), request, target.isFromOutside);
    const info = { remoteAddress, isFromApiServer };
    return exchange((received) => server.fetch(received, info), request, this.#linkOf(listener));
  }

  #linkOf({ name, closed }: Listener): ExchangeLink {
    const report = (error: unknown): void => this.#context.report(error, `the server ${name}`);
    return { closed: closed.signal, report };
  }

  /** With the host that an ExternalName leads to. */
  #sendOutside({ host, port }: SocketAddress, request: Request): Promise<Response> {
    const { externalFetch } = this.#options;
    if (externalFetch === undefined) throw unreachable({ host, port });
    const url = new URL(request.url);
    if (url.hostname === host || url.hostname === `[${host}]`) return externalFetch(request);
    url.hostname = host;
    return externalFetch(new Request(url, request));
  }

  /** Opens a connection to a server of a pod. */
  async #open({ listener, remoteAddress }: Target & { readonly type: 'server' }): Promise<ByteConnection> {
    const { server, closed } = listener;
    if ('address' in server) return this.#sockets().dial(server.address);
    const { client, server: end, destroy } = bytePipe(() => forget());
    const forget = onAbort(closed.signal, () => destroy(hangUp()));
    const link = this.#linkOf(listener);
    const { sockets } = this.#options;
    if ('connect' in server) {
      try {
        server.connect(end);
      } catch (error) {
        link.report(error);
        destroy(hangUp());
      }
    } else if (sockets === undefined) {
      refuseBytes(end).catch(destroy);
    } else {
      const answer = (request: Request) => server.fetch(request, { remoteAddress, isFromApiServer: false });
      sockets.serveHttp(end, (request) => exchange(answer, request, link));
    }
    return client;
  }

  async #dial(host: string, port: number, from: Source | undefined, signal?: AbortSignal): Promise<Target> {
    const client = this.#clientOf(from);
    const found = lookUp(this.#zone, host, client.pod);
    if (found !== undefined && 'addresses' in found) {
      return this.#dialAddresses(this.#rotate(host, found.addresses), port, client, signal);
    }
    const external = found?.external ?? host;
    // Sockets would take it for this machine.
    if (external === '') throw unreachable({ host: external, port });
    if (!this.#allows(client, {}, port)) return this.#drop({ host: external, port }, signal);
    return { type: 'external', host: external, port };
  }

  /** Connects to the first address that can be reached. */
  async #dialAddresses(
    addresses: readonly string[],
    port: number,
    client: Client,
    signal: AbortSignal | undefined,
  ): Promise<Target> {
    let failed: Destination | undefined;
    for (const address of addresses) {
      const destination = this.#router.route(address, port, client);
      const { host } = destination;
      const end =
        destination.type === 'server'
          ? { pod: destination.pod, address: host, nodeName: destination.pod.spec.nodeName }
          : { address: host, nodeName: this.#router.nodeAt(host) };
      if (!this.#allows(client, end, destination.port)) {
        failed ??= { type: 'dropped', host, port: destination.port };
        continue;
      }
      const listener = this.#listenerOf(destination);
      if (listener !== undefined) {
        return {
          type: 'server',
          listener,
          remoteAddress: seenBy(end.pod, client),
          isFromOutside: client.pod === undefined,
        };
      }
      if (destination.type === 'external') return { type: 'external', host, port: destination.port };
      failed ??= destination;
    }
    if (failed?.type === 'dropped') return this.#drop(failed, signal);
    throw refused(failed ?? { host: '', port });
  }

  #listenerOf(destination: Destination): Listener | undefined {
    if (destination.type === 'api') return this.#apiServer;
    if (destination.type !== 'server') return undefined;
    const { namespace, name } = destination.pod.metadata;
    return this.#listenerAt(namespace, name, destination.port);
  }

  #listenerAt(namespace: string | undefined, podName: string, port: number): Listener | undefined {
    const key = listenerKey(namespace, podName, port);
    const known = this.#listeners.get(key);
    const host = this.#hosts.get(podKey(namespace, podName));
    if (known !== undefined || host === undefined) return known;
    return { name: key, server: { address: { host, port } }, closed: this.#closed };
  }

  #allows({ pod, address, nodeName }: Client, end: Parameters<NetworkPolicies['allows']>[1], port: number): boolean {
    return pod === undefined || this.#policies.allows({ pod, address, nodeName }, end, port);
  }

  #clientOf(from: Source | undefined): Client {
    const client = this.#router.clientOf(from);
    if (client !== undefined) return client;
    throw new NetworkError('connect: network is unreachable', { code: 'ENETUNREACH' });
  }

  #rotate(name: string, addresses: readonly string[]): readonly string[] {
    if (addresses.length < 2) return addresses;
    const turn = (this.#turns.get(name) ?? 0) % addresses.length;
    this.#turns.set(name, turn + 1);
    return [...addresses.slice(turn), ...addresses.slice(0, turn)];
  }

  /** Nothing answers: the connection fails when the time is over. */
  async #drop(address: SocketAddress, signal: AbortSignal | undefined): Promise<never> {
    const { dialTimeoutMs = DIAL_TIMEOUT_MS } = this.#options;
    if (dialTimeoutMs > 0) await this.#wait(dialTimeoutMs, signal);
    throw new NetworkError(`dial tcp ${joinHostPort(address)}: i/o timeout`, { code: 'ETIMEDOUT' });
  }

  async #wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
    let undo: (() => void) | undefined;
    const expired = new Promise<void>((resolve) => {
      undo = this.#context.clock.after(ms, resolve);
    });
    try {
      await untilAborted(untilAborted(expired, signal), this.#closed.signal);
    } finally {
      undo?.();
    }
  }

  #sockets(): Sockets {
    const { sockets } = this.#options;
    if (sockets !== undefined) return sockets;
    throw new Error(NEEDS_NODE);
  }
}

function podKey(namespace: string | undefined, podName: string): string {
  return `${namespace}/${podName}`;
}

const NEEDS_NODE = 'orchplane: sockets and HTTP over connections need Node: pass nodeSockets of orchplane/node';

/** A client can find out that the port is open, as probes do. Rejects when it sends something. */
async function refuseBytes({ readable, writable }: ByteConnection): Promise<void> {
  const { done } = await readable.getReader().read();
  if (!done) throw new Error(NEEDS_NODE);
  await writable.close();
}

function listenerKey(namespace: string | undefined, podName: string, port: number): string {
  return `${podKey(namespace, podName)}:${port}`;
}

/** The address of the client; that of the server's node for clients outside of pods. */
function seenBy(server: StoredPod | undefined, { pod, address }: Client): string {
  return (pod === undefined ? server?.status.hostIP : undefined) ?? address;
}

function refused({ host, port }: SocketAddress): NetworkError {
  const message = `dial tcp ${joinHostPort({ host, port })}: connect: connection refused`;
  return new NetworkError(message, { code: 'ECONNREFUSED', address: host, port });
}

/** A name that does not exist, or an address outside of the cluster. */
function unreachable({ host, port }: SocketAddress): NetworkError {
  if (parseIp(host) === undefined) {
    return new NetworkError(`dial tcp: lookup ${host}: no such host`, { code: 'ENOTFOUND', hostname: host });
  }
  const message = `dial tcp ${joinHostPort({ host, port })}: connect: no route to host`;
  return new NetworkError(message, { code: 'EHOSTUNREACH', address: host, port });
}
