/**
 * Rollouts in a test: an update of a Deployment, an update that fails, and a rollback. No pod runs; stages simulate their
 * status, and minutes pass in milliseconds.
 */
import assert from 'node:assert/strict';
import { controllers, crashLoop, readyPods, slowStart, stages, standardControllers } from 'orchplane/controllers';
import { Deployment, Pod, ReplicaSet } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster({
  controllers: controllers([
    ...standardControllers(),
    stages([
      // The first stage that matches applies: these are for some pods, the last for all others.
      ...crashLoop({ labels: { version: '3' } }),
      ...slowStart({ labels: { version: '2' }, pullMs: 20_000, startMs: 10_000 }),
      ...readyPods(),
    ]),
  ]),
});
const deployments = cluster.api(Deployment);

const versionOf = (version) => ({
  metadata: { labels: { app: 'web', version } },
  spec: { containers: [{ name: 'web', image: `web:${version}` }] },
});

function show(what, { spec, status }) {
  const { updatedReplicas = 0, availableReplicas = 0 } = status;
  console.log(`${what}: ${updatedReplicas} of ${spec.replicas} updated, ${availableReplicas} available`);
}

// Version 1 is ready immediately.
await deployments.create({
  metadata: { name: 'web' },
  spec: {
    replicas: 10,
    selector: { matchLabels: { app: 'web' } },
    progressDeadlineSeconds: 120,
    template: versionOf('1'),
  },
});
await cluster.settle();
show('version 1', await deployments.get('web'));

// Version 2 takes half a minute for each pod. The time moves only with `advance`.
await deployments.edit('web', (draft) => {
  draft.spec.template = versionOf('2');
});
await cluster.clock.advance(15_000);
show('version 2 after 15 s', await deployments.get('web'));
assert.ok((await deployments.get('web')).status.availableReplicas >= 8, 'never less than three quarters');
await cluster.clock.advance(5 * 60_000);
show('version 2 after five minutes', await deployments.get('web'));
assert.equal((await deployments.get('web')).status.updatedReplicas, 10);

// Version 3 crashes: the rollout makes no progress, and a condition reports it.
await deployments.edit('web', (draft) => {
  draft.spec.template = versionOf('3');
});
await cluster.clock.advance(10 * 60_000);
const stuck = await deployments.get('web');
show('version 3', stuck);
const progressing = stuck.status.conditions.find(({ type }) => type === 'Progressing');
assert.equal(progressing.reason, 'ProgressDeadlineExceeded');
const [crashing] = (await cluster.api(Pod).list({ labels: { version: '3' } })).items;
const [{ restartCount, state }] = crashing.status.containerStatuses;
console.log(`stuck: ${progressing.reason}; ${state.waiting.reason} after ${restartCount} restarts`);

// Back to version 1, whose ReplicaSet still exists.
await deployments.edit('web', (draft) => {
  draft.spec.template = versionOf('1');
});
await cluster.settle();
const restored = await deployments.get('web');
assert.equal(restored.status.availableReplicas, 10);
const { items } = await cluster.api(ReplicaSet).list();
console.log(`restored: ${restored.status.availableReplicas} available, ${items.length} replica sets kept`);
await cluster.close();
