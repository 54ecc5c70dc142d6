/** Validation and conversion of HorizontalPodAutoscalers. */
import { mergePatch } from 'orchplane';
import { HorizontalPodAutoscaler, HorizontalPodAutoscalerV1 } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { fromV2, toV2 } from '../../../../src/kinds/autoscaling/v1/horizontal-pod-autoscaler/conversion.js';
import { kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';
import type { DraftObject } from '../../../../src/meta/object.js';
import { problemsOf } from '../apps/problems.js';
import { rejectionCauses } from '../rejections.js';

const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
const open = (options = {}) => testCluster(options).api(HorizontalPodAutoscaler);
const input = (more: object = {}) => ({ metadata: { name: 'h' }, spec: { scaleTargetRef, maxReplicas: 5, ...more } });
const cpu = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } };
const cpu50 = { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } } };
const M = 'spec.metrics[0]';
const metric = (type: string, source: object) => ({
  metrics: [{ type, [type.charAt(0).toLowerCase() + type.slice(1)]: source }],
});
const down = (scaleDown: object) => ({ behavior: { scaleDown } });
const D = 'spec.behavior.scaleDown';

describe('a HorizontalPodAutoscaler', () => {
  test('sets the defaults of a HorizontalPodAutoscaler', async () => {
    const { spec, status, metadata } = await open().create(
      input({ behavior: { scaleDown: { selectPolicy: 'Disabled' } } }),
    );
    expect(spec).toMatchObject({ minReplicas: 1, metrics: [cpu] });
    const percent = { type: 'Percent', value: 100, periodSeconds: 15 };
    expect(spec.behavior).toEqual({
      scaleUp: {
        stabilizationWindowSeconds: 0,
        selectPolicy: 'Max',
        policies: [{ type: 'Pods', value: 4, periodSeconds: 15 }, percent],
      },
      scaleDown: { selectPolicy: 'Disabled', policies: [percent] },
    });
    expect(status).toEqual({ desiredReplicas: 0, currentMetrics: null });
    expect(metadata.generation).toBeUndefined();
  });

  const value = { type: 'Value', value: '5' };
  const UNSUPPORTED = `${M}.type: Unsupported value: "Odd": supported values: "ContainerResource", "External", "Object", "Pods", "Resource"`;
  test.each<[string, object, string[]]>([
    [
      'zero minReplicas',
      { minReplicas: 0 },
      [
        'spec.minReplicas: Invalid value: 0: must be greater than or equal to 1',
        'spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling to zero replicas',
      ],
    ],
    [
      'zero maxReplicas',
      { maxReplicas: 0 },
      [
        'spec.maxReplicas: Invalid value: 0: must be greater than 0',
        'spec.maxReplicas: Invalid value: 0: must be greater than or equal to `minReplicas`',
      ],
    ],
    [
      'an empty scaleTargetRef',
      { scaleTargetRef: { kind: '', name: 'a/b' } },
      [
        'spec.scaleTargetRef.kind: Required value',
        `spec.scaleTargetRef.name: Invalid value: "a/b": may not contain '/'`,
      ],
    ],
    ['an unknown metric type', { metrics: [{ type: 'Odd' }] }, [UNSUPPORTED, UNSUPPORTED]],
    [
      'a metric without a source',
      { metrics: [{ type: 'Pods' }] },
      [`${M}.pods: Required value: must populate information for the given metric source`],
    ],
    [
      'an unknown target type',
      metric('Resource', { name: 'cpu', target: { type: 'Odd', averageUtilization: 5 } }),
      [`${M}.resource.target.type: Invalid value: "Odd": must be either Utilization, Value, or AverageValue`],
    ],
    [
      'a zero averageUtilization',
      metric('Resource', { name: 'cpu', target: { type: 'Utilization', averageUtilization: 0 } }),
      [`${M}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0`],
    ],
    [
      'a metric without a name',
      metric('Pods', { metric: { name: '' }, target: { type: 'AverageValue', averageValue: '1' } }),
      [`${M}.pods.metric.name: Required value: must specify a metric name`],
    ],
    [
      'two target values',
      metric('External', { metric: { name: 'x' }, target: { ...value, averageValue: '5' } }),
      [`${M}.external.target.value: Forbidden: may not set both a target value for metric and a per-pod target`],
    ],
    [
      'a stabilization window above the maximum',
      down({ stabilizationWindowSeconds: 3601 }),
      [`${D}.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equal to 3600`],
    ],
    [
      'an empty list of policies',
      down({ policies: [] }),
      [`${D}.policies: Required value: must specify at least one Policy`],
    ],
    [
      'an invalid policy',
      down({ policies: [{ type: 'Odd', value: 0, periodSeconds: 1801 }] }),
      [
        `${D}.policies[0].type: Unsupported value: "Odd": supported values: "Percent", "Pods"`,
        `${D}.policies[0].value: Invalid value: 0: must be greater than zero`,
        `${D}.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal to 1800`,
      ],
    ],
  ])('rejects %s', async (_, more, problems) => {
    expect(await rejectionCauses(open().create(input(more) as never))).toEqual(problems);
  });

  test('allows zero minReplicas with an external metric if the feature gate is enabled', async () => {
    const external = metric('External', { metric: { name: 'x' }, target: value });
    const autoscalers = open({ featureGates: { HPAScaleToZero: true } });
    expect(await problemsOf(autoscalers.create(input({ minReplicas: 0, ...external }) as never))).toEqual([]);
  });

  test.each([
    [false, undefined],
    [true, '100m'],
  ])('keeps a tolerance only if the feature gate is enabled (%s)', async (on, kept) => {
    const autoscalers = open({ featureGates: { HPAConfigurableTolerance: on } });
    const { spec } = await autoscalers.create(input(down({ tolerance: '0.1' })));
    expect(spec.behavior?.scaleDown?.tolerance).toBe(kept);
  });

  test('rejects negative replicas in its status', async () => {
    const autoscalers = open();
    await autoscalers.create(input());
    expect(
      await rejectionCauses(autoscalers.status.patch('h', mergePatch({ status: { currentReplicas: -1 } }))),
    ).toEqual(['status.currentReplicas: Invalid value: -1: must be greater than or equal to 0']);
  });
});

