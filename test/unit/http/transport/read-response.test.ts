/** How the HTTP transport reads responses: objects, lists, warnings and every kind of failure. */
import { describe, expect, test } from 'vitest';
import type { HttpTransportOptions } from '../../../../src/http/index.js';
import { errors, StatusError } from '../../../../src/meta/errors.js';
import type { ApiRequest } from '../../../../src/protocol/request.js';
import type { ObjectResponse } from '../../../../src/protocol/response.js';
import { fakeClock } from '../../../../src/testing/fake-clock.js';
import { configMap, getRequest, json, listRequest, openBody, scripted, watchRequest } from './scripted-fetch.js';

async function answer(response: Response, request: ApiRequest = getRequest): Promise<ObjectResponse> {
  return (await scripted([response]).send(request)) as ObjectResponse;
}

async function failure(response: Response | Error, request: ApiRequest = getRequest): Promise<StatusError> {
  const error = await Promise.resolve(scripted([response], { retries: 0 }).send(request)).catch((e: unknown) => e);
  if (!StatusError.is(error)) throw new Error('it was to fail with a StatusError', { cause: error });
  return error;
}

describe('successful responses', () => {
  test('returns frozen objects that keep large numbers and unusual keys', async () => {
    const text = '{"kind":"X","apiVersion":"v1","metadata":{"name":"a"},"n":9007199254740993,"__proto__":{"x":[1]}}';
    const { code, object } = await answer(json(text, { status: 201 }));
    expect(code).toBe(201);
    expect(Object.entries(object)).toContainEqual(['n', 9007199254740993n]);
    expect(Object.entries(object)).toContainEqual(['__proto__', { x: [1] }]);
    expect(Object.isFrozen(object) && Object.isFrozen((object as { metadata: object }).metadata)).toBe(true);
  });

  test('rejects an object that is nested too deeply with a StatusError', async () => {
    const deep = `${'['.repeat(9_900)}${']'.repeat(9_900)}`;
    const { message } = await failure(json(`{"kind":"X","apiVersion":"v1","metadata":{"name":"a"},"deep":${deep}}`));
    expect(message).toContain('its JSON is nested too deeply');
  });

  test('adds kind and apiVersion to the items of a list', async () => {
    const item = { metadata: { name: 'a' } };
    const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '1' } };
    const typed = await answer(json({ ...list, items: [item] }), listRequest);
    expect(typed.object).toEqual({ ...list, items: [{ kind: 'ConfigMap', apiVersion: 'v1', ...item }] });
    expect(Object.keys((typed.object as { items: readonly object[] }).items[0] ?? {})).toEqual([
      'kind',
      'apiVersion',
      'metadata',
    ]);
    const other = { kind: 'Other', apiVersion: 'v2', ...item };
    expect((await answer(json({ ...list, items: [other] }), listRequest)).object).toMatchObject({ items: [other] });
    expect((await answer(json({ ...list, items: null }), listRequest)).object).toMatchObject({ items: [] });
    const untypedList = { ...list, kind: 'Herd', items: [item] };
    expect((await answer(json(untypedList), listRequest)).object).toEqual(untypedList);
  });

  test.each([
    ['299 - "plain"', ['plain']],
    [
      '299 - "a \\"quoted\\" \\\\ one, with a comma", 299 k8s "second" "Wed, 21 Oct 2015 07:28:00 GMT"',
      ['a "quoted" \\ one, with a comma', 'second'],
    ],
    ['299 - "twice", 299 - "twice",299 - "thrice"', ['twice', 'thrice']],
    ['110 cache "stale", 299 - ""', []],
    ['299 - "good", nonsense', ['good']],
    ['299 - "unfinished', []],
    ['299 - "caf\xc3\xa9", 299 - "th\xe9"', ['café', 'th\xe9']],
    ['', []],
  ])('reads warnings from the header %s', async (header, expected) => {
    expect((await answer(json(configMap, { headers: { warning: header } }))).warnings).toEqual(expected);
  });
});

