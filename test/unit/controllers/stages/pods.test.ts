/**
 * Pod stages in place of a scheduler and a kubelet.
 */
import {
  completes,
  controllers,
  crashLoop,
  evicted,
  nodeStages,
  type ReadyPodsOptions,
  readyPods,
  type Stage,
  slowStart,
  stages,
} from 'orchplane/controllers';
import { CoreEvent, Node, Pod, type PodInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

function playground(rules: readonly Stage[] = readyPods()) {
  const failures: string[] = [];
  const run = controllers([stages(rules)], { onError: (error, about) => failures.push(`${about}: ${error}`) });
  const cluster = testCluster({ controllers: run });
  return { cluster, failures, pods: cluster.api(Pod), nodes: cluster.api(Node) };
}

function pod(name: string, spec: Partial<PodInput['spec']> = {}, labels: Record<string, string> = {}): PodInput {
  return { metadata: { name, labels }, spec: { containers: [{ name: 'app', image: 'nginx:1.29' }], ...spec } };
}

const readyStatus = {
  conditions: [{ type: 'Ready', status: 'True' as const }],
  addresses: [{ type: 'InternalIP', address: '192.168.1.7' }],
};

const NOW = '2030-01-01T00:00:00Z';
const condition = (type: string, status = 'True', more = {}) => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: NOW,
  ...more,
});

describe('readyPods stages', () => {
  test('makes a pod ready at once with one binding, one status update and its events', async () => {
    const { cluster, pods, failures } = playground();
    const writes: string[] = [];
    await pods.create(pod('first'));
    await cluster.settle();
    cluster.use((request, next) => {
      const { verb, resource, subresource } = request;
      if (!['get', 'list', 'watch'].includes(verb)) {
        writes.push([verb, resource.resource, ...(subresource === undefined ? [] : [subresource])].join(' '));
      }
      return next();
    });
    const made = await pods.create(pod('web'));
    await cluster.settle();
    expect(writes.filter((what) => !what.includes('events'))).toEqual([
      'create pods',
      'create pods binding',
      'update pods status',
    ]);
    expect(writes.filter((what) => what.includes('events'))).toEqual(Array(4).fill('create events'));
    const { spec, status } = await pods.get('web');
    expect(spec.nodeName).toBe('node-1');
    const containerID = expect.stringMatching(/^containerd:\/\/[0-9a-f]{64}$/);
    expect(status).toEqual({
      phase: 'Running',
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) =>
        condition(type),
      ),
      hostIP: expect.stringMatching(/^172\./),
      hostIPs: [{ ip: status.hostIP }],
      podIP: '10.244.0.2',
      podIPs: [{ ip: '10.244.0.2' }],
      startTime: NOW,
      containerStatuses: [
        {
          name: 'app',
          state: { running: { startedAt: NOW } },
          lastState: {},
          ready: true,
          restartCount: 0,
          image: 'nginx:1.29',
          imageID: expect.stringMatching(/^nginx@sha256:[0-9a-f]{64}$/),
          containerID,
          started: true,
          resources: {},
        },
      ],
      qosClass: made.status.qosClass,
    });
    expect(failures).toEqual([]);
    await cluster.close();
    expect(cluster.clock.pending).toBe(0);
  });

  test('assigns unique pod IPs, also after a fork, a restore and deletions', async () => {
    const { cluster, pods } = playground();
    for (let nth = 0; nth < 30; nth++) await pods.create(pod(`a${nth}`));
    await cluster.settle();
    const seeded = cluster.snapshot();
    await pods.delete('a3');
    cluster.restore(seeded);
    await using fork = cluster.fork();
    for (const each of [cluster, fork]) {
      for (let nth = 0; nth < 30; nth++) await each.api(Pod).create(pod(`b${nth}`));
      await each.settle();
      const { items } = await each.api(Pod).list();
      expect(new Set(items.map(({ status }) => status.podIP)).size).toBe(60);
    }
  });

  test('gives hostNetwork pods the IP of their node', async () => {
    const { cluster, pods, nodes } = playground();
    await nodes.create({ metadata: { name: 'n' }, status: readyStatus });
    await pods.create(pod('web', { hostNetwork: true }));
    await cluster.settle();
    expect((await pods.get('web')).status).toMatchObject({ podIP: '192.168.1.7', hostIP: '192.168.1.7' });
  });

  test('completes init containers and runs sidecars', async () => {
    const { cluster, pods } = playground();
    await pods.create(
      pod('web', {
        initContainers: [
          { name: 'setup', image: 'busybox' },
          { name: 'proxy', image: 'envoy', restartPolicy: 'Always' },
        ],
      }),
    );
    await cluster.settle();
    const { status } = await pods.get('web');
    expect(status.initContainerStatuses).toMatchObject([
      { name: 'setup', ready: true, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
      { name: 'proxy', ready: true, started: true, state: { running: { startedAt: NOW } } },
    ]);
  });

  test('waits for readiness gates and follows their changes', async () => {
    const { cluster, pods } = playground();
    await pods.create(pod('web', { readinessGates: [{ conditionType: 'example.com/lb' }] }));
    await cluster.settle();
    const ready = async () => (await pods.get('web')).status.conditions?.find(({ type }) => type === 'Ready');
    expect(await ready()).toEqual(
      condition('Ready', 'False', {
        reason: 'ReadinessGatesNotReady',
        message: 'corresponding condition of pod readiness gate "example.com/lb" does not exist.',
      }),
    );
    const setGate = (status: 'True' | 'False') =>
      pods.status.edit('web', (draft) => {
        const others = (draft.status.conditions ?? []).filter(({ type }) => type !== 'example.com/lb');
        draft.status.conditions = [...others, { type: 'example.com/lb', status }];
      });
    await setGate('True');
    await cluster.settle();
    expect(await ready()).toMatchObject({ status: 'True' });
    await cluster.clock.advance(5_000);
    await setGate('False');
    await cluster.settle();
    expect(await ready()).toMatchObject({
      status: 'False',
      message: 'the status of pod readiness gate "example.com/lb" is not "True", but False',
      lastTransitionTime: '2030-01-01T00:00:05Z',
    });
    expect((await pods.get('web')).status.conditions?.map(({ type }) => type)).toContain('example.com/lb');
  });

  test.each<[string, Partial<PodInput['spec']>]>([
    ['scheduling gates', { schedulingGates: [{ name: 'example.com/later' }] }],
    ['another scheduler', { schedulerName: 'mine' }],
  ])('ignores pods with %s', async (_what, spec) => {
    const { cluster, pods } = playground();
    await pods.create(pod('web', spec));
    await cluster.settle();
    expect((await pods.get('web')).spec.nodeName).toBeUndefined();
  });
});

