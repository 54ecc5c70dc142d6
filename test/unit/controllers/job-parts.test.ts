/** Index sets and failure backoff of the Job controller, without a cluster. */
import { describe, expect, test } from 'vitest';
import { IndexSet } from '../../../src/controllers/workloads/job/index-set.js';
import {
  backoffLeft,
  continueRun,
  finishedAt,
  NO_FAILURES,
} from '../../../src/controllers/workloads/job/job-snapshot.js';
import type { StoredPod } from '../../../src/controllers/workloads/pod-state.js';
import fc from '../../property/seeded.js';

describe('IndexSet', () => {
  test.each([
    ['', 10, '', 0],
    ['3', 10, '3', 1],
    ['1,2', 10, '1,2', 2],
    ['1-2', 10, '1,2', 2],
    ['0-2,4', 10, '0-2,4', 4],
    ['1,2,3', 10, '1-3', 3],
    ['1-3,4', 10, '1-4', 4],
    ['5-20', 10, '5-9', 5],
    ['5,10,11', 10, '5', 1],
    ['x,3,4-y,6', 10, '3,6', 2],
    ['+1,2', 10, '2', 1],
  ])('parses the index set %j of %i completions as %j', (text, completions, printed, size) => {
    const set = IndexSet.parse(text, completions);
    expect([String(set), set.size]).toEqual([printed, size]);
  });

  test('implements the set operations', () => {
    const indexes = fc.uniqueArray(fc.nat(19), { maxLength: 14 });
    fc.assert(
      fc.property(indexes, indexes, fc.nat(21), (left, right, count) => {
        const [a, b] = [IndexSet.of(left), IndexSet.of(right)];
        const both = new Set([...left, ...right]);
        expect(String(a.union(b))).toBe(String(IndexSet.of(both)));
        expect(a.union(b).size).toBe(both.size);
        expect(a.overlap(b)).toBe(left.filter((index) => right.includes(index)).length);
        const all = Array.from({ length: 20 }, (_none, index) => index);
        expect(all.filter((index) => a.has(index))).toEqual([...left].sort((x, y) => x - y));
        expect(a.firstMissing(count, 20)).toEqual(all.filter((index) => !left.includes(index)).slice(0, count));
        expect(String(IndexSet.parse(String(a), 20))).toBe(String(a));
      }),
    );
  });
});

const at = (second: number) => new Date(second * 1000).toISOString();

/** A pod with one of several sources of its finish time. */
function pod(parts: { metadata?: object; spec?: object; status?: object }): StoredPod {
  return {
    metadata: { creationTimestamp: at(1), ...parts.metadata },
    spec: { containers: [], ...parts.spec },
    status: { ...parts.status },
  } as unknown as StoredPod;
}

const ended = (name: string, second?: number) => ({
  name,
  state: second === undefined ? { running: {} } : { terminated: { finishedAt: at(second) } },
});

describe('finish time of a pod', () => {
  test.each([
    ['the last terminated container', { status: { containerStatuses: [ended('a', 50), ended('b', 40)] } }, 50],
    [
      'a sidecar that ended last',
      {
        spec: { initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }] },
        status: { containerStatuses: [ended('a', 50)], initContainerStatuses: [ended('s', 60), ended('i', 70)] },
      },
      60,
    ],
    [
      'the Ready condition',
      {
        status: {
          containerStatuses: [ended('a')],
          conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at(30) }],
        },
      },
      30,
    ],
    [
      'the deletion timestamp minus the grace period',
      { metadata: { deletionTimestamp: at(90), deletionGracePeriodSeconds: 20 } },
      70,
    ],
    ['the creation timestamp', {}, 1],
  ])('reads the finish time from %s', (_name, parts, second) => {
    expect(finishedAt(pod(parts))).toBe(second * 1000);
  });
});

describe('failure runs of a Job', () => {
  const failed = (second: number) => pod({ status: { containerStatuses: [ended('a', second)] } });

  test('counts consecutive failures and resets after a success', () => {
    const first = continueRun(NO_FAILURES, [], [failed(10), failed(5)]);
    expect(first).toEqual({ failures: 2, lastMs: 10_000 });
    expect(continueRun(first, [], [])).toEqual(first);
    expect(continueRun(first, [], [failed(20)])).toEqual({ failures: 3, lastMs: 20_000 });
    expect(continueRun(first, [failed(15)], [failed(12), failed(15)])).toEqual(NO_FAILURES);
    expect(continueRun(first, [failed(15)], [failed(12), failed(16)])).toEqual({ failures: 1, lastMs: 16_000 });
  });

  test.each([
    [0, 0, 0],
    [1, 0, 10_000],
    [1, 4_000, 6_000],
    [1, 10_000, 0],
    [2, 0, 20_000],
    [7, 0, 600_000],
    [1_000, 0, 600_000],
  ])('waits after %i failures and %i ms another %i ms', (failures, later, left) => {
    expect(backoffLeft({ failures, lastMs: 5_000 }, 5_000 + later)).toBe(left);
  });
});
