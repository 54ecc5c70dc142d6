/** The handler: which requests reach the cluster, in which form, and which are rejected before. */
import { describe, expect, test } from 'vitest';
import type { ApiRequest } from '../../../src/protocol/request.js';
import { configMap, FakeWatch, fakeServer, found, settle } from './fakes.js';

const ITEM = '/api/v1/namespaces/ns/configmaps/a';
const COLLECTION = '/api/v1/namespaces/ns/configmaps';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const json = { 'content-type': 'application/json' };

const serveOne = () => fakeServer(() => found(configMap('a')));

test('a page of the host of the URL is not foreign where the platform has no Host header', async () => {
  const status = async (origin: string) => (await serveOne().call('GET', ITEM, { headers: { origin } })).status;
  expect([await status('http://cluster.local'), await status('http://evil.example')]).toEqual([200, 403]);
});

describe('unknown paths', () => {
  test.each([
    ['/nope'],
    ['//api'],
    ['/apis/nope.example.com/v1/things'],
    ['/apis/example.com/v9/widgets'],
    ['/apis/example.com/v1/namespaces/ns/planets'],
    ['/versions'],
    ['/apis/nope.example.com'],
  ])('%s gets a plain-text 404', async (path) => {
    const response = await serveOne().call('GET', path);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('audit-id')).toBe('uid-1');
    expect(await response.text()).toBe('404 page not found\n');
  });

  test.each([['/api/v1/nope'], ['/api/v2/configmaps'], [`${ITEM}/scale`]])(
    '%s gets a Status with 404',
    async (path) => {
      const response = await serveOne().call('GET', path, { headers: { accept: 'text/html' } });
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        message: 'the server could not find the requested resource',
        details: {},
      });
    },
  );

  test('a wrong method gets 405 with the allowed methods', async () => {
    const response = await serveOne().call('PUT', COLLECTION, { headers: json, body: '{}' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, POST, DELETE');
  });

  test('a response to HEAD has no body', async () => {
    const response = await serveOne().call('HEAD', ITEM);
    expect(response.status).toBe(405);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe('');
  });

  test('a malformed percent escape gets 400', async () => {
    expect((await serveOne().call('GET', '/api/v1/configmaps/%zz')).status).toBe(400);
  });

  test.each([['/healthz'], ['/livez'], ['/readyz']])('%s responds ok to every method', async (path) => {
    for (const method of ['GET', 'POST', 'LOCK']) {
      const response = await serveOne().call(method, path);
      expect(response.status).toBe(200);
      expect(await response.text()).toBe('ok');
    }
  });
});

