/**
 * An http.Agent whose connections lead to a cluster in this process, for client libraries that require node:http. All
 * of HTTP works, so everything that takes an agent (node-fetch, axios, ws, `http.request`) works unchanged, watches
 * included. For clients that take a `fetch`, use `createFetchHandler` of `orchplane/http`.
 */
import { Agent, createServer, type Server } from 'node:http';
import { Duplex } from 'node:stream';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';
import { CLUSTER_LISTENER_OPTIONS, type ClusterListenerOptions } from './cluster-handler.js';
import { SERVER_OPTIONS } from './http-server.js';
import { kubeconfigText } from './kubeconfig.js';
import { attachCluster } from './node-listener.js';

/** Without `tokens`, every request acts as the administrator. */
export type InProcessAgentOptions = ClusterListenerOptions;

/**
 * The agent serves every host, for `http:` and `https:` URLs alike: nothing is encrypted. Its `destroy()` closes all
 * connections, including watches, like a network failure; the next request opens a new one.
 */
export interface InProcessAgent extends Agent {
  /** A URL for clients that need one. Any peer works too. */
  readonly url: string;
  /** The first of `tokens`; absent without tokens. */
  readonly token?: string;
  /** A kubeconfig with `url` and `token`. It works only for clients that use this agent. */
  readonly kubeconfig: string;
  /**
   * Opens a connection, for clients that use undici instead of agents: pass it as the option `connect` of an undici
   * `Agent`. `destroy()` closes these connections too.
   */
  readonly connect: InProcessConnector;
}

/** A connector of undici: passes the new connection to the callback. Ignores the host and the protocol. */
export type InProcessConnector = (options: unknown, callback: (error: null, connection: Duplex) => void) => void;

/**
 * Creates an agent for a cluster. Throws TypeError for unknown options and for tokens without a user.
 *
 * @example
 * const agent = createInProcessAgent(cluster);
 * const { get } = await import('node:http');
 * get(`${agent.url}/api/v1/namespaces`, { agent }, (response) => console.log(response.statusCode));
 */
export function createInProcessAgent(cluster: FetchTarget, options: InProcessAgentOptions = {}): InProcessAgent {
  refuseUnknownOptions('createInProcessAgent', options, CLUSTER_LISTENER_OPTIONS);
  // An idle connection costs nothing, so none is closed.
  const server = createServer({ ...SERVER_OPTIONS, keepAliveTimeout: 0 });
  attachCluster(server, cluster, { ...options, origin: () => CLUSTER_URL });
  const [token] = Object.keys(options.tokens ?? {});
  return new ProcessAgent(server, token);
}

/** The host is never resolved. */
const CLUSTER_URL = 'http://cluster.local';

class ProcessAgent extends Agent implements InProcessAgent {
  readonly url = CLUSTER_URL;
  readonly token?: string;
  readonly kubeconfig: string;
  /** Without a protocol, an agent accepts both http and https requests. */
  readonly protocol = undefined;
  readonly #server: Server;
  /** The open connections of `connect`; the superclass tracks those of `createConnection`. */
  readonly #connections = new Set<Duplex>();

  constructor(server: Server, token: string | undefined) {
    super({ keepAlive: true });
    this.#server = server;
    if (token !== undefined) this.token = token;
    this.kubeconfig = kubeconfigText({ url: CLUSTER_URL, token });
  }

  /** Called for each new connection, whatever the scheme and host. */
  override createConnection(): Duplex {
    const [client, peer] = createInProcessConnection();
    this.#server.emit('connection', peer);
    return client;
  }

