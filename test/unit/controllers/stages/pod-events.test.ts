/**
 * The events, the resources and the last status of pods that stages simulate, as a scheduler and a kubelet write them.
 */
import { strategicPatch } from 'orchplane';
import {
  controllers,
  crashLoop,
  evicted,
  nodeStages,
  type ReadyPodsOptions,
  readyPods,
  type Stage,
  slowStart,
  stage,
  stages,
} from 'orchplane/controllers';
import { ConfigMap, CoreEvent, Node, Pod, type PodInput, PriorityClass } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

function playground(rules: readonly Stage[] = readyPods(), options: { events?: boolean } = {}) {
  const cluster = testCluster({ controllers: controllers([stages(rules, options)]) });
  const events = async () => (await cluster.api(CoreEvent).list()).items;
  const reasons = async () => (await events()).map(({ reason, message }) => `${reason}: ${message}`);
  return { cluster, events, reasons, pods: cluster.api(Pod), nodes: cluster.api(Node) };
}

function pod(name: string, spec: Partial<PodInput['spec']> = {}): PodInput {
  return { metadata: { name }, spec: { containers: [{ name: 'app', image: 'nginx:1.29' }], ...spec } };
}

const MICRO_NOW = '2030-01-01T00:00:00.000000Z';
const NOW = '2030-01-01T00:00:00Z';

