/** Disruption controller: expected and healthy pods of PodDisruptionBudgets and allowed disruptions. */
import { defineKind } from 'orchplane';
import {
  deployments,
  disruptionBudgets,
  replicaSets,
  replicationControllers,
  statefulSets,
} from 'orchplane/controllers';
import {
  CoreEvent,
  CustomResourceDefinition,
  DaemonSet,
  Deployment,
  Pod,
  PodDisruptionBudget,
  type PodDisruptionBudgetInput,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { selector, template, WorkloadWorld } from './workload-fixture.js';

let world: WorkloadWorld;
beforeEach(() => {
  world = new WorkloadWorld([
    disruptionBudgets(),
    deployments(),
    replicaSets(),
    replicationControllers(),
    statefulSets(),
  ]);
});
afterEach(() => world.close());

type Spec = NonNullable<PodDisruptionBudgetInput['spec']>;

async function budget(spec: Spec, name = 'b') {
  await world.cluster.api(PodDisruptionBudget).create({ metadata: { name }, spec });
  await world.cluster.settle();
}

async function status(name = 'b') {
  await world.cluster.settle();
  return (await world.cluster.api(PodDisruptionBudget).get(name)).status;
}

/** expected/desired/healthy/allowed pods and the reason. */
async function summary(name = 'b') {
  const { expectedPods, desiredHealthy, currentHealthy, disruptionsAllowed, conditions = [] } = await status(name);
  const [condition, ...others] = conditions;
  expect(others).toEqual([]);
  expect(condition?.status).toBe(disruptionsAllowed > 0 ? 'True' : 'False');
  return `${expectedPods}/${desiredHealthy}/${currentHealthy}/${disruptionsAllowed} ${condition?.reason}`;
}

async function pod(name: string, labels: Record<string, string> = { app: 'x' }, ownerReferences: never[] = []) {
  await world.cluster
    .api(Pod)
    .create({ metadata: { name, labels, ownerReferences }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  await world.run(name);
}

async function replicas(count: number) {
  await world.cluster
    .api(ReplicaSet)
    .create({ metadata: { name: 'r' }, spec: { replicas: count, selector, template: template() } });
  await world.cluster.settle();
  await world.run(...(await world.podNames()));
}

describe('PodDisruptionBudget status', () => {
  test.each<[spec: Spec, summary: string]>([
    [{ selector, maxUnavailable: 1 }, '4/3/4/1 SufficientPods'],
    [{ selector, maxUnavailable: '30%' }, '4/2/4/2 SufficientPods'],
    [{ selector, maxUnavailable: 0 }, '4/4/4/0 InsufficientPods'],
    [{ selector, maxUnavailable: 9 }, '4/0/4/4 SufficientPods'],
    [{ selector, minAvailable: 3 }, '4/3/4/1 SufficientPods'],
    [{ selector, minAvailable: '30%' }, '4/2/4/2 SufficientPods'],
    [{ selector, minAvailable: 5 }, '4/5/4/0 InsufficientPods'],
    [{ selector: {}, minAvailable: 0 }, '4/0/4/4 SufficientPods'],
    [{ minAvailable: 1 }, '0/1/0/0 InsufficientPods'],
    [{ selector }, '0/0/4/0 InsufficientPods'],
  ])('computes the status of the budget %j for four pods', async (spec, expected) => {
    await replicas(4);
    await budget(spec);
    expect(await summary()).toBe(expected);
  });

  test('updates the status when pods or the spec change', async () => {
    await replicas(3);
    await budget({ selector, maxUnavailable: 1 });
    const [first = '', second = ''] = await world.podNames();
    await world.stop(first);
    expect(await summary()).toBe('3/2/2/0 InsufficientPods');
    const { conditions: before } = await status();
    await world.advance(5);
    await world.stop(second);
    expect(await summary()).toBe('3/2/1/0 InsufficientPods');
    expect((await status()).conditions).toEqual(before);
    await world.run(first, second);
    expect(await summary()).toBe('3/2/3/1 SufficientPods');
    expect((await status()).conditions).toEqual([
      {
        type: 'DisruptionAllowed',
        status: 'True',
        reason: 'SufficientPods',
        message: '',
        observedGeneration: 1,
        lastTransitionTime: '2030-01-01T00:00:05Z',
      },
    ]);
    await world.cluster.api(PodDisruptionBudget).patch('b', { type: 'merge', merge: { spec: { maxUnavailable: 2 } } });
    expect(await summary()).toBe('3/1/3/2 SufficientPods');
    expect(await status()).toMatchObject({ observedGeneration: 2, conditions: [{ observedGeneration: 2 }] });
    await world.cluster.api(ReplicaSet).patch('r', { type: 'merge', merge: { spec: { replicas: 1 } } });
    expect(await summary()).toBe('1/0/1/1 SufficientPods');
    expect(world.complaints).toEqual([]);
  });

  test('writes no status when nothing changes', async () => {
    await replicas(1);
    await budget({ selector, maxUnavailable: 1 });
    const { resourceVersion } = (await world.cluster.api(PodDisruptionBudget).get('b')).metadata;
    const [name = ''] = await world.podNames();
    await world.cluster.api(Pod).patch(name, { type: 'merge', merge: { metadata: { annotations: { a: 'b' } } } });
    await world.advance(1000);
    expect((await world.cluster.api(PodDisruptionBudget).get('b')).metadata.resourceVersion).toBe(resourceVersion);
  });
});

describe('controllers of pods in a PodDisruptionBudget', () => {
  const spec = { replicas: 2, selector, template: template() };

  test('counts each Deployment, StatefulSet, ReplicationController and ReplicaSet once', async () => {
    await world.cluster.api(Deployment).create({ metadata: { name: 'd' }, spec });
    await world.cluster.api(StatefulSet).create({
      metadata: { name: 's' },
      spec: { ...spec, replicas: 3, serviceName: 'svc', podManagementPolicy: 'Parallel' },
    });
    await world.cluster.api(ReplicationController).create({
      metadata: { name: 'rc' },
      spec: {
        replicas: 4,
        selector: { app: 'x', rc: 'y' },
        template: { ...template(), metadata: { labels: { app: 'x', rc: 'y' } } },
      },
    });
    await world.cluster.settle();
    await budget({ selector, maxUnavailable: '10%' });
    expect(await status()).toMatchObject({ expectedPods: 9, desiredHealthy: 8 });
  });

  test('ignores pods without a controller and records a warning', async () => {
    await pod('a');
    await budget({
      selector: { matchLabels: { app: 'x' }, matchExpressions: [{ key: 'k', operator: 'NotIn', values: ['v', 'w'] }] },
      maxUnavailable: 1,
    });
    expect(await summary()).toBe('0/0/1/0 InsufficientPods');
    expect(await world.events({ kind: 'PodDisruptionBudget' })).toEqual([
      'UnmanagedPods: Pods selected by this PodDisruptionBudget (selector: &LabelSelector{MatchLabels:map[string]string{app: x,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:NotIn,Values:[v w],},},}) were found to be unmanaged. As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.',
    ]);
    await expect(world.cluster.api(Pod).subresource('eviction').create('a', {})).rejects.toMatchObject({
      status: { reason: 'TooManyRequests' },
    });
  });

  test('counts the replicas of a custom resource with a scale', async () => {
    const schema = { openAPIV3Schema: { type: 'object', 'x-orch-preserve-unknown-fields': true } };
    const scale = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };
    await world.cluster.api(CustomResourceDefinition).create({
      metadata: { name: 'gadgets.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'gadgets', kind: 'Gadget' },
        versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { scale } }],
      },
    });
    const body = { spec: z.object({ replicas: z.number() }) };
    const Gadget = defineKind({ apiVersion: 'example.com/v1', kind: 'Gadget', scope: 'Namespaced', body });
    const { uid } = (await world.cluster.api(Gadget).create({ metadata: { name: 'g' }, spec: { replicas: 5 } }))
      .metadata;
    const reference = { apiVersion: 'example.com/v1', kind: 'Gadget', name: 'g', controller: true };
    await pod('a', { app: 'x' }, [{ ...reference, uid } as never]);
    await budget({ selector, maxUnavailable: '50%' });
    expect(await summary()).toBe('5/2/1/0 InsufficientPods');
    // A gadget with the same name and another uid does not own the pod.
    await pod('b', { app: 'x' }, [{ ...reference, uid: '1-2-3' } as never]);
    expect((await status()).conditions).toMatchObject([
      { reason: 'SyncFailed', message: 'found no controllers for pod "b"', observedGeneration: 1 },
    ]);
    expect(world.complaints).toEqual([]);
  });

  const owned = async (reference: object) => {
    const all = { uid: '1-2-3', controller: true, ...reference };
    await pod('a', { app: 'x' }, [all as never]);
    await budget({ selector, maxUnavailable: 1 });
    return status();
  };

  test.each<[reference: { apiVersion: string; kind: string; name: string }, message: string]>([
    [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd' },
      'daemonsets.apps does not implement the scale subresource',
    ],
    [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j' }, 'jobs.batch does not implement the scale subresource'],
    [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'gone' }, 'found no controllers for pod "a"'],
    [{ apiVersion: 'example.com/v1', kind: 'Foo', name: 'f' }, 'no matches for kind "Foo" in version "example.com/v1"'],
  ])('reports a failed sync for pods of %j: %s', async (reference, message) => {
    expect(await owned(reference)).toMatchObject({
      disruptionsAllowed: 0,
      conditions: [{ type: 'DisruptionAllowed', status: 'False', reason: 'SyncFailed', message }],
    });
    expect(await world.events({ kind: 'PodDisruptionBudget' })).toEqual([
      `CalculateExpectedPodCountFailed: Failed to calculate the number of expected pods: ${message}`,
    ]);
  });

  test('needs no controllers for an absolute minAvailable', async () => {
    const { uid } = (
      await world.cluster.api(DaemonSet).create({ metadata: { name: 'd' }, spec: { selector, template: template() } })
    ).metadata;
    await pod('a', { app: 'x' }, [
      { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid, controller: true } as never,
    ]);
    await budget({ selector, minAvailable: 0 });
    expect(await summary()).toBe('1/0/1/1 SufficientPods');
  });
});

