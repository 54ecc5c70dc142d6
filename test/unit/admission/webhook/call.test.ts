/** How webhooks are called: functions in this process, URLs, or a caller that the user provides. */
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { WebhookAddress, Webhooks } from '../../../../src/kinds/reconciler.js';
import { postUrl } from '../../../../src/webhook/caller.js';
import { define, version } from '../../crd/widgets.js';
import { allow, hookCluster, type Review, validateWith } from './hooks.js';

function clusterWith(webhooks: Webhooks) {
  return testCluster({ dialect: 'kubernetes', webhooks: webhooks as never });
}

const result = ({ kind, apiVersion, request }: Review) => ({
  kind,
  apiVersion,
  response: { uid: request.uid, allowed: false, status: { message: 'reached' } },
});
const reached = 'denied the request: reached';

test('passes the address of the configuration to the resolver', async () => {
  const seen: WebhookAddress[] = [];
  const cluster = clusterWith({
    resolve(address) {
      seen.push(address);
      return result;
    },
  });
  const service = { namespace: 'n', name: 's', path: '/p', port: 8443 };
  await validateWith(cluster, 'one', { service: 's', clientConfig: { service } });
  await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toThrow(reached);
  expect(seen).toMatchObject([{ service }]);
});

describe('a webhook URL', () => {
  const sending = (respond: (url: string, init: RequestInit) => Response | Promise<Response>) => ({
    resolve: () => 'http://127.0.0.1:9/real?key=1',
    fetch: (async (url: string, init: RequestInit) => respond(url, init)) as typeof fetch,
  });

  test('receives the review with the timeout', async () => {
    const sent: { url: string; init: RequestInit }[] = [];
    const cluster = clusterWith(
      sending((url, init) => {
        sent.push({ url, init });
        return Response.json(result(JSON.parse(String(init.body))));
      }),
    );
    await validateWith(cluster, 'one', { service: 'x', timeoutSeconds: 7 });
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toThrow(reached);
    expect(sent).toMatchObject([
      {
        url: 'http://127.0.0.1:9/real?key=1&timeout=7s',
        init: { method: 'POST', headers: { 'content-type': 'application/json', accept: 'application/json, */*' } },
      },
    ]);
  });

  test('reports a webhook URL without the network address if the connection fails', async () => {
    const connectionError = Object.assign(new Error('connect'), {
      code: 'ECONNREFUSED',
      address: '127.0.0.1',
      port: 9,
    });
    const cluster = clusterWith(
      sending(() => Promise.reject(new TypeError('fetch failed', { cause: connectionError }))),
    );
    await validateWith(cluster, 'one', { service: 'x' });
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toThrow(
      'failed to call webhook: Post "https://x.hooks.svc:443/x?timeout=10s": dial tcp 127.0.0.1:9: connect: connection refused',
    );
  });

  test('aborts a request to a webhook URL after the timeout', async () => {
    const cluster = clusterWith(
      sending(
        (_url, { signal }) =>
          new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
      ),
    );
    await validateWith(cluster, 'one', { service: 'x', timeoutSeconds: 2 });
    const made = cluster
      .api(ConfigMap, 'default')
      .create({ metadata: { name: 'a' } })
      .catch((error) => error.message);
    await cluster.clock.advance(2000);
    expect(await made).toBe(
      'Internal error occurred: failed calling webhook "x.example.com": failed to call webhook: Post "https://x.hooks.svc:443/x?timeout=2s": context deadline exceeded',
    );
  });

  // Recorded from the reference server's client.
  test.each([
    [{ url: 'https://127.0.0.1:1' }, 'https://127.0.0.1:1/?timeout=10s'],
    [{ url: 'https://127.0.0.1:1/a/' }, 'https://127.0.0.1:1/a?timeout=10s'],
    [{ url: 'https://127.0.0.1:1/a//b' }, 'https://127.0.0.1:1/a/b?timeout=10s'],
    [{ url: 'https://127.0.0.1:1/a/../b' }, 'https://127.0.0.1:1/b?timeout=10s'],
    [{ url: 'https://127.0.0.1:1/a b' }, 'https://127.0.0.1:1/a%20b?timeout=10s'],
    [{ url: 'https://127.0.0.1:1/a%20b' }, 'https://127.0.0.1:1/a%20b?timeout=10s'],
    [{ url: 'https://127.0.0.1:1/a?x=y' }, 'https://127.0.0.1:1/a?timeout=10s'],
    [{ url: 'https://user@127.0.0.1:1/a' }, 'https://127.0.0.1:1/a?timeout=10s'],
    [{ url: 'https://127.0.0.1:1/ä' }, 'https://127.0.0.1:1/%C3%A4?timeout=10s'],
    [{ url: 'https://EXAMPLE.invalid/a' }, 'https://EXAMPLE.invalid/a?timeout=10s'],
    [{ url: 'https://[::1]:1/a' }, 'https://[::1]:1/a?timeout=10s'],
    [{ service: { namespace: 'ns', name: 'n' } }, 'https://n.ns.svc:443/?timeout=10s'],
    [{ service: { namespace: 'ns', name: 'n', path: '/a/', port: 8443 } }, 'https://n.ns.svc:8443/a?timeout=10s'],
    [{ service: { namespace: 'ns', name: 'n', path: '/a?b=c' } }, 'https://n.ns.svc:443/a%3Fb=c?timeout=10s'],
  ])('prints a webhook URL as the reference server does: %j', (address, shown) => {
    expect(postUrl(address, 10)).toBe(shown);
  });
});

