/** The HTTP transport over real connections, which are refused, break, are reused, or are slow. */
import { type Client, createClient } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { StatusError } from '../../../../src/meta/errors.js';
import { eventually, listen, rejection } from '../../client/transports.js';

async function connect() {
  const cluster = testCluster();
  const { url, server } = await listen(
    createFetchHandler(cluster, { tokens: { t0k: { user: 'alice', groups: ['system:masters'] } } }),
  );
  const transport = httpTransport({ baseUrl: url, clock: cluster.clock, token: 't0k' });
  const client: Client = createClient({ transport });
  return { cluster, server, url, client };
}

test('an informer survives the loss of every connection', async () => {
  const { cluster, server, client } = await connect();
  const failures: unknown[] = [];
  await using informer = client.api(ConfigMap).informer({ onError: (error) => failures.push(error) });
  await informer.synced;
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  await eventually(() => expect(informer.get('a')).toBeDefined());
  for (const name of ['b', 'c']) {
    const failuresBefore = failures.length;
    server.closeAllConnections();
    await eventually(() => expect(failures.length).toBeGreaterThan(failuresBefore));
    await cluster.api(ConfigMap).create({ metadata: { name } });
    await cluster.clock.advance(2_000);
    await eventually(() => expect(informer.get(name)).toBeDefined());
  }
  expect(failures.every((error) => StatusError.is(error, 'ServiceUnavailable'))).toBe(true);
});

test('a watch that loses its connection throws an error', async () => {
  const { cluster, server, client } = await connect();
  await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
  const watch = client.api(ConfigMap).watch();
  expect((await watch.next()).value).toMatchObject({ type: 'ADDED' });
  const next = rejection(watch.next());
  server.closeAllConnections();
  const error = await next;
  expect(StatusError.is(error, 'ServiceUnavailable') && error.cause).toBeInstanceOf(Error);
  expect(await watch.next()).toEqual({ done: true, value: undefined });
});

test('a reader that does not read applies back pressure and loses nothing', async () => {
  const { cluster, client } = await connect();
  const maps = cluster.api(ConfigMap);
  await using watch = client.api(ConfigMap).watch({ resourceVersion: cluster.resourceVersion });
  const first = watch.next();
  await eventually(() => expect(cluster.clock.pending).toBeGreaterThan(0));
  const text = 'x'.repeat(200_000);
  for (let index = 0; index < 100; index++) await maps.create({ metadata: { name: `m-${index}` }, data: { text } });
  await new Promise(setImmediate);
  expect((await first).value).toMatchObject({ object: { metadata: { name: 'm-0' } } });
  for (let index = 1; index < 100; index++) {
    expect((await watch.next()).value).toMatchObject({ object: { metadata: { name: `m-${index}` } } });
  }
});

test('an unknown token is rejected with Unauthorized', async () => {
  const { url } = await connect();
  const getWithToken = (token?: string) => {
    const transport = httpTransport({ baseUrl: url, ...(token === undefined ? {} : { token }) });
    return rejection(createClient({ transport }).api(ConfigMap).get('a'));
  };
  expect(StatusError.is(await getWithToken('guessed'), 'Unauthorized')).toBe(true);
  expect(StatusError.is(await getWithToken(), 'Forbidden')).toBe(true);
});

test('a cluster below a path prefix is reachable', async () => {
  const cluster = testCluster();
  const handler = createFetchHandler(cluster);
  const { url } = await listen((request) => handler(new Request(request.url.replace('/prefix/', '/'), request)));
  const client = createClient({ transport: httpTransport({ baseUrl: `${url}/prefix/` }) });
  await client.api(ConfigMap).create({ metadata: { name: 'a' } });
  expect(await cluster.api(ConfigMap).find('a')).toBeDefined();
});
