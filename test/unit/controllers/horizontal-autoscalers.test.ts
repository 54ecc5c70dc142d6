/**
 * HorizontalPodAutoscaler controller: recommendations, limits and conditions.
 */
import { defineKind, type ScalePaths, status as statusPath } from 'orchplane';
import {
  type HorizontalAutoscalersOptions,
  horizontalAutoscalers,
  type MetricQuery,
  type MetricSample,
} from 'orchplane/controllers';
import {
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  HorizontalPodAutoscaler,
  type HorizontalPodAutoscalerInput,
} from 'orchplane/kinds';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import {
  type CalculationInput,
  forAverage,
  forShare,
  forUtilization,
  forValue,
} from '../../../src/controllers/horizontal-autoscaler/calculate.js';
import {
  limitScaling,
  newHistory,
  recordScaling,
  type ScalingHistory,
  type ScalingRequest,
} from '../../../src/controllers/horizontal-autoscaler/limits.js';
import type { StoredPod } from '../../../src/controllers/workloads/pod-state.js';
import { type Serving, serving } from './endpoints-fixture.js';

const START = '2030-01-01T00:00:00Z';
const CPU_HALF = {
  type: 'Resource',
  resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
} as const;
const REQUEST = { containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '100m' } } }] };

interface Setup extends HorizontalAutoscalersOptions {
  readonly replicas?: number;
  readonly pods?: number;
  readonly spec?: Partial<HorizontalPodAutoscalerInput['spec']>;
}

