/** Deployment controller: progress deadline, history, rollback, ownership and failures. */
import { type Controller, controllers, deployments, replicaSets } from 'orchplane/controllers';
import {
  CoreEvent,
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DeploymentWorld } from './deployment-fixture.js';
import { selector, template } from './workload-fixture.js';

let world: DeploymentWorld;
beforeEach(() => {
  world = new DeploymentWorld();
});
afterEach(() => world.close());

const REVISION = 'deployment.orch.io/revision';
const HISTORY = 'deployment.orch.io/revision-history';
const ROLLBACK = 'deprecated.deployment.rollback.to';

describe('Deployment progress deadline', () => {
  test('reports ProgressDeadlineExceeded after the deadline without progress', async () => {
    await world.make({ progressDeadlineSeconds: 60 });
    await world.advance(50);
    await world.runPodsOf('i:1', 1);
    await world.advance(59);
    expect(await world.progressing()).toMatch(/^Progressing=True ReplicaSetUpdated/);
    await world.advance(1);
    const { name } = (await world.setOf('i:1')).metadata;
    expect(await world.progressing()).toBe(
      `Progressing=False ProgressDeadlineExceeded: ReplicaSet "${name}" has timed out progressing.`,
    );
    await world.runAll();
    expect(await world.progressing()).toBe(
      `Progressing=True NewReplicaSetAvailable: ReplicaSet "${name}" has successfully progressed.`,
    );
  });

  test('reports the new ReplicaSet until it has pods', async () => {
    const cluster = testCluster({ controllers: controllers([deployments()]) });
    await cluster.api(Deployment).create({ metadata: { name: 'd' }, spec: { selector, template: template() } });
    await cluster.settle();
    const [set] = (await cluster.api(ReplicaSet).list()).items;
    const { conditions = [] } = (await cluster.api(Deployment).get('d')).status;
    expect(conditions.find(({ type }) => type === 'Progressing')).toMatchObject({
      status: 'True',
      reason: 'NewReplicaSetCreated',
      message: `Created new replica set "${set?.metadata.name}"`,
    });
  });

  test('keeps the transition time of Progressing until its status changes', async () => {
    const times = async () => {
      const all = (await world.deployment()).status.conditions ?? [];
      const { lastUpdateTime, lastTransitionTime } = all.find(({ type }) => type === 'Progressing') ?? {};
      return [lastUpdateTime, lastTransitionTime];
    };
    await world.make({ replicas: 3, progressDeadlineSeconds: 60 });
    await world.advance(50);
    await world.runPodsOf('i:1', 1);
    expect(await times()).toEqual(['2030-01-01T00:00:50Z', '2030-01-01T00:00:00Z']);
    await world.advance(60);
    expect(await times()).toEqual(['2030-01-01T00:01:50Z', '2030-01-01T00:01:50Z']);
    await world.advance(5);
    await world.runPodsOf('i:1', 1);
    expect(await times()).toEqual(['2030-01-01T00:01:55Z', '2030-01-01T00:01:55Z']);
  });

  test('ignores the deadline for pods that stop after a complete rollout', async () => {
    await world.make({ replicas: 1, progressDeadlineSeconds: 10 });
    await world.runAll();
    await world.stop((await world.podNames())[0] ?? '');
    await world.advance(60);
    expect(await world.progressing()).toMatch(/^Progressing=True NewReplicaSetAvailable/);
  });

  test('reports no progress when the deadline is the largest int32', async () => {
    await world.make({ progressDeadlineSeconds: 2 ** 31 - 1 });
    expect(await world.progressing()).toBeUndefined();
    await world.change({ progressDeadlineSeconds: 600 });
    const { name } = (await world.setOf('i:1')).metadata;
    expect(await world.progressing()).toBe(`Progressing=True FoundNewReplicaSet: Found new replica set "${name}"`);
    await world.change({ progressDeadlineSeconds: 2 ** 31 - 1 });
    expect(await world.progressing()).toBeUndefined();
  });
});

