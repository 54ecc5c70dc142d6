/** Clients that send single bytes, each of which would take more than a hundred bytes of memory as an object. */
import { EventEmitter, once } from 'node:events';
import { get } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect, createServer } from 'node:net';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { APIService, Service } from '../../../src/kinds/index.js';
import { ForwardedSocket } from '../../../src/node/forwarded-socket.js';
import { serve } from '../../../src/node/index.js';
import { WebSocketMessages } from '../../../src/node/message-socket.js';
import type { MessageSocket } from '../../../src/protocol/http.js';
import { JoinedBytes } from '../../../src/util/bytes.js';
import { HeldBody } from '../../../src/util/held-body.js';
import { responseTo } from '../../../src/webhook/node-connection.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

function heapAfterCollection(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Waits until the other side has taken what it takes. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1_000));
}

const REMOTE = '/apis/metrics.example.com/v1/nodes';

/** A server whose aggregated API is a function. */
async function serveRemote(
  answer: (request: Request) => Response | Promise<Response>,
  options: { readonly http2?: boolean } = {},
) {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const spec = { type: 'ExternalName', externalName: 'metrics.example.com' } as const;
  await cluster.api(Service).create({ metadata: { name: 'metrics' }, spec });
  const [group, version] = ['metrics.example.com', 'v1'];
  const service = { namespace: 'default', name: 'metrics' };
  await cluster.api(APIService).create({
    metadata: { name: `${version}.${group}` },
    spec: { group, version, groupPriorityMinimum: 2000, versionPriority: 10, service },
  });
  const aggregate = { [`${version}.${group}`]: answer };
  const server = await serve(cluster, { token: 'mine', aggregate, tls: options.http2 === true, ...options });
  return { cluster, server };
}

const WATCH = '/api/v1/namespaces/default/configmaps?watch=true';

test('joins pieces of all lengths in their order', () => {
  for (const lengths of [
    [],
    [3],
    [1, 1, 1],
    [0, 600, 1, 2, 600, 0, 3],
    Array.from({ length: 40_000 }, (_, at) => at % 3),
  ]) {
    const joined = new JoinedBytes();
    const pieces = lengths.map((length, at) => Buffer.alloc(length, at % 251));
    for (const piece of pieces) joined.add(piece);
    const whole = Buffer.concat(pieces);
    expect(joined.length).toBe(whole.length);
    expect(whole.equals(joined.bytes())).toBe(true);
  }
});

test('keeps the bytes of a body, but not the chunks that they arrive in', async () => {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const server = await serve(cluster, { token: 'mine' });
  const socket = connect(server.port, '127.0.0.1');
  const answered = once(socket, 'data');
  socket.write('POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer mine\r\n');
  socket.write('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n');
  const chunks = Buffer.from('1\r\n \r\n'.repeat(10_000));
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 30; count++) {
    await new Promise((resolve) => socket.write(chunks, resolve));
    // The server is in this process.
    await new Promise((resolve) => setImmediate(resolve));
  }
  while (socket.writableLength > 0) await new Promise((resolve) => setImmediate(resolve));
  const health = await fetch(`${server.url}/healthz`);
  expect(health.status).toBe(200);
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(15_000_000);
  socket.write('2\r\n{}\r\n0\r\n\r\n');
  expect(String(await answered)).toMatch(/^HTTP\/1\.1 422 /);
  socket.destroy();
  await server.close();
  await cluster.close();
});

test('drops the body of a watch over HTTP/2', async () => {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const server = await serve(cluster, { token: 'mine', tls: true, http2: true });
  const session = connectHttp2(server.url, { ca: server.caCertificate });
  const stream = session.request({ ':path': WATCH, authorization: 'Bearer mine' }, { endStream: false });
  await once(stream, 'response');
  // More than the server keeps of a body that it does not read.
  await new Promise((resolve) => stream.write(Buffer.alloc(1024 * 1024), resolve));
  expect(stream.destroyed).toBe(false);
  session.destroy();
  await server.close();
  await cluster.close();
});

test('closes a WebSocket whose message has thousands of fragments', async () => {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const server = await serve(cluster, { token: 'mine' });
  const headers = { authorization: 'Bearer mine' };
  const webSocket = new WebSocket(server.url.replace('http', 'ws') + WATCH, { headers, origin: server.url });
  webSocket.on('error', () => undefined);
  await once(webSocket, 'open');
  const closed = once(webSocket, 'close');
  for (let count = 0; count < 2000; count++) webSocket.send('x', { fin: false }, () => undefined);
  const [code] = (await closed) as [number];
  expect(code).not.toBe(1000);
  await server.close();
  await cluster.close();
});

test('counts the chunks of a message that does not end', () => {
  let isTerminated = false;
  const connection = new EventEmitter();
  const webSocket = Object.assign(new EventEmitter(), {
    isPaused: false,
    resume: () => undefined,
    terminate: () => {
      isTerminated = true;
      webSocket.emit('close');
    },
  });
  const options = { isText: false, onMessage: () => undefined, connection };
  const messages = new WebSocketMessages(webSocket as unknown as WebSocket, options as never);
  const byte = new Uint8Array(1);
  for (let count = 0; count < 1_100_000 && !isTerminated; count++) connection.emit('data', byte);
  expect(isTerminated).toBe(true);
  messages.close();
});

