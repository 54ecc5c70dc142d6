/**
 * Connects a cluster to HTTP servers of Node: to a server of your own, or to a framework that passes on Node's requests
 * (Express, Connect). `serve` does the same with a server of its own.
 */
import type { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Http2SecureServer, Http2ServerResponse } from 'node:http2';
import type { Duplex } from 'node:stream';
import type { RequestAuthenticator, TokenTable } from '../auth/authentication.js';
import { cbor } from '../codec/cbor/index.js';
import type { Codec } from '../codec/codec.js';
import { protobuf } from '../codec/protobuf/index.js';
import type { FlowControlOption } from '../http/flow-control.js';
import { createHandler } from '../http/handler.js';
import type { FetchTarget } from '../http/target.js';
import type { Aggregation } from '../kinds/apiregistration/reach.js';
import { systemClock } from '../util/clock.js';
import { refuseUnknownOptions } from '../util/options.js';
import type { RequestLogEntry } from './http-listener.js';
import { createListener, type Listener, type ListenerOptions } from './http-listener.js';
import { ClientDisconnectedError, type Incoming } from './incoming-request.js';

/** The options that all ways to serve a cluster over Node share. */
export interface ClusterListenerOptions {
  /** Bearer tokens and the users they authenticate. */
  readonly tokens?: TokenTable | undefined;
  /** A custom authenticator for requests without other credentials. */
  readonly authenticate?: RequestAuthenticator | undefined;
  /** API priority and fairness; see the handler's option. `serve` enables it by default. */
  readonly flowControl?: FlowControlOption | undefined;
  /** Deletions take as long as in the reference server; see the handler's option. `serve` enables it by default. */
  readonly pacing?: boolean | undefined;
  /** True: logs each request to standard error. A function gets each log line. */
  readonly log?: boolean | ((line: string) => void) | undefined;
  /** Encodings in addition to JSON and YAML; by default all, because kubectl sends some bodies as protobuf. */
  readonly codecs?: readonly Codec[] | undefined;
  /** The backends of aggregated APIs; see the handler's option. */
  readonly aggregate?: Aggregation | undefined;
  /** The release whose hidden metrics are printed; see the handler's option. */
  readonly showHiddenMetricsForVersion?: string | undefined;
  /** Called with errors whose details are hidden from clients. Absent: they are logged to the console. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** The option names of {@link ClusterListenerOptions}. */
export const CLUSTER_LISTENER_OPTIONS = [
  'tokens',
  'authenticate',
  'flowControl',
  'pacing',
  'log',
  'codecs',
  'aggregate',
  'showHiddenMetricsForVersion',
  'onError',
] as const satisfies readonly (keyof ClusterListenerOptions)[];

/** Without `tokens`, every request acts as the administrator. */
export type NodeListenerOptions = ClusterListenerOptions;

/** Answers every request; it never passes one on. */
export interface NodeListener {
  (incoming: IncomingMessage, outgoing: ServerResponse): void;
  /** The listener of the server's `upgrade` event, for watches over WebSocket. Other protocols are answered with 501. */
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

/** Answers on a connection that no longer belongs to the HTTP server, which therefore does not handle its errors. */
function rejectConnection(socket: Duplex, status: string): void {
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
}

/** The origin that the client used; an invalid Host header is replaced. */
function originOf({ headers: { host = '' } }: Incoming): string {
  return `http://${/^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i.test(host) ? host : 'cluster.local'}`;
}

/**
 * The origin (scheme, host and port) of requests and the client identity of a connection. Evaluated for each request,
 * because the port is known only after the server listens.
 */
export interface ConnectionInfo {
  readonly origin: ListenerOptions['origin'];
  readonly peerOf?: ListenerOptions['peerOf'];
}

/** The total size of a request's header. */
export const MAX_HEADER_BYTES = 1024 * 1024;

/** The limits of the reference server. None limits the duration of a response, so watches are not cut off. */
export const SERVER_OPTIONS = {
  maxHeaderSize: MAX_HEADER_BYTES,
  // For an idle connection.
  keepAliveTimeout: 90_000,
  // For receiving the headers, and the whole request.
  headersTimeout: 32_000,
  requestTimeout: 300_000,
  noDelay: true,
} satisfies ServerOptions;

/** Registers the cluster as the request listener of a server. */
export function attachCluster(
  server: Server | Http2SecureServer,
  cluster: FetchTarget,
  options: ClusterListenerOptions & ConnectionInfo,
): Listener {
  const listener = createClusterListener(cluster, options);
  const events: EventEmitter = server;
  events.on('request', listener.request).on('checkContinue', listener.checkContinue);
  // CONNECT is not supported. HTTP/2 has a response in the place of the connection.
  events.on('connect', (_request, answer: Duplex | Http2ServerResponse) => {
    if ('stream' in answer) answer.writeHead(405).end();
    else rejectConnection(answer, '405 Method Not Allowed');
  });
  events.on('upgrade', (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (listener.upgrade(incoming, socket, head)) return;
    // A server may ignore the header: the request starts again without it.
    socket.unshift(Buffer.concat([withoutUpgrade(incoming), head]));
    server.emit('encrypted' in socket ? 'secureConnection' : 'connection', socket);
  });
  return listener;
}

/** The header of a request as it was sent, without its Upgrade field. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** Creates the request listener of a cluster. Throws TypeError for malformed tokens. */
function createClusterListener(cluster: FetchTarget, options: ClusterListenerOptions & ConnectionInfo): Listener {
  const { tokens, authenticate, flowControl, pacing, aggregate, origin, peerOf } = options;
  const onError = options.onError ?? ((error: unknown) => console.error(error));
  const log = options.log === true ? (line: string) => console.error(line) : options.log || undefined;
  const handler = createHandler(cluster, {
    codecs: options.codecs ?? [protobuf, cbor],
    ...(tokens === undefined ? {} : { tokens }),
    ...(authenticate === undefined ? {} : { authenticate }),
    ...(flowControl === undefined ? {} : { flowControl }),
    ...(pacing === undefined ? {} : { pacing }),
    ...(aggregate === undefined ? {} : { aggregate }),
    showHiddenMetricsForVersion: options.showHiddenMetricsForVersion,
    // A client that disconnects is not an error.
    onError: (error) => (error instanceof ClientDisconnectedError ? undefined : onError(error)),
  });
  const onExchanged = log === undefined ? undefined : (entry: Parameters<typeof logLine>[0]) => log(logLine(entry));
  return createListener(handler, { origin, peerOf, onError, onRequestEnd: onExchanged });
}

/** Longer user agents are truncated in the log. */
const MAX_USER_AGENT_LENGTH = 40;

/**
 * `12:03:31.250 GET /api/v1/pods?limit=500 200 1234B 0.8ms kubectl/v1.33.0`; `…ms cut` when the client disconnected
 * early.
 */
function logLine(entry: RequestLogEntry): string {
  const { method, target, status, bytes, userAgent, startedAt, isAborted: cut } = entry;
  const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
  const time = new Date(systemClock.now()).toISOString().slice(11, 23);
  const agent = printable(userAgent.split(' ', 1)[0] ?? '').slice(0, MAX_USER_AGENT_LENGTH);
  const parts = [
    time,
    method,
    printable(target),
    status === 0 ? '-' : String(status),
    `${bytes}B`,
    `${ms.toFixed(1)}ms`,
  ];
  return [...parts, ...(cut ? ['cut'] : []), ...(agent === '' ? [] : [agent])].join(' ');
}

/** Replaces control characters, so that a client cannot write terminal escapes into the log. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?');
}
