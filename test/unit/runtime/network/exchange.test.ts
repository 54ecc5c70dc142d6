/**
 * HTTP between functions of this process: URLs, bodies as streams, aborting, errors and redirects.
 */
import { describe, expect, test } from 'vitest';
import type { PodServer } from '../../../../src/runtime/network/types.js';
import { nextTurn } from '../../../../src/util/clock.js';
import { messageOf, type Networked, networked, source } from './network-fixture.js';

type Handler = Extract<PodServer, { readonly fetch: unknown }>['fetch'];

const text = (value: string) => new TextEncoder().encode(value);
const CLIENT = source('team/client');

/** The server `web` in another pod than the client. */
async function serving(fetch: Handler): Promise<Networked & { stop(): void }> {
  const self = await networked();
  await self.pod('team/web', '10.1.0.1', { labels: { app: 'web' } });
  await self.pod('team/client', '10.1.0.2');
  await self.service('team/web', {});
  const stop = self.serve('team/web', 80, { fetch });
  return Object.assign(self, { stop });
}

/** A stream whose chunks the test provides, and what happened to it. */
function controlledStream() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const state = { cancelledWith: undefined as unknown, isCancelled: false };
  const stream = new ReadableStream<Uint8Array>({
    start: (given) => {
      controller = given;
    },
    cancel: (reason) => {
      state.cancelledWith = reason;
      state.isCancelled = true;
    },
  });
  return {
    stream,
    state,
    send: (value: string) => controller?.enqueue(text(value)),
    end: () => controller?.close(),
    fail: (error: Error) => controller?.error(error),
  };
}

/** A reader of texts. */
function readerOf(body: ReadableStream<Uint8Array> | null) {
  const reader = body?.getReader();
  return {
    next: async () => new TextDecoder().decode((await reader?.read())?.value),
    cancel: (reason?: unknown) => reader?.cancel(reason),
  };
}

async function until(isTrue: () => boolean): Promise<void> {
  for (let turn = 0; turn < 100 && !isTrue(); turn++) await nextTurn();
  expect(isTrue()).toBe(true);
}

describe('a request', () => {
  test('arrives with its method, URL, headers and body', async () => {
    const self = await serving(async (request) => {
      const { method, url, headers } = request;
      const found = { method, url, type: headers.get('x-type'), body: await request.text() };
      return Response.json(found, { status: 201, statusText: 'Made', headers: { 'x-answer': 'yes' } });
    });
    const init = { method: 'PUT', body: 'hello', headers: { 'x-type': 'text' } };
    const response = await self.network.fetch(new Request('http://web.team/a?b=c', init), CLIENT);
    expect(await response.json()).toEqual({ method: 'PUT', url: 'http://web.team/a?b=c', type: 'text', body: 'hello' });
    expect([response.status, response.statusText, response.headers.get('x-answer')]).toEqual([201, 'Made', 'yes']);
  });

  test('may use https, without a certificate', async () => {
    const self = await networked();
    await self.pod('team/web', '10.1.0.1');
    self.serve('team/web', 443, { fetch: ({ url }) => new Response(url) });
    expect(await self.get('https://10.1.0.1/')).toBe('https://10.1.0.1/');
  });

  test('and its response have bodies that are streams', async () => {
    const self = await serving((request) => new Response(request.body, { headers: { 'x-early': 'yes' } }));
    const upload = controlledStream();
    const init = { method: 'POST', body: upload.stream, duplex: 'half' };
    const response = await self.network.fetch(new Request('http://web/', init), CLIENT);
    expect(response.headers.get('x-early')).toBe('yes');
    const reader = readerOf(response.body);
    upload.send('one');
    expect(await reader.next()).toBe('one');
    upload.send('two');
    expect(await reader.next()).toBe('two');
    upload.end();
    expect(await reader.next()).toBe('');
  });

  test('has a response that is not read far ahead of the client', async () => {
    let produced = 0;
    const source = new ReadableStream<Uint8Array>(
      { pull: (controller) => controller.enqueue(text(String(produced++))) },
      { highWaterMark: 0 },
    );
    const self = await serving(() => new Response(source));
    const response = await self.network.fetch(new Request('http://web/'), CLIENT);
    const reader = readerOf(response.body);
    await reader.next();
    await nextTurn();
    expect(produced).toBe(3);
    await reader.cancel();
  });

  test('with the method HEAD gets no body', async () => {
    const download = controlledStream();
    const self = await serving(() => new Response(download.stream, { headers: { 'content-length': '5' } }));
    const response = await self.network.fetch(new Request('http://web/', { method: 'HEAD' }), CLIENT);
    expect([response.body, response.headers.get('content-length')]).toEqual([null, '5']);
    await until(() => download.state.isCancelled);
  });
});