describe('Deployment history', () => {
  test('gives the ReplicaSet of a restored template the newest revision', async () => {
    await world.make({ replicas: 1 });
    await world.roll('i:2');
    await world.roll('i:1');
    expect((await world.setOf('i:1')).metadata.annotations).toMatchObject({ [REVISION]: '3', [HISTORY]: '1' });
    expect((await world.setOf('i:2')).metadata.annotations).toMatchObject({ [REVISION]: '2' });
    expect((await world.deployment()).metadata.annotations).toEqual({ [REVISION]: '3' });
    await world.roll('i:2');
    await world.roll('i:1');
    expect((await world.setOf('i:1')).metadata.annotations).toMatchObject({ [REVISION]: '5', [HISTORY]: '1,3' });
    expect(await world.sets()).toHaveLength(2);
  });

  test('keeps old ReplicaSets up to the limit and those that still have pods', async () => {
    await world.make({ replicas: 1, revisionHistoryLimit: 1 });
    for (const image of ['i:2', 'i:3', 'i:4']) {
      await world.runAll();
      await world.roll(image);
    }
    expect(await world.sizes()).toEqual({ 'i:2': 0, 'i:3': 1, 'i:4': 1 });
    await world.runAll();
    expect(await world.sizes()).toEqual({ 'i:3': 0, 'i:4': 1 });
    await world.change({ revisionHistoryLimit: 0 });
    expect(await world.sizes()).toEqual({ 'i:4': 1 });
  });

  test('keeps all old ReplicaSets with a limit of the largest int32', async () => {
    await world.make({ replicas: 0, revisionHistoryLimit: 2 ** 31 - 1 });
    for (let image = 2; image <= 14; image++) await world.roll(`i:${image}`);
    expect(await world.sets()).toHaveLength(14);
  });
});

describe('Deployment rollback annotation', () => {
  const requestRollback = (revision: string) => world.change({}, { annotations: { [ROLLBACK]: revision } });

  beforeEach(async () => {
    await world.make({ replicas: 1 }, { name: 'd', annotations: { cause: 'first' } });
    await world.change(
      { template: { spec: { containers: [{ name: 'c', image: 'i:2' }] } } },
      { annotations: { cause: 'second' } },
    );
  });

  test.each(['1', '0'])('restores template and annotations of revision %s', async (revision) => {
    await requestRollback(revision);
    const { metadata, spec } = await world.deployment();
    expect(spec.template.spec?.containers[0]?.image).toBe('i:1');
    expect(spec.template.metadata?.labels).toEqual({ app: 'x' });
    expect(metadata.annotations).toEqual({ cause: 'first', [REVISION]: '3' });
    expect((await world.setOf('i:1')).metadata.annotations).toMatchObject({ [HISTORY]: '1', cause: 'first' });
    expect(await world.events()).toContain('DeploymentRollback: Rolled back deployment "d" to revision 1');
  });

  test.each([
    ['9', 'DeploymentRollbackRevisionNotFound: Unable to find the revision to rollback to.'],
    [
      '2',
      'DeploymentRollbackTemplateUnchanged: The rollback revision contains the same template as current deployment "d"',
    ],
  ])('rejects a rollback to revision %s', async (revision, event) => {
    await requestRollback(revision);
    expect((await world.deployment()).metadata.annotations).toEqual({ cause: 'second', [REVISION]: '2' });
    expect(await world.events({ type: 'Warning' })).toEqual([event]);
  });

  test('rejects a rollback to a revision that is not a number', async () => {
    await expect(requestRollback('soon')).rejects.toThrow('strconv.ParseInt: parsing');
    expect((await world.deployment()).metadata.annotations).toMatchObject({ [REVISION]: '2' });
  });
});

test('records an event for a rollback without history', async () => {
  await world.make({}, { name: 'd', annotations: { [ROLLBACK]: '0' } });
  expect((await world.deployment()).metadata.annotations).toEqual({ [REVISION]: '1' });
  expect(await world.events({ type: 'Warning' })).toEqual([
    'DeploymentRollbackRevisionNotFound: Unable to find last revision.',
  ]);
});

