/**
 * Connections that carry bytes, sockets of this machine, and HTTP over connections in Node.
 */
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { nodeSockets } from '../../../../src/node/pod-sockets.js';
import type { ByteConnection } from '../../../../src/protocol/connection.js';
import type { NetworkOptions } from '../../../../src/runtime/network/network.js';
import type { PodServer } from '../../../../src/runtime/network/types.js';
import { nextTurn } from '../../../../src/util/clock.js';
import { type Networked, networked, source } from './network-fixture.js';

const open = new Set<Server | HttpServer>();
afterEach(() => {
  for (const server of open) server.close();
  open.clear();
});

/** A pod with a server at port 80. */
async function serving(server: PodServer, options: NetworkOptions = { sockets: nodeSockets }) {
  const self = await networked(options);
  await self.pod('team/web', '10.1.0.1', { labels: { app: 'web' } });
  await self.pod('team/client', '10.1.0.2');
  await self.service('team/web', {});
  return { self, stop: self.serve('team/web', 80, server) };
}

async function listening(server: Server | HttpServer): Promise<PodServer> {
  open.add(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return { address: { host: '127.0.0.1', port: (server.address() as AddressInfo).port } };
}

async function write({ writable }: ByteConnection, value: string): Promise<void> {
  const writer = writable.getWriter();
  await writer.write(new TextEncoder().encode(value));
  writer.releaseLock();
}

async function readAll({ readable }: ByteConnection): Promise<string> {
  return new Response(readable).text();
}

const missing = /need Node: pass nodeSockets of orchplane\/node/;
const connect = (self: Networked) => self.network.connect('web', 80, source('team/client'));
/** Sends what it receives back, until the connection fails. */
const echo: PodServer = {
  connect: ({ readable, writable }) => void readable.pipeTo(writable).catch(() => writable.abort()),
};

describe('a connection', () => {
  test('to a function carries bytes in both directions', async () => {
    const { self } = await serving(echo, {});
    const connection = await connect(self);
    await write(connection, 'one ');
    await write(connection, 'two');
    await connection.writable.close();
    expect(await readAll(connection)).toBe('one two');
  });

  test('to a function that throws is closed, and the error is reported', async () => {
    const { self } = await serving({
      connect: () => {
        throw new Error('broken');
      },
    });
    const connection = await connect(self);
    await expect(readAll(connection)).rejects.toThrow('socket hang up');
    expect(self.failures).toEqual([expect.stringContaining('team/web:80: broken')]);
  });

  test('is closed when the server stops listening', async () => {
    const { self, stop } = await serving(echo);
    const connection = await connect(self);
    stop();
    await expect(readAll(connection)).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect(connect(self)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('to a socket of this machine carries bytes in both directions', async () => {
    const { self } = await serving(await listening(createServer((socket) => socket.pipe(socket))));
    const connection = await connect(self);
    await write(connection, 'hello');
    await connection.writable.close();
    expect(await readAll(connection)).toBe('hello');
  });

  test('to a closed socket of this machine rejects', async () => {
    const server = createServer();
    const closed = await listening(server);
    server.close();
    const { self } = await serving(closed);
    await expect(connect(self)).rejects.toThrow('ECONNREFUSED');
  });

  test('to an HTTP function speaks HTTP/1.1', async () => {
    const { self } = await serving({
      fetch: async (request, { remoteAddress }) => {
        const headers = new Headers([
          ['set-cookie', 'a=1'],
          ['set-cookie', 'b=2'],
        ]);
        const facts = [request.method, request.url, request.headers.get('x-test'), await request.text(), remoteAddress];
        return new Response(facts.join(' '), { headers });
      },
    });
    const connection = await connect(self);
    const head = 'POST /a?b=c HTTP/1.1\r\nHost: localhost:8080\r\nX-Test: yes\r\nConnection: close\r\n';
    await write(connection, `${head}Content-Length: 5\r\n\r\nhello`);
    const answer = await readAll(connection);
    expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\n/);
    expect(answer).toMatch(/set-cookie: a=1\r\nset-cookie: b=2\r\n/i);
    expect(answer).toContain('POST http://localhost:8080/a?b=c yes hello 10.1.0.2');
  });

  test('to an HTTP function carries several requests and streams', async () => {
    const { self } = await serving({
      fetch: ({ url }) => new Response(new Blob([new URL(url).pathname, '!']).stream()),
    });
    const connection = await connect(self);
    await write(connection, 'GET /one HTTP/1.1\r\nHost: web\r\n\r\n');
    await write(connection, 'GET /two HTTP/1.1\r\nHost: web\r\nConnection: close\r\n\r\n');
    const answer = await readAll(connection);
    expect(answer.match(/HTTP\/1.1 200 OK/g)).toHaveLength(2);
    expect(answer).toMatch(/\/one.*\/two/s);
  });

  test('to an HTTP function aborts its request when the client closes', async () => {
    let request: Request | undefined;
    let onAbort: (() => void) | undefined;
    const aborted = new Promise<void>((resolve) => {
      onAbort = resolve;
    });
    const { self } = await serving({
      fetch: (received) => {
        request = received;
        received.signal.addEventListener('abort', () => onAbort?.());
        return new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array([65])) }));
      },
    });
    const connection = await connect(self);
    await write(connection, 'GET / HTTP/1.1\r\nHost: web\r\n\r\n');
    const reader = connection.readable.getReader();
    expect((await reader.read()).done).toBe(false);
    await reader.cancel();
    await connection.writable.abort();
    await aborted;
    expect(request?.signal.aborted).toBe(true);
  });

  test('to a socket rejects without sockets', async () => {
    const { self } = await serving({ address: { host: '127.0.0.1', port: 1 } }, {});
    await expect(connect(self)).rejects.toThrow(missing);
    expect(await self.get('http://web/', 'team/client')).toMatch(missing);
  });

  test('to an HTTP function without sockets finds an open port, but carries no bytes', async () => {
    const { self } = await serving({ fetch: () => new Response() }, {});
    const probe = await connect(self);
    await probe.writable.close();
    expect(await readAll(probe)).toBe('');
    const connection = await connect(self);
    await write(connection, 'GET / HTTP/1.1\r\n');
    await expect(readAll(connection)).rejects.toThrow(missing);
  });

  test('to a host outside of the cluster needs externalFetch', async () => {
    const server = createServer((socket) => socket.end('outside'));
    const outside = await listening(server);
    const { host = '', port = 0 } = 'address' in outside ? outside.address : {};
    const endpoints = [{ addresses: ['203.0.113.5'] }];
    for (const externalFetch of [undefined, fetch]) {
      const dialled: string[] = [];
      const dial = (address: { readonly host: string }) => {
        dialled.push(address.host);
        return nodeSockets.dial({ host, port });
      };
      const self = await networked({ sockets: { ...nodeSockets, dial }, externalFetch });
      await self.service('team/legacy', { clusterIP: '10.0.0.82', selector: {} });
      await self.slice('team/legacy', { addressType: 'IPv4', ports: [{ port: 80 }], endpoints });
      const text = self.network.connect('legacy.team', 80).then(readAll, (error: Error) => error.message);
      const refused = 'dial tcp 203.0.113.5:80: connect: no route to host';
      expect([await text, dialled]).toEqual(externalFetch === undefined ? [refused, []] : ['outside', ['203.0.113.5']]);
    }
  });

  test('that its client closes is closed for the function too', async () => {
    let server: PodServer = echo;
    const ended = new Promise<unknown>((resolve) => {
      server = { connect: ({ writable }) => void writable.getWriter().closed.catch(resolve) };
    });
    const { self } = await serving(server);
    const connection = await connect(self);
    await connection.readable.cancel();
    expect(await ended).toMatchObject({ message: 'write: broken pipe' });
  });

  test('waits for its reader when its buffer is full', async () => {
    let writes = 0;
    const send = async ({ writable }: ByteConnection): Promise<void> => {
      const writer = writable.getWriter();
      for (; writes < 10; writes++) await writer.write(new Uint8Array(16 * 1024));
      await writer.close();
    };
    const { self } = await serving({ connect: (connection) => void send(connection) });
    const connection = await connect(self);
    await nextTurn();
    expect(writes).toBe(3);
    expect(await readAll(connection)).toHaveLength(160 * 1024);
  });
});

