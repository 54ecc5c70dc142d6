import assert from 'node:assert/strict';
import { ConfigMap, MutatingWebhookConfiguration } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const patch = btoa(JSON.stringify([{ op: 'add', path: '/data', value: { by: 'webhook' } }]));
let hangs = false;
const answer = (review: Record<string, unknown>) => {
  const { uid } = review['request'] as { uid: string };
  return { ...review, response: { uid, allowed: true, patchType: 'JSONPatch', patch } };
};
const cluster = testCluster({
  webhooks: { resolve: () => (review) => (hangs ? new Promise(() => {}) : answer(review)) },
});
await cluster.api(MutatingWebhookConfiguration).create({
  metadata: { name: 'filler' },
  webhooks: [
    {
      name: 'filler.example.com',
      clientConfig: { service: { namespace: 'default', name: 'filler' } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      timeoutSeconds: 3,
      failurePolicy: 'Ignore', // with Fail, the second write would be a 500
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
});
const configMaps = cluster.api(ConfigMap);
assert.deepEqual((await configMaps.create({ metadata: { name: 'a' } })).data, { by: 'webhook' });

hangs = true;
const writing = configMaps.create({ metadata: { name: 'b' } });
await cluster.clock.advance(3_000);
assert.equal((await writing).data, undefined);
export {};
