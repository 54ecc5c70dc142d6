/** Validation of status updates of Jobs. */
import { mergePatch } from 'orchplane';
import { Job } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { NEGATIVE, pod, problemsOf } from '../apps/problems.js';

const [EARLY, LATE] = ['2030-01-01T00:00:00Z', '2030-01-01T01:00:00Z'];
const on = (...types: string[]) => ({ conditions: types.map((type) => ({ type, status: 'True' })) });
const complete = { ...on('SuccessCriteriaMet', 'Complete'), startTime: EARLY, completionTime: LATE };

async function change(before: object, after: object, more: object = {}, options = {}): Promise<string[]> {
  const jobs = testCluster(options).api(Job);
  const template = { spec: { restartPolicy: 'Never', ...pod } };
  await jobs.create({ metadata: { name: 'j' }, spec: { template, ...more } } as never);
  expect(await problemsOf(jobs.status.patch('j', mergePatch({ status: before })))).toEqual([]);
  return problemsOf(jobs.status.patch('j', mergePatch({ status: after })));
}

const indexed = { completionMode: 'Indexed', completions: 3, backoffLimitPerIndex: 1 };
const C = 'status.conditions: Invalid value: cannot';

describe('a Job status', () => {
  test.each<[object, object, object, string[]]>([
    [{}, complete, {}, []],
    [{}, { active: -1 }, {}, [`status.active: ${NEGATIVE}`]],
    [{}, { active: 1, ready: 2 }, {}, ['status.ready: Invalid value: 2: cannot set more ready pods than active']],
    [{ failed: 1 }, { failed: 0 }, {}, ['status.failed: Invalid value: 0: cannot decrease the failed counter']],
    [
      { succeeded: 1 },
      { succeeded: 0 },
      {},
      ['status.succeeded: Invalid value: 0: cannot decrease the succeeded counter'],
    ],
    [{ succeeded: 1 }, { succeeded: 0 }, { ...indexed, parallelism: 3 }, []],
    [
      { startTime: EARLY },
      { startTime: LATE },
      {},
      ['status.startTime: Required value: startTime cannot be removed for unsuspended job'],
    ],
    [{ startTime: EARLY }, { startTime: null }, { suspend: true }, []],
    [
      {},
      { ...on('Failed'), startTime: EARLY },
      {},
      [`${C} set Failed=True condition without the FailureTarget=true condition`],
    ],
    [
      {},
      { ...complete, ...on('SuccessCriteriaMet', 'Complete', 'Failed', 'FailureTarget') },
      {},
      [
        `${C} set Complete=True and Failed=true conditions`,
        `${C} set Complete=True and FailureTarget=true conditions`,
        `${C} set SuccessCriteriaMet=True and Failed=true conditions`,
        `${C} set SuccessCriteriaMet=True and FailureTarget=true conditions`,
      ],
    ],
    [
      {},
      { ...complete, startTime: LATE, completionTime: EARLY },
      {},
      ['status.completionTime: Invalid value: 2030-01-01 00:00:00 +0000 UTC: must be equal to or after `startTime`'],
    ],
    [
      {},
      { ...complete, terminating: 1 },
      {},
      ['status.terminating: Invalid value: 1: terminating>0 is invalid for finished job'],
    ],
    [
      complete,
      { conditions: [] },
      {},
      [
        'status.completionTime: Invalid value: 2030-01-01 01:00:00 +0000 UTC: cannot set completionTime when there is no Complete=True condition',
        `${C} disable the terminal Complete=True condition`,
        `${C} disable the SuccessCriteriaMet=True condition`,
      ],
    ],
    [
      complete,
      { uncountedTerminatedPods: { failed: ['a', 'a', ''] } },
      {},
      [
        'status.uncountedTerminatedPods.failed[1]: Duplicate value: "a"',
        'status.uncountedTerminatedPods.failed[2]: Invalid value: "": must not be empty',
        'status.uncountedTerminatedPods: Invalid value: batch.UncountedTerminatedPods{Succeeded:[]types.UID(nil), Failed:[]types.UID{"a", "a", ""}}: uncountedTerminatedPods needs to be empty for finished job',
      ],
    ],
    [
      {},
      { completedIndexes: '0' },
      {},
      [
        'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
      ],
    ],
    [
      {},
      { failedIndexes: '' },
      {},
      ['status.failedIndexes: Invalid value: "": cannot set non-null failedIndexes when backoffLimitPerIndex is null'],
    ],
    [
      {},
      { completedIndexes: '0,1', failedIndexes: '1' },
      indexed,
      ['status.failedIndexes: Invalid value: "1": failedIndexes and completedIndexes overlap at index: 1'],
    ],
  ])('validates the transition from %j to %j', async (before, after, more, problems) => {
    expect(await change(before, after, more)).toEqual(problems);
  });

  test('validates little of a Job status if the JobManagedBy feature gate is disabled', async () => {
    const options = { featureGates: { JobManagedBy: false } };
    expect(await change({ failed: 1 }, { failed: 0, ready: 5 }, {}, options)).toEqual([]);
  });
});
