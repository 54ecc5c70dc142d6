import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap, ValidatingWebhookConfiguration } from 'orchplane/kinds';

const cluster = createCluster({
  webhooks: {
    resolve: ({ service }) =>
      service?.name !== 'guard'
        ? undefined
        : (review) => {
            const { uid, object } = review['request'] as { uid: string; object: { data?: object } };
            const allowed = object.data !== undefined;
            return { ...review, response: { uid, allowed, status: { message: 'no data' } } };
          },
  },
});
await cluster.api(ValidatingWebhookConfiguration).create({
  metadata: { name: 'guard' },
  webhooks: [
    {
      name: 'guard.example.com',
      clientConfig: { service: { namespace: 'default', name: 'guard' } },
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    },
  ],
});
const refused = await cluster.api(ConfigMap).create({ metadata: { name: 'a' } }).catch((error: unknown) => error);
assert.ok(StatusError.is(refused));
assert.equal(refused.message, 'admission webhook "guard.example.com" denied the request: no data');
await cluster.api(ConfigMap).create({ metadata: { name: 'a' }, data: { k: 'v' } });
export {};
