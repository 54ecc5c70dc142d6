/** Watches over WebSocket, as clients in Java and in browsers open them. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { protobuf } from '../../../src/codec/protobuf/index.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { createNodeListener, type ServedCluster, serve } from '../../../src/node/index.js';
import { exchange, openConnection } from './sockets.js';

const WATCH = '/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0';
const TOKEN_PROTOCOL = 'base64url.bearer.authorization.k8s.io.';
const base64url = (text: string): string => Buffer.from(text).toString('base64url');

const cluster = createCluster({ dialect: 'kubernetes' });
let server: ServedCluster;

beforeAll(async () => {
  server = await serve(cluster, { token: 'mine' });
  await cluster.api(ConfigMap).create({ metadata: { name: 'first' } });
});

afterAll(async () => {
  await server.close();
  await cluster.close();
});

interface OpenOptions {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly protocols?: string[];
  readonly origin?: string | undefined;
  readonly url?: string;
}

const authorized = { authorization: 'Bearer mine' };

function open({ path = WATCH, headers = authorized, protocols = [], origin, url }: OpenOptions = {}): WebSocket {
  return new WebSocket((url ?? server.url).replace('http', 'ws') + path, protocols, {
    headers,
    origin: origin ?? server.url,
  });
}

/** The next message, as text and with the type of its frame. */
async function nextMessage(socket: WebSocket): Promise<{ readonly data: Buffer; readonly isBinary: boolean }> {
  const [data, isBinary] = (await once(socket, 'message')) as [Buffer, boolean];
  return { data, isBinary };
}

/** The response to a handshake that was rejected. */
async function rejection(socket: WebSocket): Promise<number | undefined> {
  socket.on('error', () => undefined);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  socket.terminate();
  return response.statusCode;
}

describe('a watch over WebSocket', () => {
  test('sends each event as one text message that ends with a line feed', async () => {
    const socket = open();
    const first = await nextMessage(socket);
    expect(first.isBinary).toBe(false);
    expect(first.data.toString()).toMatch(/^\{"type":"ADDED",.*\}\n$/);
    expect(JSON.parse(first.data.toString())).toMatchObject({ object: { metadata: { name: 'first' } } });
    const later = nextMessage(socket);
    await cluster.api(ConfigMap).create({ metadata: { name: 'second' } });
    expect(JSON.parse((await later).data.toString())).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'second' } },
    });
    socket.terminate();
    await cluster.api(ConfigMap).delete('second');
  });

  test('sends protobuf events as binary messages without a length prefix', async () => {
    const media = 'application/vnd.kubernetes.protobuf';
    const socket = open({ headers: { ...authorized, accept: `${media};stream=watch` } });
    const { data, isBinary } = await nextMessage(socket);
    expect(isBinary).toBe(true);
    const object = await cluster.api(ConfigMap).get('first');
    const framed = protobuf.stream?.encode({ type: 'ADDED', object }, kubernetesDialect) as Uint8Array;
    expect(data.equals(Buffer.from(framed).subarray(4))).toBe(true);
    socket.terminate();
  });

  test('closes with code 1000 when the watch times out', async () => {
    const socket = open({ path: `${WATCH}&timeoutSeconds=1` });
    const [code] = await once(socket, 'close');
    expect(code).toBe(1000);
  });

  test('ends the watch when the client closes', async () => {
    const socket = open();
    await nextMessage(socket);
    const metric = async (): Promise<string | undefined> => {
      const response = await fetch(`${server.url}/metrics`, { headers: authorized });
      return /apiserver_longrunning_requests\{[^}]*configmaps[^}]*\} (\d+)/.exec(await response.text())?.[1];
    };
    expect(await metric()).toBe('1');
    socket.close();
    await once(socket, 'close');
    await expect.poll(metric).toBe('0');
  });

  test('ends with code 1000 on shutdown of the server', async () => {
    const own = await serve(cluster, { anonymous: true });
    const socket = open({ url: own.url, headers: {} });
    await nextMessage(socket);
    const [[code]] = await Promise.all([once(socket, 'close'), own.close()]);
    expect(code).toBe(1000);
  });

  test('works over TLS', async () => {
    await using own = await serve(cluster, { tls: true, token: 'mine' });
    const socket = new WebSocket(own.url.replace('https', 'wss') + WATCH, {
      headers: authorized,
      origin: own.url,
      ca: own.caCertificate,
    });
    const { data } = await nextMessage(socket);
    expect(data.toString()).toContain('"type":"ADDED"');
    socket.terminate();
  });
});

