/** The deletion of a CRD whose objects are stored in an older version, and are converted by a webhook. */
import type { WebhookCaller } from 'orchplane';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { turns } from '../server/watch-reader.js';
import { api, define, definitions, object, redefine, version, WIDGETS, widget } from './widgets.js';

const SPEC = object({ size: { type: 'integer' } });
const webhook = { clientConfig: { url: 'https://hooks.example.com/' }, conversionReviewVersions: ['v1'] };
const conversion = { strategy: 'Webhook', webhook };

async function clusterWith(hook: { isDown: boolean }) {
  const call: WebhookCaller = async (_address, review) => {
    if (hook.isDown) throw new Error('connection refused');
    const { uid, desiredAPIVersion, objects } = review['request'] as {
      uid: string;
      desiredAPIVersion: string;
      objects: readonly object[];
    };
    const convertedObjects = objects.map((one) => ({ ...one, apiVersion: desiredAPIVersion }));
    return { ...review, response: { uid, result: { status: 'Success' }, convertedObjects } };
  };
  const cluster = testCluster({ webhooks: call });
  await define(cluster, {
    versions: [version({ spec: SPEC }), version({ name: 'v2', storage: false, spec: SPEC })],
    conversion,
  });
  await api(cluster).create(widget('first', { size: 1 }));
  await redefine(cluster, (spec) => {
    spec['versions'] = [version({ storage: false, spec: SPEC }), version({ name: 'v2', spec: SPEC })];
  });
  await api(cluster).create(widget('second', { size: 2 }));
  return cluster;
}

test('succeeds', async () => {
  const cluster = await clusterWith({ isDown: false });
  await definitions(cluster).delete(WIDGETS);
  await turns();
  expect(await definitions(cluster).find(WIDGETS)).toBeUndefined();
  await cluster.close();
});

test('waits for the webhook without blocking the server', async () => {
  const hook = { isDown: false };
  const cluster = await clusterWith(hook);
  hook.isDown = true;
  await definitions(cluster).delete(WIDGETS);
  await turns();
  expect(await definitions(cluster).find(WIDGETS)).toBeDefined();
  hook.isDown = false;
  await cluster.clock.advance(60_000);
  await turns();
  expect(await definitions(cluster).find(WIDGETS)).toBeUndefined();
  await cluster.close();
});