describe('events of stages', () => {
  test('records the binding in the form of events.k8s.io, with the scheduler as reporter', async () => {
    const { cluster, pods, events } = playground();
    const { metadata } = await pods.create(pod('web'));
    await cluster.settle();
    const scheduled = (await events()).find(({ reason }) => reason === 'Scheduled');
    expect(scheduled).toMatchObject({
      metadata: { namespace: 'default', managedFields: [{ manager: 'kube-scheduler' }] },
      involvedObject: { kind: 'Pod', namespace: 'default', name: 'web', uid: metadata.uid, apiVersion: 'v1' },
      message: 'Successfully assigned default/web to node-1',
      type: 'Normal',
      action: 'Binding',
      eventTime: MICRO_NOW,
      firstTimestamp: null,
      lastTimestamp: null,
      source: {},
      reportingComponent: 'default-scheduler',
      reportingInstance: 'default-scheduler-orchplane',
    });
    expect(scheduled?.count).toBeUndefined();
  });

  test('records the start of each container with the kubelet of the node as source', async () => {
    const { cluster, pods, events } = playground();
    await pods.create(
      pod('web', {
        initContainers: [{ name: 'setup', image: 'busybox:1.37' }],
        containers: [{ name: 'app', image: 'nginx' }],
      }),
    );
    await cluster.settle();
    const [, ...started] = await events();
    expect(started.map(({ reason, message, involvedObject }) => [reason, message, involvedObject.fieldPath])).toEqual([
      ['Pulled', 'Container image "busybox:1.37" already present on machine', 'spec.initContainers{setup}'],
      ['Created', 'Created container: setup', 'spec.initContainers{setup}'],
      ['Started', 'Started container setup', 'spec.initContainers{setup}'],
      ['Pulling', 'Pulling image "nginx"', 'spec.containers{app}'],
      [
        'Pulled',
        expect.stringMatching(
          /^Successfully pulled image "nginx" in 0s \(0s including waiting\)\. Image size: \d+ bytes\.$/,
        ),
        'spec.containers{app}',
      ],
      ['Created', 'Created container: app', 'spec.containers{app}'],
      ['Started', 'Started container app', 'spec.containers{app}'],
    ]);
    for (const event of started) {
      expect(event).toMatchObject({
        metadata: { managedFields: [{ manager: 'kubelet' }] },
        type: 'Normal',
        source: { component: 'kubelet', host: 'node-1' },
        reportingComponent: 'kubelet',
        reportingInstance: 'node-1',
        firstTimestamp: NOW,
        lastTimestamp: NOW,
        eventTime: null,
        count: 1,
      });
    }
  });

  test('records the duration of a slow pull', async () => {
    const { cluster, pods, reasons } = playground([...slowStart({ pullMs: 90_000 }), ...readyPods()]);
    await pods.create(pod('web'));
    await cluster.settle();
    expect((await reasons()).slice(1)).toEqual(['Pulling: Pulling image "nginx:1.29"']);
    await cluster.clock.advance(90_000);
    expect((await reasons()).slice(2)).toEqual([
      expect.stringMatching(/^Pulled: Successfully pulled image "nginx:1.29" in 1m30s \(1m30s including waiting\)\. /),
      'Created: Created container: app',
      'Started: Started container app',
    ]);
  });

  test('records FailedScheduling once for each message', async () => {
    const { cluster, pods, nodes, events } = playground([...readyPods(), ...nodeStages()]);
    await nodes.create({ metadata: { name: 'a' } });
    await cluster.settle();
    await pods.create(pod('web', { nodeSelector: { disk: 'ssd' } }));
    await cluster.settle();
    await nodes.edit('a', (draft) => {
      draft.metadata.labels = { ...draft.metadata.labels, unrelated: 'yes' };
    });
    await cluster.settle();
    expect(await events()).toMatchObject([
      {
        type: 'Warning',
        reason: 'FailedScheduling',
        action: 'Scheduling',
        message:
          "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector. preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        reportingComponent: 'default-scheduler',
      },
    ]);
  });

  test('says that a pod with preemptionPolicy Never does not preempt others', async () => {
    const { cluster, pods, nodes } = playground([...readyPods(), ...nodeStages()]);
    await nodes.create({ metadata: { name: 'a' } });
    await cluster.settle();
    const polite = { metadata: { name: 'polite' }, value: 7, preemptionPolicy: 'Never' as const };
    await cluster.api(PriorityClass).create(polite);
    await pods.create(pod('web', { nodeSelector: { disk: 'ssd' }, priorityClassName: 'polite' }));
    await cluster.settle();
    expect((await pods.get('web')).status.conditions?.[0]?.message).toMatch(
      / preemption: not eligible due to preemptionPolicy=Never\.$/,
    );
  });

  test.each<[NonNullable<ReadyPodsOptions['grace']>]>([['prompt'], ['kept']])(
    'records Killing at the beginning of the deletion with grace %s',
    async (grace) => {
      const { cluster, pods, reasons, events } = playground(readyPods({ grace }));
      await pods.create(pod('web'));
      await cluster.settle();
      await pods.delete('web');
      await cluster.settle();
      expect((await reasons()).slice(4)).toEqual(['Killing: Stopping container app']);
      expect((await events()).at(-1)?.involvedObject.fieldPath).toBe('spec.containers{app}');
      if (grace === 'kept') {
        // A change during the grace period does not stop the containers again.
        await pods.edit('web', (draft) => {
          draft.metadata.labels = { a: 'b' };
        });
        await cluster.clock.advance(30_000);
      }
      expect(await pods.find('web')).toBeUndefined();
      expect((await events()).at(-1)?.count).toBe(1);
    },
  );

  test('records BackOff and Evicted as kubelet', async () => {
    const rules = [...crashLoop({ labels: 'bad' }), ...evicted({ afterMs: 1_000 }), ...readyPods()];
    const { cluster, pods, events } = playground(rules);
    await pods.create({ ...pod('bad'), metadata: { name: 'bad', labels: { bad: '' } } });
    await pods.create(pod('web'));
    await cluster.clock.advance(1_000);
    const source = { component: 'kubelet', host: 'node-1' };
    const all = await events();
    expect(all.find(({ reason }) => reason === 'BackOff')).toMatchObject({
      type: 'Warning',
      involvedObject: { name: 'bad', fieldPath: 'spec.containers{app}' },
      source,
    });
    expect(all.filter(({ involvedObject }) => involvedObject.name === 'web').slice(-2)).toMatchObject([
      { type: 'Warning', reason: 'Evicted', source },
      { type: 'Normal', reason: 'Killing', source },
    ]);
  });

  test('records none if they are switched off', async () => {
    const { cluster, pods, events } = playground([...crashLoop({ times: 2 }), ...readyPods()], { events: false });
    await pods.create(pod('web'));
    await cluster.clock.advance(60_000);
    await pods.delete('web');
    await cluster.settle();
    expect(await pods.find('web')).toBeUndefined();
    expect(await events()).toEqual([]);
  });

  test('runs the next stage after one that only records an event, and each of them once per version', async () => {
    const event = (reason: string) => ({ type: 'Normal' as const, reason, message: 'seen' });
    const { cluster, events } = playground([
      stage({ name: 'a', kind: ConfigMap, event: [event('A1'), event('A2')], next: 'b' }),
      stage({ name: 'b', kind: ConfigMap, event: event('B'), next: 'a' }),
    ]);
    await cluster.api(ConfigMap).create({ metadata: { name: 'x' } });
    await cluster.settle();
    expect((await events()).map(({ reason, count }) => [reason, count])).toEqual([
      ['A1', 1],
      ['A2', 1],
      ['B', 1],
    ]);
  });
});