describe('the handshake', () => {
  test('answers errors and requests other than watches like any other request', async () => {
    expect(await rejection(open({ headers: {} }))).toBe(403);
    expect(await rejection(open({ headers: { authorization: 'Bearer wrong' } }))).toBe(401);
    expect(await rejection(open({ path: '/api/v1/nothing?watch=true' }))).toBe(404);
    expect(await rejection(open({ path: '/api/v1/namespaces/default/configmaps' }))).toBe(200);
  });

  test('is refused to pages from other hosts and to requests without an origin', async () => {
    expect(await rejection(open({ origin: 'https://example.com' }))).toBe(403);
    expect(await rejection(open({ origin: 'null' }))).toBe(403);
    const socket = new WebSocket(server.url.replace('http', 'ws') + WATCH, { headers: authorized });
    expect(await rejection(socket)).toBe(403);
    const local = open({ origin: 'http://localhost:1234' });
    await nextMessage(local);
    local.terminate();
  });

  test('accepts a token in a subprotocol and does not echo it', async () => {
    const socket = open({ headers: {}, protocols: [TOKEN_PROTOCOL + base64url('mine'), 'binary.k8s.io'] });
    await nextMessage(socket);
    expect(socket.protocol).toBe('binary.k8s.io');
    socket.terminate();
  });

  test('rejects a malformed, wrong, repeated or only token in a subprotocol with 401', async () => {
    const token = TOKEN_PROTOCOL + base64url('mine');
    for (const protocols of [
      [`${TOKEN_PROTOCOL}a`, 'x'],
      [TOKEN_PROTOCOL + base64url('wrong'), 'x'],
      [token, `${token}x`, 'x'],
      [token],
    ]) {
      expect(await rejection(open({ headers: {}, protocols })), protocols.join()).toBe(401);
    }
  });

  test('is refused with malformed tokens in subprotocols beside an Authorization header', async () => {
    const token = TOKEN_PROTOCOL + base64url('mine');
    expect(await rejection(open({ protocols: [token, `${token}x`, 'x'] }))).toBe(400);
  });

  test('is refused when the client offers two subprotocols', async () => {
    expect(await rejection(open({ protocols: ['a', 'b'] }))).toBe(400);
  });

  test('is refused without a key', async () => {
    const response = await exchange(
      server.port,
      `GET ${WATCH} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer mine\r\nOrigin: http://localhost\r\n` +
        'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
    );
    expect(response).toMatch(/^HTTP\/1.1 400 /);
  });
});

describe('other protocols', () => {
  test('a request that offers HTTP/2 without TLS is answered over HTTP/1.1 with its body', async () => {
    const body = JSON.stringify({ metadata: { name: 'upgraded' } });
    const connection = await openConnection(server.port);
    const post =
      'POST /api/v1/namespaces/default/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer mine\r\n' +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n';
    connection.socket.write(post);
    connection.socket.write(body);
    await connection.until(/HTTP\/1.1 201 [\s\S]*"upgraded"/);
    // The connection stays usable.
    connection.socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer mine\r\n\r\n');
    await connection.until(/HTTP\/1.1 200 OK[\s\S]*\r\nok$/);
    connection.socket.destroy();
  });

  test('the upgrade listener for a server of your own serves watches and refuses other protocols', async () => {
    const listener = createNodeListener(cluster, { tokens: { mine: { user: 'root', groups: ['system:masters'] } } });
    const own = createServer(listener).on('upgrade', listener.upgrade).listen(0, '127.0.0.1');
    await once(own, 'listening');
    const { port } = own.address() as AddressInfo;
    const socket = open({ url: `http://127.0.0.1:${port}` });
    expect((await nextMessage(socket)).data.toString()).toContain('ADDED');
    socket.terminate();
    const text = await exchange(port, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
    expect(text).toMatch(/^HTTP\/1.1 501 /);
    own.closeAllConnections();
    own.close();
  });
});

test('a connection on which TLS never starts does not delay the shutdown of the server', async () => {
  const own = await serve(cluster, { tls: true, anonymous: true });
  const connection = await openConnection(own.port);
  await own.close();
  expect(await connection.end()).toBe('');
  // The port is free again.
  const next = createTcpServer().listen(own.port, '127.0.0.1');
  await once(next, 'listening');
  next.close();
});
