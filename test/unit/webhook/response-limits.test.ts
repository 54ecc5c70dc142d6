/** The size of the responses of webhooks. */
import { createCluster, type WebhookCaller } from 'orchplane';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/util/clock.js';
import { fetchWebhooks } from '../../../src/webhook/caller.js';
import { api, define, GROUP, object, version, widget } from '../crd/widgets.js';

const MEBIBYTE = 1024 * 1024;

/** Calls a webhook that returns a text of the given length. */
function call(requestLength: number, responseLength: number): Promise<unknown> {
  const fetch = async () => Response.json({ text: 'x'.repeat(responseLength) });
  const caller = fetchWebhooks(systemClock, { fetch });
  return caller({ url: 'https://hooks.example.com/' }, { text: 'x'.repeat(requestLength) }, 10);
}

test('a response to a short request may have 3 MiB', async () => {
  expect(await call(0, 3 * MEBIBYTE - 100)).toBeDefined();
  await expect(call(0, 3 * MEBIBYTE + 100)).rejects.toThrow('the webhook response is too large');
});

test('a response may be longer if its request is long, as in the conversion of a list', async () => {
  expect(await call(5 * MEBIBYTE, 6 * MEBIBYTE)).toBeDefined();
  await expect(call(MEBIBYTE, 8 * MEBIBYTE)).rejects.toThrow('the webhook response is too large');
});

test('a conversion that returns an object with too many values fails', async () => {
  const spec = object({ list: { type: 'array', items: { type: 'object' } } });
  const convert: WebhookCaller = async (_address, { kind, apiVersion, request }) => {
    const { uid, objects, desiredAPIVersion } = request as {
      readonly uid: string;
      readonly objects: readonly object[];
      readonly desiredAPIVersion: string;
    };
    const list = Array.from({ length: 500_000 }, () => ({}));
    const convertedObjects = objects.map((one) => ({ ...one, apiVersion: desiredAPIVersion, spec: { list } }));
    return { kind, apiVersion, response: { uid, result: { status: 'Success' }, convertedObjects } };
  };
  const cluster = createCluster({ webhooks: convert });
  const webhook = { clientConfig: { url: 'https://hooks.example.com/' }, conversionReviewVersions: ['v1'] };
  await define(cluster, {
    versions: [version({ spec }), version({ name: 'v2', storage: false, spec })],
    conversion: { strategy: 'Webhook', webhook },
  });
  await api(cluster).create(widget('a'));
  await expect(api(cluster, 'v2').get('a')).rejects.toThrow(
    `conversion webhook for ${GROUP}/v1, Kind=Widget returned invalid object at index 0: more than 500000 objects and lists`,
  );
});
