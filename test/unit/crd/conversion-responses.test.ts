/**
 * Responses of conversion webhooks over a real connection, each with the reference server's result, and failed
 * connections.
 */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookCaller } from 'orchplane';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fetchWebhooks } from '../../../src/webhook/caller.js';
import { failureOf } from '../server/watch-reader.js';
import { api, define, version, widget } from './widgets.js';

interface WebhookResponse {
  readonly name: string;
  readonly code: number;
  readonly type: string;
  readonly body: string;
  readonly review?: string;
  readonly error?: string;
  readonly metadata?: object;
}

const webhookResponses = JSON.parse(
  readFileSync(new URL('./conversion-responses.json', import.meta.url), 'utf8'),
) as WebhookResponse[];

let listener: RequestListener = (_request, response) => response.end();
let server: Server;
const url = () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/convert`;

beforeAll(async () => {
  server = createServer((request, response) => listener(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const ANY = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

/** Replaces https, which CRDs require, by http, because https would need certificates; the caller is the real one. */
async function clusterOf(reviewVersion = 'v1', address = url): Promise<TestCluster> {
  let call: WebhookCaller | undefined;
  const cluster: TestCluster = testCluster({
    dialect: 'kubernetes',
    webhooks: (_address, review, seconds) => {
      call ??= fetchWebhooks(cluster.clock);
      return call({ url: address() }, review, seconds);
    },
  });
  const webhook = {
    clientConfig: { url: 'https://hooks.example.com/convert' },
    conversionReviewVersions: [reviewVersion],
  };
  await define(cluster, {
    versions: [version({ whole: ANY }), version({ name: 'v2', storage: false, whole: ANY })],
    conversion: { strategy: 'Webhook', webhook },
  });
  await api(cluster).create(widget('w', { size: 1 }, { metadata: { name: 'w', labels: { a: 'b' } } }));
  return cluster;
}

interface Review {
  readonly request: { readonly uid: string; readonly objects: readonly { metadata: { uid: string } }[] };
}

function reviewed(then: (review: Review, text: string, respond: (text: string) => void) => void): RequestListener {
  return (request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => then(JSON.parse(text) as Review, text, (body) => response.end(body)));
  };
}

describe('the response of a conversion webhook', () => {
  test.each(webhookResponses.map((webhookResponse) => [webhookResponse.name, webhookResponse] as const))(
    'handles a webhook response like the reference server: %s',
    async (_name, webhookResponse) => {
      const cluster = await clusterOf(webhookResponse.review);
      const { uid } = (await api(cluster).get('w')).metadata;
      let reviewUid = '';
      const fillIn = (text: string) => text.replaceAll('REVIEW-ID', reviewUid).replaceAll('OBJECT-ID', uid);
      listener = (request, response) => {
        const handleReview = reviewed((review, _text, respond) => {
          reviewUid = review.request.uid;
          response.statusCode = webhookResponse.code;
          if (webhookResponse.type !== '') response.setHeader('content-type', webhookResponse.type);
          respond(fillIn(webhookResponse.body));
        });
        handleReview(request, response);
      };
      if (webhookResponse.error === undefined) {
        const { metadata } = await api(cluster, 'v2').get('w');
        expect(metadata).toMatchObject({ ...webhookResponse.metadata, uid });
        expect(metadata.finalizers).toBeUndefined();
        return;
      }
      const failure = await failureOf(api(cluster, 'v2').get('w'));
      expect(failure).toMatchObject({ message: fillIn(webhookResponse.error), code: 500 });
    },
  );
});

describe('a call of a conversion webhook', () => {
  test('sends a ConversionReview with exact large integers', async () => {
    const cluster = await clusterOf();
    await api(cluster).create(widget('big', { n: 9007199254740993n, html: '<&>' }));
    let sent = '';
    listener = reviewed((review, text, respond) => {
      sent = text;
      const objects = text.slice(text.indexOf('"objects":') + 10, text.indexOf('},"response"'));
      const converted = objects.replaceAll('example.com/v1"', 'example.com/v2"');
      respond(
        `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":{"uid":"${review.request.uid}","result":{"status":"Success"},"convertedObjects":${converted}}}`,
      );
    });
    expect(await api(cluster, 'v2').get('big')).toMatchObject({ spec: { n: 9007199254740993n, html: '<&>' } });
    expect(sent).toMatch(
      /^\{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io\/v1","request":\{"uid":"[\w-]+","desiredAPIVersion":"example.com\/v2","objects":\[\{"apiVersion":"example.com\/v1","kind":"Widget","metadata":\{"name":"big",/,
    );
    expect(sent).toContain('"spec":{"html":"\\u003c\\u0026\\u003e","n":9007199254740993}');
    expect(sent).toMatch(/"response":\{"uid":"","convertedObjects":null,"result":\{"metadata":\{\}\}\}\}$/);
  });

  test('fails if a webhook connection is refused', async () => {
    const closed = createServer();
    await new Promise<void>((resolve) => closed.listen(0, '127.0.0.1', resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise<void>((resolve) => closed.close(() => resolve()));
    const cluster = await clusterOf('v1', () => `http://127.0.0.1:${port}/convert`);
    expect(await failureOf(api(cluster, 'v2').get('w'))).toMatchObject({
      code: 500,
      message: `conversion webhook for example.com/v1, Kind=Widget failed: Post "http://127.0.0.1:${port}/convert?timeout=30s": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  test('fails if a webhook connection breaks', async () => {
    const cluster = await clusterOf();
    listener = (_request, response) => response.destroy();
    expect(await failureOf(api(cluster, 'v2').get('w'))).toMatchObject({
      code: 500,
      message: expect.stringContaining(`conversion webhook for example.com/v1, Kind=Widget failed: Post "${url()}`),
    });
  });

  test('times out a webhook call after thirty seconds of the cluster’s clock', async () => {
    const cluster = await clusterOf();
    let hasArrived = (): void => undefined;
    const arrived = new Promise<void>((resolve) => {
      hasArrived = resolve;
    });
    listener = reviewed(() => hasArrived());
    const failure = failureOf(api(cluster, 'v2').get('w'));
    await arrived;
    await cluster.clock.advance(30_000);
    expect(await failure).toMatchObject({
      code: 500,
      message: `conversion webhook for example.com/v1, Kind=Widget failed: Post "${url()}?timeout=30s": context deadline exceeded`,
    });
    expect(cluster.clock.pending).toBe(0);
  });
});
