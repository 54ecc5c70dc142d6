/** DaemonSet placement: node selectors, affinity, taints and tolerations. */
import { describe, expect, test } from 'vitest';
import {
  affinityTo,
  placementOn,
  type StoredDaemonSet,
  type StoredNode,
  targetNode,
  withDaemonTolerations,
} from '../../../src/controllers/workloads/daemon-set/placement.js';
import { kubernetesDialect } from '../../../src/meta/dialect.js';

const dialect = kubernetesDialect;

function node(labels: Record<string, string>, taints: object[] = []) {
  return { metadata: { name: 'n', labels }, spec: { taints } } as unknown as StoredNode;
}

function daemons(spec: object) {
  return { spec: { template: { spec } } } as unknown as StoredDaemonSet;
}

function required(...nodeSelectorTerms: object[]) {
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } };
}

const expression = (key: string, operator: string, ...values: string[]) => ({
  matchExpressions: [{ key, operator, ...(values.length > 0 ? { values } : {}) }],
});
const field = (operator: string, ...values: string[]) => ({
  matchFields: [{ key: 'metadata.name', operator, values }],
});

describe('node selection of DaemonSet pods', () => {
  test.each<[spec: object, labels: Record<string, string>, fits: boolean]>([
    [{}, {}, true],
    [{ nodeName: 'n' }, {}, true],
    [{ nodeName: 'other' }, {}, false],
    [{ nodeSelector: { a: '1' } }, { a: '1', b: '2' }, true],
    [{ nodeSelector: { a: '1', b: '1' } }, { a: '1', b: '2' }, false],
    [required(), {}, false],
    [required({}), {}, false],
    [required(expression('a', 'In', '1', '2')), { a: '2' }, true],
    [required(expression('a', 'In', '1', '2')), {}, false],
    [required(expression('a', 'NotIn', '1')), { a: '1' }, false],
    [required(expression('a', 'NotIn', '1')), {}, true],
    [required(expression('a', 'Exists')), { a: '' }, true],
    [required(expression('a', 'Exists')), {}, false],
    [required(expression('a', 'DoesNotExist')), {}, true],
    [required(expression('a', 'DoesNotExist')), { a: '' }, false],
    [required(expression('a', 'Gt', '5')), { a: '6' }, true],
    [required(expression('a', 'Gt', '5')), { a: '5' }, false],
    [required(expression('a', 'Lt', '5')), { a: '-1' }, true],
    [required(expression('a', 'Lt', '5')), { a: 'x' }, false],
    [required(expression('a', 'Lt', 'x')), { a: '1' }, false],
    [required(expression('a', 'Exists'), expression('b', 'Exists')), { b: '' }, true],
    [required({ ...expression('a', 'Exists'), ...field('In', 'n') }), { a: '' }, true],
    [required({ ...expression('a', 'Exists'), ...field('In', 'm') }), { a: '' }, false],
    [required(field('NotIn', 'n')), {}, false],
    [{ nodeSelector: { a: '1' }, ...required(expression('b', 'Exists')) }, { a: '1' }, false],
  ])('matches the pod spec %j with the node labels %j: %j', (spec, labels, fits) => {
    expect(placementOn(node(labels), daemons(spec), dialect)).toEqual({ shouldRun: fits, mayStay: fits });
  });
});

describe('taints and DaemonSet pods', () => {
  const taint = (effect: string, key = 'k', value = 'v') => ({ key, value, effect });
  test.each<[tolerations: object[], taints: object[], shouldRun: boolean, mayStay: boolean]>([
    [[], [taint('PreferNoSchedule')], true, true],
    [[], [taint('NoSchedule')], false, true],
    [[], [taint('NoExecute')], false, false],
    [[], [taint('NoSchedule'), taint('NoExecute')], false, false],
    [[{ operator: 'Exists' }], [taint('NoSchedule'), taint('NoExecute')], true, true],
    [[{ key: 'k', operator: 'Exists' }], [taint('NoExecute')], true, true],
    [[{ key: 'k', operator: 'Exists', effect: 'NoSchedule' }], [taint('NoExecute')], false, false],
    [[{ key: 'k', operator: 'Equal', value: 'v' }], [taint('NoSchedule')], true, true],
    [[{ key: 'k', value: 'v' }], [taint('NoSchedule')], true, true],
    [[{ key: 'k', value: 'w' }], [taint('NoSchedule')], false, true],
    [[{ key: 'other', operator: 'Exists' }], [taint('NoSchedule')], false, true],
    [[], [taint('NoExecute', 'node.kubernetes.io/not-ready')], true, true],
    [[], [taint('NoSchedule', 'node.kubernetes.io/not-ready')], false, true],
    [[], [taint('NoExecute', 'node.kubernetes.io/unreachable')], true, true],
    [[], [taint('NoSchedule', 'node.kubernetes.io/unschedulable')], true, true],
    [[], [taint('NoSchedule', 'node.kubernetes.io/disk-pressure')], true, true],
    [[], [taint('NoSchedule', 'node.kubernetes.io/network-unavailable')], false, true],
  ])('evaluates tolerations %j against taints %j as run %j, stay %j', (tolerations, taints, shouldRun, mayStay) => {
    expect(placementOn(node({}, taints), daemons({ tolerations }), dialect)).toEqual({ shouldRun, mayStay });
  });

  test('tolerates the network-unavailable taint with hostNetwork', () => {
    const taints = [taint('NoSchedule', 'node.kubernetes.io/network-unavailable')];
    expect(placementOn(node({}, taints), daemons({ hostNetwork: true }), dialect).shouldRun).toBe(true);
  });
});

describe('affinity and tolerations of DaemonSet pods', () => {
  test('removes the time limit of a not-ready toleration in place', () => {
    const key = 'node.kubernetes.io/not-ready';
    const brief = { key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 };
    const mine = { key: 'k', operator: 'Exists' };
    const all = withDaemonTolerations([brief, mine], { dialect });
    expect(all.slice(0, 3)).toEqual([
      { key, operator: 'Exists', effect: 'NoExecute' },
      mine,
      { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
    ]);
    expect(all).toHaveLength(7);
  });

  test('replaces the required node affinity by the node name and keeps the other affinity', () => {
    const preferred = [{ weight: 1, preference: expression('a', 'Exists') }];
    const affinity = {
      podAffinity: {},
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: preferred,
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [expression('b', 'Exists')] },
      },
    };
    const to = affinityTo(affinity as never, 'n');
    expect(to).toEqual({
      podAffinity: {},
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: preferred,
        requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [field('In', 'n')] },
      },
    });
  });

  test.each<[spec: object, target: string | undefined]>([
    [{ nodeName: 'm', ...required(field('In', 'n')) }, 'm'],
    [required(field('In', 'n')), 'n'],
    [required(expression('a', 'Exists'), field('In', 'n')), 'n'],
    [required(field('In', 'n', 'm')), undefined],
    [required(field('NotIn', 'n')), undefined],
    [{}, undefined],
  ])('reads from the pod spec %j the target node %s', (spec, target) => {
    expect(targetNode({ spec } as never)).toBe(target);
  });
});