describe('nodes in stages', () => {
  const rules = [...readyPods(), ...nodeStages()];

  test('makes nodes ready, removes their not-ready taint and distributes pods', async () => {
    const { cluster, pods, nodes } = playground(rules);
    for (const name of ['a', 'b', 'c']) await nodes.create({ metadata: { name } });
    await cluster.settle();
    const { spec, status } = await nodes.get('a');
    expect(spec.taints ?? []).toEqual([]);
    expect(status.conditions?.map((each) => `${each.type} ${each.status}`)).toEqual([
      'MemoryPressure False',
      'DiskPressure False',
      'PIDPressure False',
      'Ready True',
    ]);
    for (let nth = 0; nth < 9; nth++) await pods.create(pod(`p${nth}`));
    await cluster.settle();
    const places = (await pods.list()).items.map((each) => each.spec.nodeName);
    expect([...places].sort()).toEqual(['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c', 'c']);
  });

  test.each<[string, Partial<PodInput['spec']>, string]>([
    ['a node selector', { nodeSelector: { disk: 'ssd' } }, 'fast'],
    [
      'node affinity',
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['slow'] }] }],
            },
          },
        },
      },
      'slow',
    ],
    [
      'a toleration',
      { nodeSelector: { gpu: 'yes' }, tolerations: [{ key: 'gpu', operator: 'Exists', effect: 'NoSchedule' }] },
      'gpu',
    ],
  ])('selects a node by %s', async (_what, spec, expected) => {
    const { cluster, pods, nodes } = playground(rules);
    await nodes.create({ metadata: { name: 'fast', labels: { disk: 'ssd' } } });
    await nodes.create({ metadata: { name: 'slow' } });
    await nodes.create({
      metadata: { name: 'gpu', labels: { gpu: 'yes' } },
      spec: { taints: [{ key: 'gpu', effect: 'NoSchedule' }] },
    });
    await cluster.settle();
    await pods.create(pod('web', spec));
    await cluster.settle();
    expect((await pods.get('web')).spec.nodeName).toBe(expected);
  });

  test('reports unsuitable nodes in a condition and uses a node that becomes suitable', async () => {
    const { cluster, pods, nodes } = playground(rules);
    await nodes.create({ metadata: { name: 'a' } });
    await nodes.create({ metadata: { name: 'b' }, spec: { unschedulable: true } });
    await nodes.create({ metadata: { name: 'c' }, spec: { taints: [{ key: 'x', value: 'y', effect: 'NoExecute' }] } });
    await cluster.settle();
    await pods.create(pod('web', { nodeSelector: { disk: 'ssd' } }));
    await cluster.settle();
    expect((await pods.get('web')).status.conditions).toEqual([
      condition('PodScheduled', 'False', {
        reason: 'Unschedulable',
        message:
          "0/3 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {x: y}, 1 node(s) were unschedulable. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
      }),
    ]);
    await nodes.edit('a', (draft) => {
      draft.metadata.labels = { disk: 'ssd' };
    });
    await cluster.settle();
    expect((await pods.get('web')).status.phase).toBe('Running');
  });

  test('schedules no pods without ready nodes when the nodeName option is false', async () => {
    const { cluster, pods, nodes } = playground(readyPods({ nodeName: false }));
    await pods.create(pod('web'));
    await cluster.settle();
    expect((await pods.get('web')).status.conditions).toMatchObject([
      { type: 'PodScheduled', status: 'False', message: 'no nodes available to schedule pods' },
    ]);
    await nodes.create({ metadata: { name: 'a' } });
    await cluster.settle();
    expect((await pods.get('web')).status.conditions?.[0]?.message).toMatch(
      /untolerated taint {node.orch.io\/not-ready: }/,
    );
    await nodes.status.edit('a', (draft) => {
      draft.status.conditions = [{ type: 'Ready', status: 'True' }];
    });
    await cluster.settle();
    expect((await pods.get('web')).spec.nodeName).toBe('a');
  });
});

