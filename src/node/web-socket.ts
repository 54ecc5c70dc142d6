/**
 * Watches over WebSocket: each event is one message.
 * upstream: apiserver/pkg/endpoints/handlers/watch.go WatchServer.HandleWS
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import type { ByteSource } from '../http/answer.js';
import { systemClock } from '../util/clock.js';

/** A request to switch the connection to another protocol. */
export interface UpgradeRequest {
  readonly socket: Duplex;
  /** The bytes after the request's header. */
  readonly head: Buffer;
}

/** A stream of events to send as messages. */
export interface MessageStream {
  readonly source: ByteSource;
  readonly isText: boolean;
  /** The subprotocol to name in the response. */
  readonly protocol: string | undefined;
  /** Called with the length of each message. */
  readonly onMessage: (bytes: number) => void;
}

/** Whether a request asks for a WebSocket. */
export function isWebSocketRequest({ headers, method }: IncomingMessage): boolean {
  return (
    method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && /upgrade/i.test(headers.connection ?? '')
  );
}

/**
 * Whether a page may open the WebSocket. A browser sends the page's origin and, unlike for a request with fetch, lets
 * every page read what arrives; so only pages from the server's own host or from this machine may connect. A request
 * without an origin is refused as by the reference server.
 */
export function isOriginAllowed({ headers: { origin, host = '' } }: IncomingMessage): boolean {
  if (origin === undefined || !URL.canParse(origin)) return false;
  const { hostname } = new URL(origin);
  return LOOPBACK.test(hostname) || (URL.canParse(`http://${host}`) && hostname === new URL(`http://${host}`).hostname);
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** A client has nothing to send. */
const MAX_MESSAGE_BYTES = 64 * 1024;

/** Above this many unsent bytes, the next event waits. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

/** How long a client has to answer the closing handshake. */
const CLOSE_GRACE_MS = 1_000;

let server: Promise<WebSocketServer> | undefined;

/** Loads the package only when a client asks for a WebSocket. */
function webSocketServer(): Promise<WebSocketServer> {
  server ??= import('ws').then(
    (ws) =>
      new ws.WebSocketServer({
        noServer: true,
        maxPayload: MAX_MESSAGE_BYTES,
        // It would queue any number of answers for a client that does not read them.
        autoPong: false,
        // The caller has checked the subprotocols.
        handleProtocols: ([first]) => first ?? false,
      }),
  );
  return server;
}

/**
 * Switches a connection to WebSocket and sends the events of a stream, then closes with code 1000. Resolves when the
 * connection is closed. A malformed handshake is answered with 400.
 */
export async function sendMessages(
  incoming: IncomingMessage,
  { socket, head }: UpgradeRequest,
  stream: MessageStream,
): Promise<void> {
  const { source, protocol } = stream;
  // A subprotocol with a token must not be echoed.
  if (protocol !== undefined) incoming.headers['sec-websocket-protocol'] = protocol;
  else delete incoming.headers['sec-websocket-protocol'];
  const sockets = await webSocketServer();
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    if (socket.destroyed) resolve();
  });
  void closed.then(() => source.cancel());
  let failure: unknown;
  sockets.handleUpgrade(incoming, socket, head, (webSocket) => {
    sendAll(webSocket, stream).catch((error: unknown) => {
      failure = error;
      webSocket.terminate();
    });
  });
  await closed;
  if (failure !== undefined) throw failure;
}

async function sendAll(webSocket: WebSocket, { source, isText, onMessage }: MessageStream): Promise<void> {
  // The 'close' event of the connection follows.
  webSocket.on('error', () => webSocket.terminate());
  webSocket.on('ping', (data) => {
    webSocket.pause();
    webSocket.pong(data, false, () => webSocket.resume());
  });
  for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) {
    if (webSocket.readyState !== webSocket.OPEN) return;
    onMessage(bytes.length);
    const sent = new Promise<void>((resolve) => {
      webSocket.send(bytes, { binary: !isText }, () => resolve());
    });
    if (webSocket.bufferedAmount > MAX_BUFFERED_BYTES) await sent;
  }
  webSocket.close(1000);
  const undo = systemClock.after(CLOSE_GRACE_MS, () => webSocket.terminate(), { background: true });
  webSocket.once('close', undo);
}