describe('failures with a Status', () => {
  test('throws a Status of the server unchanged', async () => {
    const { status } = errors.conflict({ group: 'apps', resource: 'deployments' }, 'a', 'too late');
    const error = await failure(json(status, { status: 409, headers: { warning: '299 - "beware"' } }));
    expect(error.status).toEqual(status);
    expect(error.warnings).toEqual(['beware']);
    expect(Object.isFrozen(error.status.details)).toBe(true);
  });

  test('completes a Status with the code of the response, and accepts any code', async () => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Strange' };
    expect((await failure(json(status, { status: 418 }))).status).toEqual({ ...status, metadata: {}, code: 418 });
    expect((await failure(json({ ...status, code: 500 }, { status: 200 }))).code).toBe(500);
  });
});

describe('bodies that do not end', () => {
  function endless(size: number) {
    const part = new Uint8Array(size);
    let sent = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          sent++;
          controller.enqueue(part);
        },
        cancel() {
          isCancelled = true;
        },
      },
      { highWaterMark: 0 },
    );
    return { body, sent: () => sent, isCancelled: () => isCancelled };
  }

  test.each([
    ['an error', 500, 1024 * 1024, 17],
    ['an object', 200, 2 ** 29, 1],
  ])('are not read into memory as %s', async (_, status, size, parts) => {
    const source = endless(size);
    const response = new Response(source.body, { status, headers: { 'content-type': 'application/json' } });
    const { reason, message } = await failure(response);
    expect([reason, message]).toEqual(['ServiceUnavailable', expect.stringMatching(/it is longer than \d+ bytes$/)]);
    expect([source.sent(), source.isCancelled()]).toEqual([parts, true]);
  });
});