test('reports a deleted pod as not ready before it is removed', async () => {
  const { cluster, pods } = playground();
  await pods.create(pod('web'));
  await cluster.settle();
  const seen: string[] = [];
  await using informer = pods.informer();
  await informer.synced;
  informer.subscribe(({ type, object: { metadata, status } }) => {
    const ready = status.conditions?.find((each) => each.type === 'Ready');
    seen.push(
      `${type} ${status.phase} ${ready?.status} ${ready?.reason ?? ''} grace ${metadata.deletionGracePeriodSeconds}`,
    );
  });
  await pods.delete('web');
  await cluster.settle();
  expect(seen.slice(-4)).toEqual([
    'MODIFIED Running True  grace 30',
    'MODIFIED Failed False PodFailed grace 30',
    'MODIFIED Failed False PodFailed grace 0',
    'DELETED Failed False PodFailed grace 0',
  ]);
});

describe('bare pods with a restart policy other than Always', () => {
  const phaseAfter = async (options: ReadyPodsOptions, ms: number, more: Partial<PodInput['metadata']> = {}) => {
    const { cluster, pods } = playground(readyPods(options));
    await pods.create({ ...pod('test', { restartPolicy: 'Never' }), metadata: { name: 'test', ...more } });
    await cluster.clock.advance(ms);
    return (await pods.get('test')).status.phase;
  };

  test.each<[string, ReadyPodsOptions, number, string]>([
    ['run for five seconds', {}, 4_999, 'Running'],
    ['succeed after five seconds', {}, 5_000, 'Succeeded'],
    ['succeed after the configured time', { bare: { afterMs: 100 } }, 100, 'Succeeded'],
    ['fail with the configured exit code', { bare: { exitCode: 1 } }, 5_000, 'Failed'],
    ['keep running with bare: false', { bare: false }, 60_000, 'Running'],
    ['keep running if they are not selected', { bare: { where: () => false } }, 60_000, 'Running'],
  ])('%s', async (_what, options, ms, phase) => {
    expect(await phaseAfter(options, ms)).toBe(phase);
  });

  test('run for the time of their annotation', async () => {
    const annotations = { 'orchplane/run-ms': '10' };
    expect(await phaseAfter({}, 10, { annotations })).toBe('Succeeded');
  });

  test('keep running if they have another controller', async () => {
    const ownerReferences = [
      {
        apiVersion: 'example.com/v1',
        kind: 'Run',
        name: 'r',
        uid: '00000000-0000-4000-8000-00000000abcd',
        controller: true,
      },
    ];
    expect(await phaseAfter({}, 60_000, { ownerReferences })).toBe('Running');
  });
});

