/** The listener between sockets and a request handler, with clients that send raw bytes. */
import { once } from 'node:events';
import { connect, createServer as createHttp2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { createListener } from '../../../src/node/http-listener.js';
import { ClientDisconnectedError } from '../../../src/node/incoming-request.js';
import type { Answer, HttpRequest } from '../../../src/protocol/http.js';
import { exchange, openConnection, site, text } from './sockets.js';

const CLOSE = 'Host: x\r\nConnection: close\r\n';

describe('the request that a handler receives', () => {
  test.each([
    ['/api/v1/pods?limit=1', 'http://site/api/v1/pods?limit=1'],
    ['/a/../b/%2e%2e//c', 'http://site/a/../b/%2e%2e//c'],
    ['//double', 'http://site//double'],
    ['/a#b', 'http://site/a%23b'],
    ['http://elsewhere:80/path?q', 'http://site/path?q'],
    ['http://elsewhere?q', 'http://site/?q'],
  ])('converts the target %s to the URL %s', async (target, url) => {
    await using fake = await site(async (request) => text(request.url));
    const answer = await exchange(fake.port, `GET ${target} HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(answer.split('\r\n\r\n')[1]).toBe(url);
  });

  test('joins repeated headers, or keeps the first of those that must be unique', async () => {
    await using fake = await site(async ({ headers }) =>
      text(JSON.stringify([[...headers].sort(), headers.get('constructor'), headers.get('authorization')])),
    );
    const answer = await exchange(
      fake.port,
      `GET / HTTP/1.1\r\n${CLOSE}X-B: 1\r\nX-b: 2\r\nAuthorization: one\r\nAuthorization: two\r\nX!#$%&'*+.^_\`|~: \xe9\xff\r\n\r\n`,
    );
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).toEqual([
      [
        ['authorization', 'one'],
        ['connection', 'close'],
        ['host', 'x'],
        ["x!#$%&'*+.^_`|~", expect.any(String)],
        ['x-b', '1, 2'],
      ],
      null,
      'one',
    ]);
  });

  test('accepts a method that fetch does not support', async () => {
    await using fake = await site(async ({ method }) => text(method));
    for (const method of ['LOCK', 'TRACE', 'PURGE', 'DELETE']) {
      expect(await exchange(fake.port, `${method} / HTTP/1.1\r\n${CLOSE}\r\n`)).toContain(`\r\n\r\n${method}`);
    }
    expect(await exchange(fake.port, `BOGUS / HTTP/1.1\r\n${CLOSE}\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('passes the body as a stream, and no body when none is announced', async () => {
    await using fake = await site(async (request) => {
      if (!request.body) return text('none');
      let seen = '';
      for await (const chunk of request.body) seen += new TextDecoder().decode(chunk);
      return text(seen);
    });
    const send = (rest: string): Promise<string> => exchange(fake.port, `PUT / HTTP/1.1\r\n${CLOSE}${rest}`);
    expect(await send('Content-Length: 5\r\n\r\nhello')).toMatch(/\r\n\r\nhello$/);
    expect(await send('Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n')).toMatch(/\r\n\r\nhello$/);
    expect(await send('Content-Length: 0\r\n\r\n')).toMatch(/\r\n\r\nnone$/);
    expect(await send('\r\n')).toMatch(/\r\n\r\nnone$/);
  });

  test('aborts the request when the client disconnects, whether the signal is read before or after', async () => {
    let reason: unknown;
    await using fake = await site(
      (request) =>
        new Promise((_resolve, reject) => {
          request.signal.addEventListener('abort', () => {
            reason = request.signal.reason;
            reject(reason);
          });
        }),
    );
    const connection = await openConnection(fake.port);
    const over = fake.over();
    const requestArrived = once(fake.server, 'request');
    connection.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await requestArrived;
    connection.socket.destroy();
    expect(await over).toMatchObject({ status: 0, isAborted: true });
    expect(reason).toBeInstanceOf(ClientDisconnectedError);
    expect(fake.errors).toEqual([]);
  });

  test('fails to read the body when the client disconnects', async () => {
    await using fake = await site(async (request) => text(await wholeOf(request)));
    const connection = await openConnection(fake.port);
    const over = fake.over();
    const requestArrived = once(fake.server, 'request');
    connection.socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n12345');
    await requestArrived;
    connection.socket.destroy();
    expect(await over).toMatchObject({ status: 0, isAborted: true });
  });
});

describe('the response that a client receives', () => {
  test('sends a length for complete bodies, and none for HEAD and empty responses', async () => {
    await using fake = await site(async (request) =>
      request.url.endsWith('/204') ? { code: 204, headers: [], body: null } : text('héllo'),
    );
    expect(await exchange(fake.port, `GET / HTTP/1.1\r\n${CLOSE}\r\n`)).toMatch(/Content-Length: 6\r\n/);
    const head = await exchange(fake.port, `HEAD / HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(head).not.toMatch(/Content-Length|Transfer-Encoding/i);
    expect(head.endsWith('\r\n\r\n')).toBe(true);
    const empty = await exchange(fake.port, `GET /204 HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(empty).toMatch(/^HTTP\/1\.1 204 /);
    expect(empty).not.toMatch(/Content-Length|Transfer-Encoding/i);
  });

  test('sends one length if a backend gave another one', async () => {
    await using fake = await site({ code: 205, headers: [['content-length', '30']], body: null });
    const answer = await exchange(fake.port, `GET / HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(answer.match(/Content-Length: .*/gi)).toEqual(['Content-Length: 0']);
    const head = await exchange(fake.port, `HEAD / HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(head.match(/Content-Length: .*/gi)).toEqual(['content-length: 30']);
  });

  test.each([204, 304])('sends no length with the status %d if a backend gave one', async (code) => {
    await using fake = await site({ code, headers: [['content-length', '30']], body: null });
    expect(await exchange(fake.port, `GET / HTTP/1.1\r\n${CLOSE}\r\n`)).not.toMatch(/Content-Length/i);
  });

  test('sends repeated headers on separate lines', async () => {
    const headers = [
      ['Warning', '299 - "a"'],
      ['Warning', '299 - "b, \\"c\\""'],
    ] as const;
    await using fake = await site({ code: 200, headers, body: '' });
    const answer = await exchange(fake.port, `GET / HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(answer).toContain('Warning: 299 - "a"\r\nWarning: 299 - "b, \\"c\\""\r\n');
  });

  test('keeps the order of responses to pipelined requests', async () => {
    await using fake = await site(async (request) => text(request.url));
    const one = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const connection = await openConnection(fake.port);
    connection.socket.write(one('/1') + one('/2') + one('/3'));
    const all = await connection.until(/site\/3/);
    expect([...all.matchAll(/site(\/\d)/g)].map(([, path]) => path)).toEqual(['/1', '/2', '/3']);
    connection.socket.destroy();
  });

  test.each(['GET / HTTP/2.0', 'POST * HTTP/2.0', 'GET / HTTP/0.9'])('rejects the version of "%s"', async (line) => {
    await using fake = await site(async () => text('answered'));
    const response = await exchange(fake.port, `${line}\r\nHost: x\r\nContent-Length: 10\r\n\r\n`);
    expect(response).toMatch(/^HTTP\/1\.1 505 HTTP Version Not Supported\r\n/);
    expect(fake.errors).toEqual([]);
  });

  test('ends the connection in HTTP/1.0, and streams without chunks', async () => {
    await using fake = await site({ code: 200, headers: [], body: streamOf('a', 'b') });
    const answer = await exchange(fake.port, 'GET / HTTP/1.0\r\n\r\n');
    expect(answer).not.toMatch(/Transfer-Encoding/i);
    expect(answer.split('\r\n\r\n')[1]).toBe('ab');
  });

  test('ignores a request to upgrade the protocol', async () => {
    await using fake = await site(async ({ method }) => text(method));
    const upgrade = 'Host: x\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\n';
    expect(await exchange(fake.port, `GET /exec HTTP/1.1\r\n${upgrade}\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
  });

  test.each([
    ['OPTIONS *', 200],
    ['GET *', 400],
    ['GET nonsense', 400],
  ])('responds to %s with the status %i', async (line, status) => {
    await using fake = await site(text('never'));
    const answer = await exchange(fake.port, `${line} HTTP/1.1\r\n${CLOSE}\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(answer).not.toContain('never');
  });

  test('sends 100 Continue only when the body is read', async () => {
    await using fake = await site(async (request) =>
      request.url.endsWith('/refuse') ? { ...text('no'), code: 413 } : text(await wholeOf(request)),
    );
    const head = (path: string): string =>
      `PUT ${path} HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n`;
    const connection = await openConnection(fake.port);
    connection.socket.write(head('/'));
    await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.socket.write('body');
    await connection.until(/\r\n\r\nbody$/);
    connection.socket.destroy();
    const refused = await exchange(fake.port, head('/refuse'));
    expect(refused).toMatch(/^HTTP\/1\.1 413 .*\r\nConnection: close\r\n.*\r\nno$/s);
  });

  test('rejects an unlimited upload and then closes the connection', async () => {
    await using fake = await site(async (request) => {
      const reader = request.body?.getReader();
      await reader?.read();
      await reader?.cancel();
      return { ...text('too much'), code: 413 };
    });
    const connection = await openConnection(fake.port);
    connection.socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n');
    const chunk = `8000\r\n${'x'.repeat(0x8000)}\r\n`;
    const send = (): void => {
      while (!connection.socket.destroyed && connection.socket.write(chunk));
    };
    connection.socket.on('drain', send);
    send();
    const answer = await connection.end();
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*\r\nConnection: close\r\n.*\r\ntoo much$/s);
  });

  test('keeps the connection open after a small unread body', async () => {
    await using fake = await site(async (request) => text(request.url));
    const connection = await openConnection(fake.port);
    connection.socket.write('POST /1 HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc');
    await connection.until(/site\/1/);
    connection.socket.write('defGET /2 HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.until(/site\/2/);
    connection.socket.destroy();
    expect(fake.log[0]).toMatchObject({ method: 'POST', target: '/1', status: 200 });
  });

  test('closes the connection when the handler fails', async () => {
    const fault = new Error('a fault');
    await using fake = await site(() => Promise.reject(fault));
    expect(await exchange(fake.port, 'GET / HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('');
    expect(fake.errors).toEqual([fault]);
  });
});

describe('streaming responses', () => {
  test('sends the headers of a stream before the first bytes', async () => {
    let sendText: (text: string | undefined) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        sendText = (chunkText) => {
          if (chunkText === undefined) controller.close();
          else controller.enqueue(new TextEncoder().encode(chunkText));
        };
      },
    });
    await using fake = await site({ code: 200, headers: [['Content-Type', 'application/json']], body });
    const connection = await openConnection(fake.port);
    connection.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(await connection.until(/\r\n\r\n$/)).toMatch(/Transfer-Encoding: chunked\r\n/);
    sendText('{"a":1}\n');
    await connection.until(/\r\n8\r\n\{"a":1\}\n\r\n$/);
    sendText(undefined);
    await connection.until(/\r\n0\r\n\r\n$/);
    connection.socket.destroy();
  });

  test('applies back pressure to a stream and ends it when the client disconnects', async () => {
    const chunk = new Uint8Array(64 * 1024);
    let produced = 0;
    let cancelled: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      cancelled = resolve;
    });
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          produced += chunk.length;
          controller.enqueue(chunk);
        },
        cancel: () => cancelled(),
      },
      { highWaterMark: 0 },
    );
    await using fake = await site({ code: 200, headers: [], body });
    const connection = await openConnection(fake.port);
    connection.socket.pause();
    connection.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    // The buffers of the socket fill first; then the stream is not read any more.
    let before = -1;
    while (produced === 0 || produced !== before) {
      before = produced;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(produced).toBeLessThan(64 * 1024 * 1024);
    connection.socket.destroy();
    await ended;
    expect(fake.errors).toEqual([]);
  });

  test('cuts off a watch that its client does not read on shutdown', async () => {
    const chunk = new Uint8Array(64 * 1024);
    let isEnded = false;
    const body = {
      read: async () => (isEnded ? undefined : chunk),
      cancel: () => {
        isEnded = true;
      },
    };
    const errors: unknown[] = [];
    const listener = createListener(
      async ({ signal }) => {
        signal.addEventListener('abort', body.cancel);
        return { code: 200, headers: [], body };
      },
      { origin: () => 'http://site', onError: (error) => errors.push(error) },
    );
    // Over HTTP/2 the client limits what the server may send.
    const server = createHttp2Server().on('request', listener.request as () => void);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const unread = client.request({ ':path': '/' });
    const [, outgoing] = await once(server, 'request');
    await vi.waitUntil(() => outgoing.stream.writableNeedDrain);
    await listener.drain();
    expect({ isEnded, errors, isCutOff: outgoing.stream.destroyed }).toEqual({
      isEnded: true,
      errors: [],
      isCutOff: true,
    });
    unread.destroy();
    client.destroy();
    server.close();
  });

  test('closes the connection when a stream fails', async () => {
    const fault = new Error('a fault');
    let fail: () => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('half'));
        fail = () => controller.error(fault);
      },
    });
    await using fake = await site({ code: 200, headers: [], body });
    const connection = await openConnection(fake.port);
    connection.socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await connection.until(/half/);
    fail();
    const all = await connection.end();
    // Without the last chunk the client detects that the body is incomplete.
    expect(all).not.toMatch(/\r\n0\r\n\r\n$/);
    expect(fake.errors).toEqual([fault]);
  });

  test('does not read a stream for a HEAD request', async () => {
    let cancelled = false;
    const body = new ReadableStream<Uint8Array>({
      cancel: () => {
        cancelled = true;
      },
    });
    await using fake = await site({ code: 200, headers: [], body });
    await exchange(fake.port, `HEAD / HTTP/1.1\r\n${CLOSE}\r\n`);
    await expect.poll(() => cancelled).toBe(true);
  });
});

async function wholeOf(request: HttpRequest): Promise<string> {
  return new TextDecoder().decode(await request.arrayBuffer());
}

function streamOf(...texts: string[]): Answer['body'] {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const each of texts) controller.enqueue(new TextEncoder().encode(each));
      controller.close();
    },
  });
}
