/** ReplicaSet and ReplicationController controllers: number of pods, ownership and status. */
import { replicaSets, replicationControllers } from 'orchplane/controllers';
import {
  Pod,
  ReplicaSet,
  type ReplicaSetInput,
  ReplicationController,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { selector, template, WorkloadWorld } from './workload-fixture.js';

type Spec = Partial<NonNullable<ReplicaSetInput['spec']>>;

let world: WorkloadWorld;
beforeEach(() => {
  world = new WorkloadWorld([replicaSets(), replicationControllers()]);
});
afterEach(() => world.close());

async function make(spec: Spec = {}, metadata: ReplicaSetInput['metadata'] = { name: 'r' }) {
  await world.cluster
    .api(ReplicaSet)
    .create({ metadata, spec: { replicas: 2, selector, template: template(), ...spec } });
  await world.cluster.settle();
}

async function change(spec: object) {
  await world.cluster.api(ReplicaSet).patch('r', { type: 'merge', merge: { spec } });
  await world.cluster.settle();
}

async function status(name = 'r') {
  await world.cluster.settle();
  return (await world.cluster.api(ReplicaSet).get(name)).status;
}

async function stray(name: string, more: object = {}) {
  const { metadata, spec } = template();
  await world.cluster.api(Pod).create({ metadata: { name, ...metadata, ...more }, spec });
}

describe('ReplicaSet', () => {
  test('creates the requested number of pods from the template', async () => {
    await make();
    const pods = await world.pods();
    expect(pods).toHaveLength(2);
    const { uid } = (await world.cluster.api(ReplicaSet).get('r')).metadata;
    for (const pod of pods) {
      expect(pod.metadata).toMatchObject({ generateName: 'r-', labels: { app: 'x' } });
      expect(pod.metadata.ownerReferences).toEqual([
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid, controller: true, blockOwnerDeletion: true },
      ]);
      expect(pod.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['kube-controller-manager']);
      expect(pod.spec.containers[0]?.image).toBe('i:1');
    }
    expect(await status()).toEqual({ replicas: 2, fullyLabeledReplicas: 2, observedGeneration: 1 });
    expect(world.complaints).toEqual([]);
  });

  test('records an event for each created or deleted pod', async () => {
    await make({ replicas: 1 });
    const [name] = await world.podNames();
    await change({ replicas: 0 });
    expect(await world.events()).toEqual([
      `SuccessfulCreate: Created pod: ${name}`,
      `SuccessfulDelete: Deleted pod: ${name}`,
    ]);
    expect(await status()).toEqual({ replicas: 0, observedGeneration: 2 });
  });

  test('replaces a deleted pod and a finished pod', async () => {
    await make({ replicas: 1 });
    const [first = ''] = await world.podNames();
    await world.remove(first);
    const [second = ''] = await world.podNames();
    expect(second).not.toBe(first);
    await world.setStatus(second, { phase: 'Failed' });
    const pods = await world.pods();
    expect(pods.map(({ status }) => status.phase).sort()).toEqual(['Failed', 'Pending']);
    expect((await status()).replicas).toBe(1);
  });

  test('replaces a terminating pod at once and does not count it', async () => {
    await world.node('n');
    await make({ replicas: 1 });
    const [name = ''] = await world.podNames();
    await world.bind(name, 'n');
    await world.remove(name);
    expect(await world.podNames()).toHaveLength(2);
    expect(await status()).toEqual({ replicas: 1, fullyLabeledReplicas: 1, observedGeneration: 1 });
  });

  test('counts ready and fully labelled pods', async () => {
    await make({ template: { ...template(), metadata: { labels: { app: 'x', tier: 'a' } } } });
    const [a = '', b = ''] = await world.podNames();
    await world.run(a);
    await world.cluster.api(Pod).patch(b, { type: 'merge', merge: { metadata: { labels: { tier: 'b' } } } });
    expect(await status()).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 1,
      readyReplicas: 1,
      availableReplicas: 1,
      observedGeneration: 1,
    });
    await world.stop(a);
    expect(await status()).toEqual({ replicas: 2, fullyLabeledReplicas: 1, observedGeneration: 1 });
  });

  test('writes no unchanged status', async () => {
    await make();
    const before = await world.cluster.api(ReplicaSet).get('r');
    const [name = ''] = await world.podNames();
    await world.cluster.api(Pod).patch(name, { type: 'merge', merge: { metadata: { annotations: { note: 'n' } } } });
    await world.cluster.settle();
    expect((await world.cluster.api(ReplicaSet).get('r')).metadata.resourceVersion).toBe(
      before.metadata.resourceVersion,
    );
  });

  test('neither creates nor deletes pods of a terminating ReplicaSet', async () => {
    await make({}, { name: 'r', finalizers: ['test/keep'] });
    await world.cluster.api(ReplicaSet).delete('r');
    await change({ replicas: 5 });
    expect(await world.podNames()).toHaveLength(2);
    expect((await status()).observedGeneration).toBe(3);
  });

  test('creates more pods than one batch', async () => {
    await make({ replicas: 510 });
    expect(await world.podNames()).toHaveLength(510);
    await change({ replicas: 0 });
    expect(await world.podNames()).toHaveLength(0);
    expect((await status()).replicas).toBe(0);
  });
});

