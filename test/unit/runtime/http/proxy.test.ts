/** HTTP requests to pods. The expected headers were recorded from a real API server. */
import { describe, expect, test } from 'vitest';
import { percentDecode } from '../../../../src/http/path.js';
import { errors } from '../../../../src/meta/errors.js';
import { answerConnection } from '../../../../src/runtime/http/answer-connection.js';
import { fakeRequest, type RequestParts } from './fakes.js';

const PREFIX = '/api/v1/namespaces/default/pods/web:80/proxy';

type Program = (request: Request) => Response | Promise<Response>;

interface AskParts extends RequestParts {
  readonly prefix?: string;
  /** The path that was admitted. */
  readonly admitted?: string;
}

async function ask(program: Program, { path = '/', prefix = PREFIX, admitted, ...parts }: AskParts = {}) {
  const request = fakeRequest({ ...parts, path: prefix + path });
  const connectionPath = admitted ?? percentDecode(path.split('?')[0] ?? '') ?? '';
  let sent: Request | undefined;
  let ended = 0;
  const fetch = async (received: Request): Promise<Response> => {
    sent = received;
    return program(received);
  };
  const answer = await answerConnection({ type: 'proxy', path: connectionPath, fetch }, request, () => {
    ended++;
  });
  const { code, headers, body } = answer;
  return {
    code,
    headers: Object.fromEntries(headers),
    body: body as ReadableStream<Uint8Array> | null,
    request,
    sent,
    ended: () => ended,
  };
}

const redirect = (location: string) => ask(() => new Response('', { status: 302, headers: { location } }));

describe('a request to a pod', () => {
  test('has the path behind the proxy, the query, the method and the headers of the client', async () => {
    const headers = { accept: '*/*', cookie: 'a=b', 'x-forwarded-for': '9.9.9.9' };
    const { sent } = await ask(() => new Response('ok'), { path: '/a%2Fb/c/?x=1&y=%20', headers });
    expect(sent?.url).toBe('http://cluster.local/a/b/c/?x=1&y=%20');
    expect(sent?.method).toBe('GET');
    expect(Object.fromEntries(sent?.headers ?? [])).toEqual({
      accept: '*/*',
      cookie: 'a=b',
      'x-forwarded-for': '9.9.9.9, 10.1.1.1',
      'x-forwarded-uri': `${PREFIX}/a/b/c/`,
    });
  });

  // Recorded, too.
  test.each([
    ['/', '/'],
    ['/proxy/x', '/proxy/x'],
    ['/a%5Cb', '/a%5Cb'],
    ['/a%5c..%5cb', '/a%5C..%5Cb'],
    ['/a%252e%252e%252fb', '/a%252e%252e%252fb'],
    ['/a%20b%3Fc%23d', '/a%20b%3Fc%23d'],
    ["/!(*)'x", '/%21%28%2A%29%27x'],
    ['/$&+,:;=@~', '/$&+,:;=@~'],
    ['/%C3%A9', '/%C3%A9'],
    ['/%ff', '/%FF'],
    ["/%c3%a9%C3'%3f%41%25ff", '/%C3%A9%C3%27%3FA%25ff'],
    ['/%EF%BF%BD', '/%EF%BF%BD'],
    ['/a..b/.c', '/a..b/.c'],
  ])('for the path %s has the path %s', async (path, expected) => {
    const { sent } = await ask(() => new Response('ok'), { path });
    expect(sent?.url).toBe(`http://cluster.local${expected}`);
    expect(sent?.headers.get('x-forwarded-uri')).toBe(PREFIX + expected);
  });

  test.each([
    ['pods', 'services/proxy', '/x'],
    ['services', 'pods/a', '/nodes/b/proxy/x'],
    ['nodes', 'pods/proxy', '/x//'],
  ])('has the path behind the right proxy in the namespace %s (%s%s)', async (namespace, object, path) => {
    const prefix = `/api/v1/namespaces/${namespace}/${object}/proxy`;
    const admitted = path.replace('//', '/');
    const { sent } = await ask(() => new Response('ok'), { prefix, path, admitted });
    expect(sent?.url).toBe(`http://cluster.local${admitted}`);
    expect(sent?.headers.get('x-forwarded-uri')).toBe(prefix + admitted);
  });

  test.each(['/a/../b', '/..', '/a/.', '/a%2F..%2Fb', '/%2e%2e/b'])(
    'is rejected if its path %s is not the one that was admitted',
    async (path) => {
      const asking = ask(() => new Response('ok'), { path });
      await expect(asking).rejects.toMatchObject({ code: 400, reason: 'BadRequest' });
    },
  );

  test('has no credentials of the API server and no headers of the connection', async () => {
    const headers = {
      authorization: 'Bearer secret',
      'impersonate-user': 'alice',
      'x-remote-user': 'root',
      'x-remote-uid': '0',
      'x-remote-group': 'system:masters',
      'x-remote-extra-scopes': 'all',
      connection: 'x-hop',
      'x-hop': '1',
      te: 'trailers',
      'x-kept': '1',
    };
    const { sent } = await ask(() => new Response('ok'), { headers });
    const names = [...(sent?.headers.keys() ?? [])];
    expect(names).toEqual(['x-forwarded-for', 'x-forwarded-uri', 'x-kept']);
  });

  test('has the body of the client', async () => {
    const { sent, body } = await ask(async (request) => new Response(await request.text()), {
      method: 'POST',
      body: 'content',
      path: '',
    });
    expect(sent?.url).toBe('http://cluster.local/');
    expect(sent?.headers.get('x-forwarded-uri')).toBe(`${PREFIX}/`);
    expect(await new Response(body).text()).toBe('content');
  });

  test('is redirected if it has no path', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { code, headers, sent } = await ask(() => new Response('ok'), { path: '?x=1', method });
      expect({ code, headers, sent }).toEqual({ code: 301, headers: { Location: `${PREFIX}/?x=1` }, sent: undefined });
    }
  });

  test('is rejected if the pod cannot be reached', async () => {
    const failing = ask(() => Promise.reject(new Error('connection refused')));
    await expect(failing).rejects.toMatchObject({
      code: 503,
      reason: 'ServiceUnavailable',
      message: 'error trying to reach service: connection refused',
    });
    await expect(ask(() => Promise.reject(errors.badRequest('no such port')))).rejects.toMatchObject({ code: 400 });
  });

  test('fails with the reason of a client that has disconnected', async () => {
    const request = fakeRequest({ path: `${PREFIX}/` });
    const fetch = async (): Promise<Response> => {
      request.disconnect();
      throw new Error('aborted');
    };
    const answering = answerConnection({ type: 'proxy', path: '/', fetch }, request, () => undefined);
    const failure: unknown = await Promise.resolve(answering).catch((error: unknown) => error);
    expect(failure).toBe(request.signal.reason);
    expect(failure).toBeInstanceOf(Error);
  });

  test('for a WebSocket is rejected', async () => {
    await expect(ask(() => new Response('ok'), { protocols: [] })).rejects.toMatchObject({ code: 501 });
  });
});

