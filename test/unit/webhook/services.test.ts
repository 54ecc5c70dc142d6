/** Connections to the Services of webhooks and aggregated APIs. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { networkInterfaces } from 'node:os';
import { gunzipSync, gzipSync } from 'node:zlib';
import { apiServices, controllers } from 'orchplane/controllers';
import { createFetchHandler } from 'orchplane/http';
import {
  APIService,
  ConfigMap,
  EndpointSlice,
  Endpoints,
  Service,
  ValidatingWebhookConfiguration,
} from 'orchplane/kinds';
import { type TestCluster, type TestClusterOptions, testCluster } from 'orchplane/testing';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { ApiObject } from '../../../src/meta/object.js';
import { resolveService, type ServiceView } from '../../../src/webhook/service-address.js';
import { define, version } from '../crd/widgets.js';
import { bundle, type Issued, issue, listen } from './tls-servers.js';

let ca: Issued;
let leaf: Issued;

beforeAll(async () => {
  ca = await issue({ name: 'my-ca', ca: true });
  leaf = await issue({ hosts: ['hook.default.svc'], issuer: ca });
});

afterEach(() => vi.unstubAllGlobals());

const PORTS = [
  { name: 'http', port: 80 },
  { name: 'https', port: 443, targetPort: 8443 },
];
const TARGET = { namespace: 'default', name: 'hook', port: 443 };

async function clusterWith(spec: object, options: TestClusterOptions = {}): Promise<TestCluster> {
  const cluster = testCluster({ dialect: 'kubernetes', ...options });
  await cluster.api(Service).create({ metadata: { name: 'hook' }, spec });
  return cluster;
}

describe('the address of a Service', () => {
  const addressIn = (cluster: TestCluster, target = TARGET) =>
    resolveService(target, { objects: cluster.storageReader.objects, dialect: cluster.dialect });

  test('is a ready address of its Endpoints, with the port of the same name', async () => {
    const cluster = await clusterWith({ ports: PORTS });
    const ports = [
      { name: 'http', port: 8080 },
      { name: 'https', port: 8443 },
    ];
    await cluster.api(Endpoints).create({
      metadata: { name: 'hook' },
      subsets: [
        { notReadyAddresses: [{ ip: '10.0.0.1' }], ports },
        { addresses: [{ ip: '10.0.0.2' }], ports: [{ name: 'http', port: 8080 }] },
        { addresses: [{ ip: '10.0.0.3' }], ports },
      ],
    });
    expect(addressIn(cluster)).toEqual({ host: '10.0.0.3', port: 8443 });
    expect(addressIn(cluster, { ...TARGET, port: 80 })).toEqual({ host: '10.0.0.2', port: 8080 });
  });

  test('is a ready endpoint of its EndpointSlices if there are no Endpoints', async () => {
    const cluster = await clusterWith({ ports: PORTS });
    const slice = (name: string, service: string, address: string, ready?: boolean) => ({
      metadata: { name, labels: { 'kubernetes.io/service-name': service } },
      addressType: 'IPv4' as const,
      endpoints: [{ addresses: [address], ...(ready === undefined ? {} : { conditions: { ready } }) }],
      ports: [{ name: 'https', port: 8443 }],
    });
    await cluster.api(EndpointSlice).create(slice('a', 'other', '10.0.0.1'));
    await cluster.api(EndpointSlice).create(slice('b', 'hook', '10.0.0.2', false));
    expect(() => addressIn(cluster)).toThrow('no endpoints available for service "hook"');
    await cluster.api(EndpointSlice).create(slice('c', 'hook', '10.0.0.3'));
    expect(addressIn(cluster)).toEqual({ host: '10.0.0.3', port: 8443 });
  });

  test('is the external name with the requested port', async () => {
    const cluster = await clusterWith({ type: 'ExternalName', externalName: 'hooks.example.com' });
    expect(addressIn(cluster)).toEqual({ host: 'hooks.example.com', port: 443 });
  });

  test('does not exist without the Service, its port, a cluster IP or endpoints', async () => {
    const cluster = await clusterWith({ ports: PORTS });
    expect(() => addressIn(cluster, { ...TARGET, name: 'gone' })).toThrow('service "gone" not found');
    expect(() => addressIn(cluster, { ...TARGET, port: 1 })).toThrow('no service port 1 found for service "hook"');
    expect(() => addressIn(cluster)).toThrow('no endpoints available for service "hook"');
    const headless = await clusterWith({ clusterIP: 'None', ports: PORTS });
    expect(() => addressIn(headless)).toThrow('cannot route to service with ClusterIP "None"');
  });

  test('can be resolved without the kinds of endpoints', () => {
    const service = { spec: { ports: [{ port: 443 }] } };
    const objects: ServiceView['objects'] = {
      get: ({ resource }) => (resource === 'services' ? service : undefined),
      list: (): readonly ApiObject[] => [],
    };
    const view = { objects, dialect: testCluster().dialect };
    expect(() => resolveService(TARGET, view)).toThrow('no endpoints available for service "hook"');
  });
});

/** The Service of a server on this machine. */
const LOCAL = { type: 'ExternalName', externalName: 'localhost' } as const;

