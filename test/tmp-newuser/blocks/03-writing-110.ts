import assert from 'node:assert/strict';
import { createCluster, strategicPatch } from 'orchplane';
import { Deployment } from 'orchplane/kinds';

const deployments = createCluster().api(Deployment);
const labels = { app: 'web' };
const containers = [
  { name: 'web', image: 'web:1', env: [{ name: 'MODE', value: 'slow' }] },
  { name: 'log', image: 'log:1' },
];
const template = { metadata: { labels }, spec: { containers } };
await deployments.create({ metadata: { name: 'web' }, spec: { selector: { matchLabels: labels }, template } });

const patched = await deployments.patch(
  'web',
  strategicPatch({
    spec: {
      // `rollingUpdate`, a default, would not go with another type.
      strategy: { $retainKeys: ['type'], type: 'Recreate' },
      template: {
        spec: {
          containers: [
            { name: 'web', image: 'web:2' }, // changed; the rest of it stays
            { name: 'log', $patch: 'delete' },
            { name: 'proxy', image: 'proxy:1' }, // new
          ],
        },
      },
    },
  }),
);
const images = patched.spec.template.spec.containers.map(({ image }) => image);
assert.deepEqual(images, ['web:2', 'proxy:1']);
assert.deepEqual(patched.spec.strategy, { type: 'Recreate' });
export {};
