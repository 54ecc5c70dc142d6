/** Responses: bodies, codes and headers for what the cluster returns. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { errors, StatusError } from '../../../src/meta/errors.js';
import { successStatus } from '../../../src/meta/status.js';
import { inTurns, nextTurn } from '../../../src/util/clock.js';
import { configMap, fakeServer, found, listOf } from './fakes.js';

const ITEM = '/api/v1/namespaces/ns/configmaps/a';
const COLLECTION = '/api/v1/namespaces/ns/configmaps';
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const json = { 'content-type': 'application/json' };

const serveOne = () => fakeServer(() => found(configMap('a')));
const serveError = (error: unknown, onError = (_error: unknown) => undefined) =>
  fakeServer(
    () => {
      throw error;
    },
    { onError },
  );

describe('document responses', () => {
  test('an object is compact JSON with a line end and the common headers', async () => {
    const response = await serveOne().call('GET', ITEM);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toEqual({
      'audit-id': 'uid-1',
      'cache-control': 'no-cache, private',
      'content-type': 'application/json',
    });
    expect(await response.text()).toBe(`${JSON.stringify(configMap('a'))}\n`);
  });

  test('the audit ID of the request is kept', async () => {
    const response = await serveOne().call('GET', ITEM, { headers: { 'audit-id': 'mine' } });
    expect(response.headers.get('audit-id')).toBe('mine');
  });

  test.each([
    ['?pretty=1', {}],
    ['', { 'user-agent': 'curl/8' }],
    ['', { accept: 'application/json;pretty=1' }],
  ])('returns indented JSON without a line end for the query %s and the headers %j', async (query, headers) => {
    const response = await serveOne().call('GET', ITEM + query, { headers: headers as Record<string, string> });
    expect(await response.text()).toBe(JSON.stringify(configMap('a'), null, 2));
  });

  test('items of a built-in list omit kind and apiVersion', async () => {
    const { call } = fakeServer(() => listOf([configMap('a'), configMap('b')]));
    const items = [configMap('a'), configMap('b')].map(({ kind: _kind, apiVersion: _apiVersion, ...rest }) => rest);
    const expected = `${JSON.stringify({ kind: 'ConfigMapList', apiVersion: 'v1', metadata: { resourceVersion: '9' }, items })}\n`;
    for (let time = 0; time < 2; time++) expect(await (await call('GET', COLLECTION)).text()).toBe(expected);
  });

  test('items with another field order omit kind and apiVersion too', async () => {
    const { kind, apiVersion, ...rest } = configMap('a');
    const { call } = fakeServer(() => listOf([{ ...rest, kind, apiVersion }]));
    const { items } = (await (await call('GET', COLLECTION)).json()) as { items: unknown };
    expect(items).toEqual([rest]);
  });

  test('an empty list has an empty items array', async () => {
    const response = await fakeServer(() => listOf([])).call('GET', COLLECTION);
    expect(await response.text()).toBe(
      '{"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"9"},"items":[]}\n',
    );
  });

  test('items of a custom list keep kind and apiVersion, and the list keeps its key order', async () => {
    const widget = { ...configMap('w'), apiVersion: 'example.com/v1', kind: 'Widget' };
    const list = {
      apiVersion: 'example.com/v1',
      items: [widget],
      kind: 'WidgetList',
      metadata: { resourceVersion: '9' },
    };
    const { call } = fakeServer(() => ({ type: 'object', code: 200, object: list, warnings: [] }));
    const response = await call('GET', '/apis/example.com/v1/widgets');
    // Its metadata is an unstructured map too: `continue` is present even when it is empty.
    const wire = { ...list, metadata: { continue: '', resourceVersion: '9' } };
    expect(await response.text()).toBe(`${JSON.stringify(wire)}\n`);
  });

  test('the response has the code of the cluster, and warnings become headers', async () => {
    const object = configMap('a');
    const { call } = fakeServer(() => ({ type: 'object', code: 201, object, warnings: ['unknown field "x"', 'y'] }));
    const response = await call('POST', COLLECTION, { headers: json, body: '{}' });
    expect(response.status).toBe(201);
    expect(response.headers.get('warning')).toBe('299 - "unknown field \\"x\\"", 299 - "y"');
  });
});

describe('metadata views', () => {
  test('an object is returned as PartialObjectMetadata', async () => {
    const response = await serveOne().call('GET', ITEM, { headers: { accept: METADATA } });
    const { metadata } = configMap('a');
    expect(await response.text()).toBe(
      `${JSON.stringify({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata })}\n`,
    );
  });

  test('a list is returned as PartialObjectMetadataList', async () => {
    const { call } = fakeServer(() => listOf([configMap('a')]));
    const { metadata } = configMap('a');
    expect(await (await call('GET', COLLECTION, { headers: { accept: METADATA_LIST } })).json()).toEqual({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: '9' },
      items: [{ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata }],
    });
  });

  test('an empty list has null items', async () => {
    const response = await fakeServer(() => listOf([])).call('GET', COLLECTION, { headers: { accept: METADATA_LIST } });
    expect(await response.json()).toHaveProperty('items', null);
  });

  test('a Status is returned unchanged', async () => {
    const object = successStatus({ name: 'a', kind: 'configmaps' });
    const { call } = fakeServer(() => ({ type: 'object', code: 200, object, warnings: [] }));
    expect(await (await call('DELETE', ITEM, { headers: { accept: METADATA } })).json()).toEqual(object);
  });

  test.each([
    [
      METADATA,
      listOf([]),
      'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
    ],
    [
      METADATA_LIST,
      found(configMap('a')),
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ],
  ])('responds with 406 to a view that does not match the response (%#)', async (accept, answer, message) => {
    const path = accept === METADATA ? COLLECTION : ITEM;
    const response = await fakeServer(() => answer).call('GET', path, { headers: { accept } });
    expect(response.status).toBe(406);
    expect(await response.json()).toMatchObject({ message, reason: 'NotAcceptable' });
  });
});

describe('error responses', () => {
  test('a StatusError is returned as its Status', async () => {
    const error = errors.notFound({ group: '', resource: 'configmaps' }, 'a');
    const response = await serveError(error).call('GET', ITEM);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe(`${JSON.stringify(error.status)}\n`);
  });

  test('a rejection is handled like a thrown error', async () => {
    const { call } = fakeServer(() => Promise.reject(errors.gone('gone')));
    expect((await call('GET', ITEM)).status).toBe(410);
  });

  test('retryAfterSeconds becomes a Retry-After header', async () => {
    const response = await serveError(errors.tooManyRequests('slow down', 3)).call('GET', ITEM);
    expect(response.headers.get('retry-after')).toBe('3');
  });

  test('warnings of a failed request are sent with the error', async () => {
    const { status } = errors.badRequest('no');
    const response = await serveError(new StatusError(status, { warnings: ['unknown field "x"'] })).call('GET', ITEM);
    expect(response.headers.get('warning')).toBe('299 - "unknown field \\"x\\""');
  });

  test('any other error becomes a 500 without details and is reported to onError', async () => {
    const reported: unknown[] = [];
    const fault = new TypeError('password is hunter2');
    const response = await serveError(fault, (error) => void reported.push(error)).call('GET', ITEM);
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', reason: 'InternalError', code: 500 });
    expect(text).not.toContain('hunter2');
    expect(reported).toEqual([fault]);
  });

  test('a client that accepts no available encoding gets indented JSON', async () => {
    const error = errors.notFound({ group: '', resource: 'configmaps' }, 'a');
    const response = await serveError(error).call('GET', ITEM, { headers: { accept: METADATA } });
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe(JSON.stringify(error.status, null, 2));
  });
});

describe('long encodings', () => {
  afterEach(() => void vi.restoreAllMocks());

  /** Every step takes longer than a turn of the event loop should. */
  function slowSteps() {
    let now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => (now += 60));
  }

  test('of many long computations, one runs in a turn of the event loop', async () => {
    slowSteps();
    const log: string[] = [];
    function* steps(name: string): Generator<undefined, void> {
      for (let step = 0; step < 3; step++) {
        log.push(name);
        yield;
      }
    }
    let isDone = false;
    const done = Promise.all(['a', 'b', 'c'].map((name) => inTurns(steps(name)))).then(() => {
      isDone = true;
    });
    while (!isDone) {
      await nextTurn();
      log.push('|');
    }
    await done;
    expect(log.join('')).toMatch(/^abc[|]*(a[|]+b[|]+c[|]+){2}$/);
  });

  test('a list that its client no longer waits for is not encoded to the end', async () => {
    slowSteps();
    let encoded = 0;
    const toJSON = () => {
      encoded++;
      return 'x'.repeat(100_000);
    };
    const items = Array.from({ length: 10 }, (_, index) => ({ ...configMap(`a${index}`), data: { toJSON } }));
    const client = new AbortController();
    const server = fakeServer(() => listOf(items as never));
    const answer = server.call('GET', COLLECTION, { signal: client.signal });
    while (encoded === 0) await nextTurn();
    client.abort();
    expect((await answer).status).toBe(504);
    expect(encoded).toBeLessThan(10);
  });
});