describe('failures without a Status', () => {
  const html = { headers: { 'content-type': 'text/html' } };

  test.each([
    [
      new Response('404 page not found\n', { status: 404 }),
      'NotFound',
      404,
      'the server could not find the requested resource (get configmaps a)',
    ],
    [
      new Response(null, { status: 401 }),
      'Unauthorized',
      401,
      'the server has asked for the client to provide credentials (get configmaps a)',
    ],
    [new Response('no entry', { status: 403 }), 'Forbidden', 403, 'no entry (get configmaps a)'],
    [
      new Response('', { status: 400 }),
      'BadRequest',
      400,
      'the server rejected our request for an unknown reason (get configmaps a)',
    ],
    [
      new Response('<h1>Bad Gateway</h1>', { status: 502, ...html }),
      'InternalError',
      502,
      'an error on the server ("<h1>Bad Gateway</h1>") has prevented the request from succeeding (get configmaps a)',
    ],
    [
      new Response('\x00\x01', { status: 500, headers: { 'content-type': 'application/octet-stream' } }),
      'InternalError',
      500,
      'an error on the server ("unknown") has prevented the request from succeeding (get configmaps a)',
    ],
    [
      new Response('busy', { status: 503 }),
      'ServiceUnavailable',
      503,
      'the server is currently unable to handle the request (get configmaps a)',
    ],
    [
      new Response('slow', { status: 504 }),
      'Timeout',
      504,
      'the server was unable to return a response in the time allotted, but may still be processing the request (get configmaps a)',
    ],
    [
      new Response('slow down', { status: 429 }),
      'TooManyRequests',
      429,
      'the server has received too many requests and has asked us to try again later (get configmaps a)',
    ],
    [
      json({ error: 'x' }, { status: 422 }),
      'Invalid',
      422,
      'the server rejected our request due to an error in our request (get configmaps a)',
    ],
    [
      json('{', { status: 405 }),
      'MethodNotAllowed',
      405,
      'the server does not allow this method on the requested resource (get configmaps a)',
    ],
    [new Response('too old', { status: 410 }), 'Gone', 410, 'too old (get configmaps a)'],
    [
      new Response('header too large', { status: 431 }),
      undefined,
      431,
      'the server responded with the status code 431 but did not return more information (get configmaps a)',
    ],
    [
      new Response(null, { status: 302, headers: { location: 'https://elsewhere/' } }),
      undefined,
      302,
      'the server redirects to "https://elsewhere/", which is not followed; set baseUrl to the final URL of the cluster (get configmaps a)',
    ],
    [
      new Response(null, { status: 304 }),
      undefined,
      304,
      'the server redirects, which is not followed; set baseUrl to the final URL of the cluster (get configmaps a)',
    ],
  ])('throws the message of the reference client for response %#', async (response, reason, code, message) => {
    const error = await failure(response);
    expect([error.reason, error.code, error.message]).toEqual([reason, code, message]);
    expect(error.status.details?.causes?.[0]?.reason).toBe('UnexpectedServerResponse');
  });

  test('derives the reason of a 409 from the verb of the request', async () => {
    const create = { ...listRequest, verb: 'create', namespace: 'default' } as const;
    expect((await failure(new Response('', { status: 409 }), create)).reason).toBe('AlreadyExists');
    expect((await failure(new Response('', { status: 409 }))).reason).toBe('Conflict');
  });

  test('does not name the object in a failure with code 404, and keeps the response text', async () => {
    const { details } = (await failure(new Response('404 page not found', { status: 404 }))).status;
    expect(details).toEqual({
      kind: 'configmaps',
      causes: [{ reason: 'UnexpectedServerResponse', message: '404 page not found' }],
    });
  });

  test('suggests another dialect when a built-in group is not found', async () => {
    const messageOf = async (group: string, options: Partial<HttpTransportOptions> = {}) => {
      const { send } = scripted([new Response('404 page not found', { status: 404 })], options);
      const resource = { group, version: 'v1', resource: 'leases' };
      return String(await Promise.resolve(send({ ...getRequest, resource })).catch((error: unknown) => error));
    };
    const text = 'the server could not find the requested resource (get leases.';
    expect(await messageOf('coordination.orch.io')).toContain(
      `${text}coordination.orch.io a); the server may not use the dialect "orch": try dialect: "kubernetes"`,
    );
    expect(await messageOf('coordination.k8s.io', { dialect: 'kubernetes' })).toMatch(
      /the server may not use the dialect "kubernetes": try dialect: "orch"$/,
    );
    // Custom groups have one name in every dialect.
    for (const group of ['apps', 'stable.example.com', 'coordination.k8s.io']) {
      expect(await messageOf(group)).toMatch(/a\)$/);
    }
  });

  test('truncates the response text in the message of a failure', async () => {
    expect((await failure(new Response('x'.repeat(100_000), { status: 500 }))).message.length).toBeLessThan(2_300);
  });

  test.each([
    ['a login page', new Response('<html>', html), /status code 200, but its body is text\/html instead of JSON/],
    ['a truncated document', json('{"kind":"Con'), /its body is not JSON: unexpected end of JSON input/],
    ['an empty body', json(''), /its body is not JSON/],
    ['JSON that is not an object', json('[1]'), /its JSON is not an API object/],
    ['an object without a kind', json({ metadata: {} }), /its JSON is not an API object/],
    ['no content type', new Response(new Uint8Array([123, 125])), /it has no content type/],
  ])('a successful response with %s is an error', async (_, response, message) => {
    const error = await failure(response);
    expect(error.message).toMatch(message);
    expect([error.reason, error.code]).toEqual([undefined, 500]);
  });

  test('an object is rejected as the response to a list, and a page as the response to a watch', async () => {
    expect((await failure(json(configMap), listRequest)).message).toMatch(/is not an API object/);
    expect((await failure(new Response('<html>', html), watchRequest)).message).toMatch(/text\/html instead of JSON/);
  });

  test('a failed connection reports the reason', async () => {
    const cause = new TypeError('fetch failed', {
      cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    });
    const error = await failure(cause);
    expect([error.reason, error.code]).toEqual(['ServiceUnavailable', 503]);
    expect(error.message).toBe(
      'GET "http://cluster/api/v1/namespaces/default/configmaps/a": fetch failed: connect ECONNREFUSED',
    );
    expect(error.cause).toBe(cause);
    const late = await failure(
      new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' }) }),
    );
    expect([late.reason, late.code]).toEqual(['Timeout', 504]);
  });

  test('a body that ends prematurely is reported', async () => {
    const { body, send, break: breakOff } = openBody();
    send('{"kind":');
    const answering = failure(new Response(body, { headers: { 'content-type': 'application/json' } }));
    breakOff(new TypeError('terminated'));
    const error = await answering;
    expect(error.reason).toBe('ServiceUnavailable');
    expect(error.message).toBe('unexpected error when reading response body. Please retry. Original error: terminated');
  });

  test('a refused connection is reported as ServiceUnavailable', async () => {
    const { httpTransport } = await import('../../../../src/http/index.js');
    const transport = httpTransport({ baseUrl: 'http://127.0.0.1:9' });
    const error = await Promise.resolve(transport.send(getRequest)).catch((e: unknown) => e);
    expect(StatusError.is(error, 'ServiceUnavailable') && error.cause).toBeInstanceOf(TypeError);
  });
});

