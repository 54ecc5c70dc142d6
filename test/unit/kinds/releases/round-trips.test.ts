/** One object in two versions: what is written in one version is read, updated, applied and watched in the other. */
import { describe, expect, test } from 'vitest';
import { emulate } from './wire.js';

interface Pair {
  readonly release: `1.${number}`;
  readonly old: string;
  readonly now: string;
  readonly kind: string;
  readonly plural: string;
  readonly cluster?: true;
  /** The same object in both versions as it is returned, without metadata. */
  readonly inOld: object;
  readonly inNow: object;
  /** The same change in both versions. */
  readonly patchOld: object;
  readonly patchNow: object;
}

const FLOW = 'flowcontrol.apiserver.k8s.io';
const limits = { limitResponse: { type: 'Reject' }, lendablePercent: 0 };
const level = (limited: object) => ({ spec: { type: 'Limited', limited: { ...limited, ...limits } }, status: {} });
const levels = { kind: 'PriorityLevelConfiguration', plural: 'prioritylevelconfigurations', cluster: true } as const;
const flowSchema = {
  kind: 'FlowSchema',
  plural: 'flowschemas',
  cluster: true,
  inOld: {
    spec: {
      priorityLevelConfiguration: { name: 'global-default' },
      matchingPrecedence: 500,
      rules: [
        {
          subjects: [{ kind: 'User', user: { name: 'bob' } }],
          nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
        },
      ],
    },
    status: {},
  },
  patchOld: { spec: { matchingPrecedence: 501 } },
  patchNow: { spec: { matchingPrecedence: 501 } },
} as const;

const target = { kind: 'Deployment', name: 'web', apiVersion: 'apps/v1' };
const scaling = (metrics: object[], status: object) => ({
  spec: { scaleTargetRef: target, minReplicas: 1, maxReplicas: 5, metrics },
  status,
});
const shown = { currentReplicas: 0, desiredReplicas: 0, currentMetrics: null, conditions: null };
const podMetric = {
  type: 'Pods',
  pods: { metric: { name: 'q' }, target: { type: 'AverageValue', averageValue: '3' } },
};
const autoscalers = { kind: 'HorizontalPodAutoscaler', plural: 'horizontalpodautoscalers' } as const;
const more = { patchOld: { spec: { maxReplicas: 7 } }, patchNow: { spec: { maxReplicas: 7 } } };

const template = { metadata: { creationTimestamp: null }, spec: podSpec() };
const cronJob = {
  spec: {
    schedule: '* * * * *',
    concurrencyPolicy: 'Allow',
    suspend: false,
    jobTemplate: { metadata: { creationTimestamp: null }, spec: { template } },
    successfulJobsHistoryLimit: 3,
    failedJobsHistoryLimit: 1,
  },
  status: {},
};

const budgetStatus = { disruptionsAllowed: 0, currentHealthy: 0, desiredHealthy: 0, expectedPods: 0 };
const NEVER = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match';
const budget = (selector: object) => ({ spec: { minAvailable: 1, selector }, status: budgetStatus });
const budgets = {
  release: '1.24',
  old: 'policy/v1beta1',
  now: 'policy/v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  patchOld: { spec: { minAvailable: 2 } },
  patchNow: { spec: { minAvailable: 2 } },
} as const;

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const slice = (endpoint: object) => ({
  addressType: 'IPv4',
  endpoints: [{ addresses: ['10.0.0.1'], conditions: {}, ...endpoint }],
  ports: [{ name: '', protocol: 'TCP', port: 80 }],
});

const event = {
  eventTime: '2022-01-02T03:04:05.000006Z',
  reportingController: 'example.com/c',
  reportingInstance: 'i',
  action: 'Pulled',
  reason: 'Pulled',
  regarding: { kind: 'Pod', namespace: 'default', name: 'p' },
  note: 'here',
  type: 'Normal',
  deprecatedSource: {},
  deprecatedFirstTimestamp: null,
  deprecatedLastTimestamp: null,
};
const series = { series: { count: 3, lastObservedTime: '2022-01-02T03:05:05.000006Z' } };