describe('a client that aborts', () => {
  test('rejects before it is sent', async () => {
    const self = await serving(() => new Response());
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(self.network.fetch(new Request('http://web/', { signal }), CLIENT)).rejects.toThrow('too late');
  });

  test('aborts the signal of a waiting server, and its upload', async () => {
    const abort = new AbortController();
    let received: Request | undefined;
    const self = await serving((request) => {
      received = request;
      return new Promise(() => undefined);
    });
    const upload = controlledStream();
    const init = { method: 'POST', body: upload.stream, duplex: 'half', signal: abort.signal };
    const failed = self.network.fetch(new Request('http://web/', init), CLIENT).catch(messageOf);
    await until(() => received !== undefined);
    const body = received?.text().catch(messageOf);
    abort.abort(new Error('enough'));
    expect(await failed).toBe('enough');
    expect(received?.signal.aborted).toBe(true);
    expect(await body).toBe('enough');
    expect(upload.state.isCancelled).toBe(true);
  });

  test('does not report the error of a server that stops for this reason', async () => {
    const abort = new AbortController();
    let isWaiting = false;
    const self = await serving(async ({ signal }) => {
      isWaiting = true;
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      return new Response();
    });
    const request = new Request('http://web/', { signal: abort.signal });
    const failed = self.network.fetch(request, CLIENT).catch(messageOf);
    await until(() => isWaiting);
    abort.abort(new Error('enough'));
    expect(await failed).toBe('enough');
    await nextTurn();
    expect(self.failures).toEqual([]);
  });

  test('ends the body of the response on both sides', async () => {
    const abort = new AbortController();
    const download = controlledStream();
    let signal: AbortSignal | undefined;
    const self = await serving((request) => {
      ({ signal } = request);
      return new Response(download.stream);
    });
    const response = await self.network.fetch(new Request('http://web/', { signal: abort.signal }), CLIENT);
    const reader = readerOf(response.body);
    download.send('one');
    expect(await reader.next()).toBe('one');
    abort.abort(new Error('enough'));
    await expect(reader.next()).rejects.toThrow('enough');
    expect(download.state).toEqual({ isCancelled: true, cancelledWith: abort.signal.reason });
    expect(signal?.aborted).toBe(true);
  });

  test('or cancels the body of the response is noticed by the server', async () => {
    const download = controlledStream();
    let signal: AbortSignal | undefined;
    const self = await serving((request) => {
      ({ signal } = request);
      return new Response(download.stream);
    });
    const response = await self.network.fetch(new Request('http://web/'), CLIENT);
    await response.body?.cancel('seen enough');
    expect(download.state).toEqual({ isCancelled: true, cancelledWith: 'seen enough' });
    expect(signal?.aborted).toBe(true);
    expect(self.failures).toEqual([]);
  });
});