describe('a HorizontalPodAutoscaler in v1', () => {
  test.each(['orch', 'kubernetes'] as const)('keeps fields that v1 does not have (%s)', async (dialect) => {
    const cluster = testCluster({ dialect });
    const [newer, older] = [cluster.api(HorizontalPodAutoscaler), cluster.api(HorizontalPodAutoscalerV1)];
    const pods = metric('Pods', { metric: { name: 'qps' }, target: { type: 'AverageValue', averageValue: '10' } });
    const created = await newer.create(input({ ...pods, ...down({}) }) as never);
    const shown = await older.get('h');
    expect(shown.spec).toEqual({ scaleTargetRef, minReplicas: 1, maxReplicas: 5 });
    await older.update({ ...shown, spec: { ...shown.spec, maxReplicas: 7 } });
    expect((await newer.get('h')).spec).toEqual({ ...created.spec, maxReplicas: 7 });
    expect((await newer.get('h')).metadata.annotations).toBeUndefined();
  });

  test('converts targetCPUUtilizationPercentage in both directions', async () => {
    const cluster = testCluster();
    const [newer, older] = [cluster.api(HorizontalPodAutoscaler), cluster.api(HorizontalPodAutoscalerV1)];
    const created = await older.create(input());
    expect(created.spec.targetCPUUtilizationPercentage).toBe(80);
    await older.patch('h', mergePatch({ spec: { targetCPUUtilizationPercentage: 50 } }));
    expect((await newer.get('h')).spec.metrics?.[0]?.resource?.target.averageUtilization).toBe(50);
  });

  test('validates a HorizontalPodAutoscaler in v1 by the rules of v2', async () => {
    const older = testCluster().api(HorizontalPodAutoscalerV1);
    expect(await rejectionCauses(older.create(input({ targetCPUUtilizationPercentage: 0 })))).toEqual([
      `${M}.resource.target.averageUtilization: Invalid value: 0: must be greater than 0`,
    ]);
  });

  test('does not change the status in annotations through the main resource', async () => {
    const cluster = testCluster();
    const [newer, older] = [cluster.api(HorizontalPodAutoscaler), cluster.api(HorizontalPodAutoscalerV1)];
    await newer.create(input());
    const conditions = [{ type: 'AbleToScale', status: 'True' as const }];
    await newer.status.patch('h', mergePatch({ status: { conditions } }));
    const { metadata, spec } = await older.get('h');
    const { annotations: _, ...bare } = metadata;
    await older.update({ metadata: bare, spec });
    expect((await newer.get('h')).status.conditions).toMatchObject(conditions);
  });

  test('does not change the stored spec through the status or a deletion in v1', async () => {
    const cluster = testCluster();
    const target = { type: 'Utilization', averageUtilization: 50, value: '5m' };
    const metrics = [{ type: 'Resource', resource: { name: 'cpu', target } }];
    await cluster.api(HorizontalPodAutoscaler).create(input({ metrics }) as never);
    const v1 = cluster.api(HorizontalPodAutoscalerV1);
    await v1.subresource('status').patch('h', mergePatch({ metadata: { finalizers: ['example.com/a'] } }));
    expect((await cluster.api(HorizontalPodAutoscaler).get('h')).spec.metrics).toEqual(metrics);
    await v1.delete('h');
    expect((await cluster.api(HorizontalPodAutoscaler).get('h')).spec.metrics).toEqual(metrics);
    // Even an update without a change is converted.
    await v1.patch('h', mergePatch({ spec: { maxReplicas: 5 } }));
    expect((await cluster.api(HorizontalPodAutoscaler).get('h')).spec.metrics).toEqual([cpu50]);
  });

  test('ignores annotations that cannot be decoded', () => {
    for (const text of ['', '{', '5', '[5]', '[{"type":5}]', '[{"pods":{"targetAverageValue":"x"}}]']) {
      const key = orchDialect.subkey('autoscaling.alpha', 'metrics');
      const draft = v1Draft({ [key]: text });
      toV2(draft);
      expect(draft['spec']).toMatchObject({ metrics: [cpu] });
    }
  });

  test.each([orchDialect, kubernetesDialect])(
    'finds annotations of the $name dialect when converted without a dialect',
    (dialect) => {
      const draft = v1Draft({
        [dialect.subkey('autoscaling.alpha', 'metrics')]: '[{"type":"Pods","pods":{"metricName":"q"}}]',
      });
      toV2(draft);
      expect(draft['spec']).toMatchObject({ metrics: [{ type: 'Pods', pods: { metric: { name: 'q' } } }] });
      expect(draft.metadata.annotations).toBeUndefined();
    },
  );

  test("writes the behavior annotation with the reference server's field names", () => {
    const draft = v1Draft({});
    toV2(draft);
    Object.assign(draft['spec'] as object, { behavior: { scaleUp: { selectPolicy: 'Min' } } });
    fromV2(draft, orchDialect);
    expect(draft.metadata.annotations?.[orchDialect.subkey('autoscaling.alpha', 'behavior')]).toBe(
      '{"ScaleUp":{"StabilizationWindowSeconds":null,"SelectPolicy":"Min","Policies":null,"Tolerance":null},"ScaleDown":null}',
    );
  });
});

function v1Draft(annotations: Record<string, string>): DraftObject {
  const spec = { scaleTargetRef, minReplicas: 1, maxReplicas: 2 };
  const status = { currentReplicas: 0, desiredReplicas: 0 };
  return { apiVersion: 'autoscaling/v1', kind: 'HorizontalPodAutoscaler', metadata: { annotations }, spec, status };
}