const PAIRS: readonly Pair[] = [
  { ...flowSchema, inNow: flowSchema.inOld, release: '1.24', old: `${FLOW}/v1beta1`, now: `${FLOW}/v1beta2` },
  { ...flowSchema, inNow: flowSchema.inOld, release: '1.28', old: `${FLOW}/v1beta2`, now: `${FLOW}/v1beta3` },
  { ...flowSchema, inNow: flowSchema.inOld, release: '1.30', old: `${FLOW}/v1beta3`, now: `${FLOW}/v1` },
  {
    ...levels,
    release: '1.25',
    old: `${FLOW}/v1beta1`,
    now: `${FLOW}/v1beta2`,
    inOld: level({ assuredConcurrencyShares: 7 }),
    inNow: level({ assuredConcurrencyShares: 7 }),
    patchOld: { spec: { limited: { assuredConcurrencyShares: 9 } } },
    patchNow: { spec: { limited: { assuredConcurrencyShares: 9 } } },
  },
  {
    ...levels,
    release: '1.26',
    old: `${FLOW}/v1beta2`,
    now: `${FLOW}/v1beta3`,
    inOld: level({ assuredConcurrencyShares: 7 }),
    inNow: level({ nominalConcurrencyShares: 7 }),
    patchOld: { spec: { limited: { assuredConcurrencyShares: 9 } } },
    patchNow: { spec: { limited: { nominalConcurrencyShares: 9 } } },
  },
  {
    ...levels,
    release: '1.31',
    old: `${FLOW}/v1beta3`,
    now: `${FLOW}/v1`,
    inOld: level({ nominalConcurrencyShares: 7 }),
    inNow: level({ nominalConcurrencyShares: 7 }),
    patchOld: { spec: { limited: { nominalConcurrencyShares: 9 } } },
    patchNow: { spec: { limited: { nominalConcurrencyShares: 9 } } },
  },
  {
    release: '1.26',
    old: 'storage.k8s.io/v1beta1',
    now: 'storage.k8s.io/v1',
    kind: 'CSIStorageCapacity',
    plural: 'csistoragecapacities',
    inOld: { storageClassName: 'fast', capacity: '1Gi' },
    inNow: { storageClassName: 'fast', capacity: '1Gi' },
    patchOld: { capacity: '2Gi' },
    patchNow: { capacity: '2Gi' },
  },
  {
    ...autoscalers,
    ...more,
    release: '1.25',
    old: 'autoscaling/v2beta2',
    now: 'autoscaling/v2',
    inOld: scaling([podMetric], shown),
    inNow: scaling([podMetric], { desiredReplicas: 0, currentMetrics: null }),
  },
  {
    ...autoscalers,
    ...more,
    release: '1.24',
    old: 'autoscaling/v2beta1',
    now: 'autoscaling/v2',
    inOld: scaling([{ type: 'Pods', pods: { metricName: 'q', targetAverageValue: '3' } }], shown),
    inNow: scaling([podMetric], { desiredReplicas: 0, currentMetrics: null }),
  },
  {
    ...autoscalers,
    ...more,
    release: '1.22',
    old: 'autoscaling/v2beta1',
    now: 'autoscaling/v1',
    inOld: scaling([{ type: 'Resource', resource: { name: 'cpu', targetAverageUtilization: 60 } }], shown),
    inNow: {
      spec: { scaleTargetRef: target, minReplicas: 1, maxReplicas: 5, targetCPUUtilizationPercentage: 60 },
      status: { currentReplicas: 0, desiredReplicas: 0 },
    },
  },
  {
    release: '1.24',
    old: 'batch/v1beta1',
    now: 'batch/v1',
    kind: 'CronJob',
    plural: 'cronjobs',
    inOld: cronJob,
    inNow: cronJob,
    patchOld: { spec: { suspend: true } },
    patchNow: { spec: { suspend: true } },
  },
  {
    release: '1.24',
    old: 'discovery.k8s.io/v1beta1',
    now: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    plural: 'endpointslices',
    inOld: slice({ topology: { [HOST]: 'n', [ZONE]: 'z' }, nodeName: 'n' }),
    inNow: slice({ nodeName: 'n', zone: 'z' }),
    patchOld: { endpoints: [{ addresses: ['10.0.0.2'], topology: { [ZONE]: 'y' } }] },
    patchNow: { endpoints: [{ addresses: ['10.0.0.2'], zone: 'y' }] },
  },
  {
    release: '1.24',
    old: 'events.k8s.io/v1beta1',
    now: 'events.k8s.io/v1',
    kind: 'Event',
    plural: 'events',
    inOld: event,
    inNow: event,
    patchOld: series,
    patchNow: series,
  },
  {
    ...budgets,
    inOld: budget({}),
    inNow: budget({ matchExpressions: [{ key: NEVER, operator: 'Exists' }] }),
  },
  {
    ...budgets,
    inOld: budget({ matchExpressions: [{ key: NEVER, operator: 'DoesNotExist' }] }),
    inNow: budget({}),
  },
  { ...budgets, inOld: budget({ matchLabels: { a: 'b' } }), inNow: budget({ matchLabels: { a: 'b' } }) },
  {
    release: '1.24',
    old: 'node.k8s.io/v1beta1',
    now: 'node.k8s.io/v1',
    kind: 'RuntimeClass',
    plural: 'runtimeclasses',
    cluster: true,
    inOld: { handler: 'runc' },
    inNow: { handler: 'runc' },
    patchOld: { overhead: { podFixed: { cpu: '1' } } },
    patchNow: { overhead: { podFixed: { cpu: '1' } } },
  },
];

