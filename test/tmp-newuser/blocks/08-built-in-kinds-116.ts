import assert from 'node:assert/strict';
import { createCluster, mergePatch } from 'orchplane';
import { Deployment, Pod } from 'orchplane/kinds';

const cluster = createCluster();
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };

const deployments = cluster.api(Deployment);
await deployments.create({ metadata: { name: 'web' }, spec: { selector: { matchLabels: { app: 'web' } }, template } });
await deployments.subresource('scale').patch('web', mergePatch({ spec: { replicas: 3 } }));
assert.equal((await deployments.get('web')).spec.replicas, 3);

const pods = cluster.api(Pod);
await pods.create({ metadata: { name: 'web-1', labels: { app: 'web' } }, spec: template.spec });
await pods.subresource('binding').create('web-1', { target: { kind: 'Node', name: 'n1' } });
await pods.status.edit('web-1', (pod) => {
  pod.status.phase = 'Running';
});
assert.equal((await pods.get('web-1')).spec.nodeName, 'n1');
await pods.subresource('eviction').create('web-1', {});
assert.equal((await pods.get('web-1')).metadata.deletionGracePeriodSeconds, 30); // it has its time to end
await pods.delete('web-1', { gracePeriodSeconds: 0 });
export {};
