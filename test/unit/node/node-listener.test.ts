/** createNodeListener in a server of the caller: node:http itself, and frameworks. */
import { once } from 'node:events';
import { createServer, type RequestListener, type RequestOptions, request, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import type { AuthenticationRequest } from '../../../src/auth/authentication.js';
import { createCluster } from '../../../src/cluster/full-cluster.js';
import { ConfigMap } from '../../../src/kinds/index.js';
import { createNodeListener, type NodeListenerOptions } from '../../../src/node/index.js';
import { nextTurn } from '../../../src/util/clock.js';
import { exchange, openConnection } from './sockets.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const OBJECT = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' } });

async function open(
  listener: RequestListener,
  options: ServerOptions = {},
): Promise<AsyncDisposable & { readonly url: string; readonly port: number }> {
  const server = createServer(options, listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const post = (url: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: OBJECT });

/** Unlike fetch, with any headers. Resolves to the status code. */
const sendRequest = (url: string, options: RequestOptions, body?: string): Promise<number | undefined> =>
  new Promise((resolve, reject) =>
    request(url, options, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end(body),
  );

const ADMIN = { secret: { user: 'alice', groups: ['system:masters'] } };

describe('createNodeListener', () => {
  test('serves reads, writes and watches as a listener of node:http', async () => {
    const cluster = createCluster();
    const lines: string[] = [];
    await using site = await open(createNodeListener(cluster, { log: (line) => lines.push(line) }));
    const watching = await fetch(`${site.url}${CONFIG_MAPS}?watch=true`);
    expect((await post(site.url + CONFIG_MAPS)).status).toBe(201);
    expect((await cluster.api(ConfigMap).get('web')).metadata.name).toBe('web');
    await cluster.close();
    expect(await watching.text()).toMatch(/^\{"type":"ADDED"/);
    expect(lines[0]).toMatch(/ POST \/api\/v1\/namespaces\/default\/configmaps 201 /);
  });

  test('requires tokens when they are configured', async () => {
    await using site = await open(createNodeListener(createCluster(), { tokens: ADMIN }));
    const status = async (headers: Readonly<Record<string, string>>): Promise<number> =>
      (await fetch(site.url + CONFIG_MAPS, { headers })).status;
    expect(await status({})).toBe(403);
    expect(await status({ authorization: 'Bearer guessed' })).toBe(401);
    expect(await status({ authorization: 'Bearer secret' })).toBe(200);
  });

  test.each([
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ host: 'evil.com' }, 403],
    [{ host: 'evil.com.:8080' }, 403],
    // Node does not accept them in URLs; browsers do.
    [{ host: 'xn--ab-j1t.evil.com' }, 403],
    [{ host: 'evil.com:99999' }, 403],
    [{ host: 'evil.com', origin: 'http://evil.com' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }, 403],
    [{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 201],
    [{ origin: 'http://localhost:5173' }, 201],
    [{ origin: 'http://app.localhost:5173' }, 201],
    [{ host: 'localhost.:8080' }, 201],
    [{ host: 'cluster', origin: 'https://cluster' }, 201],
    [{ host: 'host.docker.internal:8080' }, 201],
    [{ host: '10.0.0.1:8080' }, 201],
    [{ host: '[fe80::1]:8080' }, 201],
  ])('without tokens, answers a request with %j with %i', async (headers, status) => {
    const cluster = createCluster();
    await using site = await open(createNodeListener(cluster));
    // As a page sends it without asking: a body without a type.
    expect(await sendRequest(site.url + CONFIG_MAPS, { method: 'POST', headers }, OBJECT)).toBe(status);
    expect((await cluster.api(ConfigMap).list()).items).toHaveLength(status === 201 ? 1 : 0);
  });

  test('executes no request of a client that has reset its connection', async () => {
    const cluster = createCluster();
    await using site = await open(createNodeListener(cluster));
    const reset = async (): Promise<void> => {
      const { socket } = await openConnection(site.port);
      const head = `POST ${CONFIG_MAPS} HTTP/1.1\r\nHost: evil.com\r\nContent-Length: ${OBJECT.length}\r\n\r\n`;
      socket.write(head + OBJECT, () => socket.resetAndDestroy());
      await once(socket, 'close');
    };
    for (let count = 0; count < 20; count++) await reset();
    // It is received after those.
    expect(await sendRequest(site.url + CONFIG_MAPS, {})).toBe(200);
    expect((await cluster.api(ConfigMap).list()).items).toEqual([]);
  });

  test('with tokens, accepts requests of all pages', async () => {
    await using site = await open(createNodeListener(createCluster(), { tokens: ADMIN }));
    const headers = { authorization: 'Bearer secret', origin: 'https://a.example', host: 'cluster.example.com' };
    expect(await sendRequest(site.url + CONFIG_MAPS, { headers })).toBe(200);
  });

  test('answers with 429 while too many clients have left before they were authenticated', async () => {
    const waiting: (() => void)[] = [];
    const authenticate = () => new Promise<undefined>((resolve) => waiting.push(() => resolve(undefined)));
    const listener = createNodeListener(createCluster(), {
      tokens: { secret: { user: 'alice', groups: ['system:masters'] } },
      authenticate,
    });
    await using site = await open(listener, { maxHeaderSize: 1024 * 1024 });
    const send = async (token: string) => {
      const connection = await openConnection(site.port);
      connection.socket.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      return connection;
    };
    const unknown = 'x'.repeat(1_000_000);
    for (let count = 1; count <= 33; count++) {
      const { socket } = await send(unknown);
      while (waiting.length < count) await nextTurn();
      socket.destroy();
    }
    const refused = await (await send(unknown)).until(/later\.\n$/);
    expect(refused).toMatch(
      /^HTTP\/1\.1 429 [\s\S]*Retry-After: 1\r\n[\s\S]*Too many requests, please try again later\.\n$/,
    );
    expect(waiting).toHaveLength(33);
    await (await send('secret')).until(/^HTTP\/1\.1 200 /);
    for (const settle of waiting.splice(0)) settle();
    const last = await send(unknown);
    while (waiting.length < 1) await nextTurn();
    waiting[0]?.();
    await last.until(/^HTTP\/1\.1 401 /);
  });

  test('stops an authenticator whose client has left, and reports no error', async () => {
    const calls: AbortSignal[] = [];
    const failures: unknown[] = [];
    const authenticate = ({ signal }: AuthenticationRequest) =>
      new Promise<undefined>((_resolve, reject) => {
        calls.push(signal);
        signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    const listener = createNodeListener(createCluster(), { authenticate, onError: (error) => failures.push(error) });
    await using site = await open(listener, { maxHeaderSize: 1024 * 1024 });
    const filler = 'x'.repeat(1_000_000);
    // More than may be unanswered at the same time.
    for (let count = 1; count <= 40; count++) {
      const { socket } = await openConnection(site.port);
      socket.write(`GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nCookie: ${filler}\r\n\r\n`);
      while (calls.length < count) await nextTurn();
      socket.destroy();
      while (calls.at(-1)?.aborted === false) await nextTurn();
    }
    expect(failures).toEqual([]);
  });

  test('keeps headers that were set before, and works below the mount path of a framework', async () => {
    const listener = createNodeListener(createCluster());
    await using site = await open((incoming, outgoing) => {
      outgoing.setHeader('X-Powered-By', 'a framework');
      incoming.url = incoming.url?.replace(/^\/cluster/, '') || '/';
      listener(incoming, outgoing);
    });
    const response = await post(`${site.url}/cluster${CONFIG_MAPS}`);
    expect([response.status, response.headers.get('x-powered-by')]).toEqual([201, 'a framework']);
    expect(response.headers.get('audit-id')).toBeTruthy();
    expect((await fetch(`${site.url}/cluster`)).status).toBe(200);
  });

  test('reports a body that middleware has already read', async () => {
    const listener = createNodeListener(createCluster());
    await using site = await open(async (incoming, outgoing) => {
      await textOf(incoming);
      listener(incoming, outgoing);
    });
    const response = await post(site.url + CONFIG_MAPS);
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      reason: 'InternalError',
      message: expect.stringContaining('put the listener in front of body parsers'),
    });
    expect((await fetch(site.url + CONFIG_MAPS)).status).toBe(200);
  });

  test.each([undefined, 50])(
    'rejects a request whose header count reaches the limit of its server (%s)',
    async (limit) => {
      const server = createServer(createNodeListener(createCluster())).listen(0, '127.0.0.1');
      if (limit !== undefined) server.maxHeadersCount = limit;
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const status = async (count: number): Promise<string | undefined> => {
        const others = Array.from({ length: count - 3 }, (_, at) => `X-${at}: a\r\n`).join('');
        const head = `GET ${CONFIG_MAPS} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${others}Impersonate-User: alice\r\n\r\n`;
        return (await exchange(port, head)).split('\r\n')[0];
      };
      const most = limit ?? 1000;
      expect(await status(most - 1)).toBe('HTTP/1.1 403 Forbidden');
      expect(await status(most)).toBe('HTTP/1.1 431 Request Header Fields Too Large');
      expect(await status(most + 500)).toBe('HTTP/1.1 431 Request Header Fields Too Large');
      server.close();
    },
  );

  test('uses the Host header as the origin unless it is invalid', async () => {
    await using site = await open(createNodeListener(createCluster()));
    const address = async (host: string): Promise<unknown> => {
      const answer = await exchange(site.port, `GET /api HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      return JSON.parse(answer.split('\r\n\r\n')[1] ?? '').serverAddressByClientCIDRs[0].serverAddress;
    };
    expect(await address('here.example:8080')).toBe('here.example:8080');
    expect(await address('[::1]:8080')).toBe('[::1]:8080');
    expect(await address('x/apis?')).toMatch(/^cluster\.local/);
  });

  test('rejects unknown options and tokens without users', () => {
    const misspelt = { port: 80 } as NodeListenerOptions;
    expect(() => createNodeListener(createCluster(), misspelt)).toThrow(
      'createNodeListener has no option "port"; it has tokens, authenticate, flowControl, pacing, log, codecs, aggregate, showHiddenMetricsForVersion, onError',
    );
    const invalid = { tokens: { secret: 'alice' } } as unknown as NodeListenerOptions;
    expect(() => createNodeListener(createCluster(), invalid)).toThrow(TypeError);
  });
});
