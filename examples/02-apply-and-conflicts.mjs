/**
 * Three programs that each care for a part of one Deployment: nobody overwrites anybody, and everybody can see why.
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

// The pipeline owns the image, the autoscaler the number, the mesh a container of its own.
await as('pipeline').apply(web('web:1'));
await as('autoscaler').apply({ metadata: { name: 'web' }, spec: { replicas: 4 } });
await as('mesh').apply({
  metadata: { name: 'web' },
  spec: { template: { spec: { containers: [{ name: 'proxy', image: 'proxy:7' }] } } },
});

// A new image leaves the rest alone.
const next = await as('pipeline').apply(web('web:2'));
const images = next.spec.template.spec.containers.map(({ image }) => image);
assert.deepEqual(images, ['web:2', 'proxy:7']);
console.log(`${next.spec.replicas} replicas of ${images.join(' and ')}`);

// Somebody reaches for what is not theirs, and looks before leaping.
const greedy = { metadata: { name: 'web' }, spec: { replicas: 1 } };
const plan = await as('intern').explain(greedy);
assert.equal(plan.outcome, 'conflict');
console.log(String(plan));
try {
  await as('intern').apply(greedy);
} catch (error) {
  if (!StatusError.is(error, 'Conflict')) throw error;
  console.log(error.message);
}
// Whoever means it takes the field over. The autoscaler is told at its next apply, and nothing is lost in silence.
assert.equal((await as('intern').apply(greedy, { force: true })).spec.replicas, 1);
const told = await as('autoscaler')
  .apply({ metadata: { name: 'web' }, spec: { replicas: 5 } })
  .catch((error) => error);
assert.ok(StatusError.is(told, 'Conflict') && told.message.includes('conflict with "intern"'));
console.log(told.message);

// The mesh withdraws, and takes its container with it.
const last = await as('mesh').apply({ metadata: { name: 'web' } });
const left = last.spec.template.spec.containers.map(({ name }) => name);
assert.deepEqual(left, ['web']);
console.log(`left: ${left.join(', ')}`);
const table = String(await as('pipeline').explain('web')).split('\n');
console.log(table.filter((line) => !line.endsWith('nobody')).join('\n'));
