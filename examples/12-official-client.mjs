/**
 * Tests an unchanged program that uses the official JavaScript client against a cluster in this process, without a
 * port. (`npm i @kubernetes/client-node`; release 2 needs Node 22.19 or newer.)
 */
import assert from 'node:assert/strict';
import {
  ApiException,
  AppsV1Api,
  CoreV1Api,
  KubeConfig,
  makeInformer,
  PatchStrategy,
  setHeaderOptions,
} from '@kubernetes/client-node';
import { controllers, stages, standardControllers } from 'orchplane/controllers';
import { Deployment } from 'orchplane/kinds';
import { connectKubeConfig, createInProcessAgent } from 'orchplane/node';
import { testCluster } from 'orchplane/testing';

/** The program: scales a Deployment. It does not use this library. */
async function scale(config, name, replicas) {
  const apps = config.makeApiClient(AppsV1Api);
  await apps.patchNamespacedDeployment(
    { namespace: 'default', name, body: { spec: { replicas } } },
    setHeaderOptions('Content-Type', PatchStrategy.MergePatch),
  );
}

// The dialect that the client uses. Controllers create the pods, and stages make them ready.
const cluster = testCluster({
  dialect: 'kubernetes',
  controllers: controllers([...standardControllers(), stages()]),
});
const agent = createInProcessAgent(cluster);
const config = connectKubeConfig(new KubeConfig(), agent);
const core = config.makeApiClient(CoreV1Api);

await cluster.api(Deployment).create({
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  },
});

console.log('Its informer');
const added = new Set();
const list = () => core.listNamespacedPod({ namespace: 'default' });
const informer = makeInformer(config, '/api/v1/namespaces/default/pods', list);
informer.on('add', ({ metadata }) => added.add(metadata.name));
await informer.start();

console.log('Its writes');
await scale(config, 'web', 3);
await cluster.settle();
assert.equal((await cluster.api(Deployment).get('web')).status.readyReplicas, 3);
const pods = await list();
assert.equal(pods.items.length, 3);
// The client parses events asynchronously, so wait for it.
for (let turn = 0; added.size < 3 && turn < 1000; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
assert.equal(added.size, 3);
console.log(`  ${pods.items.length} pods, and the informer reported ${added.size}`);

console.log('Its errors');
const refused = await scale(config, 'nothing', 3).catch((error) => error);
assert.ok(refused instanceof ApiException);
assert.equal(refused.code, 404);
console.log(`  ${refused.code} ${JSON.parse(refused.body).message}`);

await informer.stop();
agent.destroy();
await cluster.close();
