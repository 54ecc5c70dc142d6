/** The order in which surplus pods are deleted. */
import type { Pod } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import type { StoredPod } from '../../../src/controllers/workloads/pod-state.js';
import { podsToDelete } from '../../../src/controllers/workloads/replica-sets.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { formatTime } from '../../../src/text/time/time.js';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const COST = 'controller.kubernetes.io/pod-deletion-cost';

interface Traits {
  readonly node?: string;
  readonly phase?: string;
  /** Seconds since the pod became ready. */
  readonly ready?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  /** Seconds since the pod was created. */
  readonly age?: number;
  readonly uid?: string;
}

function pod(name: string, traits: Traits = {}): StoredPod {
  const { node, phase = 'Running', ready, cost, restarts = 0, sidecarRestarts, age = 100, uid = name } = traits;
  const since = (seconds: number) => formatTime(NOW - seconds * 1000);
  const object = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      uid,
      creationTimestamp: since(age),
      ...(cost !== undefined && { annotations: { [COST]: cost } }),
    },
    spec: {
      containers: [],
      ...(node !== undefined && { nodeName: node }),
      ...(sidecarRestarts !== undefined && { initContainers: [{ name: 's', restartPolicy: 'Always' }] }),
    },
    status: {
      phase,
      containerStatuses: [{ name: 'c', restartCount: restarts }],
      ...(sidecarRestarts !== undefined && { initContainerStatuses: [{ name: 's', restartCount: sidecarRestarts }] }),
      ...(ready !== undefined && {
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since(ready) }],
      }),
    },
  };
  return object as unknown as StoredPod & Pod;
}

function first(pods: readonly StoredPod[], related: readonly StoredPod[] = []): string | undefined {
  return podsToDelete({ pods, count: 1, related, nowMs: NOW, dialect: kubernetesDialect })[0]?.metadata.name;
}

/** In each pair the first pod is deleted first. */
const PAIRS: readonly (readonly [string, Traits, Traits])[] = [
  ['a pod without a node', {}, { node: 'n' }],
  ['a running pod without a node before a pending pod with one', { ready: 5 }, { node: 'n', phase: 'Pending' }],
  ['a pending pod', { node: 'n', phase: 'Pending' }, { node: 'n', phase: 'Unknown' }],
  ['a pod with an unknown phase', { node: 'n', phase: 'Unknown' }, { node: 'n', phase: 'Running' }],
  ['a pod that is not ready', { node: 'n' }, { node: 'n', ready: 5 }],
  ['a pod with a lower deletion cost', { cost: '-5' }, {}],
  ['a pod without a deletion cost before one with a positive cost', {}, { cost: '10' }],
  ['a pod with a lower deletion cost though it is older', { cost: '1', age: 9999 }, { cost: '2', age: 1 }],
  ['a pod that became ready later', { node: 'n', ready: 1 }, { node: 'n', ready: 1000 }],
  ['a pod with more restarts', { restarts: 3 }, { restarts: 2 }],
  ['a pod with more sidecar restarts', { sidecarRestarts: 2 }, { sidecarRestarts: 1 }],
  ['a younger pod', { age: 1 }, { age: 1000 }],
  ['the pod with the smaller uid at about the same age', { age: 1000, uid: 'a' }, { age: 1001, uid: 'b' }],
  [
    'the pod with the smaller uid at about the same age though it is older',
    { age: 1001, uid: 'a' },
    { age: 1000, uid: 'b' },
  ],
];

describe('pod deletion order', () => {
  test.each(PAIRS)('deletes first %s', (_what, deleted, kept) => {
    expect(first([pod('deleted', deleted), pod('kept', kept)])).toBe('deleted');
    expect(first([pod('kept', kept), pod('deleted', deleted)])).toBe('deleted');
  });

  test('deletes first the pod that shares its node with more related pods', () => {
    const crowded = pod('crowded', { node: 'a', ready: 5 });
    const alone = pod('alone', { node: 'b', ready: 5 });
    const related = [crowded, alone, pod('other', { node: 'a', ready: 5 })];
    expect(first([alone, crowded], related)).toBe('crowded');
    expect(first([crowded, alone], related)).toBe('crowded');
    // Finished pods do not count for their node.
    expect(first([alone, crowded], [crowded, alone, pod('done', { node: 'b', phase: 'Failed' })])).toBe('crowded');
  });

  test('deletes the last of otherwise equal pods', () => {
    expect(first([pod('a'), pod('b')])).toBe('b');
  });
});

test.each(['+1', '08', '1.5', 'cheap', '', '2147483648'])('ignores the invalid deletion cost %j', (cost) => {
  expect(first([pod('odd', { cost }), pod('cheap', { cost: '-1' })])).toBe('cheap');
  expect(first([pod('odd', { cost }), pod('dear', { cost: '1' })])).toBe('odd');
});

test('deletes all pods when the count requires all', () => {
  const pods = [pod('a'), pod('b')];
  expect(podsToDelete({ pods, count: 2, related: [], nowMs: NOW, dialect: kubernetesDialect })).toEqual(pods);
});
