/** Clients that send single bytes, each of which would take more than a hundred bytes of memory as an object. */
import { EventEmitter, once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ForwardedSocket } from '../../../src/node/forwarded-socket.js';
import { serve } from '../../../src/node/index.js';
import { WebSocketMessages } from '../../../src/node/message-socket.js';
import type { MessageSocket } from '../../../src/protocol/http.js';
import { JoinedBytes } from '../../../src/util/bytes.js';

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
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as () => void;
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
