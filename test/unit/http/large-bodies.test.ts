/** Bodies with a huge number of values: hostile ones are rejected, legitimate ones of the same length are accepted. */
import { type AdmissionPlugin, createCluster, defaultAdmission, memoryStorage, mergePatch } from 'orchplane';
import { cbor } from 'orchplane/codec/cbor';
import { protobuf } from 'orchplane/codec/protobuf';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';
import { captureCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { latch } from '../server/watch-reader.js';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const WIDGETS = '/apis/example.com/v1/namespaces/default/widgets';

const definition = (schema: unknown) => ({
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', kind: 'Widget' },
    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
  },
});
const widget = (spec: unknown) => ({ apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec });
const ANY_SCHEMA = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

function server(plugins: readonly AdmissionPlugin[] = [], maxObjectBytes?: number) {
  const cluster = createCluster({
    storage: memoryStorage(maxObjectBytes === undefined ? {} : { maxObjectBytes }),
    dialect: 'kubernetes',
    featureGates: { CBORServingAndStorage: true },
    admission: [...defaultAdmission, ...plugins],
  });
  const handler = createFetchHandler(cluster, { codecs: [protobuf, cbor] });
  return async (
    method: string,
    path: string,
    body: unknown,
    type = 'application/json',
  ): Promise<{ code: number; status: { message: string; details: { causes: unknown[] } } }> => {
    const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    const init = { method, headers: { 'content-type': type, accept: 'application/json' }, body: bytes as BodyInit };
    const response = await handler(new Request(`http://cluster.local${path}`, init));
    return { code: response.status, status: JSON.parse(await response.text()) };
  };
}

const repeated = (text: string, count: number) => Array<string>(count).fill(text).join(',');

/** An envelope of an empty type around a message whose metadata has `count` empty ownerReferences. */
function ownersInProtobuf(count: number): Uint8Array {
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
  const metadata = Array.from({ length: count }, () => [0x6a, 0]).flat();
  const raw = [0x0a, ...varint(metadata.length), ...metadata];
  return Uint8Array.from([0x6b, 0x38, 0x73, 0, 0x12, ...varint(raw.length), ...raw]);
}

/** A map with one list of lists, because a CBOR list has at most 1,024 items. */
function listsInCbor(): Uint8Array {
  const list = [0x99, 3, 0xe8, ...Array<number>(1_000).fill(0x80)];
  return Uint8Array.from([0xa1, 0x61, 0x61, 0x99, 1, 0x2c, ...Array.from({ length: 300 }, () => list).flat()]);
}

describe('a body with more than 250,000 objects and lists gets 413', () => {
  test.each([
    ['JSON', 'application/json', `{"metadata":{"ownerReferences":[${repeated('{}', 260_000)}]}}`],
    ['YAML in flow style', 'application/yaml', `metadata: {ownerReferences: [${repeated('{}', 260_000)}]}`],
    ['YAML in block style', 'application/yaml', `a:\n${'- []\n'.repeat(260_000)}`],
    ['protobuf', 'application/vnd.kubernetes.protobuf', ownersInProtobuf(260_000)],
    ['CBOR', 'application/cbor', listsInCbor()],
  ])('in %s', async (_name, type, body) => {
    const { code, status } = await server()('POST', REVIEWS, body, type);
    expect(code).toBe(413);
    expect(status).toMatchObject({ reason: 'RequestEntityTooLarge' });
    expect(status.message).toMatch(/^Request entity too large: limit is 250000 objects and lists/);
  });

  test.each([
    ['json-patch', `[{"op":"add","path":"/data","value":[${repeated('{}', 260_000)}]}]`],
    ['merge-patch', `{"a":[${repeated('{}', 260_000)}]}`],
    ['strategic-merge-patch', `{"a":[${repeated('{}', 260_000)}]}`],
  ])('in a %s', async (patch, body) => {
    const send = server();
    await send('POST', CONFIG_MAPS, { metadata: { name: 'a' } });
    const { code } = await send('PATCH', `${CONFIG_MAPS}/a`, body, `application/${patch}+json`);
    expect(code).toBe(413);
  });

  test('in the options of a deletion', async () => {
    const send = server();
    await send('POST', CONFIG_MAPS, { metadata: { name: 'a' } });
    expect((await send('DELETE', `${CONFIG_MAPS}/a`, `{"a":[${repeated('{}', 260_000)}]}`)).code).toBe(413);
  });
});

test('large bodies that wait for an admission plugin share a budget', async () => {
  const { opened, open } = latch();
  const waiting = new Set<string>();
  const waits: AdmissionPlugin = {
    name: 'Waits',
    validate: ({ name }) => {
      waiting.add(name);
      return opened;
    },
  };
  const send = server([waits]);
  const data = { key: 'x'.repeat(900_000) };
  const created = Array.from({ length: 10 }, (_, index) =>
    send('POST', CONFIG_MAPS, { metadata: { name: `large-${index}` }, data }),
  );
  const small = send('POST', CONFIG_MAPS, { metadata: { name: 'small' } });
  await expect.poll(() => waiting.size).toBe(7);
  expect(waiting).toContain('small');
  open();
  expect((await Promise.all([...created, small])).map(({ code }) => code)).toEqual(Array(11).fill(201));
});