describe('a server', () => {
  test.each<[string, Handler, string]>([
    [
      'that throws',
      () => {
        throw new Error('broken');
      },
      'broken',
    ],
    ['that rejects', () => Promise.reject(new Error('broken')), 'broken'],
    // A JavaScript program may return anything.
    ['that returns no Response', () => ({ status: 200 }) as Response, 'the server returned no Response'],
  ])('%s answers with status 500, and the error is reported', async (_name, handler, message) => {
    const self = await serving(handler);
    const response = await self.network.fetch(new Request('http://web/'), CLIENT);
    expect([response.status, await response.text()]).toEqual([500, 'Internal Server Error\n']);
    expect(self.failures).toEqual([expect.stringContaining(`team/web:80: ${message}`)]);
  });

  test('whose body was read before answers with status 500', async () => {
    const response = new Response('once');
    const self = await serving(() => response);
    expect(await self.get('http://web/', 'team/client')).toBe('once');
    expect(await self.get('http://web/', 'team/client')).toBe('Internal Server Error\n');
  });

  test('whose body fails ends the connection, and the error is reported', async () => {
    const download = controlledStream();
    const self = await serving(() => new Response(download.stream));
    const response = await self.network.fetch(new Request('http://web/'), CLIENT);
    download.fail(new Error('broken'));
    await expect(response.text()).rejects.toThrow('socket hang up');
    expect(self.failures).toEqual([expect.stringContaining('team/web:80: broken')]);
  });

  test('that cancels the body of the request stops the upload', async () => {
    const self = await serving(async ({ body }) => {
      await body?.cancel('not needed');
      return new Response('done');
    });
    const upload = controlledStream();
    const init = { method: 'POST', body: upload.stream, duplex: 'half' };
    const response = await self.network.fetch(new Request('http://web/', init), CLIENT);
    expect(await response.text()).toBe('done');
    expect(upload.state).toEqual({ isCancelled: true, cancelledWith: 'not needed' });
  });

  test('that stops listening ends its requests and bodies', async () => {
    const download = controlledStream();
    let count = 0;
    const self = await serving(() => {
      count++;
      return count === 1 ? new Response(download.stream) : new Promise(() => undefined);
    });
    const response = await self.network.fetch(new Request('http://web/'), CLIENT);
    const waiting = self.network.fetch(new Request('http://web/'), CLIENT).catch((error: unknown) => error);
    await until(() => count === 2);
    self.stop();
    await expect(response.text()).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(await waiting).toMatchObject({ name: 'TypeError', cause: { code: 'ECONNRESET' } });
    expect(download.state.isCancelled).toBe(true);
  });
});

describe('a redirect', () => {
  const handler: Handler = async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname !== '/from') {
      const facts = [
        request.method,
        request.url,
        request.headers.get('authorization'),
        request.headers.get('content-type'),
      ];
      return new Response(facts.join(' '));
    }
    const status = Number(searchParams.get('status'));
    return new Response(null, { status, headers: { location: searchParams.get('to') ?? '/from?status=302' } });
  };
  const send = async (path: string, init: RequestInit = {}): Promise<string> => {
    const self = await serving(handler);
    const headers = { authorization: 'secret' };
    const request = new Request(`http://web/from?${path}`, { headers, ...init });
    return self.network.fetch(request, CLIENT).then((response) => response.text(), messageOf);
  };

  test.each([
    ['is followed', 'status=302&to=/to', {}, 'GET http://web/to secret '],
    ['loses credentials at another host', 'status=301&to=http://web.team/to', {}, 'GET http://web.team/to  '],
    ['turns POST into GET', 'status=302&to=/to', { method: 'POST', body: 'x' }, 'GET http://web/to secret '],
    ['turns PUT into GET with 303', 'status=303&to=/to', { method: 'PUT', body: 'x' }, 'GET http://web/to secret '],
    ['keeps the method with 307', 'status=307&to=/to', { method: 'DELETE' }, 'DELETE http://web/to secret '],
    ['cannot repeat a body', 'status=307&to=/to', { method: 'POST', body: 'x' }, 'a redirect needs the body again'],
    ['is not followed forever', 'status=302', {}, 'redirect count exceeded'],
    ['rejects if the request says so', 'status=302&to=/to', { redirect: 'error' }, 'unexpected redirect'],
    ['is returned if the request says so', 'status=302&to=/to', { redirect: 'manual' }, ''],
  ] as const)('%s', async (_name, path, init, expected) => {
    expect(await send(path, init)).toBe(expected);
  });
});