describe('resize of pods in stages', () => {
  const sized = (cpu: string, memory = '128Mi') => ({ requests: { cpu, memory }, limits: { cpu: '1', memory: '1Gi' } });

  const resize = async (
    container: Partial<NonNullable<PodInput['spec']>['containers'][number]>,
    resources: ReturnType<typeof sized>,
  ) => {
    const world = playground();
    const app = { name: 'app', image: 'nginx:1.29', resources: sized('100m'), ...container };
    await world.pods.create(pod('web', { containers: [app, { name: 'other', image: 'other:1' }] }));
    await world.cluster.settle();
    const before = await world.pods.get('web');
    const patch = strategicPatch<Pod>({ spec: { containers: [{ name: 'app', resources }] } } as never);
    await world.pods.subresource('resize').patch('web', patch);
    await world.cluster.settle();
    return { ...world, before, after: await world.pods.get('web') };
  };

  test('reports the resources of running containers', async () => {
    const { before } = await resize({}, sized('100m'));
    expect(before.status.containerStatuses).toMatchObject([
      { name: 'app', resources: sized('100m'), allocatedResources: { cpu: '100m', memory: '128Mi' } },
      { name: 'other', resources: {} },
    ]);
    expect(before.status.containerStatuses?.[1]?.allocatedResources).toBeUndefined();
  });

  test('reports changed resources without a restart', async () => {
    const { before, after } = await resize({}, sized('200m'));
    expect(after.status.containerStatuses?.[0]).toEqual({
      ...before.status.containerStatuses?.[0],
      resources: sized('200m'),
      allocatedResources: { cpu: '200m', memory: '128Mi' },
    });
    expect(after.status.containerStatuses?.[1]).toEqual(before.status.containerStatuses?.[1]);
  });

  test('restarts a container whose policy asks for it', async () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
    const { before, after, reasons } = await resize({ resizePolicy }, sized('100m', '256Mi'));
    const [first] = before.status.containerStatuses ?? [];
    expect(after.status.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      ready: true,
      resources: sized('100m', '256Mi'),
      state: { running: { startedAt: NOW } },
      lastState: { terminated: { exitCode: 137, reason: 'Error', containerID: first?.containerID } },
    });
    expect(after.status.containerStatuses?.[0]?.containerID).not.toBe(first?.containerID);
    expect(await reasons()).toContain('Killing: Container app resize requires restart');
  });

  test('does not restart a container if the resource with that policy does not change', async () => {
    const resizePolicy = [{ resourceName: 'memory', restartPolicy: 'RestartContainer' as const }];
    const { after } = await resize({ resizePolicy }, sized('300m'));
    expect(after.status.containerStatuses?.[0]).toMatchObject({ restartCount: 0, resources: sized('300m') });
  });
});

describe('the system of simulated nodes', () => {
  const labels = {
    'beta.orch.io/arch': 'amd64',
    'beta.orch.io/os': 'linux',
    'orch.io/arch': 'amd64',
    'orch.io/os': 'linux',
  };
  const nodeInfo = {
    kubeletVersion: expect.stringMatching(/^v1\.33\.\d+$/),
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: 'amd64',
    containerRuntimeVersion: expect.stringMatching(/^containerd:\/\//),
    machineID: expect.stringMatching(/^[0-9a-f]{32}$/),
  };

  test('is reported for node-1, which is created with the first pod', async () => {
    const { cluster, pods, nodes } = playground();
    await pods.create(pod('web'));
    await cluster.settle();
    expect(await nodes.get('node-1')).toMatchObject({
      metadata: { labels: { ...labels, 'orch.io/hostname': 'node-1' } },
      status: {
        nodeInfo,
        capacity: { cpu: '32', pods: '110', 'hugepages-2Mi': '0' },
        allocatable: { cpu: '32', pods: '110' },
        addresses: [{ type: 'InternalIP' }, { type: 'Hostname', address: 'node-1' }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
        images: [{ names: [expect.stringContaining('@sha256:'), expect.stringContaining(':')] }],
      },
    });
  });

  test('is added to other nodes, whose own labels are kept', async () => {
    const { cluster, nodes } = playground([...readyPods(), ...nodeStages()]);
    await nodes.create({ metadata: { name: 'a', labels: { 'orch.io/arch': 'arm64', disk: 'ssd' } } });
    await cluster.settle();
    const node = await nodes.get('a');
    expect(node.metadata.labels).toEqual({
      ...labels,
      'orch.io/arch': 'arm64',
      'orch.io/hostname': 'a',
      disk: 'ssd',
    });
    expect(node.status.nodeInfo).toMatchObject(nodeInfo);
  });

  test('is not replaced on nodes that report it themselves', async () => {
    const { cluster, nodes } = playground([...readyPods(), ...nodeStages()]);
    const own = {
      machineID: 'm',
      systemUUID: 's',
      bootID: 'b',
      kernelVersion: '5.10.0',
      osImage: 'Own',
      containerRuntimeVersion: 'cri-o://1.30',
      kubeletVersion: 'v1.30.1',
      kubeProxyVersion: 'v1.30.1',
      operatingSystem: 'linux',
      architecture: 'arm64',
    };
    await nodes.create({ metadata: { name: 'a' }, status: { nodeInfo: own } });
    await cluster.settle();
    const { status } = await nodes.get('a');
    expect(status.nodeInfo).toEqual(own);
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
  });
});
