/** Flow control in front of a cluster, as clients see it. */
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap, FlowSchema, type FlowSchemaInput, PriorityLevelConfiguration, Secret } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { AdmissionPlugin } from '../../../src/admission/types.js';
import { allowAll } from '../../../src/auth/authorizer.js';
import { flowOf, queued } from './server.js';

/** Alice has one of 50 seats, and writes of ConfigMaps block until they are released. */
async function server(response: 'Reject' | 'Queue', totalSeats = 50) {
  const gates: (() => void)[] = [];
  const slow: AdmissionPlugin = {
    name: 'Slow',
    handlesKind: ({ kind }) => kind === ConfigMap,
    validate: () => new Promise<void>((resolve) => gates.push(resolve)),
  };
  const cluster = testCluster({
    dialect: 'kubernetes',
    admission: [slow],
    authorizer: allowAll(),
    featureGates: { WatchList: true },
  });
  const { limited } = queued(5);
  const limitResponse = response === 'Queue' ? limited.limitResponse : { type: response };
  const spec = { type: 'Limited', limited: { ...limited, limitResponse } } as never;
  await cluster.api(PriorityLevelConfiguration).create({ metadata: { name: 'small' }, spec });
  await cluster
    .api(FlowSchema)
    .create({ metadata: { name: 'alice' }, spec: flowOf('alice', 'small') } as FlowSchemaInput);
  const handle = createFetchHandler(cluster, {
    tokens: { a: { user: 'alice' }, b: { user: 'bob' } },
    // Five of 250 shares.
    flowControl: { totalSeats },
  });
  const send = (token: string, path: string, init: RequestInit = {}) =>
    handle(
      new Request(`http://cluster.local${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      }),
    );
  const write = (name: string, query = '') =>
    send('a', `/api/v1/namespaces/default/configmaps${query}`, {
      method: 'POST',
      body: JSON.stringify({ metadata: { name } }),
    });
  const uid = async (name: string) => (await cluster.api(FlowSchema).get(name)).metadata.uid;
  return { cluster, gates, send, write, uid };
}

describe('flow control over HTTP', () => {
  test('sends Retry-After with a rejected request', async () => {
    const { cluster, gates, send, write, uid } = await server('Reject');
    const first = write('one');
    await cluster.clock.advance(0);
    const refused = await send('a', '/api/v1/namespaces/default/configmaps');
    expect(refused.status).toBe(429);
    expect(await refused.text()).toBe('Too many requests, please try again later.\n');
    expect(refused.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('x-kubernetes-pf-flowschema-uid')).toBe(await uid('alice'));
    for (const open of gates) open();
    const answered = await first;
    expect(answered.status).toBe(201);
    expect(answered.headers.get('x-kubernetes-pf-flowschema-uid')).toBe(await uid('alice'));
    expect((await send('a', '/api/v1/namespaces/default/configmaps')).status).toBe(200);
  });

  test('keeps the seat of a request that takes longer than its client waits', async () => {
    const { cluster, gates, send, write } = await server('Reject');
    const first = write('one', '?timeout=1s');
    await cluster.clock.advance(1000);
    expect((await first).status).toBe(504);
    expect((await send('a', '/api/v1/namespaces/default/configmaps')).status).toBe(429);
    for (const open of gates) open();
    await cluster.clock.advance(0);
    expect((await send('a', '/api/v1/namespaces/default/configmaps')).status).toBe(200);
  });

  test('answers a waiting request later without blocking others', async () => {
    const { cluster, gates, send, write } = await server('Queue');
    const first = write('one');
    await cluster.clock.advance(0);
    let second: Response | undefined;
    const waiting = send('a', '/api/v1/namespaces/default/configmaps').then((response) => {
      second = response;
    });
    await cluster.clock.advance(1000);
    expect(second).toBeUndefined();
    expect((await send('b', '/api/v1/namespaces/default/configmaps')).status).toBe(200);
    for (const open of gates) open();
    expect((await first).status).toBe(201);
    await waiting;
    expect(second?.status).toBe(200);
  });

  test('a request whose body arrives slowly gives its seat back, and waits for one when the body is there', async () => {
    const { cluster, gates, send, write } = await server('Queue');
    let finish = (): void => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        finish = () => {
          controller.enqueue(new TextEncoder().encode('{"metadata":{"name":"slow"}}'));
          controller.close();
        };
      },
    });
    const slow = send('a', '/api/v1/namespaces/default/secrets', {
      method: 'POST',
      body,
      duplex: 'half',
    } as RequestInit);
    let isAnswered = false;
    void slow.then(() => (isAnswered = true));
    await cluster.clock.advance(0);
    const waiting = send('a', '/api/v1/namespaces/default/configmaps');
    await cluster.clock.advance(500);
    expect((await waiting).status).toBe(200);
    const blocking = write('one');
    await cluster.clock.advance(0);
    finish();
    await cluster.clock.advance(100);
    expect(isAnswered).toBe(false);
    for (const open of gates) open();
    expect((await blocking).status).toBe(201);
    expect((await slow).status).toBe(201);
    expect((await send('a', '/api/v1/namespaces/default/configmaps')).status).toBe(200);
  });

  test('rejects a request that waits too long and frees its place in the queue', async () => {
    const { cluster, gates, send, write } = await server('Queue');
    const first = write('one');
    await cluster.clock.advance(0);
    const waiting = send('a', '/api/v1/namespaces/default/configmaps?timeout=8s');
    await cluster.clock.advance(2000);
    expect((await waiting).status).toBe(429);
    for (const open of gates) open();
    expect((await first).status).toBe(201);
    expect((await send('a', '/api/v1/namespaces/default/configmaps')).status).toBe(200);
  });

  test('charges a watch like a list only if it sends initial events', async () => {
    const { cluster, gates, send, write } = await server('Reject', 1000);
    for (let index = 0; index < 300; index++) await cluster.api(Secret).create({ metadata: { name: `s${index}` } });
    const writes = Array.from({ length: 19 }, (_, index) => write(`c${index}`));
    await cluster.clock.advance(0);
    // One seat is left; a list of 300 objects takes more.
    const watch = (query: string) => send('a', `/api/v1/namespaces/default/secrets?watch=true${query}`);
    const plain = await watch('&resourceVersion=0');
    expect(plain.status).toBe(200);
    await plain.body?.cancel();
    expect((await watch('&sendInitialEvents=true&resourceVersionMatch=NotOlderThan')).status).toBe(429);
    for (const open of gates) open();
    await Promise.all(writes);
  });

  test('releases the seat of an established watch and of a failed request', async () => {
    const { send } = await server('Reject');
    const watch = await send('a', '/api/v1/namespaces/default/configmaps?watch=true&resourceVersion=0');
    expect(watch.status).toBe(200);
    expect((await send('a', '/api/v1/namespaces/default/configmaps/none')).status).toBe(404);
    expect((await send('a', '/apis/no.such.group/v1/things')).status).toBe(404);
    expect((await send('a', '/api/v1/namespaces/default/configmaps?limit=x')).status).toBeLessThan(429);
    expect((await send('a', '/version')).status).toBe(200);
    await watch.body?.cancel();
    expect((await send('a', '/version')).status).toBe(200);
  });
});