describe('a user-provided webhook caller', () => {
  test('receives address, review and timeout, and its error is reported', async () => {
    const seen: unknown[] = [];
    const cluster = clusterWith((address, review, timeoutSeconds) => {
      seen.push({ address, kind: review['kind'], timeoutSeconds });
      return Promise.reject(new Error('no line'));
    });
    await validateWith(cluster, 'one', { service: 'x' });
    await expect(cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).rejects.toThrow(
      'failed calling webhook "x.example.com": failed to call webhook: no line',
    );
    expect(seen).toMatchObject([{ kind: 'AdmissionReview', timeoutSeconds: 10 }]);
  });

  test('abandons a user-provided webhook caller after the timeout', async () => {
    const cluster = clusterWith(() => new Promise(() => undefined));
    await validateWith(cluster, 'one', { service: 'x', failurePolicy: 'Ignore' });
    const made = cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } });
    await cluster.clock.advance(10_000);
    expect((await made).metadata.name).toBe('a');
    expect(cluster.clock.pending).toBe(0);
  });
});

test('lets a webhook call the cluster while the cluster waits for it', async () => {
  const { cluster } = hookCluster({
    ask: async () => ({ allowed: (await cluster.api(ConfigMap, 'default').find('permit')) !== undefined }),
  });
  await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'permit' } });
  await validateWith(cluster, 'one', { service: 'ask' });
  expect((await cluster.api(ConfigMap, 'default').create({ metadata: { name: 'a' } })).metadata.name).toBe('a');
});

test('calls conversion webhooks in the same way', async () => {
  const versions: string[] = [];
  const cluster = clusterWith({
    resolve: ({ service }) =>
      service?.name !== 'convert'
        ? undefined
        : ({ kind, apiVersion, request }: Review) => {
            versions.push(request.desiredAPIVersion);
            const convertedObjects = request.objects.map((object: object) => ({
              ...object,
              apiVersion: request.desiredAPIVersion,
            }));
            return {
              kind,
              apiVersion,
              response: { uid: request.uid, result: { status: 'Success' }, convertedObjects },
            };
          },
  });
  const whole = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const widgets = await define(cluster, {
    versions: [version({ name: 'v1', whole, storage: false }), version({ name: 'v2', whole })],
    conversion: {
      strategy: 'Webhook',
      webhook: {
        clientConfig: { service: { namespace: 'hooks', name: 'convert' } },
        conversionReviewVersions: ['v1'],
      },
    },
  });
  const made = await widgets.create({ metadata: { name: 'w' }, spec: { size: 1 } });
  expect(made).toMatchObject({ apiVersion: 'example.com/v1', spec: { size: 1 } });
  expect(versions).toContain('example.com/v2');
});

test('reports a missing service of a conversion webhook', async () => {
  const { cluster } = hookCluster({ look: allow });
  const whole = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const webhook = {
    clientConfig: { service: { namespace: 'hooks', name: 'gone' } },
    conversionReviewVersions: ['v1'],
  };
  const widgets = await define(cluster, {
    versions: [version({ name: 'v1', whole, storage: false }), version({ name: 'v2', whole })],
    conversion: { strategy: 'Webhook', webhook },
  });
  await expect(widgets.create({ metadata: { name: 'w' } })).rejects.toThrow(
    'conversion webhook for example.com/v1, Kind=Widget failed: Post "https://gone.hooks.svc:443/?timeout=30s": service "gone" not found',
  );
});
