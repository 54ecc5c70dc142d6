import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { LimitRange, Namespace, Pod } from 'orchplane/kinds';

const cluster = createCluster();
const input = { metadata: { name: 'web' }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
await cluster.api(Namespace).create({ metadata: { name: 'safe', labels: { 'pod-security.orch.io/enforce': 'restricted' } } });
await assert.rejects(cluster.api(Pod, 'safe').create(input), /violates PodSecurity "restricted:latest"/);

await cluster.api(LimitRange).create({
  metadata: { name: 'small' },
  spec: { limits: [{ type: 'Container', default: { cpu: '500m' } }] },
});
assert.equal((await cluster.api(Pod).create(input)).spec.containers[0]?.resources.limits?.['cpu'], '500m');
export {};
