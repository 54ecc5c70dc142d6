/**
 * Drains a node one eviction at a time, until a disruption budget rejects one. No controllers run, so this program
 * does the work of the scheduler, the kubelet and the disruption controller.
 */
import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { Pod, PodDisruptionBudget, Service } from 'orchplane/kinds';

const cluster = createCluster();
const pods = cluster.api(Pod);
const labels = { app: 'web' };

// Three pods, bound to a node and running.
for (const name of ['web-1', 'web-2', 'web-3']) {
  await pods.create({
    metadata: { name, labels },
    spec: { containers: [{ name: 'web', image: 'nginx:1.29', ports: [{ containerPort: 80 }] }] },
  });
  await pods.subresource('binding').create(name, { target: { kind: 'Node', name: 'n1' } });
  await pods.status.edit(name, (pod) => {
    pod.status.phase = 'Running';
    pod.status.conditions = [{ type: 'Ready', status: 'True' }];
  });
}

// A service gets an address and a node port, as on the reference server.
const service = await cluster.api(Service).create({
  metadata: { name: 'web' },
  spec: { type: 'NodePort', selector: labels, ports: [{ port: 80 }] },
});
assert.match(service.spec.clusterIP ?? '', /^10\.0\./);
console.log(`service ${service.spec.clusterIP}, port ${service.spec.ports?.[0]?.nodePort > 0 ? 'given' : 'missing'}`);

// At least two pods must stay available. The disruption controller would write this status.
const budgets = cluster.api(PodDisruptionBudget);
await budgets.create({
  metadata: { name: 'web' },
  spec: { minAvailable: 2, selector: { matchLabels: labels } },
});
await budgets.status.edit('web', (budget) => {
  budget.status = {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 3,
    desiredHealthy: 2,
    expectedPods: 3,
  };
});

// The drain.
for (const { metadata } of (await pods.list({ fields: 'spec.nodeName=n1' })).items) {
  try {
    await pods.subresource('eviction').create(metadata.name, {});
    console.log(`${metadata.name} evicted`);
  } catch (error) {
    if (!StatusError.is(error, 'TooManyRequests')) throw error;
    console.log(`${metadata.name} stays: ${error.status.details?.causes?.[0]?.message}`);
  }
}

const leaving = (await pods.list()).items.filter((pod) => pod.metadata.deletionTimestamp !== undefined);
assert.deepEqual(
  leaving.map((pod) => pod.metadata.name),
  ['web-1'],
);