describe('ReplicaSet minReadySeconds', () => {
  test('counts a pod as available after it was ready for minReadySeconds', async () => {
    await make({ replicas: 1, minReadySeconds: 10 });
    await world.run(...(await world.podNames()));
    expect(await status()).toMatchObject({ readyReplicas: 1 });
    expect(await status()).not.toHaveProperty('availableReplicas');
    await world.advance(9);
    expect(await status()).not.toHaveProperty('availableReplicas');
    await world.advance(1);
    expect(await status()).toMatchObject({ readyReplicas: 1, availableReplicas: 1 });
  });

  test('measures minReadySeconds for each pod', async () => {
    await make({ replicas: 2, minReadySeconds: 10 });
    const [a = '', b = ''] = await world.podNames();
    await world.run(a);
    await world.advance(6);
    await world.run(b);
    await world.advance(4);
    expect(await status()).toMatchObject({ readyReplicas: 2, availableReplicas: 1 });
    await world.advance(6);
    expect(await status()).toMatchObject({ readyReplicas: 2, availableReplicas: 2 });
  });

  test('never counts a ready pod without transition time as available', async () => {
    await make({ replicas: 1, minReadySeconds: 1 });
    const [name = ''] = await world.podNames();
    await world.setStatus(name, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] });
    await world.advance(60);
    expect(await status()).not.toHaveProperty('availableReplicas');
  });
});

describe('ReplicaSet ownership', () => {
  test('adopts matching orphans', async () => {
    await stray('a');
    await stray('b', { labels: { app: 'y' } });
    await make({ replicas: 2 });
    const pods = await world.pods();
    const owned = pods
      .filter(({ metadata }) => metadata.ownerReferences !== undefined)
      .map(({ metadata }) => metadata.name);
    expect(owned).toHaveLength(2);
    expect(owned).toContain('a');
    expect(pods).toHaveLength(3);
  });

  test('adopts a later orphan and deletes the surplus pod', async () => {
    await make({ replicas: 1 });
    await stray('later');
    expect(await world.podNames()).toHaveLength(1);
    expect((await world.events()).at(-1)).toMatch(/^SuccessfulDelete: /);
  });

  test('releases and replaces a pod whose labels no longer match', async () => {
    await make({ replicas: 1 });
    const [name = ''] = await world.podNames();
    await world.cluster.api(Pod).patch(name, { type: 'merge', merge: { metadata: { labels: { app: 'y' } } } });
    expect(await world.podNames()).toHaveLength(2);
    expect((await world.pod(name)).metadata).not.toHaveProperty('ownerReferences');
    expect((await status()).replicas).toBe(1);
  });

  test('leaves a pod of another controller unchanged', async () => {
    const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'other', uid: 'u', controller: true };
    await stray('a', { ownerReferences: [owner] });
    await make({ replicas: 1 });
    expect((await world.pod('a')).metadata.ownerReferences).toEqual([owner]);
    expect(await world.podNames()).toHaveLength(2);
  });

  test('does not adopt a finished orphan', async () => {
    await stray('done');
    await world.setStatus('done', { phase: 'Succeeded' });
    await make({ replicas: 1 });
    expect((await world.pod('done')).metadata).not.toHaveProperty('ownerReferences');
  });

  test('adopts orphans that match selector expressions', async () => {
    await stray('a');
    await make({ replicas: 1, selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'y'] }] } });
    expect(await world.podNames()).toEqual(['a']);
  });
});