  readonly connect: InProcessConnector = (_options, callback) => {
    const connection = this.createConnection();
    this.#connections.add(connection);
    connection.once('close', () => this.#connections.delete(connection));
    // As with a socket, the caller returns before it gets the connection.
    process.nextTick(callback, null, connection);
  };

  override destroy(): void {
    super.destroy();
    for (const connection of this.#connections) connection.destroy();
  }
}

/**
 * Creates the two ends of an in-process connection: the client's and the server's. What is written to one end is read
 * from the peer, with the back pressure of streams. It uses no operating system handle, so it keeps no process alive.
 */
export function createInProcessConnection(): readonly [ConnectionEnd, ConnectionEnd] {
  const client = new ConnectionEnd();
  const server = new ConnectionEnd();
  client.connectTo(server);
  server.connectTo(client);
  return [client, server];
}

/** One end of the connection, with the socket methods that clients call unconditionally. */
class ConnectionEnd extends Duplex {
  #peer: ConnectionEnd | undefined;
  /** Completes the peer's pending write when this end is read. */
  #pendingWrite: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: false });
  }

  connectTo(peer: ConnectionEnd): void {
    this.#peer = peer;
  }

  override _read(): void {
    const completeWrite = this.#pendingWrite;
    this.#pendingWrite = undefined;
    completeWrite?.();
  }

  /**
   * Delivered on the next tick, as by a socket; otherwise the peer would respond during the write, and errors of its
   * readers would be thrown here.
   */
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    process.nextTick(() => this.#peer?.deliver(chunk, done));
  }

  override _final(done: () => void): void {
    process.nextTick(() => this.#peer?.deliver(null, done));
  }

  /** Data for a closed end is dropped, as on a network. */
  deliver(chunk: Buffer | null, done: () => void): void {
    const full = !this.destroyed && !this.push(chunk) && chunk !== null;
    if (full) this.#pendingWrite = done;
    else done();
  }

  /** As with a socket, the peer reads pending data first and then the end. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const peer = this.#peer;
    process.nextTick(() => peer?.deliver(null, () => undefined));
    this._read();
    done(error);
  }

  // There is no network connection to configure and no handle that keeps the process alive.
  setKeepAlive(): this {
    return this;
  }

  setNoDelay(): this {
    return this;
  }

  setTimeout(): this {
    return this;
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

/** The part of `@kubernetes/client-node`'s KubeConfig that is used, described by shape to avoid the dependency. */
export interface KubeConfigLike {
  getCurrentCluster(): object | null;
  loadFromString(text: string): void;
  /** Used by web sockets, and by release 1 for watches, logs and health checks. */
  applyToHTTPSOptions(options: { agent?: unknown }): Promise<void>;
  /** Used by the API classes, and by release 2 for watches, logs and health checks. */
  applySecurityAuthentication(context: RequestContextLike): Promise<void>;
  /** Describes the undici dispatcher of a request. Only release 2 has it. */
  createDispatcherOptions?(cluster: object | null, options: object): object;
}

/** The request context of `@kubernetes/client-node`. Release 1 has `setAgent`, release 2 `setDispatcher`. */
export interface RequestContextLike {
  setHeaderParam(name: string, value: string): void;
  setAgent?(agent: InProcessAgent): void;
  getDispatcher?(): object | undefined;
  setDispatcher?(dispatcher: object): void;
}

/**
 * Connects everything created from this KubeConfig (API classes, Watch, informers, Log, Exec, Health) to the cluster of
 * the agent, whatever server its contexts name. Tokens are sent as usual. A KubeConfig without a cluster loads the
 * agent's own kubeconfig. The library creates an agent or a dispatcher per request in public methods, which are replaced
 * here. Works with releases 1 and 2. Changes the KubeConfig and returns it.
 *
 * @example
 * const { CoreV1Api, KubeConfig } = await import('@kubernetes/client-node');
 * const config = connectKubeConfig(new KubeConfig(), createInProcessAgent(cluster));
 * await config.makeApiClient(CoreV1Api).listNamespace();
 */
export function connectKubeConfig<Config extends KubeConfigLike>(kubeConfig: Config, agent: InProcessAgent): Config {
  const forOptions = kubeConfig.applyToHTTPSOptions.bind(kubeConfig);
  const forContext = kubeConfig.applySecurityAuthentication.bind(kubeConfig);
  if (kubeConfig.getCurrentCluster() === null) kubeConfig.loadFromString(agent.kubeconfig);
  const usesUndici = kubeConfig.createDispatcherOptions !== undefined;
  let dispatcher: object | undefined;
  const replaced: Partial<KubeConfigLike> = {
    async applyToHTTPSOptions(options) {
      await forOptions(options);
      options.agent = agent;
    },
    async applySecurityAuthentication(context) {
      await forContext(context);
      context.setAgent?.(agent);
      // Release 2 creates a dispatcher per request. Requests share the first one, and so its connections.
      dispatcher ??= context.getDispatcher?.();
      if (dispatcher !== undefined) context.setDispatcher?.(dispatcher);
    },
    ...(usesUndici && { createDispatcherOptions: () => ({ type: 'agent', connect: agent.connect }) }),
  };
  return Object.assign(kubeConfig, replaced);
}