describe('Deployment ownership', () => {
  const orphan = (name: string, image: string, labels: Record<string, string> = { app: 'x' }) =>
    world.cluster.api(ReplicaSet).create({
      metadata: { name, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: labels },
        template: { ...template(image), metadata: { labels } },
      },
    });

  test('adopts an orphaned ReplicaSet with the same template as the newest', async () => {
    await orphan('found', 'i:1');
    await world.make({ replicas: 2 });
    expect(await world.sizes()).toEqual({ 'i:1': 2 });
    const { metadata } = await world.setOf('i:1');
    expect(metadata).toMatchObject({ name: 'found', annotations: { [REVISION]: '1' } });
    expect(metadata.ownerReferences?.[0]).toMatchObject({ kind: 'Deployment', name: 'd', controller: true });
  });

  test('adopts a later orphan with another template and scales it down', async () => {
    await world.make({ replicas: 1 });
    await world.runAll();
    await orphan('other', 'i:0');
    expect(await world.sizes()).toEqual({ 'i:0': 0, 'i:1': 1 });
  });

  test('releases a ReplicaSet whose labels no longer match and creates a new one', async () => {
    await world.make({ replicas: 1 });
    const { name } = (await world.setOf('i:1')).metadata;
    await world.cluster.api(ReplicaSet).patch(name, { type: 'merge', merge: { metadata: { labels: { app: 'y' } } } });
    expect(await world.sets()).toHaveLength(2);
    expect((await world.cluster.api(ReplicaSet).get(name)).metadata).not.toHaveProperty('ownerReferences');
    expect((await world.deployment()).status.collisionCount).toBe(1);
  });

  test('increments collisionCount and uses another name when a name is taken', async () => {
    await world.make({ replicas: 1 });
    const { name } = (await world.setOf('i:1')).metadata;
    await world.cluster.api(Deployment).delete('d', { propagation: 'Orphan' });
    await world.cluster.api(Deployment).edit('d', (draft) => {
      draft.metadata.finalizers = [];
    });
    await orphanOf(name);
    await world.make({ replicas: 1 });
    expect((await world.deployment()).status.collisionCount).toBe(1);
    const names = (await world.sets()).map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(2);
    expect(names).toContain(name);
  });

  /** Makes a ReplicaSet belong to another controller. */
  async function orphanOf(name: string) {
    await world.cluster.api(ReplicaSet).edit(name, (draft) => {
      draft.metadata.ownerReferences = [{ apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'u', controller: true }];
    });
  }

  test('updates only the status of a terminating Deployment', async () => {
    await world.make({}, { name: 'd', finalizers: ['test/keep'] });
    await world.cluster.api(Deployment).delete('d');
    await world.roll('i:2', { replicas: 5 });
    expect(await world.sizes()).toEqual({ 'i:1': 2 });
    expect((await world.counts()).observedGeneration).toBe(3);
  });
});

describe('Deployment failures', () => {
  test('reports the ReplicaFailure condition of a ReplicaSet', async () => {
    await world.make({
      replicas: 1,
      template: template('i:1', { serviceAccountName: 'x', priorityClassName: 'none' }),
    });
    const { name } = (await world.sets())[0]?.metadata ?? {};
    expect((await world.cluster.api(ReplicaSet).get(name ?? '')).status.conditions?.[0]?.type).toBe('ReplicaFailure');
    const failure = (await world.conditions()).at(-1);
    expect(failure).toMatch(/^ReplicaFailure=True FailedCreate: pods "d-[^"]+" is forbidden: /);
    await world.roll('i:2', {
      template: { spec: { priorityClassName: null, containers: [{ name: 'c', image: 'i:2' }] } },
    });
    await world.runAll();
    expect((await world.conditions()).some((condition) => condition.startsWith('ReplicaFailure'))).toBe(false);
  });
});

describe('rejected ReplicaSet of a Deployment', () => {
  test('reports a rejected ReplicaSet in a condition and an event, and retries', async () => {
    await world.cluster.api(ValidatingAdmissionPolicy).create({
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [
            { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['replicasets'], operations: ['CREATE'] },
          ],
        },
        validations: [{ expression: 'false', message: 'no' }],
      },
    });
    await world.cluster
      .api(ValidatingAdmissionPolicyBinding)
      .create({ metadata: { name: 'b' }, spec: { policyName: 'p', validationActions: ['Deny'] } });
    await world.advance(1);
    await world.make();
    const message = /Failed to create new replica set "d-[^"]+": replicasets.apps "d-[^"]+" is forbidden: .*: no$/;
    expect(await world.progressing()).toMatch(
      new RegExp(`^Progressing=False ReplicaSetCreateError: ${message.source}`),
    );
    expect((await world.events({ type: 'Warning' }))[0]).toMatch(
      new RegExp(`^ReplicaSetCreateError: ${message.source}`),
    );
    expect(await world.counts()).toEqual({});
    await world.cluster.api(ValidatingAdmissionPolicyBinding).delete('b');
    await world.advance(10);
    expect(await world.sizes()).toEqual({ 'i:1': 2 });
    expect(await world.progressing()).toMatch(/^Progressing=True ReplicaSetUpdated/);
  });

  test('reports no rejected ReplicaSet in a terminating namespace', async () => {
    const going = 'going';
    await world.cluster.api(Namespace).create({ metadata: { name: going } });
    await world.cluster.api(Deployment, going).create({
      metadata: { name: 'd' },
      spec: { replicas: 1, selector, template: template() },
    });
    await world.cluster.settle();
    const [set] = (await world.cluster.api(ReplicaSet, going).list()).items;
    await world.cluster.api(Namespace).delete(going);
    await world.cluster.api(ReplicaSet, going).delete(set?.metadata.name ?? '');
    await world.cluster.api(Pod, going).deleteCollection();
    await world.advance(60);
    expect((await world.cluster.api(ReplicaSet, going).list()).items).toEqual([]);
    expect((await world.cluster.api(CoreEvent, going).list()).items.filter(({ type }) => type === 'Warning')).toEqual(
      [],
    );
    expect(world.complaints).toEqual([]);
  });
});

