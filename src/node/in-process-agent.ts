/**
 * A cluster for clients that insist on node:http, without a port: an Agent whose connections end in this process. All of
 * HTTP is there, so whatever takes an agent (client libraries, node-fetch, axios, ws, `http.request`) works unchanged,
 * watches included. For clients that take a `fetch`, `createFetchHandler` of `orchplane/http` is the shorter way.
 */
import { Agent, createServer, type Server } from 'node:http';
import { Duplex } from 'node:stream';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';
import { kubeconfigText } from './kubeconfig.js';
import { ATTACH_OPTIONS, type AttachOptions, attachCluster, SERVER_OPTIONS } from './node-listener.js';

const TOO_NEW =
  'orchplane: connectKubeConfig works with client-node 1.x, and this KubeConfig is of client-node 2.x, which takes no ' +
  'agents; install release 1, or reach the cluster over a port: loadFromString((await serve(cluster)).kubeconfig)';

/** A stream with the methods of a socket that clients call without asking whether they are there. */
class ConnectionEnd extends Duplex {
  #other: ConnectionEnd | undefined;
  /** The write at the other end that waits for somebody to read here. */
  #taken: (() => void) | undefined;

  constructor() {
    super({ allowHalfOpen: false });
  }

  join(other: ConnectionEnd): void {
    this.#other = other;
  }

  override _read(): void {
    const taken = this.#taken;
    this.#taken = undefined;
    taken?.();
  }

  /**
   * In a turn of its own, as from a socket: else the other end would answer while this one is still in the middle of its
   * write, and what its readers throw would be thrown there.
   */
  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    process.nextTick(() => this.#other?.deliver(chunk, done));
  }

  override _final(done: () => void): void {
    process.nextTick(() => this.#other?.deliver(null, done));
  }

  /** What comes to an end that is closed already is lost, as on a network. */
  deliver(chunk: Buffer | null, done: () => void): void {
    const full = !this.destroyed && !this.push(chunk) && chunk !== null;
    if (full) this.#taken = done;
    else done();
  }

  /** As with a socket: the other end reads what came before, then the end, in its own turn. */
  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    const other = this.#other;
    process.nextTick(() => other?.deliver(null, () => undefined));
    this._read();
    done(error);
  }

  // There is no wire that could be idle, slow or in need of a sign of life, and nothing to keep the process for.
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

/**
 * Absent `tokens`: every request comes from the administrator, and nobody is asked for a token.
 */
export type InProcessAgentOptions = AttachOptions;

/**
 * The agent answers for every host, by `http:` and `https:` URLs alike: there is nothing in between to encrypt. Its
 * `destroy()` cuts all connections, watches too, as a network that fails would; the next request opens a new one.
 */
export interface InProcessAgent extends Agent {
  /** A URL for clients that want one. Any other would do. */
  readonly url: string;
  /** The first of `tokens`; absent when there are none. */
  readonly token?: string;
  /** The text of a kubeconfig for `url` and `token`. Only a client with this agent gets anywhere by it. */
  readonly kubeconfig: string;
}

/**
 * Throws TypeError for options it does not know, and for tokens that have no users.
 *
 * @example
 * const agent = createInProcessAgent(cluster);
 * const { get } = await import('node:http');
 * get(`${agent.url}/api/v1/namespaces`, { agent }, (response) => console.log(response.statusCode));
 */
export function createInProcessAgent(cluster: FetchTarget, options: InProcessAgentOptions = {}): InProcessAgent {
  refuseUnknownOptions('createInProcessAgent', options, ATTACH_OPTIONS);
  // A connection costs nothing while nobody uses it, so none is ever given up.
  const server = createServer({ ...SERVER_OPTIONS, keepAliveTimeout: 0 });
  attachCluster(server, cluster, { ...options, origin: () => ADDRESS });
  const [token] = Object.keys(options.tokens ?? {});
  return new ProcessAgent(server, token);
}

/** Nobody looks it up. */
const ADDRESS = 'http://cluster.local';

class ProcessAgent extends Agent implements InProcessAgent {
  readonly url = ADDRESS;
  readonly token?: string;
  readonly kubeconfig: string;
  /** Without a protocol of its own, an agent serves that of whoever uses it. */
  readonly protocol = undefined;
  readonly #server: Server;

  constructor(server: Server, token: string | undefined) {
    super({ keepAlive: true });
    this.#server = server;
    if (token !== undefined) this.token = token;
    this.kubeconfig = kubeconfigText({ url: ADDRESS, token });
  }

  /** Called for each connection the agent wants, whatever the scheme and the host. */
  override createConnection(): Duplex {
    const [client, other] = createInProcessConnection();
    this.#server.emit('connection', other);
    return client;
  }
}

/** Client first. Which is which makes no difference. */
export function createInProcessConnection(): readonly [ConnectionEnd, ConnectionEnd] {
  const client = new ConnectionEnd();
  const server = new ConnectionEnd();
  client.join(server);
  server.join(client);
  return [client, server];
}

/** As much of KubeConfig as is needed. */
export interface KubeConfigLike {
  getCurrentCluster(): object | null;
  loadFromString(text: string): void;
  /** For watches, logs, health checks and web sockets. */
  applyToHTTPSOptions(options: { agent?: unknown }): Promise<void>;
  /** For the API classes. */
  applySecurityAuthentication(context: AgentTaker): Promise<void>;
}

export interface AgentTaker {
  setAgent(agent: InProcessAgent): void;
}

/**
 * From now on all that is made of this KubeConfig (API classes, Watch, informers, Log, Exec, Health) reaches the cluster
 * of the agent, whatever server its contexts name. Their tokens are sent as ever. One that is loaded with nothing yet
 * gets the agent's own kubeconfig. Changes the KubeConfig, and returns it. Throws TypeError for a KubeConfig of release 2,
 * which takes no agents.
 *
 * @example
 * const { CoreV1Api, KubeConfig } = await import('@kubernetes/client-node');
 * const config = connectKubeConfig(new KubeConfig(), createInProcessAgent(cluster));
 * await config.makeApiClient(CoreV1Api).listNamespace();
 */
export function connectKubeConfig<Config extends KubeConfigLike>(kubeConfig: Config, agent: InProcessAgent): Config {
  // From 2.0 on requests are made by undici, which knows no agents; this method came with it.
  if ('createDispatcher' in kubeConfig) throw new TypeError(TOO_NEW);
  const forOptions = kubeConfig.applyToHTTPSOptions.bind(kubeConfig);
  const forContext = kubeConfig.applySecurityAuthentication.bind(kubeConfig);
  if (kubeConfig.getCurrentCluster() === null) kubeConfig.loadFromString(agent.kubeconfig);
  const ours: Pick<KubeConfigLike, 'applyToHTTPSOptions' | 'applySecurityAuthentication'> = {
    async applyToHTTPSOptions(options) {
      await forOptions(options);
      options.agent = agent;
    },
    async applySecurityAuthentication(context) {
      await forContext(context);
      context.setAgent(agent);
    },
  };
  return Object.assign(kubeConfig, ours);
}
