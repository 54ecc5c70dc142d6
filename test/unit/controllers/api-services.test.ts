/** APIService controller: discovery checks and the Available condition. */
import { type ApiServicesOptions, apiServices, controllers } from 'orchplane/controllers';
import { createFetchHandler } from 'orchplane/http';
import { APIService, Service } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';

const NAME = 'v1.metrics.example.com';
const URL_OF_VERSION = 'https://metrics.default.svc:443/apis/metrics.example.com/v1';

async function clusterWith(options: ApiServicesOptions, onError: (error: unknown) => void = () => undefined) {
  const cluster = testCluster({ controllers: controllers([apiServices(options)], { onError }) });
  // A service without selector needs no endpoints.
  await cluster.api(Service).create({
    metadata: { name: 'metrics' },
    spec: { type: 'ExternalName', externalName: 'metrics.example.com' },
  });
  await cluster.api(APIService).create({
    metadata: { name: NAME },
    spec: {
      group: 'metrics.example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      service: { namespace: 'default', name: 'metrics' },
    },
  });
  await cluster.settle();
  const condition = async () => (await cluster.api(APIService).get(NAME)).status.conditions?.[0];
  return { cluster, condition };
}

afterEach(() => vi.unstubAllGlobals());

describe('API service controller', () => {
  test('sets the Available condition after a successful discovery request', async () => {
    const requests: [string, string | null, string | null][] = [];
    const handler = (request: Request) => {
      requests.push([request.url, request.headers.get('x-remote-user'), request.headers.get('x-remote-group')]);
      return Response.json({ kind: 'APIResourceList', resources: [] });
    };
    const { cluster, condition } = await clusterWith({ aggregate: { [NAME]: handler } });
    expect(requests).toEqual([[URL_OF_VERSION.replace(':443', ''), 'system:kube-aggregator', 'system:masters']]);
    expect(await condition()).toMatchObject({ status: 'True', reason: 'Passed', message: 'all checks passed' });
    const { metadata } = await cluster.api(APIService).get(NAME);
    const status = metadata.managedFields?.find(({ subresource }) => subresource === 'status');
    expect(status).toMatchObject({ manager: 'kube-apiserver', operation: 'Update' });
  });

  test.each([
    ['a 503 response', () => new Response('no', { status: 503 }), `bad status from ${URL_OF_VERSION}: 503`],
    ['a 302 response', () => new Response(null, { status: 302 }), `bad status from ${URL_OF_VERSION}: 302`],
    [
      'a connection failure',
      () => {
        throw new Error('connection refused');
      },
      `Get "${URL_OF_VERSION}": connection refused`,
    ],
  ])('reports an APIService as unavailable after %s', async (_, handler, why) => {
    const { condition } = await clusterWith({ aggregate: { [NAME]: handler } });
    expect(await condition()).toMatchObject({
      status: 'False',
      reason: 'FailedDiscoveryCheck',
      message: `failing or missing response from ${URL_OF_VERSION}: ${why}`,
    });
  });

  test('repeats the discovery check every 30 seconds', async () => {
    let code = 200;
    let requests = 0;
    const handler = () => {
      requests++;
      return new Response('{}', { status: code });
    };
    const { cluster, condition } = await clusterWith({ aggregate: { [NAME]: handler } });
    const before = requests;
    code = 500;
    await cluster.clock.advance(29_000);
    expect(requests).toBe(before);
    expect(await condition()).toMatchObject({ status: 'True' });
    await cluster.clock.advance(1000);
    expect(await condition()).toMatchObject({ status: 'False' });
    code = 200;
    await cluster.clock.advance(30_000);
    expect(await condition()).toMatchObject({ status: 'True' });
  });

  test('writes no status while the availability does not change', async () => {
    const { cluster } = await clusterWith({ aggregate: { [NAME]: () => new Response('{}') } });
    const { metadata } = await cluster.api(APIService).get(NAME);
    await cluster.clock.advance(300_000);
    expect((await cluster.api(APIService).get(NAME)).metadata.resourceVersion).toBe(metadata.resourceVersion);
  });

  test.each([
    { status: 'False', message: 'all checks passed' },
    { status: 'True', message: 'other' },
  ] as const)('restores the condition that another client has changed to %j', async (change) => {
    const { cluster, condition } = await clusterWith({ aggregate: { [NAME]: () => Response.json({}) } });
    const available = await condition();
    await cluster.api(APIService).status.patch(NAME, {
      type: 'merge',
      merge: { status: { conditions: [{ type: 'Available', ...available, ...change }] } },
    });
    await cluster.settle();
    expect(await condition()).toMatchObject({ status: 'True', message: 'all checks passed' });
  });

  test('updates the availability when the Service is deleted or created', async () => {
    const { cluster, condition } = await clusterWith({ aggregate: { [NAME]: () => new Response('{}') } });
    await cluster.api(Service).delete('metrics');
    await cluster.settle();
    expect(await condition()).toMatchObject({ status: 'False', reason: 'ServiceNotFound' });
    await cluster.api(Service).create({
      metadata: { name: 'metrics' },
      spec: { type: 'ExternalName', externalName: 'metrics.example.com' },
    });
    await cluster.settle();
    expect(await condition()).toMatchObject({ status: 'True', reason: 'Passed' });
  });

  test('calls fetch for an address and accepts one success in five attempts', async () => {
    let requests = 0;
    vi.stubGlobal('fetch', async (url: string) => {
      if (++requests === 4) return new Response('{}');
      throw new TypeError('fetch failed', { cause: new Error(`no route to ${url}`) });
    });
    const { condition } = await clusterWith({ aggregate: () => 'http://10.0.0.7:8080' });
    expect(requests).toBe(5);
    expect(await condition()).toMatchObject({ status: 'True', reason: 'Passed' });
  });

  test('reports the cause of a network failure in the condition', async () => {
    vi.stubGlobal('fetch', async () => {
      throw new TypeError('fetch failed', { cause: new Error('no such host') });
    });
    const reported: unknown[] = [];
    const { condition } = await clusterWith({ aggregate: () => 'http://10.0.0.7:8080/' }, (error) =>
      reported.push(error),
    );
    const url = 'http://10.0.0.7:8080/apis/metrics.example.com/v1';
    const message = `failing or missing response from ${url}: Get "${url}": no such host`;
    expect(await condition()).toMatchObject({ reason: 'FailedDiscoveryCheck', message });
    expect(reported.length).toBeGreaterThan(0);
  });

  test('makes the server proxy requests only to available APIs', async () => {
    let code = 503;
    const aggregate = { [NAME]: () => Response.json({ resources: [] }, { status: code }) };
    const { cluster } = await clusterWith({ aggregate });
    const handler = createFetchHandler(cluster, { aggregate });
    const get = async () => (await handler(new Request(`http://c.local/apis/metrics.example.com/v1/nodes`))).status;
    code = 200;
    expect(await get()).toBe(503);
    await cluster.clock.advance(30_000);
    expect(await get()).toBe(200);
  });

  test.each([
    [{ aggregate: 7 }, 'aggregate is a table'],
    [{ aggregate: { x: 'metrics:443' } }, 'neither a function nor an address'],
    [{ aggregated: {} }, 'aggregated'],
  ])('rejects the invalid option %o', (options, message) => {
    expect(() => apiServices(options as never)).toThrow(message);
  });
});
