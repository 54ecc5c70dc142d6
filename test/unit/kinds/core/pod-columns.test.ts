/** Table columns of pods. */
import { Pod } from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';
import type { ApiObject } from '../../../../src/meta/object.js';

const nowMs = Date.parse('2030-01-01T00:10:00Z');

function cells(status: object, spec: object = {}, metadata: object = {}): unknown[] {
  const pod = {
    metadata: { name: 'p', creationTimestamp: '2030-01-01T00:00:00Z', ...metadata },
    spec: { containers: [{ name: 'c' }], ...spec },
    status: { phase: 'Running', ...status },
  } as unknown as ApiObject;
  return (Pod.columns ?? []).map(({ cell }) => cell(pod, { nowMs, dialect: orchDialect }));
}

const of = (state: object, more: object = {}) => ({
  name: 'c',
  state,
  lastState: {},
  ready: false,
  restartCount: 0,
  ...more,
});
const init = { initContainers: [{ name: 'i' }, { name: 's', restartPolicy: 'Always' }] };

describe('pod table', () => {
  test('has all columns', () => {
    expect(cells({})).toEqual(['p', '0/1', 'Running', '0', '10m', '<none>', '<none>', '<none>', '<none>']);
    const conditions = [{ type: 'g', status: 'True' }];
    const spec = { nodeName: 'n', readinessGates: [{ conditionType: 'g' }, { conditionType: 'h' }] };
    expect(cells({ podIP: '1.1.1.1', nominatedNodeName: 'm', conditions }, spec).slice(5)).toEqual([
      '1.1.1.1',
      'n',
      'm',
      '1/2',
    ]);
  });

  test.each<[status: object, spec: object, ready: string, reason: string]>([
    [{ containerStatuses: [of({ running: {} }, { ready: true })] }, {}, '1/1', 'Running'],
    [{ containerStatuses: [of({ waiting: { reason: 'CrashLoopBackOff' } })] }, {}, '0/1', 'CrashLoopBackOff'],
    [{ containerStatuses: [of({ terminated: { exitCode: 3 } })] }, {}, '0/1', 'ExitCode:3'],
    [{ containerStatuses: [of({ terminated: { exitCode: 0, signal: 9 } })] }, {}, '0/1', 'Signal:9'],
    [{ containerStatuses: [of({ terminated: { exitCode: 0, reason: 'Completed' } })] }, {}, '0/1', 'Completed'],
    [
      {
        containerStatuses: [
          of({ terminated: { exitCode: 0, reason: 'Completed' } }),
          of({ running: {} }, { ready: true }),
        ],
      },
      {},
      '1/1',
      'NotReady',
    ],
    [{ reason: 'Evicted', phase: 'Failed' }, {}, '0/1', 'Evicted'],
    [{ initContainerStatuses: [{ ...of({}), name: 'i' }] }, init, '0/2', 'Init:0/2'],
    [
      { initContainerStatuses: [{ ...of({ terminated: { exitCode: 1 } }), name: 'i' }] },
      init,
      '0/2',
      'Init:ExitCode:1',
    ],
    [
      { initContainerStatuses: [{ ...of({ running: {} }, { ready: true, started: true }), name: 's' }] },
      init,
      '1/2',
      'Running',
    ],
    [
      { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] },
      {},
      '0/1',
      'SchedulingGated',
    ],
  ])('computes ready and status of %j with spec %j', (status, spec, ready, reason) => {
    expect(cells(status, spec).slice(1, 3)).toEqual([ready, reason]);
  });

  test('shows Terminating and the time of the last restart', () => {
    const deletionTimestamp = '2030-01-01T00:00:30Z';
    expect(cells({}, {}, { deletionTimestamp })[2]).toBe('Terminating');
    expect(cells({ reason: 'NodeLost' }, {}, { deletionTimestamp })[2]).toBe('Unknown');
    expect(cells({ phase: 'Succeeded' }, {}, { deletionTimestamp })[2]).toBe('Succeeded');
    const lastState = { terminated: { exitCode: 1, finishedAt: '2030-01-01T00:08:00Z' } };
    const restarted = of({ running: {} }, { restartCount: 2, lastState });
    expect(cells({ containerStatuses: [restarted] })[3]).toBe('2 (2m ago)');
  });
});