function podSpec(): object {
  return {
    containers: [
      {
        name: 'c',
        image: 'i:1',
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: 'IfNotPresent',
      },
    ],
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  };
}

const titled = PAIRS.map(
  (pair) => [`${pair.kind} in ${pair.old} and ${pair.now}, release ${pair.release}`, pair] as const,
);

/** The content of the object without name, apiVersion and server-set fields. */
function bodyOf({ apiVersion: _version, kind, metadata: _metadata, ...body }: Record<string, unknown>): object {
  // The reconciler adds a condition about the level later.
  return kind === 'FlowSchema' ? { ...body, status: {} } : body;
}

interface Manager {
  readonly manager: string;
  readonly apiVersion: string;
}

/** The managers except the server. */
function managersOf({ metadata }: { readonly metadata: { readonly managedFields: Manager[] } }): Manager[] {
  return metadata.managedFields.filter(({ manager }) => !manager.startsWith('api-priority-and-fairness'));
}

function inBoth(pair: Pair) {
  const { cluster, send } = emulate(pair.release);
  const place = (apiVersion: string, name = '') =>
    `/apis/${apiVersion}${pair.cluster ? '' : '/namespaces/default'}/${pair.plural}${name === '' ? '' : `/${name}`}`;
  const object = (apiVersion: string, body: object, name: string) => ({
    apiVersion,
    kind: pair.kind,
    metadata: { name },
    ...body,
  });
  return { cluster, send, place, object };
}

