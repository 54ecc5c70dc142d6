/** HTTP/2, which Go clients choose when a server with TLS offers it. */
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { trackConnections } from '../../../src/node/connections.js';
import { createListener } from '../../../src/node/http-listener.js';
import { ClientDisconnectedError } from '../../../src/node/incoming-request.js';
import { type ServedCluster, serve } from '../../../src/node/index.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const REVIEW = '/apis/authentication.k8s.io/v1/selfsubjectreviews';

const cluster = createCluster({ dialect: 'kubernetes' });
let server: ServedCluster;
let session: ClientHttp2Session;

beforeAll(async () => {
  server = await serve(cluster, { tls: true, http2: true, clientCa: true, token: 'mine' });
});

/** Without TLS and with a listener of the test. */
const plain = createHttp2Server();

beforeAll(async () => {
  await once(plain.listen(0, '127.0.0.1'), 'listening');
});

afterAll(() => {
  plain.close();
});

beforeEach(() => {
  session = connect(server.url, { ca: server.caCertificate });
  return () => session.destroy();
});

afterAll(async () => {
  await server.close();
  await cluster.close();
});

async function start(
  headers: OutgoingHttpHeaders,
  body?: string,
  over = session,
): Promise<{ readonly stream: ClientHttp2Stream; readonly headers: IncomingHttpHeaders }> {
  const stream = over.request({ authorization: 'Bearer mine', ...headers }, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  const [received] = (await once(stream, 'response')) as [IncomingHttpHeaders];
  return { stream, headers: received };
}

async function call(headers: OutgoingHttpHeaders, body?: string, over = session) {
  const { stream, headers: received } = await start(headers, body, over);
  return { code: received[':status'], headers: received, body: await text(stream) };
}

const json = { 'content-type': 'application/json' };

/** The protocol of a connection whose client prefers HTTP/2. */
async function protocolOf({ port, caCertificate }: ServedCluster): Promise<string | false | null> {
  const socket = connectTls({ port, host: '127.0.0.1', ca: caCertificate, ALPNProtocols: ['h2', 'http/1.1'] });
  await once(socket, 'secureConnect');
  socket.destroy();
  return socket.alpnProtocol;
}

// Node drops headers with invalid values silently, and a request without its Impersonate-User runs as its sender.
test('is offered only on request', async () => {
  expect(await protocolOf(server)).toBe('h2');
  await using own = await serve(cluster, { tls: true, token: 'mine' });
  expect(await protocolOf(own)).toBe('http/1.1');
});

describe('HTTP/2', () => {
  test('creates, reads and deletes an object', async () => {
    const body = JSON.stringify({ metadata: { name: 'a' }, data: { key: 'ü'.repeat(1000) } });
    const created = await call({ ':method': 'POST', ':path': CONFIG_MAPS, ...json }, body);
    expect(created.code).toBe(201);
    const read = await call({ ':path': `${CONFIG_MAPS}/a` });
    expect(JSON.parse(read.body)).toMatchObject({ data: { key: 'ü'.repeat(1000) } });
    expect(read.headers['content-length']).toBe(String(Buffer.byteLength(read.body)));
    expect(read.headers['audit-id']).toMatch(/^[\da-f-]{36}$/);
    expect((await call({ ':method': 'HEAD', ':path': `${CONFIG_MAPS}/a` })).body).toBe('');
    expect((await call({ ':method': 'DELETE', ':path': `${CONFIG_MAPS}/a` })).code).toBe(200);
    expect((await call({ ':path': `${CONFIG_MAPS}/a` })).code).toBe(404);
  });

  test('keeps repeated response headers apart', async () => {
    const path = `${CONFIG_MAPS}?fieldValidation=Warn&dryRun=All`;
    const body = '{"metadata":{"name":"w"},"one":1,"two":2}';
    const { headers } = await call({ ':method': 'POST', ':path': path, ...json }, body);
    expect(headers['warning']).toBe('299 - "unknown field \\"one\\"", 299 - "unknown field \\"two\\""');
  });

  test('reads repeated request headers', async () => {
    const { body } = await call(
      { ':method': 'POST', ':path': REVIEW, ...json, 'impersonate-user': 'eve', 'impersonate-group': ['a', 'b'] },
      '{}',
    );
    expect(JSON.parse(body)).toMatchObject({
      status: { userInfo: { username: 'eve', groups: ['a', 'b', 'system:authenticated'] } },
    });
  });

  test('refuses requests without credentials to public host names', async () => {
    await using open = await serve(createCluster(), { tls: true, http2: true, anonymous: true });
    const status = async (authority: string): Promise<unknown> => {
      const over = connect(open.url, { ca: open.caCertificate });
      const { headers } = await start(
        { ':path': CONFIG_MAPS, ':authority': authority, authorization: undefined },
        undefined,
        over,
      );
      over.destroy();
      return headers[':status'];
    };
    expect(await status('evil.com:443')).toBe(403);
    expect(await status('localhost:443')).toBe(200);
  });

  test('serves a header after a thousand others', async () => {
    const many = Object.fromEntries(Array.from({ length: 1100 }, (_each, at) => [`x-header-${at}`, '1']));
    const large = connect(server.url, { ca: server.caCertificate, maxSendHeaderBlockLength: 1024 * 1024 });
    const headers = { ':method': 'POST', ':path': REVIEW, ...json, ...many, 'impersonate-user': 'eve' };
    const { body } = await call(headers, '{}', large);
    expect(JSON.parse(body)).toMatchObject({ status: { userInfo: { username: 'eve' } } });
    large.destroy();
  });

  test('refuses headers that are short only on the wire', async () => {
    const large = connect(server.url, { ca: server.caCertificate, maxSendHeaderBlockLength: 1024 * 1024 });
    const headers = { ':path': '/healthz', 'x-repeated': Array<string>(200).fill('x'.repeat(3000)) };
    // Before the client has acknowledged the settings of the server, and after that.
    const first = await call(headers, undefined, large);
    expect([first.code, first.body]).toEqual([431, '431 Request Header Fields Too Large']);
    await expect(call(headers, undefined, large)).rejects.toMatchObject({ code: 'ERR_HTTP2_STREAM_ERROR' });
    expect((await call({ ':path': '/healthz' }, undefined, large)).body).toBe('ok');
    expect(large.socket.bytesWritten).toBeLessThan(10_000);
    large.destroy();
  });

  test('streams watches beside other requests of the same connection', async () => {
    const { stream } = await start({ ':path': `${CONFIG_MAPS}?watch=true` });
    stream.setEncoding('utf8');
    const event = once(stream, 'data');
    await cluster.api(ConfigMap).create({ metadata: { name: 'watched' } });
    expect(String(await event)).toContain('"name":"watched"');
    expect((await call({ ':path': '/healthz' })).body).toBe('ok');
    stream.close();
  });

  test('ends a watch when the client resets its stream', async () => {
    const { stream } = await start({ ':path': `${CONFIG_MAPS}?watch=true` });
    const watches = async (): Promise<string | undefined> => {
      const { body } = await call({ ':path': '/metrics' });
      return /apiserver_longrunning_requests\{[^}]*configmaps[^}]*\} (\d+)/.exec(body)?.[1];
    };
    expect(await watches()).toBe('1');
    stream.close();
    await expect.poll(watches).toBe('0');
  });

  test('answers an upload that is too large and keeps the connection', async () => {
    const stream = session.request({
      ':method': 'POST',
      ':path': CONFIG_MAPS,
      authorization: 'Bearer mine',
      ...json,
    });
    stream.on('error', () => undefined);
    stream.write('x'.repeat(3 * 1024 * 1024 + 1));
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(headers[':status']).toBe(413);
    expect(await text(stream)).toContain('"code":413');
    expect((await call({ ':path': '/healthz' })).body).toBe('ok');
  });

  test('aborts a request that the client cancels', async () => {
    let received = (): void => undefined;
    const isReceived = new Promise<void>((resolve) => (received = resolve));
    const aborted = new Promise<unknown>((resolve) => {
      const listener = createListener(
        ({ signal }) => {
          signal.addEventListener('abort', () => resolve(signal.reason));
          received();
          return new Promise<never>(() => undefined);
        },
        { origin: () => 'http://site', onError: resolve },
      );
      plain.on('request', listener.request);
    });
    const client = connect(`http://127.0.0.1:${(plain.address() as AddressInfo).port}`);
    const stream = client.request({ ':path': '/' }).on('error', () => undefined);
    await isReceived;
    stream.close(constants.NGHTTP2_CANCEL);
    expect(await aborted).toBeInstanceOf(ClientDisconnectedError);
    client.destroy();
  });

  test('rejects CONNECT', async () => {
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'example.com:443' });
    const [headers] = (await once(stream, 'response')) as [IncomingHttpHeaders];
    expect(headers[':status']).toBe(405);
    stream.close();
  });

  test('authenticates a client certificate', async () => {
    const certificate = await server.createClientCertificate({ user: 'alice', groups: ['dev'] });
    const own = connect(server.url, { ca: server.caCertificate, ...certificate });
    const ask = async () =>
      JSON.parse((await call({ ':method': 'POST', ':path': REVIEW, ...json, authorization: '' }, '{}', own)).body);
    expect(await ask()).toMatchObject({ status: { userInfo: { username: 'alice' } } });
    expect(await ask()).toMatchObject({ status: { userInfo: { username: 'alice' } } });
    own.destroy();
  });

  test('closes an idle session, but none with an open stream', async () => {
    const own = createHttp2Server((_request, response) => response.writeHead(200).write('open')).listen(0, '127.0.0.1');
    const { sessions } = trackConnections(own, 300);
    await once(own, 'listening');
    const client = connect(`http://127.0.0.1:${(own.address() as AddressInfo).port}`);
    const stream = client.request({ ':path': '/' });
    await once(stream, 'response');
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(sessions.size).toBe(1);
    stream.close();
    await expect.poll(() => sessions.size).toBe(0);
    client.destroy();
    own.close();
  });

  test('ends watches and connections on shutdown', async () => {
    const own = await serve(cluster, { tls: true, http2: true, token: 'mine' });
    const client = connect(own.url, { ca: own.caCertificate });
    const { stream } = await start({ ':path': `${CONFIG_MAPS}?watch=true` }, undefined, client);
    const ended = text(stream);
    const closed = once(client, 'close');
    await own.close();
    expect(await ended).toContain('"name":"watched"');
    await closed;
  });
});