describe('retries', () => {
  const busy = (code = 503, seconds = '2') =>
    new Response('busy', { status: code, headers: { 'retry-after': seconds } });

  test('retries after the time that the server requests', async () => {
    const clock = fakeClock();
    const { send, requests } = scripted([busy(429), busy(503), json(configMap)], { clock });
    const sending = send({
      ...getRequest,
      verb: 'update',
      body: { read: () => ({ value: { a: 1 } }), summary: () => '' },
    });
    await clock.advance(1_999);
    expect(requests).toHaveLength(1);
    await clock.advance(1);
    expect(requests).toHaveLength(2);
    await clock.advance(2_000);
    expect((await sending).type).toBe('object');
    expect(await Promise.all(requests.map((request) => request.text()))).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
    expect(clock.pending).toBe(0);
  });

  test('retries at most ten times, or as often as configured', async () => {
    const clock = fakeClock();
    for (const [retries, calls] of [
      [undefined, 11],
      [3, 4],
      [0, 1],
    ] as const) {
      const script = Array.from({ length: 20 }, () => busy(503, '0'));
      const { send, requests } = scripted(script, { clock, ...(retries === undefined ? {} : { retries }) });
      const error = await Promise.resolve(send(getRequest)).catch((e: unknown) => e);
      expect(StatusError.is(error, 'ServiceUnavailable') && error.status.details?.retryAfterSeconds).toBe(0);
      expect(requests).toHaveLength(calls);
    }
  });

  test.each([
    ['a response without Retry-After', new Response('', { status: 503 })],
    ['a response with a Retry-After date', busy(503, 'Wed, 21 Oct 2030 07:28:00 GMT')],
    ['a response with a Retry-After of one hour', busy(503, '3600')],
    ['a gateway timeout', busy(504)],
    ['a conflict', busy(409)],
  ])('does not retry %s', async (_, response) => {
    const { send, requests } = scripted([response]);
    await expect(send(getRequest)).rejects.toSatisfy((e) => StatusError.is(e));
    expect(requests).toHaveLength(1);
  });

  test('retries a read at once after a connection reset, and never a write', async () => {
    const reset = new TypeError('fetch failed', {
      cause: Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
    });
    const { send, requests } = scripted([reset, json(configMap)]);
    expect((await send(getRequest)).type).toBe('object');
    expect(requests).toHaveLength(2);
    const writing = scripted([reset]);
    await expect(writing.send({ ...getRequest, verb: 'delete' })).rejects.toThrow(/other side closed/);
    expect(writing.requests).toHaveLength(1);
  });

  test('stops retrying when the signal aborts', async () => {
    const clock = fakeClock();
    const stop = new AbortController();
    const { send, requests } = scripted([busy()], { clock });
    const sending = send({ ...getRequest, signal: stop.signal });
    const settled = Promise.resolve(sending).catch((e: unknown) => e);
    await clock.advance(1_000);
    const reason = new Error('enough');
    stop.abort(reason);
    expect(await settled).toBe(reason);
    expect(clock.pending).toBe(0);
    expect(requests).toHaveLength(1);
  });
});
