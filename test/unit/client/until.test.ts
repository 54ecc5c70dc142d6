/** Conditions that describe what they require and what is missing. */
import { StatusError } from 'orchplane';
import { ConfigMap, Pod } from 'orchplane/kinds';
import { testCluster, until } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

const pod = (status: object, metadata: object = {}) => ({
  kind: 'Pod',
  metadata: { name: 'web', ...metadata },
  status,
});

describe('until conditions', () => {
  const ready = { type: 'Ready', status: 'True' };
  const unready = { type: 'Ready', status: 'False', reason: 'NotYet', message: 'wait' };
  test.each([
    ['exists', until.exists, {}, undefined],
    ['exists', until.exists, undefined, 'it does not exist'],
    ['deleted', until.deleted, undefined, undefined],
    ['deleted', until.deleted, pod({}), 'it exists and is not being deleted'],
    [
      'deleted',
      until.deleted,
      pod({}, { deletionTimestamp: 'x', finalizers: ['a/b'] }),
      'it is being deleted and has finalizers a/b',
    ],
    ['condition', until.condition('Ready'), pod({ conditions: [ready] }), undefined],
    [
      'condition',
      until.condition('Ready'),
      pod({ conditions: [unready] }),
      'condition Ready is "False" (NotYet: wait)',
    ],
    ['condition', until.condition('Ready', 'False'), pod({ conditions: [unready] }), undefined],
    ['condition', until.condition('Other'), pod({ conditions: [ready] }), 'it has no condition Other, only Ready'],
    ['phase', until.phase('Running', 'Succeeded'), pod({ phase: 'Succeeded' }), undefined],
    ['phase', until.phase('Running'), pod({ phase: 'Pending' }), 'its phase is "Pending"'],
    [
      'generation',
      until.generationObserved,
      pod({ observedGeneration: 1 }, { generation: 2 }),
      'generation 2 is not observed yet: status is about generation 1',
    ],
    ['generation', until.generationObserved, pod({ observedGeneration: 2 }, { generation: 2 }), undefined],
    [
      'that',
      until.that('has a name', (object: { name?: string }) => object.name !== undefined),
      { name: 'a' },
      undefined,
    ],
    ['and', until.and(until.exists, until.phase('Running')), pod({}), 'it has no phase'],
    ['or', until.or(until.deleted, until.phase('Running')), undefined, undefined],
    ['not', until.not(until.phase('Pending')), pod({ phase: 'Pending' }), 'still so: phase is "Pending"'],
    ['not', until.not(until.phase('Pending')), pod({ phase: 'Running' }), undefined],
    [
      'ready',
      until.ready,
      pod({ phase: 'Running', conditions: [unready] }),
      'condition Ready is "False" (NotYet: wait)',
    ],
    ['ready', until.ready, pod({ phase: 'Running', conditions: [ready] }), undefined],
  ] as const)('the condition %s reports what is missing (%#)', (_name, condition, object, missing) => {
    expect(condition.missing(object)).toBe(missing);
    expect((condition as (object: unknown) => boolean)(object)).toBe(missing === undefined);
  });

  test.each([
    [
      { kind: 'Deployment', spec: { replicas: 3 }, status: { updatedReplicas: 3, replicas: 3, availableReplicas: 2 } },
      'availableReplicas is 2 of 3',
    ],
    [{ kind: 'Deployment', spec: { replicas: 0 }, status: {} }, undefined],
    [{ kind: 'ReplicaSet', spec: {}, status: { readyReplicas: 1 } }, undefined],
    [
      { kind: 'DaemonSet', status: { desiredNumberScheduled: 2, updatedNumberScheduled: 2, numberReady: 1 } },
      'numberReady is 1 of 2',
    ],
    [{ kind: 'Job', status: {} }, 'it has no condition Complete'],
    [{ kind: 'Namespace', status: { phase: 'Active' } }, undefined],
    [{ kind: 'PersistentVolumeClaim', status: { phase: 'Pending' } }, 'its phase is "Pending"'],
    [{ kind: 'Service', spec: { type: 'LoadBalancer' }, status: {} }, 'no address of a load balancer yet'],
    [{ kind: 'Widget', status: { conditions: [{ type: 'Available', status: 'True' }] } }, undefined],
    [{ kind: 'Widget', status: {} }, 'it has no condition Ready or Available'],
    [{ kind: 'Pod', metadata: { deletionTimestamp: 'x' }, status: { phase: 'Running' } }, 'it is being deleted'],
  ])('the condition ready depends on the kind (%#)', (object, missing) => {
    expect(until.ready.missing(object)).toBe(missing);
  });

  test('invalid conditions are rejected', () => {
    expect(() => until.and((() => true) as never)).toThrow('until.and takes conditions of until; until.that');
    expect(() => until.condition('')).toThrow('until.condition takes a non-empty string');
  });
});

describe('waitFor with a condition', () => {
  test('times out with a message that names the condition, what is missing and the last state', async () => {
    const cluster = testCluster();
    await cluster.api(Pod).create({ metadata: { name: 'web' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
    const error = cluster
      .api(Pod)
      .waitFor('web', until.and(until.phase('Running'), until.condition('Ready')), { timeoutMs: 5_000 })
      .catch((caught: unknown) => caught);
    await cluster.clock.advance(5_000);
    const caught = await error;
    expect(StatusError.is(caught, 'Timeout')).toBe(true);
    expect((caught as Error).message).toBe(
      'Timeout: Pod "web" in namespace "default" did not meet the condition "phase is "Running" and condition Ready is "True"" within 5000 ms; last seen at resourceVersion 20: its phase is "Pending" and it has no condition Ready; its status: {"phase":"Pending","qosClass":"BestEffort"}'.replace(
        'resourceVersion 20',
        `resourceVersion ${cluster.resourceVersion}`,
      ),
    );
  });

  test('resolves with the object, typed as present', async () => {
    const cluster = testCluster();
    const waiting = cluster.api(ConfigMap).waitFor('a', until.exists);
    await cluster.api(ConfigMap).create({ metadata: { name: 'a' } });
    expect((await waiting).metadata.name).toBe('a');
    const gone = cluster.api(ConfigMap).waitFor('a', until.deleted);
    await cluster.api(ConfigMap).delete('a');
    expect(await gone).toBeUndefined();
  });
});
