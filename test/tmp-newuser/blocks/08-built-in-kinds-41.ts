import assert from 'node:assert/strict';
import { createCluster, type DeepReadonly } from 'orchplane';
import { Deployment, Pod, type PodSpec } from 'orchplane/kinds';

const imagesOf = ({ containers }: DeepReadonly<PodSpec>) => containers.map(({ image }) => image);

const cluster = createCluster();
const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
const web = await cluster.api(Deployment).create({
  metadata: { name: 'web' },
  spec: { selector: { matchLabels: { app: 'web' } }, template },
});
assert.deepEqual(imagesOf(web.spec.template.spec), ['nginx']);
// The selector of a spec selects.
assert.deepEqual((await cluster.api(Pod).list({ labels: web.spec.selector })).items, []);
export {};