describe('ReplicaSet failures', () => {
  async function rejectPods(expression: string) {
    await world.cluster.api(ValidatingAdmissionPolicy).create({
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: [''], apiVersions: ['v1'], resources: ['pods'], operations: ['CREATE', 'DELETE'] },
          ],
        },
        validations: [{ expression, message: 'no such pods' }],
      },
    });
    await world.cluster
      .api(ValidatingAdmissionPolicyBinding)
      .create({ metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'] } });
    await world.advance(1);
  }

  test('reports a rejected pod in a condition and an event, and retries', async () => {
    await rejectPods('false');
    await make({ replicas: 5 });
    const { conditions = [], replicas } = await status();
    expect(replicas).toBe(0);
    expect(conditions).toEqual([
      expect.objectContaining({ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate' }),
    ]);
    expect(conditions[0]?.message).toContain('no such pods');
    // The first batch tries one of five pods, and the status change triggers one more attempt.
    const warnings = await world.events({ type: 'Warning' });
    expect(warnings[0]).toBe(`FailedCreate: Error creating: ${conditions[0]?.message}`);
    expect(warnings).toHaveLength(2);
    await world.cluster.api(ValidatingAdmissionPolicyBinding).delete('b');
    await world.advance(10);
    expect(await world.podNames()).toHaveLength(5);
    expect(await status()).toEqual({ replicas: 5, fullyLabeledReplicas: 5, observedGeneration: 1 });
  });

  test('reports a pod that cannot be deleted', async () => {
    await make({ replicas: 1 });
    await rejectPods("request.operation != 'DELETE'");
    await change({ replicas: 0 });
    const [condition] = (await status()).conditions ?? [];
    expect(condition).toMatchObject({ type: 'ReplicaFailure', reason: 'FailedDelete' });
    expect(condition?.message).toMatch(/^unable to delete pods: pods "r-[^"]+" is forbidden: /);
    expect((await world.events({ type: 'Warning' }))[0]).toMatch(/^FailedDelete: Error deleting: /);
    await world.cluster.api(ValidatingAdmissionPolicyBinding).delete('b');
    await world.advance(10);
    expect(await world.podNames()).toEqual([]);
    expect(await status()).toEqual({ replicas: 0, observedGeneration: 2 });
  });
});

describe('ReplicationController', () => {
  test('manages pods under its own kind', async () => {
    const api = world.cluster.api(ReplicationController);
    await api.create({ metadata: { name: 'rc' }, spec: { replicas: 2, selector: { app: 'x' }, template: template() } });
    const pods = await world.pods();
    expect(pods.map(({ metadata }) => metadata.ownerReferences?.[0])).toEqual(
      pods.map(() => expect.objectContaining({ apiVersion: 'v1', kind: 'ReplicationController', name: 'rc' })),
    );
    await world.run(pods[0]?.metadata.name ?? '');
    expect((await api.get('rc')).status).toEqual({
      replicas: 2,
      fullyLabeledReplicas: 2,
      readyReplicas: 1,
      availableReplicas: 1,
      observedGeneration: 1,
    });
    await api.patch('rc', { type: 'merge', merge: { spec: { replicas: 1 } } });
    expect(await world.podNames()).toEqual([pods[0]?.metadata.name]);
  });
});

describe('ReplicaSet status.terminatingReplicas', () => {
  test('reports terminatingReplicas only with the feature gate and only for ReplicaSets', async () => {
    await world.close();
    world = new WorkloadWorld([replicaSets(), replicationControllers()], {
      featureGates: { DeploymentReplicaSetTerminatingReplicas: true },
    });
    await world.node('n');
    await make({ replicas: 1 });
    expect(await status()).toMatchObject({ replicas: 1, terminatingReplicas: 0 });
    const [name = ''] = await world.podNames();
    await world.bind(name, 'n');
    await world.remove(name);
    expect(await status()).toMatchObject({ replicas: 1, terminatingReplicas: 1 });
    const api = world.cluster.api(ReplicationController);
    const labels = { app: 'rc' };
    await api.create({
      metadata: { name: 'rc' },
      spec: { replicas: 1, selector: labels, template: { ...template(), metadata: { labels } } },
    });
    await world.cluster.settle();
    expect((await api.get('rc')).status).toEqual({ replicas: 1, fullyLabeledReplicas: 1, observedGeneration: 1 });
    expect(world.complaints).toEqual([]);
  });
});
