import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { Deployment } from 'orchplane/kinds';

const cluster = createCluster();
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
await cluster.api(Deployment).create({
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, template },
});

const controller = cluster.with({ fieldManager: 'controller' }).api(Deployment);
await controller.status.apply('web', { status: { replicas: 1, readyReplicas: 1 } });
const scale = await controller.subresource('scale').apply('web', { spec: { replicas: 2 } }, { force: true });
assert.equal(scale.spec.replicas, 2);
const owners = (await controller.explain('web')).ownersOf('.spec.replicas');
assert.deepEqual(
  owners.map(({ manager, subresource }) => [manager, subresource]),
  [['controller', 'scale']],
);
export {};
