/**
 * Connects a cluster to HTTP servers of Node: to a server of your own, or to a framework that passes on Node's requests
 * (Express, Connect). `serve` does the same with a server of its own.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FetchTarget } from '../http/target.js';
import { refuseUnknownOptions } from '../util/options.js';
import { CLUSTER_LISTENER_OPTIONS, type ClusterListenerOptions, createClusterHandler } from './cluster-handler.js';
import { limitUnanswered } from './held-bytes.js';
import { createListener, type Listener, type ListenerOptions } from './http-listener.js';
import { attachListener, rejectConnection } from './http-server.js';
import type { Incoming } from './incoming-request.js';

/** Without `tokens`, every request acts as the administrator. */
export type NodeListenerOptions = ClusterListenerOptions;

/** Answers every request; it never passes one on. */
export interface NodeListener {
  (incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** The listener of the server's `upgrade` event, for WebSockets. Other protocols are answered with 501. */
  upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
}

/**
 * Creates a request listener for a server of your own. API paths are read from `incoming.url`; a framework that mounts
 * the listener must strip its prefix. The body must not have been read. Watches end when the cluster or their
 * connection closes. Throws TypeError for unknown options and for tokens without a user.
 *
 * @example
 * const { createServer } = await import('node:http');
 * createServer(createNodeListener(cluster, { tokens: { secret: { user: 'alice' } } })).listen(8080, '127.0.0.1');
 */
export function createNodeListener(cluster: FetchTarget, options: NodeListenerOptions = {}): NodeListener {
  refuseUnknownOptions('createNodeListener', options, CLUSTER_LISTENER_OPTIONS);
  const listener = createClusterListener(cluster, { ...options, origin: originOf });
  return Object.assign(
    (incoming: IncomingMessage, outgoing: ServerResponse): void => listener.request(incoming, outgoing),
    {
      upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
        if (!listener.upgrade(incoming, socket, head)) rejectConnection(socket, '501 Not Implemented');
      },
    },
  );
}

/** The origin that the client used; an invalid Host header is replaced. */
function originOf({ headers: { host = '' } }: Incoming): string {
  return `http://${/^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i.test(host) ? host : 'cluster.local'}`;
}

/** Registers the cluster as the request listener of a server. */
export function attachCluster(
  server: Server,
  cluster: FetchTarget,
  options: ClusterListenerOptions & Pick<ListenerOptions, 'origin'>,
): void {
  attachListener(server, createClusterListener(cluster, options));
}

/** Throws TypeError for malformed tokens. */
function createClusterListener(
  cluster: FetchTarget,
  { origin, ...options }: ClusterListenerOptions & Pick<ListenerOptions, 'origin'>,
): Listener {
  const { handler, observer } = createClusterHandler(cluster, options);
  return createListener(limitUnanswered(handler), { ...observer, origin });
}
