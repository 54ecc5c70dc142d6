/**
 * Sockets of this machine and HTTP over connections, for the network of a cluster that runs pods.
 */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect as connectSocket, isIP, type Socket } from 'node:net';
import { Duplex, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';
import { connect as connectTls } from 'node:tls';
import type { ByteConnection, SocketAddress, Sockets } from '../protocol/connection.js';
import { HeldBody } from '../util/held-body.js';
import { ONE_PART, responseTo } from '../webhook/node-connection.js';
import { announcesBody } from './incoming-request.js';

/**
 * The option `sockets` of the network of a runtime in Node. Pods may be processes of this machine, and their HTTP servers
 * can be reached through forwarded ports.
 *
 * @example
 * const network = { sockets: nodeSockets };
 */
export const nodeSockets: Sockets = Object.freeze({ dial, serveHttp, sendHttp });

function dial({ host, port }: SocketAddress): Promise<ByteConnection> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ host, port, allowHalfOpen: true });
    socket.once('error', reject);
    socket.once('connect', () => resolve(connectionOf(socket)));
  });
}

// Not `Duplex.toWeb` and `Duplex.fromWeb`: they do not end one direction before the other, and report a closed connection
// as an aborted operation.

function connectionOf(socket: Socket): ByteConnection {
  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        socket.on('data', (chunk: Uint8Array) => {
          socket.pause();
          controller.enqueue(chunk);
        });
        socket.once('end', () => controller.close());
        socket.once('error', (error) => controller.error(error));
        socket.pause();
      },
      pull: () => void socket.resume(),
      cancel: () => void socket.destroy(),
    },
    { highWaterMark: 0 },
  );
  const writable = new WritableStream<Uint8Array>({
    start(controller) {
      socket.once('error', (error) => controller.error(error));
    },
    write: (chunk) => settled((done) => socket.write(chunk, done)),
    close: () => settled((done) => socket.end(done)),
    abort: () => void socket.destroy(),
  });
  return { readable, writable };
}

function settled(run: (done: (error?: Error | null) => void) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    run((error) => (error ? reject(error) : resolve()));
  });
}

function duplexOf({ readable, writable }: ByteConnection): Duplex {
  const reader = readable.getReader();
  const writer = writable.getWriter();
  // The functions that use the stream wait for the same errors.
  const ignore = (): void => undefined;
  writer.closed.catch(ignore);
  return new Duplex({
    read() {
      reader.read().then(
        ({ done, value }) => this.push(done ? null : value),
        (error: Error) => this.destroy(error),
      );
    },
    write: (chunk: Uint8Array, _encoding, done) => void writer.write(chunk).then(() => done(), done),
    final: (done) => void writer.close().then(() => done(), done),
    destroy(error, done) {
      reader.cancel(error).catch(ignore);
      writer.abort(error).catch(ignore);
      done(error);
    },
  });
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
  else await pipeline(Readable.fromWeb(body as NodeReadableStream, ONE_PART), outgoing);
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
    body: new HeldBody(incoming, () => incoming.errored ?? new Error('aborted')).readable({
      onCancel: () => incoming.destroy(),
    }),
    duplex: 'half',
  };
  return new Request(address, init);
}

function sendHttp(connection: ByteConnection, request: Request, isUnverified = false): Promise<Response> {
  const { signal, method, headers, body } = request;
  const { host, hostname, pathname, search, protocol } = new URL(request.url);
  const plain = duplexOf(connection);
  const socket = protocol === 'https:' ? secured(plain, hostname.replace(/^\[(.*)\]$/, '$1'), isUnverified) : plain;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      method,
      path: `${pathname}${search}`,
      // Node sends the body of a DELETE without any framing unless it is told to.
      headers: { host, ...Object.fromEntries(headers), ...(body === null ? {} : { 'transfer-encoding': 'chunked' }) },
      createConnection: () => socket,
      signal,
    });
    outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : error));
    responseTo(outgoing).then(resolve, reject);
    if (body === null) outgoing.end();
    // The client may disconnect before it has sent everything, and the server may answer before it has read everything.
    else pipeline(Readable.fromWeb(body as NodeReadableStream, ONE_PART), outgoing).catch(reject);
  });
}

/** Unless it is not verified, the certificate must be valid for the host, and trusted by Node. */
function secured(socket: Duplex, host: string, isUnverified: boolean): Duplex {
  return connectTls({
    socket,
    host,
    rejectUnauthorized: !isUnverified,
    ...(isIP(host) === 0 ? { servername: host } : {}),
  });
}
