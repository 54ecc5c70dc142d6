/**
 * A cluster behind an HTTP server of Node, wherever the connections of that server come from.
 */
import type { IncomingMessage, Server, ServerOptions, ServerResponse } from 'node:http';
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
import type { Exchanged } from './http-listener.js';
import { createListener, type Listener, type ListenerOptions } from './http-listener.js';
import { ClientGone } from './incoming-request.js';

/** Beyond this many characters a user agent says nothing more to a reader. */
const AGENT_LENGTH = 40;

export interface AttachOptions {
  /** Several bearer tokens, and whom they stand for. */
  readonly tokens?: TokenTable | undefined;
  /** A way of your own to tell who asks, for requests without other credentials. */
  readonly authenticate?: RequestAuthenticator | undefined;
  /** Requests share seats, by the FlowSchemas of the cluster; see the handler. `serve` has it on unless said otherwise. */
  readonly flowControl?: FlowControlOption | undefined;
  /** True: a line to standard error for every request; or what to do with such a line. */
  readonly log?: boolean | ((line: string) => void) | undefined;
  /** Encodings besides JSON and YAML; unless said otherwise all there are, because kubectl sends some of its bodies so. */
  readonly codecs?: readonly Codec[] | undefined;
  /** Who answers for versions whose APIService names a Service; see the handler. */
  readonly aggregate?: Aggregation | undefined;
  /** Told about errors that no client should see in full; absent: they are written to the console. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** What {@link AttachOptions} knows. */
export const ATTACH_OPTIONS = [
  'tokens',
  'authenticate',
  'flowControl',
  'log',
  'codecs',
  'aggregate',
  'onError',
] as const satisfies readonly (keyof AttachOptions)[];

/**
 * Scheme, host and port in front of the paths of requests, and who is at the other end of the line. Asked with each of
 * them: a port is known late.
 */
export interface Whereabouts {
  readonly origin: ListenerOptions['origin'];
  readonly peerOf?: ListenerOptions['peerOf'];
}

/** The limits of the reference server. None of them counts the time of an answer, so watches last as long as they want. */
export const SERVER_OPTIONS: ServerOptions = {
  maxHeaderSize: 1024 * 1024,
  // A connection without requests.
  keepAliveTimeout: 90_000,
  // For a client to send the head of a request, and all of it.
  headersTimeout: 32_000,
  requestTimeout: 300_000,
  noDelay: true,
};

/** Answers what comes to the server. */
export function attachCluster(server: Server, cluster: FetchTarget, options: AttachOptions & Whereabouts): Listener {
  const listener = listenerFor(cluster, options);
  server.on('request', listener.request).on('checkContinue', listener.checkContinue);
  // There is nothing to tunnel to. Such a socket is ours alone: nobody else hears its errors, and none closes it.
  server.on('connect', (_request, socket) => {
    socket.on('error', () => socket.destroy());
    socket.end('HTTP/1.1 405 Method Not Allowed\r\nConnection: close\r\n\r\n', () => socket.destroy());
  });
  return listener;
}

/** What answers for the cluster, before it is known which server asks. Throws TypeError for tokens of another shape. */
export function listenerFor(cluster: FetchTarget, options: AttachOptions & Whereabouts): Listener {
  const { tokens, authenticate, flowControl, aggregate, origin, peerOf } = options;
  const onError = options.onError ?? ((error: unknown) => console.error(error));
  const log = options.log === true ? (line: string) => console.error(line) : options.log || undefined;
  const handler = createHandler(cluster, {
    codecs: options.codecs ?? [protobuf, cbor],
    ...(tokens === undefined ? {} : { tokens }),
    ...(authenticate === undefined ? {} : { authenticate }),
    ...(flowControl === undefined ? {} : { flowControl }),
    ...(aggregate === undefined ? {} : { aggregate }),
    // That a client leaves is its own affair.
    onError: (error) => (error instanceof ClientGone ? undefined : onError(error)),
  });
  const onExchanged =
    log === undefined ? undefined : (exchanged: Parameters<typeof logLine>[0]) => log(logLine(exchanged));
  return createListener(handler, { origin, peerOf, onError, onExchanged });
}

/** `12:03:31.250 GET /api/v1/pods?limit=500 200 1234B 0.8ms kubectl/v1.33.0`. A client that left early: `…ms cut`. */
function logLine(exchanged: Exchanged): string {
  const { method, target, status, bytes, userAgent, startedAt, cut } = exchanged;
  const ms = Number(process.hrtime.bigint() - startedAt) / 1e6;
  const time = new Date(systemClock.now()).toISOString().slice(11, 23);
  const agent = printable(userAgent.split(' ', 1)[0] ?? '').slice(0, AGENT_LENGTH);
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

/** A client must not be able to write to the terminal of whoever reads the log. */
function printable(text: string): string {
  return text.replace(/[^\x21-\x7e]/g, '?');
}

/**
 * Absent `tokens`: every request comes from the administrator, and nobody is asked for a token.
 */
export type NodeListenerOptions = AttachOptions;

/** Answers every request it is given, and never hands one on. */
export type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/**
 * The paths of the API are those in `incoming.url`; a framework that mounts the listener has to strip what is in front of
 * them. The body must not have been read. Watches end with the cluster, or when their connections are closed.
 * Throws TypeError for options it does not know, and for tokens that have no users.
 *
 * @example
 * const { createServer } = await import('node:http');
 * createServer(createNodeListener(cluster, { tokens: { secret: { user: 'alice' } } })).listen(8080, '127.0.0.1');
 */
export function createNodeListener(cluster: FetchTarget, options: NodeListenerOptions = {}): NodeListener {
  refuseUnknownOptions('createNodeListener', options, ATTACH_OPTIONS);
  const { request } = listenerFor(cluster, { ...options, origin: originOf });
  return (incoming, outgoing) => void request(incoming, outgoing);
}

/** As the client sees the server. Whoever sends a host that is none gets an answer without it. */
function originOf({ headers: { host = '' } }: IncomingMessage): string {
  return `http://${/^(\[[\da-f:.]+\]|[\w.-]+)(:\d+)?$/i.test(host) ? host : 'cluster.local'}`;
}
