/**
 * Switches connections to WebSocket: for the sessions of connections to pods, and for watches, where each event is one
 * message.
 * upstream: apiserver/pkg/endpoints/handlers/watch.go WatchServer.HandleWS
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket, WebSocketServer } from 'ws';
import { isOriginAllowed } from '../http/access.js';
import { isByteSource } from '../http/answer.js';
import { readSubprotocols } from '../http/subprotocols.js';
import { StatusError } from '../meta/errors.js';
import type { Answer, ByteSource, MessageSocket, WebSocketSession } from '../protocol/http.js';
import { recoverFrom } from '../util/catch-error.js';
import { systemClock } from '../util/clock.js';
import { IncomingHeaders } from './incoming-request.js';
import { WebSocketMessages } from './message-socket.js';

/** A request to switch the connection to another protocol. */
export interface UpgradeRequest {
  readonly socket: Duplex;
  /** The bytes after the request's header. */
  readonly head: Buffer;
}

/** Whether a request asks for a WebSocket. */
export function isWebSocketRequest({ headers, method }: IncomingMessage): boolean {
  return (
    method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket' && /upgrade/i.test(headers.connection ?? '')
  );
}

/** The client of a watch has nothing to send. */
const MAX_WATCH_MESSAGE_BYTES = 64 * 1024;

/** The limit of the reference server. */
const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

/** Fragments of a message are in memory as objects, and may have a single byte. */
const MAX_FRAGMENTS = 1024;

/** How long a client has to answer the closing handshake. */
const CLOSE_GRACE_MS = 1_000;

/** What the answer to a request for a WebSocket means for its connection. */
export type Switch =
  | { readonly session: WebSocketSession; readonly maxMessageBytes: number }
  /** The connection is not switched. */
  | { readonly code: 400 | 403 };

/**
 * Decides whether to switch a connection; undefined if the answer is an ordinary response. A browser lets every page read
 * what arrives through a WebSocket, so only pages from the server's own host or from this machine may open one. As in the
 * reference server, a watch needs an origin and has at most one subprotocol.
 */
export function switchFor(incoming: IncomingMessage, answer: Answer): Switch | undefined {
  const { webSocket, code, headers, body } = answer;
  const { origin, host = '' } = incoming.headers;
  if (webSocket !== undefined) {
    if (origin === undefined || isOriginAllowed(origin, host)) {
      return { session: webSocket, maxMessageBytes: MAX_MESSAGE_BYTES };
    }
    webSocket.cancel();
    return { code: 403 };
  }
  if (code !== 200 || body === null || !isByteSource(body)) return undefined;
  const read = (): readonly string[] | undefined => readSubprotocols(new IncomingHeaders(incoming)).names;
  // Undefined: malformed tokens, which the handler ignores if there is an Authorization header.
  const names = recoverFrom(StatusError, read, () => undefined);
  const isAllowed = origin !== undefined && isOriginAllowed(origin, host);
  if (!isAllowed || names === undefined || names.length > 1) {
    body.cancel();
    return { code: isAllowed ? 400 : 403 };
  }
  const isText = headers.some(([name, value]) => name === 'Content-Type' && value === 'application/json');
  return { session: watchSession(body, isText, names[0]), maxMessageBytes: MAX_WATCH_MESSAGE_BYTES };
}

function watchSession(source: ByteSource, isText: boolean, protocol: string | undefined): WebSocketSession {
  const ignoreMessages = async (socket: MessageSocket): Promise<void> => {
    while ((await socket.receive()) !== undefined);
    source.cancel();
  };
  return {
    protocol,
    isText,
    async run(socket) {
      void ignoreMessages(socket);
      for (let bytes = await source.read(); bytes !== undefined; bytes = await source.read()) await socket.send(bytes);
    },
    cancel: () => source.cancel(),
  };
}

const servers = new Map<number, Promise<WebSocketServer>>();

/** Loads the package only when a client asks for a WebSocket. */
function webSocketServer(maxPayload: number): Promise<WebSocketServer> {
  let server = servers.get(maxPayload);
  if (server === undefined) {
    server = import('ws').then(
      (ws) =>
        new ws.WebSocketServer({
          noServer: true,
          maxPayload,
          maxFragments: MAX_FRAGMENTS,
          autoPong: false,
        }),
    );
    servers.set(maxPayload, server);
  }
  return server;
}

/** Called during a session. */
export interface SessionObserver {
  /** With the length of each message to the client. */
  readonly onMessage: (bytes: number) => void;
  /** When the connection is closed. The session may still be busy. */
  readonly onClose: () => void;
}

/**
 * Switches a connection to WebSocket and runs a session, then closes with code 1000. Resolves when the connection is closed
 * and the session has ended. A malformed handshake is answered with 400.
 */
export async function runSession(
  incoming: IncomingMessage,
  { socket, head }: UpgradeRequest,
  { session, maxMessageBytes }: Extract<Switch, { readonly session: WebSocketSession }>,
  { onMessage, onClose }: SessionObserver,
): Promise<void> {
  const { protocol, isText = false } = session;
  // The package rejects names that are no tokens, such as that of the tunnel for SPDY.
  delete incoming.headers['sec-websocket-protocol'];
  const nameProtocol = (headers: string[]): void => {
    if (protocol !== undefined) headers.push(`Sec-WebSocket-Protocol: ${protocol}`);
  };
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
    if (socket.destroyed) resolve();
  });
  const sockets = await webSocketServer(maxMessageBytes);
  let running: Promise<void> | undefined;
  // It handles the request before it returns.
  sockets.on('headers', nameProtocol);
  sockets.handleUpgrade(incoming, socket, head, (webSocket) => {
    // The 'close' event of the connection follows.
    webSocket.on('error', () => webSocket.terminate());
    running = converse(webSocket, session, new WebSocketMessages(webSocket, { isText, onMessage, connection: socket }));
    // Reported below.
    running.catch(() => webSocket.terminate());
  });
  sockets.off('headers', nameProtocol);
  await closed;
  onClose();
  if (running === undefined) session.cancel();
  await running;
}

async function converse(webSocket: WebSocket, session: WebSocketSession, messages: WebSocketMessages): Promise<void> {
  await session.run(messages);
  messages.close();
  webSocket.close(1000);
  const undo = systemClock.after(CLOSE_GRACE_MS, () => webSocket.terminate(), { background: true });
  webSocket.once('close', undo);
}