/** How many short messages a session sends before it has to wait; at most 5,000. */
async function countUntilWaiting(socket: MessageSocket): Promise<number> {
  for (let count = 1; count < 5000; count++) {
    const sent = socket.send(Uint8Array.of(1)).then(() => true);
    const waiting = new Promise<boolean>((resolve) => setImmediate(() => resolve(false)));
    if (!(await Promise.race([sent, waiting]))) return count;
  }
  return 5000;
}

test('waits when a client does not read a thousand short messages', async () => {
  const webSocket = Object.assign(new EventEmitter(), {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send: () => undefined,
  });
  const options = { isText: false, onMessage: () => undefined, connection: new EventEmitter() };
  expect(await countUntilWaiting(new WebSocketMessages(webSocket as never, options as never))).toBe(1001);
});

test('waits when the other thread has not taken some hundred short messages', async () => {
  expect(await countUntilWaiting(new ForwardedSocket({ send: () => undefined, ask: () => undefined }))).toBe(257);
});

test('keeps the bytes of a body that is forwarded and not read, but not the chunks that they arrive in', async () => {
  const { cluster, server } = await serveRemote(() => new Promise(() => undefined));
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  const before = heapAfterCollection();
  const sockets = Array.from({ length: 4 }, () => connect(server.port, '127.0.0.1'));
  for (const socket of sockets) {
    socket.write(`POST ${REMOTE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer mine\r\n`);
    socket.write('Transfer-Encoding: chunked\r\n\r\n');
    for (let count = 0; count < 8; count++) socket.write(chunks);
  }
  await settle();
  expect(heapAfterCollection() - before).toBeLessThan(8_000_000);
  for (const socket of sockets) socket.destroy();
  await server.close();
  await cluster.close();
});

test('joins the bytes of a response that its client does not read', async () => {
  const bytes = () => new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(1)) });
  const { cluster, server } = await serveRemote(() => new Response(bytes()), { http2: true });
  const session = connectHttp2(server.url, { ca: server.caCertificate });
  const before = heapAfterCollection();
  for (let count = 0; count < 5; count++) {
    const stream = session.request({ ':path': REMOTE, authorization: 'Bearer mine' });
    stream.on('error', () => undefined);
    await once(stream, 'response');
  }
  await settle();
  expect(heapAfterCollection() - before).toBeLessThan(10_000_000);
  session.destroy();
  await server.close();
  await cluster.close();
});

test('keeps the bytes of the response of a backend, but not the chunks that they arrive in', async () => {
  const chunks = Buffer.from('1\r\nx\r\n'.repeat(10_000));
  const backend = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    for (let count = 0; count < 20; count++) socket.write(chunks);
  });
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const { port } = backend.address() as { port: number };
  const before = heapAfterCollection();
  const requests = Array.from({ length: 8 }, () => get({ port, host: '127.0.0.1', agent: false }));
  const responses = await Promise.all(requests.map((request) => responseTo(request)));
  await settle();
  expect(heapAfterCollection() - before).toBeLessThan(10_000_000);
  for (const response of responses) await response.body?.cancel();
  backend.close();
});

test('passes on a body that arrives faster than it is read', async () => {
  const sent = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));
  let at = 0;
  const source = new Readable({
    read() {
      const length = (at % 7) * 100 + 1;
      this.push(at >= sent.length ? null : sent.subarray(at, at + length));
      at += length;
    },
  });
  const held = new HeldBody(source, () => new Error('cut'));
  const received: Uint8Array[] = [];
  for await (const part of held.readable({ onCancel: () => undefined })) {
    received.push(part);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(Buffer.concat(received).equals(sent)).toBe(true);
  expect(received.length).toBeLessThan(100);
});

test('stops a sender until its body is read, and goes on when it is dropped', async () => {
  let isAsked = false;
  const source = new Readable({ read: () => (isAsked = true) });
  const held = new HeldBody(source, () => new Error('cut'));
  source.push(Buffer.alloc(60_000));
  await settle();
  expect(source.push(Buffer.alloc(60_000))).toBe(false);
  isAsked = false;
  await settle();
  expect(isAsked).toBe(false);
  held.drop();
  expect(isAsked).toBe(true);
  await expect(held.read()).rejects.toThrow('cut');
});

test('reports a body that ends too early', async () => {
  const source = new Readable({ read: () => undefined });
  const held = new HeldBody(source, () => new Error('cut'));
  const read = held.read();
  source.destroy();
  await expect(read).rejects.toThrow('cut');
});

test('does not forward a body as complete that has a malformed chunk', async () => {
  const bodies: string[] = [];
  const { cluster, server } = await serveRemote(async (request) => {
    bodies.push(await request.text().catch(() => 'incomplete'));
    return new Response('ok');
  });
  const socket = connect(server.port, '127.0.0.1');
  socket.resume();
  socket.write(`POST ${REMOTE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer mine\r\n`);
  socket.write('Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n');
  await new Promise((resolve) => setTimeout(resolve, 50));
  socket.write('zz\r\n');
  await once(socket, 'close');
  expect(bodies).toEqual(['incomplete']);
  await server.close();
  await cluster.close();
});