/** A Deployment `d` with pods that request 100m, and an autoscaler `h` with a target utilization of 50 %. */
async function scaled({ replicas = 2, pods = replicas, spec = {}, ...options }: Setup = {}): Promise<Serving> {
  const self = await serving([horizontalAutoscalers({ cpuInitializationMs: 0, ...options })]);
  await self.cluster.api(Deployment).create({
    metadata: { name: 'd' },
    spec: {
      replicas,
      selector: { matchLabels: { app: 'x' } },
      template: { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  for (let index = 0; index < pods; index++) await self.pod(`p${index}`, { spec: REQUEST, startTime: START });
  await self.cluster.api(HorizontalPodAutoscaler).create({
    metadata: { name: 'h' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      minReplicas: 1,
      maxReplicas: 10,
      metrics: [CPU_HALF],
      ...spec,
    },
  });
  return self;
}

/** The usage of each pod. */
function uses(...values: readonly string[]): (query: MetricQuery) => readonly MetricSample[] {
  return () => values.map((value, index) => ({ pod: `p${index}`, value }));
}

async function later(self: Serving, seconds = 15) {
  await self.cluster.clock.advance(seconds * 1000);
  const { status } = await self.cluster.api(HorizontalPodAutoscaler).get('h');
  const conditions = (status.conditions ?? []).map((one) => `${one.type}=${one.status} ${one.reason}: ${one.message}`);
  const { replicas } = (await self.cluster.api(Deployment).get('d')).spec;
  return { status, conditions, replicas };
}

const GOT = "AbleToScale=True SucceededGetScale: the HPA controller was able to get the target's current scale";
const MATCHES = 'AbleToScale=True ReadyForNewScale: recommended size matches current size';
const FOUND =
  'ScalingActive=True ValidMetricFound: the HPA was able to successfully calculate a replica count from cpu resource utilization (percentage of request)';
const WITHIN = 'ScalingLimited=False DesiredWithinRange: the desired count is within the acceptable range';

describe('HorizontalPodAutoscaler reconcile', () => {
  test('reads the metrics every 15 seconds until the autoscaler is deleted', async () => {
    let reads = 0;
    const self = await scaled({
      metrics: () => {
        reads++;
        return [{ pod: 'p0', value: '50m' }];
      },
      replicas: 1,
    });
    expect((await later(self, 14)).conditions).toEqual([]);
    expect(reads).toBe(0);
    await later(self, 1);
    expect(reads).toBe(1);
    await later(self, 60);
    expect(reads).toBe(5);
    await self.cluster.api(HorizontalPodAutoscaler).delete('h');
    await self.cluster.clock.advance(60_000);
    expect(reads).toBe(5);
  });

  test('evaluates equal metrics once', async () => {
    let reads = 0;
    const metrics = () => {
      reads++;
      return [{ pod: 'p0', value: '50m' }];
    };
    const self = await scaled({
      metrics,
      replicas: 1,
      spec: { metrics: Array.from({ length: 1_000 }, () => CPU_HALF) },
    });
    const { status } = await later(self);
    expect(status.currentMetrics).toHaveLength(1_000);
    expect(reads).toBe(1);
  });

  test('writes the conditions once when no scaling is needed', async () => {
    const self = await scaled({ metrics: uses('50m', '50m') });
    const { status, conditions, replicas } = await later(self);
    expect(conditions).toEqual([MATCHES, FOUND, WITHIN]);
    expect(replicas).toBe(2);
    expect(status).toMatchObject({
      currentReplicas: 2,
      desiredReplicas: 2,
      currentMetrics: [
        { type: 'Resource', resource: { name: 'cpu', current: { averageValue: '50m', averageUtilization: 50 } } },
      ],
    });
    expect(status).not.toHaveProperty('lastScaleTime');
    const { resourceVersion } = (await self.cluster.api(HorizontalPodAutoscaler).get('h')).metadata;
    await later(self, 60);
    expect((await self.cluster.api(HorizontalPodAutoscaler).get('h')).metadata.resourceVersion).toBe(resourceVersion);
    expect(self.failures).toEqual([]);
  });

  test('scales up at once when the usage is above the target', async () => {
    const self = await scaled({ metrics: uses('100m', '100m') });
    const { status, conditions, replicas } = await later(self);
    expect(replicas).toBe(4);
    expect(conditions).toEqual([
      'AbleToScale=True SucceededRescale: the HPA controller was able to update the target scale to 4',
      FOUND,
      WITHIN,
    ]);
    expect(status).toMatchObject({ currentReplicas: 2, desiredReplicas: 4, lastScaleTime: '2030-01-01T00:00:15Z' });
    expect(await self.events()).toEqual([
      'Normal SuccessfulRescale New size: 4; reason: cpu resource utilization (percentage of request) above target (1)',
    ]);
  });

  test('scales down after the stabilization window', async () => {
    let value = '50m';
    const self = await scaled({
      metrics: () => uses(value, value)({} as MetricQuery),
      downscaleStabilizationMs: 60_000,
    });
    await later(self);
    value = '5m';
    const waiting = await later(self);
    expect(waiting.replicas).toBe(2);
    expect(waiting.conditions[0]).toBe(
      'AbleToScale=True ScaleDownStabilized: recent recommendations were higher than current one, applying the highest recent recommendation',
    );
    expect((await later(self, 75)).replicas).toBe(1);
    expect((await self.events())[0]).toBe('Normal SuccessfulRescale New size: 1; reason: All metrics below target (1)');
  });

  test('scales into the replica range without reading metrics', async () => {
    const failOnRead = () => {
      throw new Error('asked');
    };
    const high = await scaled({ replicas: 20, pods: 0, metrics: failOnRead });
    expect(await later(high)).toMatchObject({
      replicas: 10,
      conditions: ['AbleToScale=True SucceededRescale: the HPA controller was able to update the target scale to 10'],
      status: { currentReplicas: 20, desiredReplicas: 10, currentMetrics: null },
    });
    expect(await high.events()).toEqual([
      'Normal SuccessfulRescale New size: 10; reason: Current number of replicas above Spec.MaxReplicas (1)',
    ]);
    const low = await scaled({ replicas: 1, pods: 0, metrics: failOnRead, spec: { minReplicas: 3 } });
    expect((await later(low)).replicas).toBe(3);
    expect(await low.events()).toEqual([
      'Normal SuccessfulRescale New size: 3; reason: Current number of replicas below Spec.MinReplicas (1)',
    ]);
  });

  test('does not scale a target with zero replicas', async () => {
    const self = await scaled({ replicas: 0, metrics: uses('1') });
    const { status, conditions, replicas } = await later(self);
    expect([replicas, status.desiredReplicas, status.currentMetrics]).toEqual([0, 0, null]);
    expect(conditions).toEqual([
      GOT,
      'ScalingActive=False ScalingDisabled: scaling is disabled since the replica count of the target is zero',
    ]);
  });
});

describe('HorizontalPodAutoscaler target', () => {
  test.each([
    [{ kind: 'Deployment', apiVersion: 'apps/v1', name: 'none' }, 'deployments.apps "none" not found'],
    [{ kind: 'Thing', apiVersion: 'example.com/v1', name: 'd' }, 'no matches for kind "Thing" in group "example.com"'],
    [{ kind: 'ConfigMap', apiVersion: 'v1', name: 'd' }, 'the server could not find the requested resource'],
  ])('reports that the target %o cannot be scaled', async (scaleTargetRef, why) => {
    const self = await scaled({ spec: { scaleTargetRef }, metrics: uses('50m', '50m') });
    await self.cluster.api(ConfigMap).create({ metadata: { name: 'd' } });
    expect((await later(self)).conditions).toEqual([
      `AbleToScale=False FailedGetScale: the HPA controller was unable to get the target's current scale: ${why}`,
    ]);
    expect(await self.events()).toEqual([`Warning FailedGetScale ${why} (1)`]);
    await later(self);
    expect((await self.events())[0]).toContain('FailedGetScale');
  });

  /** Creates the CRD of farms, with a scale subresource if one is given. */
  async function defineFarms({ cluster }: Awaited<ReturnType<typeof scaled>>, scale?: ScalePaths) {
    const body = { type: 'object', 'x-orch-preserve-unknown-fields': true } as const;
    const openAPIV3Schema = { type: 'object', properties: { spec: body, status: body } } as const;
    const subresources = { status: {}, ...(scale === undefined ? {} : { scale }) };
    await cluster.api(CustomResourceDefinition).create({
      metadata: { name: 'farms.example.com' },
      spec: {
        group: 'example.com',
        scope: 'Namespaced',
        names: { plural: 'farms', singular: 'farm', kind: 'Farm', listKind: 'FarmList' },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, subresources }],
      },
    });
    await cluster.settle();
  }

  test('reports a custom resource without a scale as not found', async () => {
    const scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Farm', name: 'f' };
    const self = await scaled({ spec: { scaleTargetRef }, metrics: uses('100m', '100m') });
    await defineFarms(self);
    const { conditions } = await later(self);
    expect(conditions[0]).toMatch(/current scale: farms\.example\.com "f" not found$/);
  });

  test('scales a custom resource with a scale', async () => {
    const self = await scaled({ metrics: uses('100m', '100m') });
    await defineFarms(self, {
      specReplicasPath: '.spec.replicas',
      statusReplicasPath: '.status.replicas',
      labelSelectorPath: '.status.selector',
    });
    const Farm = defineKind({
      apiVersion: 'example.com/v1',
      kind: 'Farm',
      scope: 'Namespaced',
      body: { spec: z.object({ replicas: z.number() }), status: z.looseObject({}).optional() },
      subresources: { status: statusPath },
    });
    await self.cluster.api(Farm).create({ metadata: { name: 'f' }, spec: { replicas: 2 } });
    await self.cluster.api(Farm).status.edit('f', (farm) => {
      farm.status = { replicas: 2, selector: 'app=x' };
    });
    await self.cluster.api(HorizontalPodAutoscaler).edit('h', (autoscaler) => {
      autoscaler.spec.scaleTargetRef = { apiVersion: 'example.com/v1', kind: 'Farm', name: 'f' };
    });
    await later(self);
    expect((await self.cluster.api(Farm).get('f')).spec.replicas).toBe(4);
  });

  test('does not scale pods that two autoscalers select', async () => {
    const self = await scaled({ metrics: uses('50m', '50m') });
    await self.cluster.api(HorizontalPodAutoscaler).create({
      metadata: { name: 'g' },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
        maxReplicas: 5,
        metrics: [CPU_HALF],
      },
    });
    await later(self);
    const message = 'pods by selector app=x are controlled by multiple HPAs: [{g default} {h default}]';
    expect((await later(self)).conditions).toContain(`ScalingActive=False AmbiguousSelector: ${message}`);
    expect(await self.events()).toContainEqual(expect.stringContaining(`Warning AmbiguousSelector ${message}`));
    await self.cluster.api(HorizontalPodAutoscaler).delete('g');
    expect((await later(self)).conditions).toContain(FOUND);
  });

  test('names at most twenty of the autoscalers that select the same pods', async () => {
    const self = await scaled({ metrics: uses('50m', '50m') });
    const { spec } = await self.cluster.api(HorizontalPodAutoscaler).get('h');
    const names = Array.from({ length: 29 }, (_, at) => `${'x'.repeat(200)}-${at}`);
    for (const name of names) await self.cluster.api(HorizontalPodAutoscaler).create({ metadata: { name }, spec });
    await later(self);
    const { conditions } = await later(self);
    const message = conditions.find((condition) => condition.includes('AmbiguousSelector')) ?? '';
    expect(message.match(/ default}/g)).toHaveLength(20);
    expect(message).toMatch(/\] and more$/);
  });

  test('reports a scale that cannot be written', async () => {
    const self = await scaled({ metrics: uses('100m', '100m'), replicas: 2 });
    await self.cluster.api(Deployment).edit('d', (deployment) => {
      deployment.metadata.finalizers = ['example.com/hold'];
    });
    const undo = self.cluster.use((request, next) => {
      if (request.subresource === 'scale' && request.verb === 'update') throw new Error('no');
      return next(request);
    });
    const { conditions, replicas, status } = await later(self);
    undo();
    expect(replicas).toBe(2);
    expect(conditions[0]).toMatch(
      /^AbleToScale=False FailedUpdateScale: the HPA controller was unable to update the target scale: /,
    );
    expect([status.currentReplicas, status.desiredReplicas]).toEqual([2, 0]);
    expect((await self.events())[0]).toMatch(/^Warning FailedRescale New size: 4; reason: .* above target; error: /);
    expect((await later(self)).replicas).toBe(4);
  });
});