describe.each(titled)('two versions of %s', (_title, pair) => {
  const { old, now, inOld, inNow } = pair;
  const ways = [
    [old, now, inOld, inNow, pair.patchOld, pair.patchNow],
    [now, old, inNow, inOld, pair.patchNow, pair.patchOld],
  ] as const;

  test.each(ways)('reads in the other version a created object: %s to %s', async (from, to, made, expected) => {
    const { send, place, object } = inBoth(pair);
    const created = await send('POST', place(from), object(from, made, 'a'));
    expect(created.body).toMatchObject({ apiVersion: from, kind: pair.kind });
    expect(created.code).toBe(201);
    expect(bodyOf(created.body)).toEqual(made);
    const read = await send('GET', place(to, 'a'));
    expect(read.body.apiVersion).toBe(to);
    expect(bodyOf(read.body)).toEqual(expected);
    expect(read.body.metadata).toMatchObject({ uid: created.body.metadata.uid });
    // One entry in the version of the writer.
    expect(managersOf(read.body).map(({ apiVersion }) => apiVersion)).toEqual([from]);
    const list = await send('GET', place(to));
    expect(list.body.items.map((item: { metadata: { name: string } }) => item.metadata.name)).toContain('a');
  });

  test.each(ways)(
    'replaces in the other version a created object: %s to %s',
    async (from, to, made, _shown, _patch, change) => {
      const { send, place, object } = inBoth(pair);
      await send('POST', place(from), object(from, made, 'a'));
      const { body: live } = await send('GET', place(to, 'a'));
      const unchanged = await send('PUT', place(to, 'a'), live);
      expect(unchanged.code).toBe(200);
      expect(unchanged.body.metadata.resourceVersion).toBe(live.metadata.resourceVersion);
      const patched = await send('PATCH', place(to, 'a'), change, 'application/merge-patch+json');
      expect(patched.code, JSON.stringify(patched.body)).toBe(200);
      const replaced = await send('PUT', place(to, 'a'), {
        ...patched.body,
        metadata: { ...patched.body.metadata, labels: { seen: 'yes' } },
      });
      expect(replaced.code).toBe(200);
      const back = await send('GET', place(from, 'a'));
      expect(back.body.metadata.labels).toEqual({ seen: 'yes' });
      expect(back.body.metadata.resourceVersion).toBe(replaced.body.metadata.resourceVersion);
      expect(bodyOf(back.body)).not.toEqual(made);
      // Both events contain the same object.
      const again = await send('GET', place(to, 'a'));
      expect(bodyOf(again.body)).toEqual(bodyOf(replaced.body));
    },
  );

  test.each(ways)(
    'applies in the other version over an applied object: %s to %s',
    async (from, to, made, _shown, patch, change) => {
      const { send, place, object } = inBoth(pair);
      const apply = (apiVersion: string, body: object, manager: string, force = false) => {
        const address = `${place(apiVersion, 'a')}?fieldManager=${manager}${force ? '&force=true' : ''}`;
        return send('PATCH', address, object(apiVersion, body, 'a'), 'application/apply-patch+yaml');
      };
      const { status: _status, ...intent } = made as { status?: object };
      expect((await apply(from, intent, 'one')).code).toBe(201);
      // Its own fields again, so nothing changes.
      const { body: before } = await send('GET', place(from, 'a'));
      expect((await apply(from, intent, 'one')).body.metadata.resourceVersion).toBe(before.metadata.resourceVersion);
      const rejected = await apply(to, change, 'two');
      const isNew = ['series', 'overhead'].some((field) => field in change);
      if (!isNew) expect(rejected.code, JSON.stringify(rejected.body)).toBe(409);
      const forced = await apply(to, change, 'two', true);
      expect(forced.code, JSON.stringify(forced.body)).toBe(200);
      expect(managersOf(forced.body).map(({ manager, apiVersion }) => [manager, apiVersion])).toEqual([
        ['one', from],
        ['two', to],
      ]);
      // The other version contains the change.
      const merged = await send('PATCH', place(from, 'a'), patch, 'application/merge-patch+json');
      expect(merged.body.metadata.resourceVersion).toBe(forced.body.metadata.resourceVersion);
    },
  );

  test.each(ways)(
    'watches in the other version a created object: %s to %s',
    async (from, to, made, expected, patch) => {
      const { cluster, send, place, object } = inBoth(pair);
      await using watch = cluster.api(cluster.kind(to, pair.kind)).watch();
      const events = watch[Symbol.asyncIterator]();
      const next = async () => {
        for (;;) {
          const { value, done } = await events.next();
          if (done === true) throw new Error('the watch has ended');
          const seen = value as { type: string; object: Record<string, unknown> & { metadata: { name: string } } };
          if (seen.type !== 'BOOKMARK' && seen.object.metadata.name === 'a') return seen;
        }
      };
      await send('POST', place(from), object(from, made, 'a'));
      const added = await next();
      expect([added.type, added.object['apiVersion']]).toEqual(['ADDED', to]);
      expect(bodyOf(added.object)).toEqual(expected);
      if (pair.kind === 'FlowSchema') expect((await next()).type, 'the condition').toBe('MODIFIED');
      await send('PATCH', place(from, 'a'), patch, 'application/merge-patch+json');
      expect((await next()).type).toBe('MODIFIED');
      await send('DELETE', place(from, 'a'));
      expect((await next()).type).toBe('DELETED');
    },
  );
});