test('a request that was answered in time does not use the budget when its body arrives', async () => {
  const cluster = createCluster({ dialect: 'kubernetes' });
  const handler = createFetchHandler(cluster);
  const late = (name: string) => {
    let finish = (): void => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        finish = () => {
          controller.enqueue(
            new TextEncoder().encode(`{"metadata":{"name":"${name}"},"a":"${'x'.repeat(3_000_000)}"}`),
          );
          controller.close();
        };
      },
    });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' };
    const answer = handler(new Request(`http://cluster.local${CONFIG_MAPS}?timeout=50ms`, init as RequestInit));
    return { answer, finish: () => finish() };
  };
  for (let index = 0; index < 4; index++) {
    const { answer, finish } = late(`late-${index}`);
    expect((await answer).status).toBe(504);
    finish();
  }
  await new Promise((resolve) => setTimeout(resolve, 10));
  const { answer, finish } = late('timely');
  finish();
  expect((await answer).status).toBe(201);
});

test('a large body keeps its share until its work ends, and others get 429 when their time is over', async () => {
  const { opened, open } = latch();
  const cluster = createCluster({ dialect: 'kubernetes' });
  cluster.use(async (request, next) => {
    if (request.verb === 'create') await opened;
    return next(request);
  });
  const handler = createFetchHandler(cluster);
  const unknown = 'y'.repeat(2_900_000);
  const create = (name: string, timeout: string) => {
    const body = JSON.stringify({ metadata: { name }, unknown });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    return handler(new Request(`http://cluster.local${CONFIG_MAPS}?timeout=${timeout}`, init));
  };
  const late = await Promise.all([create('a', '50ms'), create('b', '50ms')]);
  expect(late.map(({ status }) => status)).toEqual([504, 504]);
  const refused = await create('c', '50ms');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({ reason: 'TooManyRequests', details: { retryAfterSeconds: 1 } });
  const waiting = create('d', '30s');
  open();
  expect((await waiting).status).toBe(201);
});

test('a YAML body with more than a million values gets 413', async () => {
  const { code } = await server()('POST', REVIEWS, `a: [${repeated('a', 1_100_000)}]`, 'application/yaml');
  expect(code).toBe(413);
});

test('a patch whose copies make an object too large gets 413', async () => {
  const send = server();
  await send('POST', DEFINITIONS, definition(ANY_SCHEMA));
  await send('POST', WIDGETS, widget({ list: Array(3_000).fill({}) }));
  const copies = Array.from({ length: 200 }, (_, index) => ({
    op: 'copy',
    from: '/spec/list',
    path: `/spec/n${index}`,
  }));
  const { code, status } = await send('PATCH', `${WIDGETS}/a`, copies, 'application/json-patch+json');
  expect(code).toBe(413);
  expect(status.message).toContain('500000 objects and lists');
});

test('patches and applies cannot make an object grow without limit, also if storage has none', async () => {
  const send = server([], Number.POSITIVE_INFINITY);
  await send('POST', DEFINITIONS, definition(ANY_SCHEMA));
  await send('POST', WIDGETS, widget({}));
  const text = 'x'.repeat(3_000_000);
  const merge = (key: string) =>
    send('PATCH', `${WIDGETS}/a`, { spec: { [key]: text } }, 'application/merge-patch+json');
  expect((await merge('a')).code).toBe(200);
  expect((await merge('b')).code).toBe(200);
  const { code, status } = await merge('c');
  expect(code).toBe(413);
  expect(status.message).toContain('characters');
  const applied = await send(
    'PATCH',
    `${WIDGETS}/a?fieldManager=m`,
    widget({ d: text }),
    'application/apply-patch+yaml',
  );
  expect(applied.code).toBe(413);
});

test('an object with a hundred thousand errors gets 422 with the first ones', async () => {
  const rules = `[${repeated('{}', 200_000)}]`;
  const { code, status } = await server()(
    'POST',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    `{"metadata":{"name":"a"},"rules":${rules}}`,
  );
  expect(code).toBe(422);
  expect(status.message).toMatch(
    /^ClusterRole\.rbac\.authorization\.k8s\.io "a" is invalid: \[rules\[0\]\.verbs: Required value: .*, and more\]$/,
  );
  expect(status.details.causes).toHaveLength(10_000);
});