describe('ApiRequests built by the handler', () => {
  async function received(method: string, path: string, init: RequestInit = {}): Promise<ApiRequest | undefined> {
    const { call, requests } = serveOne();
    await call(method, path, init);
    return requests[0];
  }

  test('a get carries its address, options and user agent', async () => {
    expect(await received('GET', `${ITEM}?resourceVersion=5#x`, { headers: { 'user-agent': 'me/1' } })).toEqual({
      verb: 'get',
      resource: { group: '', version: 'v1', resource: 'configmaps' },
      namespace: 'ns',
      name: 'a',
      options: { resourceVersion: '5' },
      userAgent: 'me/1',
      authorized: expect.objectContaining({ verb: 'get', namespace: 'ns', name: 'a' }),
      signal: expect.any(AbortSignal),
    });
  });

  test('a create carries its body and options', async () => {
    const request = await received('POST', `${COLLECTION}?fieldManager=m`, { headers: json, body: '{"a":1}' });
    expect(request).toMatchObject({ verb: 'create', namespace: 'ns', options: { fieldManager: 'm' } });
    expect(request?.body?.read().value).toEqual({ a: 1 });
    expect(request).not.toHaveProperty('name');
  });

  test('a missing body is read as an empty one', async () => {
    const request = await received('POST', COLLECTION, { headers: json });
    expect(request?.body?.summary()).toBe('<empty>');
  });

  test('a patch carries its patch type', async () => {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const request = await received('PATCH', ITEM, { headers, body: '{}' });
    expect(request).toMatchObject({ verb: 'patch', patchType: 'merge', name: 'a' });
  });

  test('a delete with a body ignores the options in the query', async () => {
    const request = await received('DELETE', `${ITEM}?dryRun=All&gracePeriodSeconds=x`, { headers: json, body: '{}' });
    expect(request?.options).toEqual({});
    expect(request?.body).toBeDefined();
    expect(await received('DELETE', `${ITEM}?dryRun=All`)).toMatchObject({ options: { dryRun: ['All'] } });
  });

  test.each([
    ['/api/v1/watch/namespaces/ns/configmaps/a', 'metadata.name=a'],
    ['/api/v1/watch/namespaces/ns/configmaps/a?fieldSelector=metadata.name%3D%3Da,x%3Dy', 'metadata.name==a,x=y'],
    ['/api/v1/watch/namespaces/ns/configmaps/a,b', 'metadata.name=a\\,b'],
  ])('%s becomes a field selector on the name', async (path, fieldSelector) => {
    const { call, requests } = fakeServer(() => ({ type: 'watch', watch: new FakeWatch(), warnings: [] }));
    await (await call('GET', path)).body?.cancel();
    expect(requests[0]).toMatchObject({ verb: 'watch', namespace: 'ns', options: { fieldSelector } });
    expect(requests[0]).not.toHaveProperty('name');
  });

  test('a watch of one name rejects a field selector on another name', async () => {
    const response = await serveOne().call(
      'GET',
      '/api/v1/watch/namespaces/ns/configmaps/a?fieldSelector=metadata.name%3Db',
    );
    expect(await response.json()).toMatchObject({
      code: 400,
      message: "fieldSelector metadata.name doesn't match requested name",
    });
  });

  test.each([
    ['POST', COLLECTION, { 'content-type': 'text/plain' }, 415],
    ['DELETE', ITEM, { 'content-type': 'text/plain' }, 415],
    ['PATCH', ITEM, { 'content-type': 'application/json' }, 415],
    ['POST', COLLECTION, { ...json, accept: 'text/html' }, 406],
    ['POST', `${COLLECTION}?timeout=x`, json, 400],
    ['DELETE', `${COLLECTION}?limit=x`, json, 400],
  ])('%s %s with %j gets %i and does not reach the cluster', async (method, path, headers, code) => {
    const { call, requests } = serveOne();
    expect((await call(method, path, { headers, body: '{}' })).status).toBe(code);
    expect(requests).toEqual([]);
  });

  test('an update reports an unknown encoding only when the body is read', async () => {
    const { call, requests } = fakeServer((request) => found({ ...configMap('a'), read: request.body?.read() }));
    const response = await call('PUT', ITEM, { headers: { 'content-type': 'text/plain' }, body: '{}' });
    expect(requests).toHaveLength(1);
    expect(await response.json()).toMatchObject({ code: 415, reason: 'UnsupportedMediaType' });
  });

  test.each([
    [3 * 1024 * 1024, 200],
    [3 * 1024 * 1024 + 1, 413],
  ])('a body of %i bytes gets %i', async (size, code) => {
    const response = await serveOne().call('POST', COLLECTION, { headers: json, body: 'x'.repeat(size) });
    expect(response.status).toBe(code);
    if (code === 413) {
      expect(await response.json()).toMatchObject({ message: 'Request entity too large: limit is 3145728' });
    }
  });
});

describe('authentication by token', () => {
  const tokens = { 'alice-token': { user: 'alice', groups: ['dev'] } };
  const serve = () => fakeServer(() => found(configMap('a')), { tokens });

  test('a known token sets the user of the request', async () => {
    const { call, requests } = serve();
    await call('GET', ITEM, { headers: { authorization: 'Bearer alice-token' } });
    expect(requests[0]?.user).toEqual({ user: 'alice', groups: ['dev', 'system:authenticated'] });
  });

  test.each([[ITEM], ['/healthz'], ['/nope']])('an unknown token is rejected at %s', async (path) => {
    const response = await serve().call('GET', path, { headers: { authorization: 'Bearer nope' } });
    expect(await response.json()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'Unauthorized',
      reason: 'Unauthorized',
      code: 401,
    });
  });

  test('a token after an extra space is ignored with a warning', async () => {
    const response = await serve().call('GET', ITEM, { headers: { authorization: 'Bearer  alice-token' } });
    expect(response.headers.get('warning')).toContain('extra space before the bearer token');
  });
});

