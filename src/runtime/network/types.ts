/**
 * The contract of the cluster network: what containers, probes, webhooks and proxies use to reach servers in pods.
 */
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import type { ByteConnection, ServerAccess, SocketAddress } from '../../protocol/connection.js';
import type { MaybePromise } from '../../util/maybe-promise.js';

export type { SocketAddress } from '../../protocol/connection.js';

/** A server of a pod: a function for HTTP requests, a function for connections, or a socket of this machine. */
export type PodServer =
  | { readonly fetch: (request: Request, info: RequestInfo) => MaybePromise<Response> }
  | { readonly connect: (connection: ByteConnection) => void }
  | { readonly address: SocketAddress };

/** Facts about a request that its headers do not tell. */
export interface RequestInfo {
  /** The address of the client: that of its pod, or of the node for clients outside of pods. */
  readonly remoteAddress: string;
  /**
   * The API server itself sends the request, as aggregator or to a webhook, and has authorized its user. Real servers recognize
   * that by a client certificate. False for pods, probes, proxies and forwarded ports.
   */
  readonly isFromApiServer: boolean;
}

/** Where a connection comes from. Absent: from the control plane or from outside, which no NetworkPolicy restricts. */
export interface Source {
  readonly namespace: string;
  readonly podName: string;
}

export interface ClusterNetwork {
  /**
   * Adds a server of a pod. The result removes it and ends its connections. Throws if the port is in use: by the pod, or
   * on the node if the pod uses the host's network.
   */
  listen(pod: Source, port: number, server: PodServer): () => void;
  /** All ports of the pod are sockets at an address of this machine. The result ends that. */
  attach(pod: Source, host: string): () => void;
  /**
   * Sends a request to a name or address of the cluster, and follows redirects. Rejects like the platform's `fetch`: with
   * the reason of its signal, or with a TypeError whose `cause` is a `NetworkError`.
   */
  fetch(request: Request, from?: Source): Promise<Response>;
  /** Opens a connection. Rejects with `NetworkError`. */
  connect(host: string, port: number, from?: Source): Promise<ByteConnection>;
  /**
   * Opens a connection from the control plane to a port of one pod, and to nothing else: no Service, no other pod with its
   * address, nothing outside. Rejects with `NetworkError`.
   */
  connectToPod(pod: Source, port: number): Promise<ByteConnection>;
  /** Addresses of a DNS name; empty if it does not exist or is outside of the cluster. */
  resolve(name: string, from?: Source): readonly string[];
  /** How a server at an address is reached from the control plane; undefined: no pod or node has the address. */
  serverAt(address: SocketAddress): ServerAccess | undefined;
  /** The next ready endpoint of a Service, for proxies; undefined if it has none. The port is a number or a name. */
  endpointOf(service: ServiceName, port: number | string): SocketAddress | undefined;
}

/** The addresses of pods. */
export interface AddressTable {
  /** The addresses of a pod; empty if it has none yet. */
  of(pod: StoredPod): readonly string[];
  /** The pods with an address that have not ended. */
  podsAt(address: string): readonly StoredPod[];
}

export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/** A connection that could not be opened, or was closed by the other side. The messages are those of Go. */
export class NetworkError extends Error {
  override readonly name = 'NetworkError';
  /** A code of Node: `ECONNREFUSED`, `ECONNRESET`, `EHOSTUNREACH`, `ENOTFOUND`, `ETIMEDOUT`. */
  readonly code: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;

  constructor(message: string, facts: Pick<NetworkError, 'code' | 'address' | 'port' | 'hostname'>) {
    super(message);
    this.code = facts.code;
    if (facts.address !== undefined) this.address = facts.address;
    if (facts.port !== undefined) this.port = facts.port;
    if (facts.hostname !== undefined) this.hostname = facts.hostname;
  }
}