test('the items of a custom resource that violate its schema get 422 with the first errors', async () => {
  const send = server();
  const item = { type: 'object', required: ['a'], properties: { a: { type: 'string' } } };
  const spec = { type: 'object', properties: { list: { type: 'array', items: item } } };
  await send('POST', DEFINITIONS, definition({ type: 'object', properties: { spec } }));
  const { code, status } = await send('POST', WIDGETS, widget({ list: Array(100_000).fill({}) }));
  expect(code).toBe(422);
  expect(status.message).toMatch(
    /spec\.list\[0\]\.a: Required value.*spec\.list\[9999\]\.a: Required value, and 1 more\]$/,
  );
});

describe('a body that storage accepts may be large', () => {
  test('with 100,000 keys of a ConfigMap', async () => {
    const data = Object.fromEntries(Array.from({ length: 70_000 }, (_, index) => [`key-${index}`, '0123']));
    expect((await server()('POST', CONFIG_MAPS, { metadata: { name: 'a' }, data })).code).toBe(201);
  });

  test('with a list of 28,000 strings, and a patch of it', async () => {
    const send = server();
    await send('POST', DEFINITIONS, definition(ANY_SCHEMA));
    const list = Array.from({ length: 28_000 }, (_, index) => `${index}`.padStart(50, '0'));
    expect((await send('POST', WIDGETS, widget({ list }))).code).toBe(201);
    const patch = [{ op: 'add', path: '/spec/list/-', value: 'last' }];
    expect((await send('PATCH', `${WIDGETS}/a`, patch, 'application/json-patch+json')).code).toBe(200);
  });

  test('with a schema of 40,000 properties, and an update of it', async () => {
    const send = server();
    const properties = Object.fromEntries(
      Array.from({ length: 40_000 }, (_, index) => [`property${index}`, { type: 'string' }]),
    );
    const wanted = definition({ type: 'object', properties });
    expect((await send('POST', DEFINITIONS, wanted)).code).toBe(201);
    const patch = { metadata: { labels: { a: 'b' } } };
    const path = `${DEFINITIONS}/widgets.example.com`;
    expect((await send('PATCH', path, patch, 'application/merge-patch+json')).code).toBe(200);
  });
});

describe('an object that is larger than 1.5 MiB in storage', () => {
  const text = (length: number) => widget({ text: 'x'.repeat(length) });
  const labels = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, `v${index}`]));

  test.each([
    [1_572_217, 201, undefined],
    [1_573_000, 500, 'etcdserver: request is too large'],
    [
      2_200_000,
      500,
      'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2200236 vs. 2097152)',
    ],
  ])('is rejected: a custom resource with a text of %d characters has the result %d', async (length, code, message) => {
    const send = server();
    await send('POST', DEFINITIONS, definition(ANY_SCHEMA));
    const result = await send('POST', WIDGETS, text(length));
    expect([result.code, result.status.message]).toEqual([code, message]);
  });

  test.each([
    [94_432, 201],
    [94_500, 500],
  ])('is rejected: a pod with %d ports has the result %d', async (count, code) => {
    const ports = Array.from({ length: count }, (_, index) => ({ containerPort: 1 + (index % 65_535) }));
    const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'a', image: 'b', ports }] } };
    expect((await server()('POST', '/api/v1/namespaces/default/pods', pod)).code).toBe(code);
  });

  test('is stored without its managers if it fits then, except by an apply', async () => {
    const send = server();
    const object = (name: string) => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name, labels: labels(51_000) },
    });
    expect(await send('POST', CONFIG_MAPS, object('a'))).toMatchObject({ code: 201 });
    const metadata = (await send('GET', `${CONFIG_MAPS}/a`, undefined)).status as unknown as { metadata: object };
    expect(metadata.metadata).not.toHaveProperty('managedFields');
    const applied = await send('PATCH', `${CONFIG_MAPS}/b?fieldManager=m`, object('b'), 'application/apply-patch+yaml');
    expect([applied.code, applied.status.message]).toEqual([500, expect.stringContaining('too large')]);
  });

  test('is accepted by a dry run, and can be deleted and made smaller', async () => {
    const big = { metadata: { name: 'a', labels: labels(100_000) } };
    const send = server();
    expect((await send('POST', `${CONFIG_MAPS}?dryRun=All`, big)).code).toBe(201);
    const unlimited = createCluster({ storage: memoryStorage({ maxObjectBytes: Number.POSITIVE_INFINITY }) });
    await unlimited.api(ConfigMap).create(big);
    const configMaps = createCluster({ from: captureCluster(unlimited) }).api(ConfigMap);
    const change = configMaps.patch('a', mergePatch({ metadata: { labels: { b: 'c' } } }));
    await expect(change).rejects.toMatchObject({ code: 500, message: expect.stringContaining('too large') });
    await configMaps.patch('a', mergePatch({ metadata: { finalizers: ['example.com/f'], labels: null } }));
    await configMaps.delete('a');
    expect((await configMaps.get('a')).metadata.deletionTimestamp).toBeDefined();
  });
});