describe('termination of pods in stages', () => {
  test.each<[ReadyPodsOptions, number]>([
    [{}, 0],
    [{ grace: 'kept' }, 30_000],
  ])('removes a deleted pod with the options %j after %i ms', async (options, afterMs) => {
    const { cluster, pods } = playground(readyPods(options));
    await pods.create(pod('web'));
    await cluster.settle();
    await pods.delete('web');
    if (afterMs > 0) {
      await cluster.clock.advance(afterMs - 1);
      expect((await pods.get('web')).metadata.deletionTimestamp).toBeDefined();
      await cluster.clock.advance(1);
    }
    await cluster.settle();
    expect(await pods.find('web')).toBeUndefined();
  });

  test('applies a shortened grace period', async () => {
    const { cluster, pods } = playground(readyPods({ grace: 'kept' }));
    await pods.create(pod('web'));
    await cluster.settle();
    await pods.delete('web', { gracePeriodSeconds: 100 });
    await cluster.clock.advance(10_000);
    await pods.delete('web', { gracePeriodSeconds: 20 });
    await cluster.clock.advance(9_000);
    expect(await pods.find('web')).toBeDefined();
    await cluster.clock.advance(1_000);
    expect(await pods.find('web')).toBeUndefined();
  });

  test('reports a killed pod as failed before it is removed', async () => {
    const { cluster, pods } = playground(readyPods({ grace: 'kept' }));
    await pods.create(pod('web'));
    await cluster.settle();
    await pods.delete('web');
    const seen: string[] = [];
    const informer = pods.informer();
    await informer.synced;
    informer.subscribe(({ type, object: { metadata, status } }) => {
      const exitCode = status.containerStatuses?.[0]?.state.terminated?.exitCode;
      seen.push(`${type} ${status.phase} ${exitCode}, grace ${metadata.deletionGracePeriodSeconds}`);
    });
    await cluster.clock.advance(30_000);
    expect(seen).toEqual([
      'MODIFIED Failed 137, grace 30',
      'MODIFIED Failed 137, grace 0',
      'DELETED Failed 137, grace 0',
    ]);
  });

  test('fails a deleted pod with a finalizer and removes it with the finalizer', async () => {
    const { cluster, pods } = playground();
    await pods.create({ ...pod('web'), metadata: { name: 'web', finalizers: ['example.com/x'] } });
    await cluster.settle();
    await pods.delete('web');
    await cluster.settle();
    const held = await pods.get('web');
    expect(held.status.phase).toBe('Failed');
    expect(held.status.containerStatuses?.[0]?.state.terminated).toMatchObject({ exitCode: 143, reason: 'Error' });
    expect(held.metadata.deletionGracePeriodSeconds).toBe(0);
    await pods.edit('web', (draft) => {
      draft.metadata.finalizers = [];
    });
    expect(await pods.find('web')).toBeUndefined();
  });

  test.each<['Never' | 'OnFailure', number, string]>([
    ['Never', 0, 'Succeeded'],
    ['Never', 3, 'Failed'],
    ['OnFailure', 0, 'Succeeded'],
  ])('ends a pod with restartPolicy %s and exit code %i as %s', async (restartPolicy, exitCode, phase) => {
    const { cluster, pods } = playground([...completes({ afterMs: 5_000, exitCode }), ...readyPods()]);
    await pods.create(pod('task', { restartPolicy }));
    await cluster.clock.advance(4_999);
    expect((await pods.get('task')).status.phase).toBe('Running');
    await cluster.clock.advance(1);
    const { status } = await pods.get('task');
    expect(status.phase).toBe(phase);
    expect(status.containerStatuses?.[0]?.state.terminated).toMatchObject({
      exitCode,
      reason: exitCode === 0 ? 'Completed' : 'Error',
      startedAt: NOW,
      finishedAt: '2030-01-01T00:00:05Z',
    });
    expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: phase === 'Succeeded' ? 'PodCompleted' : 'PodFailed',
    });
  });

  test('restarts failed containers by policy and prefers pod annotations to the stage options', async () => {
    const { cluster, pods } = playground([...completes({ afterMs: 1_000 }), ...readyPods()]);
    const annotations = { 'orchplane/exit-code': '2', 'orchplane/run-ms': '4000' };
    await pods.create({ ...pod('task', { restartPolicy: 'OnFailure' }), metadata: { name: 'task', annotations } });
    const first = async () => (await pods.get('task')).status.containerStatuses?.[0];
    const lastState = { terminated: { exitCode: 2 } };
    // The first restart is immediate.
    await cluster.clock.advance(4_000);
    expect(await first()).toMatchObject({ state: { running: {} }, lastState, restartCount: 1, ready: true });
    await cluster.clock.advance(4_000);
    expect((await pods.get('task')).status.phase).toBe('Running');
    expect(await first()).toMatchObject({
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState,
      restartCount: 1,
    });
    await cluster.clock.advance(10_000);
    expect(await first()).toMatchObject({ restartCount: 2, ready: true });
  });

  test('does not complete pods with restartPolicy Always', async () => {
    const { cluster, pods } = playground([...completes(), ...readyPods()]);
    await pods.create(pod('web'));
    await cluster.clock.advance(60_000);
    expect((await pods.get('web')).status.phase).toBe('Running');
  });

  test('increases the back-off of a crash loop and ends after the configured restarts', async () => {
    const { cluster, pods } = playground([
      ...crashLoop({ labels: { app: 'bad' }, afterMs: 1_000, times: 3 }),
      ...readyPods(),
    ]);
    await pods.create(pod('bad', {}, { app: 'bad' }));
    await pods.create(pod('good'));
    await cluster.settle();
    const start = cluster.clock.now();
    const restarts: number[] = [];
    for (let second = 0; second < 120; second++) {
      await cluster.clock.advance(1_000);
      const count = (await pods.get('bad')).status.containerStatuses?.[0]?.restartCount ?? 0;
      if (count > restarts.length) restarts.push((cluster.clock.now() - start) / 1_000);
    }
    expect(restarts).toEqual([1, 12, 33]);
    const { status, metadata } = await pods.get('bad');
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
    expect((await pods.get('good')).status.containerStatuses?.[0]?.restartCount).toBe(0);
    await cluster.settle();
    const events = (await cluster.api(CoreEvent).list()).items;
    const aboutBad = events.filter(({ involvedObject }) => involvedObject.name === 'bad');
    expect(aboutBad.map(({ reason, message, count }) => [reason, message, count])).toEqual([
      ['Scheduled', 'Successfully assigned default/bad to node-1', undefined],
      ['Pulled', 'Container image "nginx:1.29" already present on machine', 4],
      ['Created', 'Created container: app', 4],
      ['Started', 'Started container app', 4],
      ['BackOff', `Back-off restarting failed container app in pod bad_default(${metadata.uid})`, 2],
    ]);
  });

  test('never reports a pod as ready that crashes at once', async () => {
    const { cluster, pods } = playground([...crashLoop({ times: 3 }), ...readyPods()]);
    const seen: string[] = [];
    await pods.create(pod('bad'));
    await using informer = pods.informer();
    informer.subscribe(({ object: { status } }) => {
      const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status;
      if (ready !== undefined) seen.push(`${(cluster.clock.now() - Date.UTC(2030, 0, 1)) / 1_000} ${ready}`);
    });
    await cluster.clock.advance(120_000);
    expect(seen).toEqual(['0 False', '0 False', '10 False', '30 True']);
    expect((await pods.get('bad')).status.containerStatuses?.[0]?.restartCount).toBe(3);
  });

  test('reports the back-off in the container state and makes the pod unready', async () => {
    const { cluster, pods } = playground([...crashLoop(), ...readyPods()]);
    await pods.create(pod('bad'));
    await cluster.settle();
    const { status, metadata } = await pods.get('bad');
    expect(status.phase).toBe('Running');
    expect(status.containerStatuses?.[0]?.state.waiting).toEqual({
      reason: 'CrashLoopBackOff',
      message: `back-off 10s restarting failed container=app pod=bad_default(${metadata.uid})`,
    });
    expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [app]',
    });
  });

  test('fails an evicted pod', async () => {
    const { cluster, pods } = playground([...evicted({ labels: 'batch', afterMs: 60_000 }), ...readyPods()]);
    await pods.create(pod('web', {}, { batch: 'yes' }));
    await cluster.clock.advance(60_000);
    const { status } = await pods.get('web');
    expect(status).toMatchObject({
      phase: 'Failed',
      reason: 'Evicted',
      message: 'The node was low on resource: memory.',
    });
    expect(status.conditions?.[0]).toMatchObject({
      type: 'DisruptionTarget',
      status: 'True',
      reason: 'TerminationByKubelet',
    });
  });
});

