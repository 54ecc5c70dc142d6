/**
 * The network in a cluster with controllers: Services of Deployments, webhooks and aggregated APIs that functions serve.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Controller, controllers, stages, standardControllers } from 'orchplane/controllers';
import { createFetchHandler } from 'orchplane/http';
import {
  APIService,
  ConfigMap,
  Deployment,
  EndpointSlice,
  Namespace,
  NetworkPolicy,
  Node,
  Pod,
  Service,
  ValidatingWebhookConfiguration,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { NodeRuntime } from '../../../../src/protocol/connection.js';
import { createNetwork } from '../../../../src/runtime/network/network.js';
import type { ClusterNetwork, PodServer } from '../../../../src/runtime/network/types.js';
import { define, version } from '../../crd/widgets.js';
import { bundle, issue, listen } from '../../webhook/tls-servers.js';

interface Running {
  readonly cluster: TestCluster;
  /** Those of the cluster and of its forks. */
  readonly networks: readonly ClusterNetwork[];
}

const unused = (): never => {
  throw new Error('not part of the test');
};

/** A cluster with all controllers and a Deployment `hook` of one pod. */
async function running(): Promise<Running> {
  const networks: ClusterNetwork[] = [];
  const controller: Controller = {
    name: 'network',
    needs: [Pod, Service, EndpointSlice, Node, Namespace, NetworkPolicy],
    start(context) {
      const network = createNetwork(context);
      networks.push(network);
      const runtime: NodeRuntime = {
        connect: unused,
        logs: unused,
        exec: unused,
        serverAt: (at) => network.serverAt(at),
      };
      const slot = context.host?.runtimeSlot;
      if (slot !== undefined) slot.runtime = runtime;
    },
  };
  const run = controllers([...standardControllers(), stages(), controller]);
  const cluster = testCluster({ dialect: 'kubernetes', controllers: run });
  await cluster.api(Deployment).create({
    metadata: { name: 'hook' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'hook' } },
      template: { metadata: { labels: { app: 'hook' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  const spec = { selector: { app: 'hook' }, ports: [{ port: 443, targetPort: 8443 }] };
  await cluster.api(Service).create({ metadata: { name: 'hook' }, spec });
  await cluster.settle();
  return { cluster, networks };
}

/** Attaches a server to the pods of the Deployment. */
async function serve({ cluster, networks: [network] }: Running, server: PodServer): Promise<string> {
  const [pod] = (await cluster.api(Pod).list()).items;
  network?.listen({ namespace: 'default', podName: pod?.metadata.name ?? '' }, 8443, server);
  return pod?.status.podIP ?? '';
}

/** Rejects objects and converts custom resources: says where the request arrived. */
async function review(request: Request): Promise<Response> {
  const { kind, apiVersion, request: asked } = await request.json();
  const { uid, objects = [], desiredAPIVersion } = asked;
  const convertedObjects = objects.map((object: object) => ({ ...object, apiVersion: desiredAPIVersion }));
  const result =
    kind === 'AdmissionReview'
      ? { allowed: false, status: { message: `reached ${request.url}` } }
      : { convertedObjects, result: { status: 'Success' } };
  return Response.json({ kind, apiVersion, response: { uid, ...result } });
}

const service = { namespace: 'default', name: 'hook' };

async function addHook(cluster: TestCluster, clientConfig: object): Promise<void> {
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
}

async function create(cluster: Pick<TestCluster, 'api'>): Promise<string> {
  return cluster
    .api(ConfigMap)
    .create({ metadata: { name: 'a' } })
    .then(
      () => 'created',
      ({ message }: Error) => message,
    );
}

afterEach(() => vi.unstubAllGlobals());

test('a Service of a Deployment leads to all ready pods', async () => {
  const self = await running();
  const { cluster, networks } = self;
  await cluster.api(Deployment).edit('hook', ({ spec }) => {
    spec.replicas = 2;
  });
  await cluster.settle();
  const names = (await cluster.api(Pod).list()).items.map(({ metadata }) => metadata.name);
  for (const podName of names) {
    networks[0]?.listen({ namespace: 'default', podName }, 8443, { fetch: () => new Response(podName) });
  }
  const from = { namespace: 'default', podName: names[0] ?? '' };
  const found = new Set<string>();
  for (let i = 0; i < 2; i++) {
    const response = await networks[0]?.fetch(new Request('http://hook:443/'), from);
    found.add((await response?.text()) ?? '');
  }
  expect([...found].sort()).toEqual([...names].sort());
});

describe('a webhook behind a Service', () => {
  const reached =
    'admission webhook "x.example.com" denied the request: reached https://hook.default.svc/check?timeout=10s';

  test('may be a function, without a certificate', async () => {
    const self = await running();
    await serve(self, { fetch: review });
    await addHook(self.cluster, { service: { ...service, path: '/check' } });
    expect(await create(self.cluster)).toBe(reached);
  });

  test('may be a function on platforms other than Node', async () => {
    const self = await running();
    await serve(self, { fetch: review });
    await addHook(self.cluster, { service: { ...service, path: '/check' } });
    vi.stubGlobal('process', undefined);
    expect(await create(self.cluster)).toBe(reached);
  });

  test('that does not listen refuses the connection', async () => {
    const self = await running();
    await addHook(self.cluster, { service });
    const [pod] = (await self.cluster.api(Pod).list()).items;
    expect(await create(self.cluster)).toContain(
      `Post "https://hook.default.svc:443/?timeout=10s": dial tcp ${pod?.status.podIP}:8443: connect: connection refused`,
    );
  });

  test('has a timeout', async () => {
    const self = await running();
    let signal: AbortSignal | undefined;
    await serve(self, {
      fetch: (request) => {
        ({ signal } = request);
        return new Promise(() => undefined);
      },
    });
    await addHook(self.cluster, { service });
    const message = create(self.cluster);
    await self.cluster.clock.advance(10_000);
    expect(await message).toContain('context deadline exceeded');
    expect(signal?.aborted).toBe(true);
  });

  test('that is a socket of this machine needs a valid certificate', async () => {
    const ca = await issue({ name: 'my-ca', ca: true });
    const leaf = await issue({ hosts: ['hook.default.svc'], issuer: ca });
    const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { host, 'content-type': type = '' } = request.headers;
      const init = { method: 'POST', body: Buffer.concat(chunks), headers: { 'content-type': type } };
      const answer = await review(new Request(`https://${host}${request.url}`, init));
      response.setHeader('content-type', 'application/json');
      response.end(await answer.text());
    };
    await using server = await listen(leaf, respond);
    const self = await running();
    await serve(self, { address: { host: '127.0.0.1', port: server.port } });
    await addHook(self.cluster, { service: { ...service, path: '/check' }, caBundle: bundle(ca) });
    expect(await create(self.cluster)).toBe(reached);
    await self.cluster.api(ValidatingWebhookConfiguration).delete('hooks');
    await addHook(self.cluster, { service, caBundle: bundle(await issue({ name: 'other-ca', ca: true })) });
    expect(await create(self.cluster)).toContain('certificate signed by unknown authority');
  });

  test('of a fork is reached through the network of the fork', async () => {
    const self = await running();
    await serve(self, { fetch: review });
    await addHook(self.cluster, { service: { ...service, path: '/check' } });
    await using fork = self.cluster.fork();
    await fork.settle();
    expect(self.networks).toHaveLength(2);
    expect(await create(fork)).toContain('connect: connection refused');
    expect(await create(self.cluster)).toBe(reached);
  });
});

test('a conversion webhook behind a Service may be a function', async () => {
  const self = await running();
  await serve(self, { fetch: review });
  const whole = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const widgets = await define(self.cluster, {
    versions: [version({ name: 'v1', whole, storage: false }), version({ name: 'v2', whole })],
    conversion: { strategy: 'Webhook', webhook: { clientConfig: { service }, conversionReviewVersions: ['v1'] } },
  });
  const made = await widgets.create({ metadata: { name: 'w' }, spec: { size: 1 } });
  expect(made).toMatchObject({ apiVersion: 'example.com/v1', spec: { size: 1 } });
});

test('the server of an aggregated API may be a function', async () => {
  const self = await running();
  await serve(self, {
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      const isDiscovery = pathname === '/apis/things.example.com/v1';
      const user = request.headers.get('x-remote-user');
      return Response.json(isDiscovery ? { resources: [] } : { kind: 'ThingList', user, sent: await request.text() });
    },
  });
  await self.cluster.api(APIService).create({
    metadata: { name: 'v1.things.example.com' },
    spec: {
      group: 'things.example.com',
      version: 'v1',
      groupPriorityMinimum: 100,
      versionPriority: 100,
      insecureSkipTLSVerify: true,
      service,
    },
  });
  await self.cluster.settle();
  const { status } = await self.cluster.api(APIService).get('v1.things.example.com');
  expect(status.conditions).toMatchObject([{ type: 'Available', status: 'True', reason: 'Passed' }]);
  const handler = createFetchHandler(self.cluster);
  const init = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } };
  const response = await handler(new Request('http://c.local/apis/things.example.com/v1/things', init));
  expect(await response.json()).toEqual({ kind: 'ThingList', user: 'system:admin', sent: '{"a":1}' });
});
