/** How the HTTP transport encodes requests: URL, headers, body. */
import { describe, expect, test, vi } from 'vitest';
import { jsonBody } from '../../../../src/codec/json.js';
import { type HttpTransportOptions, httpTransport } from '../../../../src/http/index.js';
import { readBaseUrl } from '../../../../src/http/transport/encode-request.js';
import { StatusError } from '../../../../src/meta/errors.js';
import { Quantity } from '../../../../src/meta/quantity.js';
import { valueBody } from '../../../../src/protocol/body.js';
import type { ApiRequest, PatchType } from '../../../../src/protocol/request.js';
import { configMap, getRequest, json, listRequest, scripted, watchRequest } from './scripted-fetch.js';

const deployments = { group: 'apps', version: 'v1', resource: 'deployments' };

async function sent(request: ApiRequest, options: Parameters<typeof scripted>[1] = {}) {
  const { send, requests } = scripted([json({ ...configMap, items: [] })], options);
  await send(request);
  const [only] = requests;
  if (only === undefined) throw new Error('nothing was sent');
  return only;
}

describe('the URL', () => {
  test.each<[ApiRequest, string]>([
    [getRequest, 'GET /api/v1/namespaces/default/configmaps/a'],
    [listRequest, 'GET /api/v1/configmaps'],
    [{ ...listRequest, namespace: '' }, 'GET /api/v1/configmaps'],
    [
      { ...getRequest, resource: deployments, subresource: 'scale' },
      'GET /apis/apps/v1/namespaces/default/deployments/a/scale',
    ],
    [{ ...getRequest, verb: 'update', body: valueBody({}) }, 'PUT /api/v1/namespaces/default/configmaps/a'],
    [{ ...listRequest, verb: 'create', namespace: 'x', body: valueBody({}) }, 'POST /api/v1/namespaces/x/configmaps'],
    [
      { ...getRequest, verb: 'create', subresource: 'eviction', body: valueBody({}) },
      'POST /api/v1/namespaces/default/configmaps/a/eviction',
    ],
    [
      { ...getRequest, verb: 'patch', patchType: 'json', body: valueBody([]) },
      'PATCH /api/v1/namespaces/default/configmaps/a',
    ],
    [{ ...getRequest, verb: 'delete' }, 'DELETE /api/v1/namespaces/default/configmaps/a'],
    [{ ...listRequest, verb: 'deletecollection', namespace: 'x' }, 'DELETE /api/v1/namespaces/x/configmaps'],
    [{ ...getRequest, name: "é +?#&;'" }, "GET /api/v1/namespaces/default/configmaps/%C3%A9%20%2B%3F%23%26%3B'"],
    [{ ...getRequest, name: 'half \ud800' }, 'GET /api/v1/namespaces/default/configmaps/half%20%EF%BF%BD'],
  ])('builds the URL of %j', async (request, expected) => {
    const { method, url } = await sent(request);
    expect(`${method} ${url.slice('http://cluster'.length)}`).toBe(expected);
  });

  test('writes every option under its own name into the URL', async () => {
    const { url } = await sent({
      ...listRequest,
      options: {
        labelSelector: 'app in (a,b),é=+',
        fieldSelector: 'metadata.name=a',
        limit: 5,
        continue: 'a+/=',
        resourceVersion: '7',
        resourceVersionMatch: 'Exact',
        sendInitialEvents: true,
        allowWatchBookmarks: false,
        timeoutSeconds: 9,
        fieldManager: 'm',
        fieldValidation: 'Strict',
        force: true,
        dryRun: ['All', ''],
      },
    });
    expect(new URL(url).search).not.toContain('+');
    expect([...new URL(url).searchParams]).toEqual([
      ['fieldManager', 'm'],
      ['fieldValidation', 'Strict'],
      ['force', 'true'],
      ['labelSelector', 'app in (a,b),é=+'],
      ['fieldSelector', 'metadata.name=a'],
      ['limit', '5'],
      ['continue', 'a+/='],
      ['resourceVersion', '7'],
      ['resourceVersionMatch', 'Exact'],
      ['sendInitialEvents', 'true'],
      ['allowWatchBookmarks', 'false'],
      ['timeoutSeconds', '9'],
      ['dryRun', 'All'],
      ['dryRun', ''],
    ]);
  });

  test('adds watch=true to the URL of a watch', async () => {
    expect((await sent({ ...watchRequest, options: { resourceVersion: '7' } })).url).toBe(
      'http://cluster/api/v1/configmaps?watch=true&resourceVersion=7',
    );
  });

  test.each([
    ['http://h', 'http://h/api/v1/configmaps'],
    ['http://h/', 'http://h/api/v1/configmaps'],
    ['http://h:8080/k8s', 'http://h:8080/k8s/api/v1/configmaps'],
    ['https://h/a/b%20c//', 'https://h/a/b%20c/api/v1/configmaps'],
    [new URL('https://h:6443/a'), 'https://h:6443/a/api/v1/configmaps'],
  ])('begins the URL with the base %s', async (baseUrl, expected) => {
    expect((await sent(listRequest, { baseUrl })).url).toBe(expected);
  });

  test.each([
    ['', /the option baseUrl is empty/],
    [undefined, /the option baseUrl is missing; give the URL of the cluster/],
    [{}, /the option baseUrl is neither a string nor a URL/],
    ['cluster.local', /the baseUrl "cluster.local" must begin with http:\/\/ or https:\/\//],
    ['localhost:8080', /must begin with http:\/\/ or https:\/\//],
    ['/cluster', /"\/cluster" has no host; a path alone works only in a browser page/],
    ['./cluster', /has no host/],
    ['ftp://h', /begins with ftp:; it must use http: or https:/],
    ['http://', /is not a valid URL: "http:\/\/"/],
    ['http://me:secret@h', /contains credentials/],
    ['http://h?x=1', /must not have a query or fragment/],
    ['http://h#x', /must not have a query or fragment/],
  ])('rejects the base "%s"', (baseUrl, message) => {
    const make = () => httpTransport({ baseUrl: baseUrl as string });
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });

  test('accepts a path as base in a browser page, but not a bare host', () => {
    vi.stubGlobal('location', { href: 'https://page.example/app/index.html?x#y' });
    try {
      expect(['/cluster', './cluster/', '../', '//host/c', 'http://h'].map(readBaseUrl)).toEqual([
        'https://page.example/cluster',
        'https://page.example/app/cluster',
        'https://page.example',
        'https://host/c',
        'http://h',
      ]);
      expect(() => readBaseUrl('cluster.local')).toThrow('must begin with');
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test.each([
    [{ ...getRequest, name: '../secrets/a' }, /Name parameter invalid: "..\/secrets\/a": may not contain '\/'/],
    [{ ...getRequest, name: '..' }, /Name parameter invalid: "..": may not be '..'/],
    [{ ...getRequest, name: '' }, /name must be provided/],
    [{ ...getRequest, namespace: '' }, /Namespace parameter required/],
    [{ ...listRequest, namespace: 'a/b' }, /Namespace parameter invalid/],
    [{ ...getRequest, subresource: '.' }, /Subresource parameter invalid/],
  ])('rejects a name that would change the path: %j', async (request, message) => {
    const { send, requests } = scripted([]);
    const error = await Promise.resolve(send(request)).catch((e: unknown) => e);
    expect(StatusError.is(error, 'BadRequest') && error.message).toMatch(message);
    expect(requests).toEqual([]);
  });
});

describe('the headers', () => {
  test('sends the accepted type, user agent and token in the headers', async () => {
    const { headers } = await sent(getRequest, {
      token: 't0k',
      userAgent: 'ci/1.0',
      headers: { 'x-team': 'a', accept: 'x/y' },
    });
    expect(Object.fromEntries(headers)).toEqual({
      accept: 'application/json',
      authorization: 'Bearer t0k',
      'user-agent': 'ci/1.0',
      'x-team': 'a',
    });
    expect((await sent(getRequest)).headers.get('user-agent')).toBe('orchplane');
    expect((await sent({ ...getRequest, userAgent: 'kubectl/1' })).headers.get('user-agent')).toBe('kubectl/1');
  });

  test('fetches a token for each request', async () => {
    let count = 0;
    const token = async () => `token-${++count}`;
    const { send, requests } = scripted([json(configMap), json(configMap)], { token });
    await send(getRequest);
    await send(getRequest);
    expect(requests.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  test('reports a failing token function without disclosing the token', async () => {
    const cause = new Error('vault is sealed');
    const failing = scripted([], { token: () => Promise.reject(cause) });
    const error = await Promise.resolve(failing.send(getRequest)).catch((e: unknown) => e);
    expect(StatusError.is(error, 'Unauthorized') && error.cause).toBe(cause);
    expect(failing.requests).toEqual([]);
  });

  test.each<[unknown, string]>([
    ['secret\n', 'begins or ends with white space; use trim()'],
    ['sec\nret', 'contains a line break, which a header cannot carry'],
    ['Bearer secret', 'contains a space; give the token without "Bearer", which is added automatically'],
    ['secret\u00e9', 'contains characters other than printable ASCII'],
    ['', 'is empty'],
    [5, 'is not a string'],
  ])('rejects the token %j at once, or when it is requested', async (given, problem) => {
    const token = given as string;
    expect(() => scripted([], { token })).toThrow(new TypeError(`orchplane: the token ${problem}`));
    const later = scripted([], { token: () => token });
    const error = await Promise.resolve(later.send(getRequest)).catch((e: unknown) => e);
    expect(error).toEqual(new TypeError(`orchplane: the token ${problem}`));
    expect(later.requests).toEqual([]);
  });

  test('sends the impersonated user in the headers', async () => {
    const extra = { 'Scopes/é': ['a', 'b'], plain: ['x'] };
    const { headers } = await sent({ ...getRequest, user: { user: 'josé', uid: 'u1', groups: ['dev', 'ops'], extra } });
    expect(headers.get('impersonate-user')).toBe('jos\xc3\xa9');
    expect(headers.get('impersonate-uid')).toBe('u1');
    expect(headers.get('impersonate-group')).toBe('dev, ops');
    expect(headers.get('impersonate-extra-%53copes%2f%c3%a9')).toBe('a, b');
    expect(headers.get('impersonate-extra-plain')).toBe('x');
  });

  test.each([
    ['User', { user: 'a\nb' }],
    ['User', { user: '' }],
    ['User', { user: ' ' }],
    ['Uid', { user: 'a', uid: ' 0' }],
    ['Group', { user: 'a', groups: ['system:masters '] }],
    ['Group', { user: 'a', groups: [''] }],
    ['Extra-scopes', { user: 'a', extra: { scopes: [' x'] } }],
  ])('refuses a value of Impersonate-%s that a server would read as another one', async (name, user) => {
    const { send, requests } = scripted([]);
    const error = await Promise.resolve(send({ ...getRequest, user })).catch((e: unknown) => e);
    expect(StatusError.is(error, 'BadRequest') && error.message).toMatch(`no header Impersonate-${name} can carry`);
    expect(requests).toEqual([]);
  });

  test.each([
    ['Impersonate-Group', { groups: ['dev', 'x, system:masters'] }],
    ['Impersonate-Extra-scopes', { extra: { scopes: ['x, system:masters'] } }],
  ])('refuses a value of %s that a server would read as several', async (name, more) => {
    const { send, requests } = scripted([]);
    const user = { user: 'bob', ...more };
    const error = await Promise.resolve(send({ ...getRequest, user })).catch((e: unknown) => e);
    expect(StatusError.is(error, 'BadRequest') && error.message).toBe(
      `no header ${name} can carry "x, system:masters": a server may read several values`,
    );
    expect(requests).toEqual([]);
  });
});

describe('the body', () => {
  test.each<[PatchType | undefined, string]>([
    [undefined, 'application/json'],
    ['json', 'application/json-patch+json'],
    ['merge', 'application/merge-patch+json'],
    ['strategic', 'application/strategic-merge-patch+json'],
    ['apply', 'application/apply-patch+yaml'],
  ])('sends the body of a %s patch with the media type of the patch', async (patchType, type) => {
    const verb = patchType === undefined ? 'update' : 'patch';
    const request = {
      ...getRequest,
      verb,
      body: valueBody({ a: 1 }),
      ...(patchType === undefined ? {} : { patchType }),
    } as const;
    const { headers } = await sent(request);
    expect(headers.get('content-type')).toBe(type);
  });

  test.each([
    [
      valueBody({ a: 2n ** 63n, b: undefined, c: [undefined], d: '\ud800é' }),
      '{"a":9223372036854775808,"c":[null],"d":"\\ufffdé"}',
    ],
    [
      valueBody({ at: new Date(0), cpu: Quantity.parse('500m'), big: 2n ** 60n }),
      '{"at":"1970-01-01T00:00:00.000Z","cpu":"500m","big":1152921504606846976}',
    ],
    [jsonBody('{"a":3.0,"b":[1e3,9007199254740993],"c":-0.0}'), '{"a":3.0,"b":[1e3,9007199254740993],"c":-0.0}'],
    [jsonBody('{"a":{"x":1,"x":2,"y":3},"__proto__":{"z":1}}'), '{"a":{"x":1,"x":2,"y":3},"__proto__":{"z":1}}'],
    [valueBody('<>'), '"\\u003c\\u003e"'],
  ])('sends a body as JSON that preserves the value (%#)', async (body, expected) => {
    expect(await (await sent({ ...getRequest, verb: 'update', body })).text()).toBe(expected);
  });

  test('rejects a body that is not JSON before it is sent', async () => {
    const { send, requests } = scripted([]);
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    for (const body of [valueBody(circle), valueBody({ a: Number.NaN }), valueBody(new Map()), jsonBody('{')]) {
      const error = await Promise.resolve(send({ ...getRequest, verb: 'update', body })).catch((e: unknown) => e);
      expect(StatusError.is(error, 'BadRequest') && error.message).toMatch(/^the body of the request is not JSON: /);
    }
    expect(requests).toEqual([]);
  });

  test('sends DeleteOptions in the body of a deletecollection and its selectors in the URL', async () => {
    const options = { labelSelector: 'a=b', resourceVersion: '5', limit: 3 };
    const how = {
      gracePeriodSeconds: 0,
      propagationPolicy: 'Orphan',
      preconditions: { resourceVersion: '7' },
      dryRun: ['All'],
    };
    const request = await sent({
      ...listRequest,
      verb: 'deletecollection',
      namespace: 'x',
      options: { ...options, ...how },
    });
    expect(Object.fromEntries(new URL(request.url).searchParams)).toEqual({ ...options, limit: '3' });
    expect(await request.json()).toEqual({ kind: 'DeleteOptions', apiVersion: 'v1', ...how });
    expect((await sent({ ...getRequest, verb: 'delete' })).body).toBe(null);
  });
});

describe('the options', () => {
  test.each<[unknown, string]>([
    [undefined, 'httpTransport takes an options object with baseUrl'],
    ['http://h', 'httpTransport takes an options object with baseUrl'],
    [
      { baseURL: 'http://h' },
      'httpTransport has no option "baseURL"; it has baseUrl, fetch, token, headers, dialect, clock, userAgent, retries',
    ],
    [{ baseUrl: 'http://h', retries: -1 }, 'retries must be a non-negative integer, got -1'],
    [{ baseUrl: 'http://h', retries: 1.5 }, 'retries must be a non-negative integer, got 1.5'],
    [{ baseUrl: 'http://h', retries: '3' }, 'retries must be a non-negative integer, got 3'],
    [{ baseUrl: 'http://h', fetch: {} }, 'fetch must be a function'],
    [{ baseUrl: 'http://h', dialect: 'k8s' }, 'there is no dialect "k8s"; there are orch and kubernetes'],
  ])('rejects the options %j at once', (options, message) => {
    expect(() => httpTransport(options as HttpTransportOptions)).toThrow(new TypeError(`orchplane: ${message}`));
  });

  test('treats undefined options as absent', () => {
    const transport = httpTransport({
      baseUrl: 'http://h',
      fetch: undefined,
      token: undefined,
      headers: undefined,
      dialect: undefined,
      clock: undefined,
      userAgent: undefined,
      retries: undefined,
    });
    expect(transport.dialect.name).toBe('orch');
  });
});