describe('HorizontalPodAutoscaler without metrics', () => {
  const missing =
    'unable to fetch metrics from resource metrics API: the server could not find the requested resource (get pods.metrics.orch.io)';
  test('reports the missing resource metrics API in the conditions', async () => {
    const self = await scaled();
    const { conditions, status } = await later(self);
    const detail = `failed to get cpu utilization: unable to get metrics for resource cpu: ${missing}`;
    expect(conditions).toEqual([
      GOT,
      `ScalingActive=False FailedGetResourceMetric: the HPA was unable to compute the replica count: ${detail}`,
    ]);
    expect(status).toMatchObject({ currentReplicas: 2, desiredReplicas: 0, currentMetrics: [{ type: '' }] });
    expect((await self.events()).sort()).toEqual([
      `Warning FailedComputeMetricsReplicas invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: ${detail} (1)`,
      `Warning FailedGetResourceMetric ${detail} (1)`,
    ]);
    expect(self.failures).toHaveLength(1);
  });

  const name = { name: 'm' } as const;
  const value = { type: 'Value', value: '1' } as const;
  const average = { type: 'AverageValue', averageValue: '1' } as const;
  const object = { kind: 'Ingress', name: 'i', apiVersion: 'networking.orch.io/v1' } as const;
  const custom =
    'unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.orch.io) registered';
  const external =
    'unable to fetch metrics from external metrics API: the server could not find the requested resource (get m.external.metrics.orch.io)';
  test.each([
    [
      { type: 'Pods', pods: { metric: name, target: average } },
      'FailedGetPodsMetric',
      `unable to get metric m: ${custom}`,
    ],
    [
      { type: 'Object', object: { metric: name, target: value, describedObject: object } },
      'FailedGetObjectMetric',
      `unable to get metric m: Ingress on default i/${custom}`,
    ],
    [
      { type: 'External', external: { metric: name, target: average } },
      'FailedGetExternalMetric',
      `unable to get external metric default/m/nil: ${external}`,
    ],
    [
      {
        type: 'External',
        external: { metric: { name: 'm', selector: { matchLabels: { b: '2', a: '1' } } }, target: value },
      },
      'FailedGetExternalMetric',
      `unable to get external metric default/m/&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{},}: ${external}`,
    ],
    [
      { type: 'ContainerResource', containerResource: { name: 'cpu', container: 'c', target: average } },
      'FailedGetContainerResourceMetric',
      `failed to get cpu usage: unable to get metrics for resource cpu: ${missing}`,
    ],
  ] as const)('reports the missing metrics of %o', async (metric, reason, detail) => {
    const self = await scaled({ spec: { metrics: [metric] } });
    expect((await later(self)).conditions[1]).toBe(
      `ScalingActive=False ${reason}: the HPA was unable to compute the replica count: ${detail}`,
    );
  });

  test.each([
    ['an empty result', () => [], 'no metrics returned from resource metrics API'],
    [
      'a failing source',
      () => {
        throw new Error('out of order');
      },
      'unable to fetch metrics from resource metrics API: out of order',
    ],
  ])('reports %s of the metrics source', async (_name, metrics, text) => {
    const self = await scaled({ metrics });
    expect((await later(self)).conditions[1]).toContain(`unable to get metrics for resource cpu: ${text}`);
  });

  test('scales up but not down when one of two metrics is missing', async () => {
    const memory = {
      type: 'Resource',
      resource: { name: 'memory', target: { type: 'AverageValue', averageValue: '1Mi' } },
    } as const;
    let used = '100m';
    const self = await scaled({
      spec: { metrics: [memory, CPU_HALF] },
      metrics: (query) => (query.type === 'resource' && query.resource === 'cpu' ? uses(used, used)(query) : undefined),
    });
    const up = await later(self);
    expect([up.replicas, up.conditions[1]]).toEqual([4, FOUND]);
    used = '1m';
    const down = await later(self, 600);
    expect(down.replicas).toBe(4);
    expect(down.conditions[1]).toContain('ScalingActive=False FailedGetResourceMetric');
  });
});

