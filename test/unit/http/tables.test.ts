/** Tables and metadata views over HTTP. */
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap, IPAddress, Pod } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { defineKind, mergePatch } from '../../../src/index.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

function start() {
  const cluster = testCluster({ dialect: 'kubernetes' });
  const handle = createFetchHandler(cluster);
  const call = async (path: string, accept = TABLE, init: RequestInit = {}) => {
    const response = await handle(new Request(`http://cluster.local${path}`, { ...init, headers: { accept } }));
    return { status: response.status, body: await response.json(), response };
  };
  return { cluster, handle, call };
}

let { cluster, handle, call } = start();

beforeEach(async () => {
  ({ cluster, handle, call } = start());
  await cluster.api(ConfigMap).create({ metadata: { name: 'a', labels: { l: '1' } }, data: { k: 'v', l: 'w' } });
});

const PATH = '/api/v1/namespaces/default/configmaps';

describe('a table', () => {
  test('returns cells and metadata of one object, with ages by the clock of the cluster', async () => {
    await cluster.clock.advance(90_000);
    const { body } = await call(`${PATH}/a`);
    expect(body).toMatchObject({
      kind: 'Table',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { resourceVersion: expect.any(String) },
      rows: [{ cells: ['a', 2, '90s'], object: { kind: 'PartialObjectMetadata', metadata: { name: 'a' } } }],
    });
    expect(body.columnDefinitions).toEqual([
      { name: 'Name', type: 'string', format: 'name', description: expect.any(String), priority: 0 },
      { name: 'Data', type: 'string', format: '', description: expect.any(String), priority: 0 },
      { name: 'Age', type: 'string', format: '', description: expect.any(String), priority: 0 },
    ]);
  });

  test('marks the rows of completed pods with a condition', async () => {
    const pods = cluster.api(Pod);
    for (const name of ['p', 'q', 'r']) {
      await pods.create({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    }
    await pods.status.patch('q', mergePatch({ status: { phase: 'Succeeded' } }));
    await pods.status.patch('r', mergePatch({ status: { phase: 'Failed', reason: 'Evicted' } }));
    const { body } = await call('/api/v1/namespaces/default/pods');
    const completed = { type: 'Completed', status: 'True' };
    expect(body.rows.map(({ conditions }: { conditions?: unknown }) => conditions)).toEqual([
      undefined,
      [{ ...completed, reason: 'Succeeded', message: 'The pod has completed successfully.' }],
      [{ ...completed, reason: 'Failed', message: 'The pod failed.' }],
    ]);
    expect(Object.keys(body.rows[2])).toEqual(['cells', 'conditions', 'object']);
  });

  test('returns the continue token of a page in its table', async () => {
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    const { body } = await call(`${PATH}?limit=1`);
    expect(body.metadata).toMatchObject({ continue: expect.any(String), remainingItemCount: 1 });
    expect(body.rows).toHaveLength(1);
  });

  test('returns columns and no rows for an empty list', async () => {
    const { body } = await call(`${PATH}?labelSelector=none`);
    expect(body.rows).toEqual([]);
    expect(body.columnDefinitions).toHaveLength(3);
  });

  test('includes the requested part of each object in a table', async () => {
    expect((await call(`${PATH}?includeObject=None`)).body.rows[0].object).toBeNull();
    expect((await call(`${PATH}?includeObject=Object`)).body.rows[0].object).toMatchObject({
      kind: 'ConfigMap',
      data: { k: 'v' },
    });
    expect(await call(`${PATH}?includeObject=Bogus`)).toMatchObject({ status: 400, body: { reason: 'BadRequest' } });
  });

  test('returns a table in the requested version', async () => {
    const { body } = await call(PATH, 'application/json;as=Table;v=v1beta1;g=meta.k8s.io');
    expect(body.apiVersion).toBe('meta.k8s.io/v1beta1');
    expect(body.rows[0].object.apiVersion).toBe('meta.k8s.io/v1beta1');
  });

  test('does not convert errors and Status objects to tables', async () => {
    expect(await call(`${PATH}/none`)).toMatchObject({ status: 404, body: { kind: 'Status' } });
    expect(await call(`${PATH}/a`, TABLE, { method: 'DELETE' })).toMatchObject({ body: { status: 'Success' } });
  });

  test('returns one more cell than columns for endpoints, as the reference server does', async () => {
    const parentRef = { resource: 'services', namespace: 'default', name: 's' };
    await cluster.api(IPAddress).create({ metadata: { name: '10.0.0.9' }, spec: { parentRef } });
    const { body } = await call('/apis/networking.k8s.io/v1/ipaddresses/10.0.0.9');
    expect(body.columnDefinitions).toHaveLength(2);
    expect(body.rows[0].cells).toEqual(['10.0.0.9', 'services/default/s', '0s']);
  });

  test('returns the name and the age of a custom resource in a table', async () => {
    const Gadget = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Gadget',
      scope: 'Namespaced',
      body: { spec: z.object({}).optional() },
    });
    cluster.install(Gadget);
    await cluster.api(Gadget).create({ metadata: { name: 'g' } });
    const { body } = await call('/apis/example.com/v1/namespaces/default/gadgets');
    expect(body.columnDefinitions.map(({ name, type }: { name: string; type: string }) => [name, type])).toEqual([
      ['Name', 'string'],
      ['Age', 'date'],
    ]);
    expect(body.rows[0].cells).toEqual(['g', '0s']);
  });
});