describe('a response of a pod', () => {
  test('is passed on without headers of the connection and of other origins', async () => {
    const headers = { 'x-a': '1', 'access-control-allow-origin': '*', 'keep-alive': '5', 'cache-control': 'max-age=5' };
    const answer = await ask(() => new Response('no', { status: 404, headers }));
    expect(answer.code).toBe(404);
    expect(answer.headers).toEqual({
      'cache-control': 'max-age=5',
      'content-type': 'text/plain;charset=UTF-8',
      'x-a': '1',
    });
    expect(answer.ended()).toBe(0);
    expect(await new Response(answer.body).text()).toBe('no');
    expect(answer.ended()).toBe(1);
  });

  test('without a body has none', async () => {
    const { code, body } = await ask(() => new Response(null, { status: 204 }));
    expect({ code, body }).toEqual({ code: 204, body: null });
  });

  test('to a HEAD request is not read', async () => {
    let isCancelled = false;
    const stream = new ReadableStream({
      cancel() {
        isCancelled = true;
      },
    });
    const { body } = await ask(() => new Response(stream), { method: 'HEAD' });
    expect(body).toBeNull();
    expect(isCancelled).toBe(true);
  });

  test('ends when the client disconnects', async () => {
    let isCancelled = false;
    const stream = new ReadableStream({
      cancel() {
        isCancelled = true;
      },
    });
    const { body, request, ended } = await ask(() => new Response(stream));
    const read = body?.getReader().read();
    request.disconnect();
    expect(await read).toMatchObject({ done: true });
    expect(isCancelled).toBe(true);
    expect(ended()).toBe(1);
  });

  test.each([
    ['/foo', `${PREFIX}/foo`],
    ['/foo/?a=b#c', `${PREFIX}/foo/?a=b#c`],
    ['foo', 'foo'],
    ['http://cluster.local/foo/', `http://cluster.local${PREFIX}/foo/`],
    ['http://other/foo', 'http://other/foo'],
    ['//other/foo', '//other/foo'],
    [`${PREFIX}/zz`, `${PREFIX}/zz`],
    ['http://[', 'http://['],
  ])('redirects the client from %s to %s', async (location, expected) => {
    expect((await redirect(location)).headers['location']).toBe(expected);
  });
});
