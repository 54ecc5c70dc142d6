/**
 * A cluster for clients that insist on node:http, without a port: an Agent whose connections end in this process. All of
 * HTTP is there, so whatever takes an agent (client libraries, node-fetch, axios, ws, `http.request`) works unchanged,
 * watches included. For clients that take a `fetch`, `createFetchHandler` of `orchplane/http` is the shorter way.
 */
import { Agent, createServer, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';
import { ATTACH_OPTIONS, type AttachOptions, attachCluster, SERVER_OPTIONS } from './attach.js';
import { createInProcessConnection } from './in-process-connection.js';
import { kubeconfigText } from './kubeconfig.js';

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
