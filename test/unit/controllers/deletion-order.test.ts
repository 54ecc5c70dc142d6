/** Which pods go first when there are too many. */
import type { Pod } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import type { StoredPod } from '../../../src/controllers/workloads/pod-state.js';
import { podsToDelete } from '../../../src/controllers/workloads/replica-set/deletion-order.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';
import { formatTime } from '../../../src/text/time/time.js';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const COST = 'controller.kubernetes.io/pod-deletion-cost';

interface Traits {
  readonly node?: string;
  readonly phase?: string;
  /** Seconds since it is ready. */
  readonly ready?: number;
  readonly cost?: string;
  readonly restarts?: number;
  readonly sidecarRestarts?: number;
  /** Seconds since it was made. */
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

/** Of each two the first has to go. */
const PAIRS: readonly (readonly [string, Traits, Traits])[] = [
  ['without a node', {}, { node: 'n' }],
  ['without a node, though it is running and ready', { ready: 5 }, { node: 'n', phase: 'Pending' }],
  ['pending', { node: 'n', phase: 'Pending' }, { node: 'n', phase: 'Unknown' }],
  ['unknown', { node: 'n', phase: 'Unknown' }, { node: 'n', phase: 'Running' }],
  ['not ready', { node: 'n' }, { node: 'n', ready: 5 }],
  ['cheaper', { cost: '-5' }, {}],
  ['cheaper than dear', {}, { cost: '10' }],
  ['cheap, though it is older', { cost: '1', age: 9999 }, { cost: '2', age: 1 }],
  ['ready for a shorter time', { node: 'n', ready: 1 }, { node: 'n', ready: 1000 }],
  ['restarted more often', { restarts: 3 }, { restarts: 2 }],
  ['with a sidecar that restarted more often', { sidecarRestarts: 2 }, { sidecarRestarts: 1 }],
  ['younger', { age: 1 }, { age: 1000 }],
  ['of about the same age, by uid', { age: 1000, uid: 'a' }, { age: 1001, uid: 'b' }],
  ['of about the same age, by uid, though older', { age: 1001, uid: 'a' }, { age: 1000, uid: 'b' }],
];

describe('of two pods', () => {
  test.each(PAIRS)('the one goes that is %s', (_what, goes, stays) => {
    expect(first([pod('goes', goes), pod('stays', stays)])).toBe('goes');
    expect(first([pod('stays', stays), pod('goes', goes)])).toBe('goes');
  });

  test('the one goes that shares its node with more of its kind', () => {
    const crowded = pod('crowded', { node: 'a', ready: 5 });
    const alone = pod('alone', { node: 'b', ready: 5 });
    const related = [crowded, alone, pod('other', { node: 'a', ready: 5 })];
    expect(first([alone, crowded], related)).toBe('crowded');
    expect(first([crowded, alone], related)).toBe('crowded');
    // Finished pods do not crowd a node.
    expect(first([alone, crowded], [crowded, alone, pod('done', { node: 'b', phase: 'Failed' })])).toBe('crowded');
  });

  test('the later one goes where nothing tells them apart', () => {
    expect(first([pod('a'), pod('b')])).toBe('b');
  });
});

test.each(['+1', '08', '1.5', 'cheap', '', '2147483648'])('a cost of %j counts as none', (cost) => {
  expect(first([pod('odd', { cost }), pod('cheap', { cost: '-1' })])).toBe('cheap');
  expect(first([pod('odd', { cost }), pod('dear', { cost: '1' })])).toBe('odd');
});

test('all go where all have to', () => {
  const pods = [pod('a'), pod('b')];
  expect(podsToDelete({ pods, count: 2, related: [], nowMs: NOW, dialect: kubernetesDialect })).toEqual(pods);
});