describe('resource metrics API of the cluster', () => {
  const PodMetrics = defineKind({
    apiVersion: 'metrics.orch.io/v1beta1',
    kind: 'PodMetrics',
    scope: 'Namespaced',
    names: { plural: 'pods' },
    body: {
      timestamp: z.string(),
      window: z.string(),
      containers: z.array(z.object({ name: z.string(), usage: z.record(z.string(), z.string()) })),
    },
  });
  test('reads metrics from PodMetrics objects when the kind is served', async () => {
    const self = await scaled();
    self.cluster.install(PodMetrics);
    for (const name of ['p0', 'p1']) {
      await self.cluster.api(PodMetrics).create({
        metadata: { name, labels: { app: 'x' } },
        timestamp: START,
        window: '30s',
        containers: [{ name: 'c', usage: { cpu: '75m' } }],
      });
    }
    const { replicas, status } = await later(self);
    expect(replicas).toBe(3);
    expect(status.currentMetrics?.[0]?.resource?.current).toEqual({ averageValue: '75m', averageUtilization: 75 });
  });
});

describe('replica calculation of the autoscaler', () => {
  const pod = (
    name: string,
    more: { readonly phase?: string; readonly ready?: string; readonly gone?: boolean } = {},
  ) =>
    ({
      metadata: { name, ...(more.gone === true ? { deletionTimestamp: START } : {}) },
      spec: { containers: [{ name: 'c', resources: { requests: { cpu: '1' } } }] },
      status: {
        phase: more.phase ?? 'Running',
        startTime: START,
        conditions: [{ type: 'Ready', status: more.ready ?? 'True', lastTransitionTime: START }],
      },
    }) as unknown as StoredPod;
  const about = (pods: readonly StoredPod[], more: Partial<CalculationInput> = {}): CalculationInput => ({
    pods,
    currentReplicas: pods.length,
    tolerances: { up: 0.1, down: 0.1 },
    nowMs: Date.parse(START) + 3_600_000,
    cpuInitializationMs: 300_000,
    initialReadinessDelayMs: 30_000,
    ...more,
  });
  const measured = (values: readonly number[], atMs = Date.parse(START) + 3_600_000) =>
    new Map(values.map((milli, index) => [`p${index}`, { milli, atMs, windowMs: 60_000 }]));
  const pods = (count: number) => Array.from({ length: count }, (_, index) => pod(`p${index}`));
  const cpu = (percent: number) => ({ percent, resource: 'cpu', container: undefined });

  test.each([
    ['for a scale-up', [300, 500, 700], 30, 3, { replicas: 5, utilization: 50, milli: 500 }],
    ['for a scale-down', [100, 300, 500, 250, 250], 50, 5, { replicas: 3, utilization: 28, milli: 280 }],
    ['for a ratio within the tolerance', [1010, 1030, 1020], 100, 3, { replicas: 3, utilization: 102, milli: 1020 }],
    ['for a scale-up with a pod without a sample', [500, 500], 25, 3, { replicas: 4, utilization: 50, milli: 500 }],
    ['for a scale-down with a pod without a sample', [100, 100], 50, 3, { replicas: 3, utilization: 10, milli: 100 }],
  ] as const)('computes the replicas %s', (_name, values, percent, count, expected) => {
    expect(forUtilization(measured(values), cpu(percent), about(pods(count)))).toEqual(expected);
  });

  test('counts starting pods as idle for a scale-up', () => {
    const list = [...pods(2), pod('p2', { ready: 'False' }), pod('p3', { phase: 'Pending' })];
    expect(forUtilization(measured([700, 900, 900]), cpu(30), about(list)).replicas).toBe(6);
    const early = { nowMs: Date.parse(START) + 10_000 };
    expect(() => forUtilization(measured([700, 900], Date.parse(START)), cpu(30), about(pods(2), early))).toThrow(
      'did not receive metrics for targeted pods (pods might be unready)',
    );
  });

  test('ignores failed and terminating pods', () => {
    const list = [...pods(2), pod('p2', { phase: 'Failed' }), pod('p3', { gone: true })];
    expect(forUtilization(measured([500, 500, 9000, 9000]), cpu(50), about(list)).replicas).toBe(4);
    expect(forUtilization(measured([1000, 1000, 9000, 9000]), cpu(50), about(list)).replicas).toBe(4);
  });

  test.each([
    [
      'a selection without pods',
      () => forUtilization(measured([1]), cpu(50), about([])),
      'no pods returned by selector while calculating replica count',
    ],
    [
      'pods without requests',
      () => forUtilization(measured([1]), { ...cpu(50), resource: 'memory' }, about(pods(1))),
      'missing request for memory in container c of Pod p0',
    ],
    [
      'samples of other pods only',
      () => forAverage(new Map(), { milli: 1, resource: '' }, about(pods(1))),
      'did not receive metrics',
    ],
    [
      'a value without pods',
      () => forValue(5, 1, about([], { currentReplicas: 2 })),
      'unable to calculate ready pods: no pods returned',
    ],
  ])('rejects %s', (_name, run, message) => {
    expect(run).toThrow(message);
  });

  test('computes replicas from averages, values and values per pod', () => {
    expect(forAverage(measured([20_000, 10_000, 30_000]), { milli: 15_000, resource: '' }, about(pods(3)))).toEqual({
      replicas: 4,
      milli: 20_000,
    });
    expect(forValue(30_000, 15_000, about(pods(3)))).toEqual({ replicas: 6, milli: 30_000 });
    expect(forValue(15_500, 15_000, about(pods(3)))).toEqual({ replicas: 3, milli: 15_500 });
    expect(forValue(30_000, 15_000, about([], { currentReplicas: 0 }))).toEqual({ replicas: 2, milli: 30_000 });
    const share = { statusReplicas: 2, tolerances: { up: 0.1, down: 0.1 } };
    expect(forShare(100, 20, share)).toEqual({ replicas: 5, milli: 50 });
    expect(forShare(41, 20, share)).toEqual({ replicas: 2, milli: 21 });
    expect(forShare(100, 20, { ...share, statusReplicas: 0 }).replicas).toBe(5);
  });
});