function bodyOf(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => resolve(text));
  });
}

/** Answers admission reviews with a denial that names the Host header, and conversion reviews with the objects. */
async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { kind, apiVersion, request: asked } = JSON.parse(await bodyOf(request));
  const convertedObjects = asked.objects?.map((object: object) => ({ ...object, apiVersion: asked.desiredAPIVersion }));
  const result =
    convertedObjects === undefined
      ? { allowed: false, status: { message: `reached ${request.headers.host} ${request.url}` } }
      : { convertedObjects, result: { status: 'Success' } };
  response.end(JSON.stringify({ kind, apiVersion, response: { uid: asked.uid, ...result } }));
}

async function createWithHook(cluster: TestCluster, clientConfig: object): Promise<string> {
  await cluster.api(ValidatingWebhookConfiguration).create({
    metadata: { name: 'hooks' },
    webhooks: [
      {
        name: 'x.example.com',
        clientConfig,
        rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  });
  const created = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
  return created.then(
    () => 'created',
    ({ message }: Error) => message,
  );
}

describe('a webhook behind a Service', () => {
  test('is called by the DNS name of the Service, which its certificate contains', async () => {
    await using server = await listen(leaf, respond);
    const { port } = server;
    const clientConfig = { service: { namespace: 'default', name: 'hook', path: '/a', port }, caBundle: bundle(ca) };
    expect(await createWithHook(await clusterWith(LOCAL), clientConfig)).toBe(
      `admission webhook "x.example.com" denied the request: reached hook.default.svc:${port} /a?timeout=10s`,
    );
  });

  test('is not called if its certificate has another name', async () => {
    await using server = await listen(await issue({ hosts: ['localhost'], issuer: ca }), respond);
    const { port } = server;
    const clientConfig = { service: { namespace: 'default', name: 'hook', port }, caBundle: bundle(ca) };
    expect(await createWithHook(await clusterWith(LOCAL), clientConfig)).toContain(
      `Post "https://hook.default.svc:${port}/?timeout=10s": tls: failed to verify certificate: x509: certificate is valid for localhost, not hook.default.svc`,
    );
  });

  const ip = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

  test.skipIf(ip === undefined)('is called at an endpoint', async () => {
    await using server = await listen(leaf, respond);
    const cluster = await clusterWith({ ports: PORTS });
    const clientConfig = { service: { namespace: 'default', name: 'hook' }, caBundle: bundle(leaf) };
    const subsets = [{ addresses: [{ ip: ip ?? '' }], ports: [{ name: 'https', port: server.port }] }];
    await cluster.api(Endpoints).create({ metadata: { name: 'hook' }, subsets });
    expect(await createWithHook(cluster, clientConfig)).toContain('reached hook.default.svc:443 /?timeout=10s');
  });

  test('is called at the address that the resolver returns, by either name', async () => {
    for (const host of ['hook.default.svc', '127.0.0.1']) {
      await using server = await listen(await issue({ hosts: [host], issuer: ca }), respond);
      const cluster = testCluster({ webhooks: { resolve: () => `https://127.0.0.1:${server.port}/other` } });
      const clientConfig = { service: { namespace: 'default', name: 'hook' }, caBundle: bundle(ca) };
      expect(await createWithHook(cluster, clientConfig)).toContain(
        `reached 127.0.0.1:${server.port} /other?timeout=10s`,
      );
    }
  });

  test('is called with a custom fetch, which takes care of the caBundle', async () => {
    const urls: string[] = [];
    const send = async (url: string) => {
      urls.push(url);
      return new Response('');
    };
    const cluster = await clusterWith(
      { ports: PORTS },
      { webhooks: { resolve: () => undefined, fetch: send as typeof fetch } },
    );
    const clientConfig = { service: { namespace: 'default', name: 'hook' }, caBundle: bundle(ca) };
    expect(await createWithHook(cluster, clientConfig)).toContain('0-length response');
    expect(urls).toEqual(['https://hook.default.svc:443/?timeout=10s']);
  });

  test('is requested by its DNS name on platforms other than Node', async () => {
    const urls: string[] = [];
    vi.stubGlobal('fetch', async (url: string) => {
      urls.push(url);
      return new Response('');
    });
    const cluster = await clusterWith({ ports: PORTS });
    vi.stubGlobal('process', undefined);
    const message = await createWithHook(cluster, { service: { namespace: 'default', name: 'hook' } });
    expect(message).toContain('0-length response');
    expect(urls).toEqual(['https://hook.default.svc:443/?timeout=10s']);
  });
});

test('a conversion webhook with a caBundle converts objects', async () => {
  await using server = await listen(leaf, respond);
  const cluster = await clusterWith(LOCAL);
  const whole = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const service = { namespace: 'default', name: 'hook', port: server.port };
  const widgets = await define(cluster, {
    versions: [version({ name: 'v1', whole, storage: false }), version({ name: 'v2', whole })],
    conversion: {
      strategy: 'Webhook',
      webhook: { clientConfig: { service, caBundle: bundle(ca) }, conversionReviewVersions: ['v1'] },
    },
  });
  const made = await widgets.create({ metadata: { name: 'w' }, spec: { size: 1 } });
  expect(made).toMatchObject({ apiVersion: 'example.com/v1', spec: { size: 1 } });
});

describe('an aggregated API', () => {
  const NAME = 'v1.things.example.com';
  const GROUP_PATH = '/apis/things.example.com/v1';

  async function apiClusterWith(trust: object, port: number, options: TestClusterOptions = {}) {
    const cluster = await clusterWith(LOCAL, options);
    await cluster.api(APIService).create({
      metadata: { name: NAME },
      spec: {
        group: 'things.example.com',
        version: 'v1',
        groupPriorityMinimum: 100,
        versionPriority: 100,
        service: { namespace: 'default', name: 'hook', port },
        ...trust,
      },
    });
    const handler = createFetchHandler(cluster);
    return { cluster, send: (init?: RequestInit) => handler(new Request(`http://c.local${GROUP_PATH}/things`, init)) };
  }

  const things = async (request: IncomingMessage, response: ServerResponse) => {
    const sent = await bodyOf(request);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ kind: 'ThingList', user: request.headers['x-remote-user'], url: request.url, sent }));
  };

  test.each([
    ['its CA is in the caBundle', () => ({ caBundle: bundle(ca) })],
    ['its certificate is the caBundle', () => ({ caBundle: bundle(leaf) })],
    ['insecureSkipTLSVerify is set', () => ({ insecureSkipTLSVerify: true })],
  ])('is reached if %s', async (_, trust) => {
    await using server = await listen(leaf, things);
    const { send } = await apiClusterWith(trust(), server.port);
    const response = await send({ method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } });
    expect(await response.json()).toEqual({
      kind: 'ThingList',
      user: 'system:admin',
      url: `${GROUP_PATH}/things`,
      sent: '{"a":1}',
    });
  });

  test('gets each group of the user in a header of its own', async () => {
    const groups: unknown[] = [];
    await using server = await listen(leaf, (request, response) => {
      groups.push(request.headersDistinct['x-remote-group']);
      response.end();
    });
    const { send } = await apiClusterWith({ caBundle: bundle(ca) }, server.port);
    const headers = new Headers({ 'impersonate-user': 'ann', 'impersonate-group': 'system:masters' });
    headers.append('impersonate-group', 'dev');
    expect((await send({ headers })).status).toBe(200);
    expect(groups).toEqual([['system:masters', 'dev', 'system:authenticated']]);
  });

  test('streams responses until the client cancels', async () => {
    let close = (): void => undefined;
    const closed = new Promise<void>((resolve) => {
      close = resolve;
    });
    await using server = await listen(leaf, (_request, response) => {
      response.on('close', close);
      response.write('first');
    });
    const { send } = await apiClusterWith({ caBundle: bundle(ca) }, server.port);
    const reader = (await send()).body?.getReader();
    expect(new TextDecoder().decode((await reader?.read())?.value)).toBe('first');
    await reader?.cancel();
    await closed;
  });

  test('passes compressed responses through', async () => {
    await using server = await listen(leaf, (_request, response) => {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync('compressed'));
    });
    const { send } = await apiClusterWith({ caBundle: bundle(ca) }, server.port);
    const response = await send();
    expect(response.headers.get('content-encoding')).toBe('gzip');
    expect(gunzipSync(await response.arrayBuffer()).toString()).toBe('compressed');
  });

  test('is not reached if its certificate is not trusted', async () => {
    await using server = await listen(leaf, things);
    const { send } = await apiClusterWith({}, server.port);
    const response = await send();
    expect([response.status, await response.text()]).toEqual([
      503,
      'error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority\n',
    ]);
  });

  test('is reported as unavailable if its caBundle contains no certificate', async () => {
    const { send } = await apiClusterWith({ caBundle: btoa('junk') }, 1);
    const response = await send();
    expect([response.status, await response.text()]).toEqual([
      500,
      'unable to load root certificates: unable to parse bytes as PEM block\n',
    ]);
  });

  test('is checked by the controller without verifying its certificate', async () => {
    await using server = await listen(leaf, things);
    const options = { controllers: controllers([apiServices()]) };
    const { cluster } = await apiClusterWith({ caBundle: bundle(await issue({ ca: true })) }, server.port, options);
    await expect
      .poll(async () => {
        await cluster.settle();
        return (await cluster.api(APIService).get(NAME)).status.conditions?.[0];
      })
      .toMatchObject({ status: 'True', reason: 'Passed' });
  });

  test('is reported as unavailable by the controller with the reason of the failed request', async () => {
    const options = { controllers: controllers([apiServices()], { onError: () => undefined }) };
    const { cluster } = await apiClusterWith({ insecureSkipTLSVerify: true }, 1, options);
    const url = `https://localhost:1${GROUP_PATH}`;
    await expect
      .poll(async () => {
        await cluster.settle();
        return (await cluster.api(APIService).get(NAME)).status.conditions?.[0]?.message;
      })
      .toMatch(
        new RegExp(
          `^failing or missing response from ${url}: Get "${url}": dial tcp (127.0.0.1|\\[::1\\]):1: connect: connection refused$`,
        ),
      );
  });
});