describe('disrupted pods', () => {
  test('subtracts evicted pods until they are deleted', async () => {
    await replicas(3);
    await budget({ selector, maxUnavailable: 1 });
    const [first = ''] = await world.podNames();
    await world.cluster.api(Pod).subresource('eviction').create(first, {});
    await world.cluster.settle();
    // The replacement pod is not ready.
    expect(await summary()).toBe('3/2/2/0 InsufficientPods');
    expect((await status()).disruptedPods).toBeUndefined();
  });

  test('counts a disrupted pod again after two minutes and records a warning', async () => {
    await replicas(2);
    await budget({ selector, maxUnavailable: 1 });
    const [first = ''] = await world.podNames();
    const written = await status();
    const disruptedPods = { [first]: '2030-01-01T00:00:00Z' };
    await world.cluster.api(PodDisruptionBudget).status.edit('b', (draft) => {
      draft.status = { ...structuredClone(written), disruptedPods } as never;
    });
    expect(await summary()).toBe('2/1/1/0 InsufficientPods');
    await world.advance(119);
    expect(await status()).toMatchObject({ disruptedPods });
    await world.advance(1);
    expect(await summary()).toBe('2/1/2/1 SufficientPods');
    expect((await status()).disruptedPods).toBeUndefined();
    expect(await world.events({ kind: 'Pod' })).toEqual([
      "NotDeleted: Pod was expected by PDB default/default to be deleted but it wasn't",
    ]);
  });

  test('resets the DisruptionTarget condition after two minutes without a deletion', async () => {
    await pod('a');
    const disruptionStatus = (reason: string) => ({
      conditions: [
        { type: 'Ready', status: 'True', lastTransitionTime: '2030-01-01T00:00:00Z' },
        { type: 'DisruptionTarget', status: 'True', reason, message: 'm', lastTransitionTime: '2030-01-01T00:00:00Z' },
      ],
    });
    await world.setStatus('a', disruptionStatus('EvictionByEvictionAPI'));
    await world.advance(119);
    expect((await world.pod('a')).status.conditions?.[1]).toMatchObject({ status: 'True' });
    await world.advance(1);
    expect((await world.pod('a')).status.conditions).toEqual([
      { type: 'Ready', status: 'True', lastProbeTime: null, lastTransitionTime: '2030-01-01T00:00:00Z' },
      { type: 'DisruptionTarget', status: 'False', lastProbeTime: null, lastTransitionTime: '2030-01-01T00:02:00Z' },
    ]);
    await world.setStatus('a', disruptionStatus('TerminationByKubelet'));
    await world.advance(1000);
    expect((await world.pod('a')).status.conditions?.[1]).toMatchObject({ status: 'True' });
  });
});

describe('PodDisruptionBudget events', () => {
  test('records an event for a budget without pods', async () => {
    await budget({ selector, maxUnavailable: 1 });
    const { items } = await world.cluster.api(CoreEvent).list();
    expect(items.map(({ reason, message, source }) => [reason, message, source?.component])).toEqual([
      ['NoPods', 'No matching pods found', 'controllermanager'],
    ]);
  });

  test('records an event for a pod of two budgets, and both count it', async () => {
    await budget({ selector, minAvailable: 0 });
    await budget({ selector: {}, minAvailable: 0 }, 'c');
    await pod('a');
    expect([await summary('b'), await summary('c')]).toEqual(['1/0/1/1 SufficientPods', '1/0/1/1 SufficientPods']);
    expect(await world.events({ kind: 'Pod' })).toEqual([
      'MultiplePodDisruptionBudgets: Pod "default"/"a" matches multiple PodDisruptionBudgets.  Chose "b" arbitrarily.',
    ]);
  });
});