describe('scaling limits of the autoscaler', () => {
  const scalingRequest = (current: number, desired: number, more: Partial<ScalingRequest> = {}): ScalingRequest => ({
    current,
    desired,
    min: 1,
    max: 1000,
    nowMs: 1_000_000,
    downscaleWindowMs: 300_000,
    ...more,
  });
  const fresh = (): ScalingHistory => ({ recommendations: [], ups: [], downs: [] });

  test.each([
    ['at most doubles the replicas', scalingRequest(10, 50), 20, 'ScaleUpLimit'],
    ['allows four replicas at least', scalingRequest(1, 50), 4, 'ScaleUpLimit'],
    ['applies maxReplicas', scalingRequest(10, 50, { max: 12 }), 12, 'TooManyReplicas'],
    ['applies minReplicas', scalingRequest(10, 0, { min: 3 }), 3, 'TooFewReplicas'],
    ['applies the desired replicas within the limits', scalingRequest(10, 15), 15, 'DesiredWithinRange'],
  ])('%s without a behavior', (_name, wanted, replicas, reason) => {
    const found = limitScaling(wanted, undefined, fresh());
    expect([found.replicas, found.limit.reason, found.isLimited]).toEqual([
      replicas,
      reason,
      reason !== 'DesiredWithinRange',
    ]);
    expect(found.ableToScale.reason).toBe('ReadyForNewScale');
  });

  const policy = (type: 'Pods' | 'Percent', value: number, periodSeconds = 60) => ({ type, value, periodSeconds });
  const none = { stabilizationWindowSeconds: 0, selectPolicy: 'Max' } as const;
  test.each([
    [
      'a Pods policy',
      { scaleUp: { ...none, policies: [policy('Pods', 3)] } },
      scalingRequest(10, 50),
      13,
      'ScaleUpLimit',
    ],
    [
      'a Percent policy that rounds up',
      { scaleUp: { ...none, policies: [policy('Percent', 15)] } },
      scalingRequest(10, 50),
      12,
      'ScaleUpLimit',
    ],
    [
      'the larger of two policies',
      { scaleUp: { ...none, policies: [policy('Pods', 3), policy('Percent', 50)] } },
      scalingRequest(10, 50),
      15,
      'ScaleUpLimit',
    ],
    [
      'the smaller of two policies',
      { scaleUp: { ...none, selectPolicy: 'Min', policies: [policy('Pods', 3), policy('Percent', 50)] } },
      scalingRequest(10, 50),
      13,
      'ScaleUpLimit',
    ],
    [
      'a disabled scale-up',
      { scaleUp: { ...none, selectPolicy: 'Disabled' } },
      scalingRequest(10, 50),
      10,
      'ScaleUpLimit',
    ],
    [
      'a policy that exceeds maxReplicas',
      { scaleUp: { ...none, policies: [policy('Pods', 30)] } },
      scalingRequest(10, 50, { max: 20 }),
      20,
      'TooManyReplicas',
    ],
    [
      'a Pods policy for scale-down',
      { scaleDown: { ...none, policies: [policy('Pods', 3)] } },
      scalingRequest(10, 1),
      7,
      'ScaleDownLimit',
    ],
    [
      'a Percent policy for scale-down that rounds down',
      { scaleDown: { ...none, policies: [policy('Percent', 15)] } },
      scalingRequest(10, 1),
      8,
      'ScaleDownLimit',
    ],
    [
      'the smaller of two scale-down policies',
      { scaleDown: { ...none, selectPolicy: 'Min', policies: [policy('Pods', 3), policy('Percent', 50)] } },
      scalingRequest(10, 1),
      7,
      'ScaleDownLimit',
    ],
    [
      'a disabled scale-down',
      { scaleDown: { ...none, selectPolicy: 'Disabled' } },
      scalingRequest(10, 1),
      10,
      'ScaleDownLimit',
    ],
    [
      'a policy that goes below minReplicas',
      { scaleDown: { ...none, policies: [policy('Percent', 100)] } },
      scalingRequest(10, 1, { min: 2 }),
      2,
      'TooFewReplicas',
    ],
    [
      'a policy that allows the desired replicas',
      { scaleDown: { ...none, policies: [policy('Percent', 100)] } },
      scalingRequest(10, 4),
      4,
      'DesiredWithinRange',
    ],
  ] as const)('applies a behavior with %s', (_name, behavior, wanted, replicas, reason) => {
    const found = limitScaling(wanted, behavior, fresh());
    expect([found.replicas, found.limit.reason]).toEqual([replicas, reason]);
  });

  test('counts earlier scaling within the policy period', () => {
    const behavior = {
      scaleUp: { ...none, policies: [policy('Pods', 4)] },
      scaleDown: { ...none, policies: [policy('Pods', 2)] },
    };
    const history = newHistory(10, 0);
    recordScaling(history, behavior, { from: 10, to: 13, nowMs: 970_000 });
    expect(limitScaling(scalingRequest(13, 50), behavior, history).replicas).toBe(14);
    expect(limitScaling(scalingRequest(13, 50, { nowMs: 1_031_000 }), behavior, history).replicas).toBe(17);
    recordScaling(history, behavior, { from: 14, to: 12, nowMs: 1_031_000 });
    expect(limitScaling(scalingRequest(12, 1, { nowMs: 1_040_000 }), behavior, history)).toMatchObject({
      replicas: 12,
      isLimited: true,
    });
  });

  test('applies stabilization windows in both directions', () => {
    const window = (up: number, down?: number) => ({
      scaleUp: { ...none, stabilizationWindowSeconds: up, policies: [policy('Percent', 1000)] },
      scaleDown: { ...none, stabilizationWindowSeconds: down ?? 0, policies: [policy('Percent', 100)] },
    });
    const history = (count: number) => newHistory(count, 950_000);
    expect(limitScaling(scalingRequest(5, 9), window(60), history(6))).toMatchObject({
      replicas: 6,
      ableToScale: { reason: 'ScaleUpStabilized' },
    });
    expect(limitScaling(scalingRequest(5, 9), window(30), history(6)).replicas).toBe(9);
    expect(limitScaling(scalingRequest(5, 2), window(0, 60), history(4))).toMatchObject({
      replicas: 4,
      ableToScale: { reason: 'ScaleDownStabilized' },
    });
    expect(limitScaling(scalingRequest(5, 2), window(0, 30), history(4)).replicas).toBe(2);
    const { stabilizationWindowSeconds: _none, ...rules } = window(0).scaleDown;
    expect(limitScaling(scalingRequest(5, 2), { scaleDown: rules }, history(4)).replicas).toBe(4);
  });

  test('drops old recommendations', () => {
    const history = fresh();
    for (let at = 0; at < 100; at++)
      limitScaling(scalingRequest(5, 5, { nowMs: at * 15_000, downscaleWindowMs: 60_000 }), undefined, history);
    expect(history.recommendations.length).toBeLessThan(8);
  });
});

test('ignores a tolerance of the behavior without the feature gate', async () => {
  const spec = { behavior: { scaleUp: { tolerance: '1' } } };
  const plain = await scaled({ metrics: uses('60m', '60m'), spec });
  expect((await later(plain)).replicas).toBe(3);
});
