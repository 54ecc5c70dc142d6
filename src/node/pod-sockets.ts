/**
 * Sockets of this machine and HTTP over connections, for the network of a cluster that runs pods.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectSocket } from 'node:net';
import * as stream from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { connect as connectTls } from 'node:tls';
import type { ByteConnection, SocketAddress, Sockets } from '../protocol/connection.js';
import { messageToResponse } from '../webhook/node-connection.js';
import { announcesBody } from './incoming-request.js';

/**
 * The option `sockets` of a runtime in Node: pods may be processes of this machine, and their servers can be reached
 * through forwarded ports.
 */
export const nodeSockets: Sockets = Object.freeze({ dial, serveHttp, sendHttp });

function dial({ host, port }: SocketAddress): Promise<ByteConnection> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ host, port, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      // The types of the platforms differ; they are the same classes.
      resolve(stream.Duplex.toWeb(socket) as ByteConnection);
    });
  });
}

function duplexOf(connection: ByteConnection): stream.Duplex {
  return stream.Duplex.fromWeb(connection as Parameters<typeof stream.Duplex.fromWeb>[0]);
}

function serveHttp(connection: ByteConnection, answer: (request: Request) => Promise<Response>): void {
  const server = createServer((incoming, outgoing) => {
    // A response that cannot be completed ends with its connection, which the client sees.
    respond(incoming, outgoing, answer).catch(() => outgoing.destroy());
  });
  const socket = duplexOf(connection);
  // The other side may close the connection at any time; open requests are aborted by it.
  socket.on('error', () => socket.destroy());
  server.emit('connection', socket);
}

async function respond(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  answer: (request: Request) => Promise<Response>,
): Promise<void> {
  const client = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) client.abort();
  });
  const { status, headers, body } = await answer(requestOf(incoming, client.signal));
  const fields = [...headers].filter(([name]) => name !== 'set-cookie');
  const cookies = headers.getSetCookie();
  outgoing.writeHead(status, {
    ...Object.fromEntries(fields),
    ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}),
  });
  // So that a stream can be read before its first chunk.
  outgoing.flushHeaders();
  if (body === null) outgoing.end();
  else await pipeline(stream.Readable.fromWeb(body as NodeReadableStream), outgoing);
}

function requestOf(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', headers, rawHeaders } = incoming;
  const fields = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) fields.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '');
  const base = { method, headers: fields, signal };
  const address = new URL(url, `http://${headers.host ?? 'localhost'}`);
  if (!announcesBody(incoming)) return new Request(address, base);
  const init: RequestInit & { duplex: 'half' } = {
    ...base,
    body: stream.Readable.toWeb(incoming) as ReadableStream<Uint8Array>,
    duplex: 'half',
  };
  return new Request(address, init);
}

function sendHttp(connection: ByteConnection, request: Request): Promise<Response> {
  const { signal, method, headers, body } = request;
  const { host, hostname, pathname, search, protocol } = new URL(request.url);
  const plain = duplexOf(connection);
  const socket = protocol === 'https:' ? connectTls({ socket: plain, servername: hostname }) : plain;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      method,
      path: `${pathname}${search}`,
      headers: { host, ...Object.fromEntries(headers) },
      createConnection: () => socket,
      signal,
    });
    outgoing.once('response', (message) => resolve(messageToResponse({ stream }, message)));
    outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    if (body === null) outgoing.end();
    else stream.Readable.fromWeb(body as NodeReadableStream).pipe(outgoing);
  });
}