describe('a watch of tables', () => {
  test('sends the columns of a watched table once', async () => {
    const response = await handle(
      new Request(`http://cluster.local${PATH}?watch=1&resourceVersion=0`, { headers: { accept: TABLE } }),
    );
    await cluster.api(ConfigMap).create({ metadata: { name: 'b' } });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (text.split('\n').length < 3) text += (await reader?.read())?.value ?? '';
    await reader?.cancel();
    const [first, second] = text.split('\n').map((line) => (line === '' ? undefined : JSON.parse(line)));
    expect(first).toMatchObject({ type: 'ADDED', object: { kind: 'Table', rows: [{ cells: ['a', 2, '0s'] }] } });
    expect(first.object.columnDefinitions).toHaveLength(3);
    expect(second).toMatchObject({ object: { columnDefinitions: null, rows: [{ cells: ['b', 0, '0s'] }] } });
  });
});

describe('long responses', () => {
  const large = 'x'.repeat(100_000);

  beforeEach(async () => {
    for (const name of ['c', 'd', 'e']) await cluster.api(ConfigMap).create({ metadata: { name }, data: { large } });
  });

  test('streams a long list in parts that form the same list', async () => {
    const { body } = await call(PATH, 'application/json');
    expect(body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toEqual([
      'a',
      'c',
      'd',
      'e',
    ]);
    expect(body.items[1]).not.toHaveProperty('kind');
    expect(body.items[3].data.large).toBe(large);
  });

  test('compresses a long response for a client that accepts gzip', async () => {
    const compressed = await handle(
      new Request(`http://cluster.local${PATH}`, { headers: { 'accept-encoding': 'deflate, gzip' } }),
    );
    expect(compressed.headers.get('content-encoding')).toBe('gzip');
    expect(compressed.headers.get('vary')).toBe('Accept-Encoding');
    const plain = compressed.body?.pipeThrough(new DecompressionStream('gzip'));
    expect((await new Response(plain).json()).items).toHaveLength(4);
  });

  test.each([['gzip;q=1'], ['deflate'], ['']])(
    'does not compress a long response for the Accept-Encoding %j',
    async (encoding) => {
      const response = await handle(
        new Request(`http://cluster.local${PATH}`, { headers: { 'accept-encoding': encoding } }),
      );
      expect(response.headers.get('content-encoding')).toBeNull();
      await response.body?.cancel();
    },
  );

  test('does not compress short responses and watches', async () => {
    const headers = { 'accept-encoding': 'gzip' };
    const short = await handle(new Request(`http://cluster.local${PATH}/a`, { headers }));
    expect(short.headers.get('content-encoding')).toBeNull();
    const watch = await handle(new Request(`http://cluster.local${PATH}?watch=1`, { headers }));
    expect(watch.headers.get('content-encoding')).toBeNull();
    await watch.body?.cancel();
  });
});