describe('a request', () => {
  const facts = () =>
    createHttpServer((incoming, outgoing) => {
      const { method, url, headers } = incoming;
      outgoing.writeHead(201, { 'x-answer': 'yes' });
      outgoing.write(`${method} ${url} ${headers.host} `);
      incoming.pipe(outgoing);
    });

  test('to a socket of this machine keeps the host and the body', async () => {
    const { self } = await serving(await listening(facts()));
    const request = new Request('http://web.team/a?b=c', { method: 'POST', body: 'hello' });
    const response = await self.network.fetch(request, source('team/client'));
    expect([response.status, response.headers.get('x-answer')]).toEqual([201, 'yes']);
    expect(await response.text()).toBe('POST /a?b=c web.team hello');
  });

  test('to a socket of this machine streams both bodies', async () => {
    const { self } = await serving(
      await listening(createHttpServer((incoming, outgoing) => void incoming.pipe(outgoing.writeHead(200)))),
    );
    const upload = new TransformStream<Uint8Array, Uint8Array>();
    const init = { method: 'POST', body: upload.readable, duplex: 'half' };
    const pending = self.network.fetch(new Request('http://web/', init), source('team/client'));
    const writer = upload.writable.getWriter();
    await writer.write(new TextEncoder().encode('one'));
    const reader = (await pending).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('one');
    await writer.write(new TextEncoder().encode('two'));
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('two');
    await writer.close();
    expect((await reader?.read())?.done).toBe(true);
  });

  test('to a socket of this machine can be aborted', async () => {
    const abort = new AbortController();
    const server = createHttpServer(() => abort.abort(new Error('enough')));
    const { self } = await serving(await listening(server));
    const request = new Request('http://web/', { signal: abort.signal });
    await expect(self.network.fetch(request, source('team/client'))).rejects.toThrow('enough');
  });

  test('to a function for connections speaks HTTP/1.1', async () => {
    const { self } = await serving({
      connect: ({ readable, writable }) => {
        const reader = readable.getReader();
        const answer = async (): Promise<void> => {
          const head = new TextDecoder().decode((await reader.read()).value);
          const writer = writable.getWriter();
          const [line = ''] = head.split('\r\n');
          await writer.write(
            new TextEncoder().encode(`HTTP/1.1 200 OK\r\nContent-Length: ${line.length}\r\n\r\n${line}`),
          );
          await writer.close();
        };
        void answer();
      },
    });
    expect(await self.get('http://web/path', 'team/client')).toBe('GET /path HTTP/1.1');
  });

  test('with https to a socket of this machine uses TLS', async () => {
    const { self } = await serving(await listening(facts()));
    self.serve('team/web', 443, await listening(facts()));
    const url = 'https://10.1.0.1/';
    expect(await self.get(url)).toMatch(/wrong version number|packet length too long|EPROTO/);
  });

  test('to a socket without a server rejects', async () => {
    const server = createServer((socket) => socket.destroy());
    const { self } = await serving(await listening(server));
    expect(await self.get('http://web/', 'team/client')).toMatch(/socket hang up|ECONNRESET/);
  });
});