test('moves a slowly starting pod from Pending to Running to Ready', async () => {
  const { cluster, pods } = playground([...slowStart({ pullMs: 3_000, startMs: 2_000 }), ...readyPods()]);
  await pods.create(pod('db', { initContainers: [{ name: 'setup', image: 'busybox' }] }));
  await cluster.settle();
  const readProgress = async () => {
    const { status } = await pods.get('db');
    const [container] = status.containerStatuses ?? [];
    const ready = status.conditions?.find(({ type }) => type === 'Ready');
    return [status.phase, container?.state.waiting?.reason ?? Object.keys(container?.state ?? {})[0], ready?.status];
  };
  expect(await readProgress()).toEqual(['Pending', 'PodInitializing', 'False']);
  expect((await pods.get('db')).status.conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({
    status: 'False',
    message: 'containers with incomplete status: [setup]',
  });
  await cluster.clock.advance(3_000);
  expect(await readProgress()).toEqual(['Running', 'running', 'False']);
  await cluster.clock.advance(1_999);
  expect(await readProgress()).toEqual(['Running', 'running', 'False']);
  await cluster.clock.advance(1);
  expect(await readProgress()).toEqual(['Running', 'running', 'True']);
});

test('runs pods in the kubernetes dialect', async () => {
  const cluster = testCluster({ dialect: 'kubernetes', controllers: controllers([stages()]) });
  await cluster.api(Node).create({ metadata: { name: 'a' } });
  await cluster.api(Pod).create(pod('web'));
  await cluster.settle();
  expect((await cluster.api(Pod).get('web')).status.phase).toBe('Running');
  expect((await cluster.api(Node).get('a')).spec.taints ?? []).toEqual([]);
  await cluster.close();
});

test('rejects an unknown grace option', () => {
  expect(() => readyPods({ grace: 'keep' as never })).toThrow("grace of pods is 'prompt' or 'kept', not \"keep\"");
});
