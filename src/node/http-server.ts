/**
 * The HTTP server of `serve`: HTTP/1.1, HTTP/2 and WebSocket, with or without TLS, in front of a request handler. It runs in
 * the thread of the cluster or in a thread of its own, so it imports nothing of the cluster.
 */
import { type EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http';
import type { Http2SecureServer, Http2ServerResponse } from 'node:http2';
import { type AddressInfo, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TlsOptions } from 'node:tls';
import { type DialectName, dialects } from '../meta/dialect.js';
import { systemClock } from '../util/clock.js';
import { createPeerReader, type PeerTrust } from './client-peer.js';
import { type Connections, trackConnections } from './connections.js';
import { limitUnanswered } from './held-bytes.js';
import { createListener, type Listener, type ListenerOptions, type RequestHandler } from './http-listener.js';
import { MAX_HTTP2_HEADER_BYTES } from './incoming-request.js';

/** Plain data, so that another thread can receive it. */
export interface HttpServerSettings {
  readonly port: number;
  readonly host: string;
  /** Absent: plain HTTP. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Whether clients may choose HTTP/2 when they connect with TLS. */
  readonly http2: boolean;
  /** Which client certificates identify which clients. */
  readonly trust: PeerTrust;
  readonly dialect: DialectName;
}

/** Called with errors, and with each finished request if there is a log. */
export type ServerObserver = Pick<ListenerOptions, 'onError' | 'onRequestEnd'>;

/** A server that accepts connections. */
export interface HttpServer {
  /** The URL for clients on this machine. */
  readonly url: string;
  readonly port: number;
  /** Ends streams, lets other requests finish and frees the port. */
  close(): Promise<void>;
}

/** The server of a cluster in the same thread. */
export const startClusterServer: typeof startHttpServer = (settings, handler, observer) =>
  startHttpServer(settings, limitUnanswered(handler), observer);

/** Starts a server; resolves when it accepts connections. Rejects when it cannot listen. */
export async function startHttpServer(
  settings: HttpServerSettings,
  handler: RequestHandler,
  observer: ServerObserver,
): Promise<HttpServer> {
  const { tls, host } = settings;
  const server = await createServerFor(settings);
  server.maxHeadersCount = 0;
  const connections = trackConnections(server, SERVER_OPTIONS.keepAliveTimeout);
  let url = '';
  const listener = createListener(handler, { ...observer, origin: () => url, peerOf: peerReaderOf(settings) });
  attachListener(server, listener);
  server.listen(settings.port, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  url = `${tls === undefined ? 'http' : 'https'}://${urlHost(host)}:${port}`;
  return { url, port, close: () => shutDown(server, listener, connections) };
}

function peerReaderOf({ trust, dialect: name }: HttpServerSettings): ListenerOptions['peerOf'] {
  if ((trust.clientCa ?? trust.requestHeader) === undefined) return undefined;
  const dialect = dialects.find((each) => each.name === name);
  if (dialect === undefined) throw new TypeError(`orchplane: there is no dialect ${name}`);
  return createPeerReader(dialect, trust);
}

/** The handshake accepts every client; the handler evaluates the certificate with each request. */
function clientTlsOptions({ clientCa, requestHeader }: PeerTrust): TlsOptions {
  const ca = [clientCa, requestHeader?.ca].filter((each) => each !== undefined);
  return ca.length === 0 ? {} : { ca, requestCert: true, rejectUnauthorized: false };
}

/** The total size of a request's header over HTTP/1.1. */
const MAX_HEADER_BYTES = 1024 * 1024;

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

/** How long active requests may take to finish on shutdown. */
const SHUTDOWN_GRACE_MS = 2_000;

async function createServerFor({ tls, trust, http2 }: HttpServerSettings) {
  if (tls === undefined) return createServer(SERVER_OPTIONS);
  const options = { cert: tls.cert, key: tls.key, ...clientTlsOptions(trust) };
  if (http2) return createHttp2Server(options);
  const { createServer: createHttpsServer } = await import('node:https');
  return createHttpsServer({ ...options, ...SERVER_OPTIONS });
}

/**
 * A server of HTTP/2 and HTTP/1.1; the client chooses during the handshake.
 * upstream: apiserver/pkg/server/secure_serving.go SecureServingInfo.Serve
 */
async function createHttp2Server(tls: TlsOptions): Promise<Http2SecureServer & Pick<Server, 'maxHeadersCount'>> {
  const { createSecureServer } = await import('node:http2');
  const server = createSecureServer({
    ...tls,
    noDelay: true,
    allowHTTP1: true,
    maxHeaderListPairs: MAX_HEADER_PAIRS,
    settings: {
      maxConcurrentStreams: 100,
      initialWindowSize: STREAM_BUFFER_BYTES,
      maxFrameSize: STREAM_BUFFER_BYTES,
      maxHeaderListSize: MAX_HTTP2_HEADER_BYTES,
    },
  });
  // For HTTP/1.1 it reads these from its properties.
  return Object.assign(server, SERVER_OPTIONS, { maxHeadersCount: 0 });
}

/** What a stream may send before the server has read it. */
const STREAM_BUFFER_BYTES = 256 * 1024;

/** Fields in a header; {@link MAX_HTTP2_HEADER_BYTES} limits them first, but not what Node keeps before. */
const MAX_HEADER_PAIRS = 2_048;

async function shutDown(
  server: Server | Http2SecureServer,
  listener: Listener,
  { sockets, sessions }: Connections,
): Promise<void> {
  const stopped = new Promise<void>((resolve) => server.close(() => resolve()));
  // Lets streams finish, and tells the client to open no more.
  for (const session of sessions) session.close();
  await new Promise<void>((resolve) => {
    const undo = systemClock.after(SHUTDOWN_GRACE_MS, resolve, { background: true });
    void listener.drain().then(() => {
      undo();
      resolve();
    });
  });
  for (const socket of sockets) socket.destroy();
  await stopped;
}

/** Registers a listener for all events of a server. */
export function attachListener(server: Server | Http2SecureServer, listener: Listener): void {
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
}

/** Answers on a connection that no longer belongs to the HTTP server, which therefore does not handle its errors. */
export function rejectConnection(socket: Duplex, status: string): void {
  socket.on('error', () => socket.destroy());
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`, () => socket.destroy());
}

/** The header of a request as it was sent, without its Upgrade field. */
function withoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== 'upgrade') lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  }
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

/** The host in a URL for clients on this machine. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::' || host === '') return 'localhost';
  return isIPv6(host) ? `[${host}]` : host;
}