describe('authentication by a function', () => {
  test.each([
    ['a user', { user: 'alice' }, 200],
    ['a user without a name', { user: '' }, 401],
    ['a name in place of a user', 'alice', 401],
    ['null', null, 401],
  ])('that returns %s', async (_what, returned, code) => {
    const failures: unknown[] = [];
    const { call, requests } = fakeServer(() => found(configMap('a')), {
      authenticate: () => returned as never,
      onError: (error) => failures.push(String(error)),
    });
    expect((await call('GET', ITEM)).status).toBe(code);
    expect(requests.map((request) => request.user?.user)).toEqual(code === 200 ? ['alice'] : []);
    expect(failures).toEqual(code === 200 ? [] : [expect.stringContaining('authenticate returns a user, like')]);
  });
});

describe('watches', () => {
  function serveWatch() {
    const watch = new FakeWatch();
    return { watch, ...fakeServer(() => ({ type: 'watch', watch, warnings: ['beware'] })) };
  }

  test('sends the response of a watch before the first event', async () => {
    const { call, requests } = serveWatch();
    const response = await call('GET', `${COLLECTION}?watch=`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('warning')).toBe('299 - "beware"');
    expect(requests[0]?.verb).toBe('watch');
    await response.body?.cancel();
  });

  test('streams events of a watch until the reader cancels', async () => {
    const { watch, call } = serveWatch();
    const response = await call('GET', `${COLLECTION}?watch=1`, { headers: { accept: METADATA } });
    const reader = response.body?.getReader();
    watch.emit({ type: 'ADDED', object: configMap('a') });
    const chunk = await reader?.read();
    expect(JSON.parse(new TextDecoder().decode(chunk?.value))).toMatchObject({
      type: 'ADDED',
      object: { kind: 'PartialObjectMetadata' },
    });
    await reader?.cancel();
    expect(watch.isClosed).toBe(true);
  });

  test('ends a watch when the request is aborted', async () => {
    const { watch, call } = serveWatch();
    const controller = new AbortController();
    const response = await call('GET', `${COLLECTION}?watch=1&timeout=x`, { signal: controller.signal });
    const text = response.text();
    controller.abort();
    expect(await text).toBe('');
    expect(watch.isClosed).toBe(true);
  });

  test('closes a watch at once for a HEAD request', async () => {
    const { watch, call } = serveWatch();
    const response = await call('HEAD', '/apis/example.com/v1/namespaces/ns/widgets?watch=1');
    expect(response.status).toBe(200);
    expect(watch.isClosed).toBe(true);
  });
});

describe('timeouts', () => {
  const never = () => new Promise<never>(() => undefined);

  test.each([
    ['GET', `${ITEM}?timeout=5s`, 5000, 'Timeout: request did not complete within the allotted timeout'],
    ['GET', ITEM, 60_000, 'Timeout: request did not complete within the allotted timeout'],
    ['GET', `${ITEM}?timeout=2m`, 60_000, 'Timeout: request did not complete within the allotted timeout'],
    [
      'DELETE',
      `${ITEM}?timeout=0s`,
      34_000,
      'Timeout: request did not complete within requested timeout - context deadline exceeded',
    ],
  ])('%s %s times out after %i ms', async (method, path, delayMs, message) => {
    const { call, timers } = fakeServer(never);
    const response = call(method, path);
    await settle();
    expect(timers).toMatchObject([{ delayMs }]);
    timers[0]?.run();
    expect(await (await response).json()).toMatchObject({ code: 504, reason: 'Timeout', message, details: {} });
  });

  test('a request that is answered in time leaves no timer behind', async () => {
    const { call, timers } = fakeServer(() => Promise.resolve(found(configMap('a'))));
    expect((await call('GET', ITEM)).status).toBe(200);
    expect(timers).toEqual([]);
  });
});