describe('Deployment status.terminatingReplicas', () => {
  test('counts the terminating pods of all ReplicaSets with the feature gate', async () => {
    await world.close();
    world = new DeploymentWorld([], {
      featureGates: { DeploymentReplicaSetTerminatingReplicas: true },
    });
    await world.node('n');
    await world.make({ replicas: 1 });
    const [name = ''] = await world.podNames();
    await world.bind(name, 'n');
    expect(await world.counts()).toMatchObject({ replicas: 1, terminatingReplicas: 0 });
    await world.remove(name);
    expect(await world.counts()).toMatchObject({ replicas: 1, terminatingReplicas: 1 });
  });
});

describe('Deployment rollout of a hundred pods', () => {
  /** Marks pods as running as soon as they exist. */
  const runner: Controller = {
    name: 'runner',
    needs: [Pod],
    start(context) {
      const pods = context.informer(Pod);
      const queue = context.queue(
        async (key) => {
          const pod = pods.at(key);
          if (pod === undefined || pod.status.phase === 'Running') return;
          const ready = { type: 'Ready', status: 'True', lastTransitionTime: context.now() } as const;
          const status = { ...pod.status, phase: 'Running', conditions: [ready] } as const;
          const { name, namespace } = pod.metadata;
          await context.client.api(Pod, namespace).status.update(name, { ...pod, status });
        },
        { workers: 100 },
      );
      pods.onKey((key) => queue.add(key));
    },
  };

  test('needs few writes to Deployment and ReplicaSets', async () => {
    await world.close();
    world = new DeploymentWorld([runner]);
    await world.make({ replicas: 100 });
    let deploymentWrites = 0;
    let setWrites = 0;
    await using changes = world.cluster.all(Deployment).informer();
    await using setChanges = world.cluster.all(ReplicaSet).informer();
    await Promise.all([changes.synced, setChanges.synced]);
    changes.subscribe(() => deploymentWrites++);
    setChanges.subscribe(() => setWrites++);
    await world.roll('i:2');
    expect(await world.counts()).toMatchObject({ replicas: 100, updatedReplicas: 100, availableReplicas: 100 });
    // Six waves with 25 % surge and 25 % unavailable; the pods run at once.
    expect(deploymentWrites).toBeLessThanOrEqual(20);
    expect(setWrites).toBeLessThanOrEqual(40);
    expect(world.complaints).toEqual([]);
  });
});

test('works with the permissions of the controllers’ own service accounts', async () => {
  const complaints: string[] = [];
  const onError = (error: unknown, about: string) => void complaints.push(`${about}: ${String(error)}`);
  const cluster = testCluster({
    controllers: controllers([deployments(), replicaSets()], { accounts: 'own', onError }),
  });
  const api = cluster.api(Deployment);
  // The Deployment adopts it, scales it down and deletes it.
  const metadata = { name: 'old', labels: { app: 'x' } };
  await cluster.api(ReplicaSet).create({ metadata, spec: { replicas: 1, selector, template: template('i:0') } });
  await api.create({
    metadata: { name: 'd' },
    spec: { replicas: 1, selector, template: template(), revisionHistoryLimit: 0 },
  });
  await cluster.settle();
  const pods = (await cluster.api(Pod).list({ labels: 'pod-template-hash' })).items;
  for (const pod of pods) {
    const ready = { type: 'Ready', status: 'True' } as const;
    await cluster.api(Pod).status.edit(pod.metadata.name, (draft) => {
      draft.status = { ...draft.status, phase: 'Running', conditions: [ready] };
    });
  }
  await cluster.settle();
  expect((await cluster.api(ReplicaSet).list()).items.map((set) => set.spec.replicas)).toEqual([1]);
  expect((await api.get('d')).status.availableReplicas).toBe(1);
  expect((await cluster.api(CoreEvent).list()).items.length).toBeGreaterThan(2);
  expect(complaints).toEqual([]);
  await cluster.close();
});
