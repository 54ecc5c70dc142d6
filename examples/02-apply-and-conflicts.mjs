/**
 * Server-side apply: three programs each own a part of one Deployment, and a fourth one gets a conflict.
 */
import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { Deployment } from 'orchplane/kinds';

const cluster = createCluster();
const as = (fieldManager) => cluster.with({ fieldManager }).api(Deployment);

const web = (image) => ({
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
  },
});

// The pipeline owns the image, the autoscaler the replicas, the mesh its own container.
await as('pipeline').apply(web('web:1'));
await as('autoscaler').apply({ metadata: { name: 'web' }, spec: { replicas: 4 } });
await as('mesh').apply({
  metadata: { name: 'web' },
  spec: { template: { spec: { containers: [{ name: 'proxy', image: 'proxy:7' }] } } },
});

// A new image does not change the rest.
const next = await as('pipeline').apply(web('web:2'));
const images = next.spec.template.spec.containers.map(({ image }) => image);
assert.deepEqual(images, ['web:2', 'proxy:7']);
console.log(`${next.spec.replicas} replicas of ${images.join(' and ')}`);

// Another manager sets a field of the autoscaler. `explain` reports the conflict without writing.
const conflicting = { metadata: { name: 'web' }, spec: { replicas: 1 } };
const plan = await as('intern').explain(conflicting);
assert.equal(plan.outcome, 'conflict');
console.log(String(plan));
try {
  await as('intern').apply(conflicting);
} catch (error) {
  if (!StatusError.is(error, 'Conflict')) throw error;
  console.log(error.message);
}
// `force` takes the field over. The autoscaler gets a conflict at its next apply.
assert.equal((await as('intern').apply(conflicting, { force: true })).spec.replicas, 1);
const conflict = await as('autoscaler')
  .apply({ metadata: { name: 'web' }, spec: { replicas: 5 } })
  .catch((error) => error);
assert.ok(StatusError.is(conflict, 'Conflict') && conflict.message.includes('conflict with "intern"'));
console.log(conflict.message);

// The mesh applies without its container, which removes the container.
const last = await as('mesh').apply({ metadata: { name: 'web' } });
const left = last.spec.template.spec.containers.map(({ name }) => name);
assert.deepEqual(left, ['web']);
console.log(`left: ${left.join(', ')}`);
const table = String(await as('pipeline').explain('web')).split('\n');
console.log(table.filter((line) => !line.endsWith('none')).join('\n'));
