/** Node lifecycle controller: nodes that do not respond, taints of conditions, labels, zones and rates. */
import { type NodeLifecycleOptions, nodeLifecycle } from 'orchplane/controllers';
import { CoreEvent, Lease, Node, Pod } from 'orchplane/kinds';
import { afterEach, describe, expect, test } from 'vitest';
import { NodeWorld } from './node-world.js';

let world: NodeWorld;
afterEach(async () => {
  expect(world.complaints).toEqual([]);
  await world.close();
});

/** The first examination takes place at the start, without nodes; the others follow every five seconds. */
async function start(options?: NodeLifecycleOptions) {
  world = new NodeWorld([nodeLifecycle(options)]);
  await world.cluster.settle();
}

async function runPod(name: string, nodeName: string) {
  await world.cluster
    .api(Pod)
    .create({ metadata: { name }, spec: { nodeName, containers: [{ name: 'c', image: 'i' }] } });
  await world.run(name);
}

const readyOf = async (pod: string) =>
  (await world.pod(pod)).status.conditions?.find(({ type }) => type === 'Ready')?.status;

describe('nodes that do not respond', () => {
  test('become Unknown 50 seconds after their last sign of life', async () => {
    await start();
    await world.ready('a');
    await world.ready('b');
    await world.live(30, 'a', 'b');
    // The last renewal was 20 seconds after the start.
    await world.live(35, 'b');
    expect(await world.conditions('a')).toEqual({ Ready: 'True' });
    await world.live(5, 'b');
    expect(await world.conditions('a')).toEqual({
      Ready: 'Unknown',
      MemoryPressure: 'Unknown',
      DiskPressure: 'Unknown',
      PIDPressure: 'Unknown',
    });
    expect((await world.nodeNamed('a')).status.conditions).toMatchObject([
      {
        type: 'Ready',
        reason: 'NodeStatusUnknown',
        message: 'Kubelet stopped posting node status.',
        lastHeartbeatTime: '2030-01-01T00:00:00Z',
        lastTransitionTime: world.timeNow(),
      },
      {
        type: 'MemoryPressure',
        reason: 'NodeStatusNeverUpdated',
        message: 'Kubelet never posted node status.',
        lastHeartbeatTime: (await world.nodeNamed('a')).metadata.creationTimestamp,
        lastTransitionTime: world.timeNow(),
      },
      { type: 'DiskPressure' },
      { type: 'PIDPressure' },
    ]);
    expect(await world.conditions('b')).toEqual({ Ready: 'True' });
  });

  test('get the NoSchedule taint at once and the NoExecute taint with the next examination', async () => {
    await start();
    await world.ready('a');
    await world.ready('b');
    await world.live(54, 'b');
    expect(await world.taints('a')).toEqual([]);
    await world.advance(1);
    expect(await world.conditions('a')).toMatchObject({ Ready: 'Unknown' });
    expect(await world.taints('a')).toEqual(['unreachable:NoSchedule']);
    await world.advance(4);
    expect(await world.taints('a')).toEqual(['unreachable:NoSchedule']);
    await world.advance(1);
    expect(await world.taints('a')).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
    const [taint] = (await world.nodeNamed('a')).spec.taints ?? [];
    expect(taint?.timeAdded).toMatch(/^2030-01-01T00:0/);
    expect(await world.taints('b')).toEqual([]);
  });

  test('lose all taints of the controller when they report again', async () => {
    await start();
    await world.ready('a');
    await world.ready('b');
    await world.live(70, 'b');
    expect(await world.taints('a')).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
    await world.report('a');
    expect(await world.taints('a')).toEqual(['unreachable:NoExecute']);
    await world.live(5, 'a', 'b');
    expect(await world.taints('a')).toEqual([]);
  });

  test('make their pods unready, with an event for each', async () => {
    await start();
    await world.ready('a');
    await world.ready('b');
    await runPod('on-a', 'a');
    await runPod('on-b', 'b');
    await world.live(60, 'b');
    expect([await readyOf('on-a'), await readyOf('on-b')]).toEqual(['False', 'True']);
    expect((await world.eventsOf('node-controller')).sort()).toEqual([
      'NodeNotReady: Node a status is now: NodeNotReady',
      'NodeNotReady: Node is not ready',
      'RegisteredNode: Node a event: Registered Node a in Controller',
      'RegisteredNode: Node b event: Registered Node b in Controller',
    ]);
    await world.cluster.api(Pod).create({
      metadata: { name: 'unbound' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    });
    await world.run('unbound');
    await world.bind('unbound', 'a');
    expect(await readyOf('unbound')).toBe('False');
  });

  test('get 60 seconds after their creation if they never reported', async () => {
    await start();
    await world.cluster.api(Node).create({ metadata: { name: 'a' } });
    await world.advance(55);
    expect(await world.conditions('a')).toEqual({});
    await world.advance(5);
    expect(await world.conditions('a')).toMatchObject({ Ready: 'Unknown', PIDPressure: 'Unknown' });
    // The controller reports a transition from ready only.
    expect(await world.eventsOf('node-controller')).toHaveLength(1);
  });

  test('stay ready while their Lease is valid', async () => {
    await start();
    await world.ready('a');
    await world.renew('a', 3_600);
    await world.advance(3_600);
    expect(await world.conditions('a')).toEqual({ Ready: 'True' });
    await world.advance(5);
    expect(await world.conditions('a')).toMatchObject({ Ready: 'Unknown' });
  });

  test('become Unknown when their long Lease is deleted', async () => {
    await start();
    await world.ready('a');
    await world.renew('a', 3_600);
    await world.advance(600);
    await world.cluster.api(Lease, 'kube-node-lease').delete('a');
    await world.advance(5);
    expect(await world.conditions('a')).toMatchObject({ Ready: 'Unknown' });
  });

  test('stay ready if they report their status without a Lease', async () => {
    await start();
    await world.ready('a');
    for (let minute = 0; minute < 5; minute++) {
      await world.advance(45);
      await world.report('a');
    }
    expect(await world.conditions('a')).toEqual({ Ready: 'True' });
  });

  test('keep a NetworkUnavailable condition', async () => {
    await start();
    await world.ready('a');
    const network = { type: 'NetworkUnavailable', status: 'False', reason: 'RouteCreated' };
    await world.report('a', 'True', [network]);
    await world.advance(60);
    expect(await world.conditions('a')).toMatchObject({ Ready: 'Unknown', NetworkUnavailable: 'False' });
  });
});

describe('events', () => {
  test('name nodes that are registered and removed, without a version', async () => {
    await start();
    await world.ready('a');
    expect(await world.eventsOf('node-controller')).toEqual([]);
    await world.advance(5);
    const { uid } = (await world.nodeNamed('a')).metadata;
    await world.cluster.api(Node).delete('a');
    await world.advance(5);
    expect(await world.eventsOf('node-controller')).toEqual([
      'RegisteredNode: Node a event: Registered Node a in Controller',
      'RemovingNode: Node a event: Removing Node a from Controller',
    ]);
    const [event] = (await world.cluster.api(CoreEvent).list()).items;
    expect(event).toMatchObject({
      metadata: { namespace: 'default' },
      type: 'Normal',
      involvedObject: { kind: 'Node', name: 'a', apiVersion: 'v1' },
    });
    expect(event?.involvedObject).toEqual({ kind: 'Node', name: 'a', uid, apiVersion: 'v1' });
  });
});

describe('taints of conditions', () => {
  test('follow the conditions and spec.unschedulable', async () => {
    await start();
    await world.cluster.api(Node).create({ metadata: { name: 'a' }, spec: { unschedulable: true } });
    expect(await world.taints('a')).toEqual(['unschedulable:NoSchedule']);
    const problems = ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable', 'Other'];
    await world.report(
      'a',
      'False',
      problems.map((type) => ({ type, status: 'True' })),
    );
    expect(new Set(await world.taints('a'))).toEqual(
      new Set([
        'not-ready:NoSchedule',
        'memory-pressure:NoSchedule',
        'disk-pressure:NoSchedule',
        'pid-pressure:NoSchedule',
        'network-unavailable:NoSchedule',
        'unschedulable:NoSchedule',
      ]),
    );
    await world.report('a');
    await world.cluster.api(Node).patch('a', { type: 'merge', merge: { spec: { unschedulable: null } } });
    expect(await world.taints('a')).toEqual([]);
  });

  test('leave taints of other clients alone', async () => {
    await start();
    const taints = [
      { key: 'team', value: 'x', effect: 'NoSchedule' as const },
      { key: 'node.orch.io/not-ready', effect: 'NoExecute' as const },
    ];
    await world.cluster.api(Node).create({ metadata: { name: 'a' }, spec: { taints } });
    await world.report('a');
    expect(await world.taints('a')).toEqual(['team:NoSchedule', 'not-ready:NoExecute']);
    // The first examination removes NoExecute taints of the controller.
    await world.advance(5);
    expect(await world.taints('a')).toEqual(['team:NoSchedule']);
  });
});

test('copies the os and arch labels to their beta names', async () => {
  await start();
  const labels = { 'orch.io/os': 'linux', 'orch.io/arch': 'arm64', 'beta.orch.io/arch': 'amd64' };
  await world.cluster.api(Node).create({ metadata: { name: 'a', labels } });
  expect((await world.nodeNamed('a')).metadata.labels).toEqual({
    ...labels,
    'beta.orch.io/os': 'linux',
    'beta.orch.io/arch': 'arm64',
  });
});

describe('disruptions', () => {
  test('do not lead to NoExecute taints if no node is ready', async () => {
    await start();
    await world.ready('a');
    await world.ready('b');
    await world.advance(600);
    expect(await world.taints('a')).toEqual(['unreachable:NoSchedule']);
    expect(await world.taints('b')).toEqual(['unreachable:NoSchedule']);
  });

  test('remove NoExecute taints when the last node is lost', async () => {
    await start();
    await world.ready('a');
    await world.ready('b');
    await world.live(90, 'b');
    expect(await world.taints('a')).toContain('unreachable:NoExecute');
    await world.advance(70);
    expect(await world.taints('a')).toEqual(['unreachable:NoSchedule']);
    // Some node is ready again: the others get another grace period.
    await world.report('b');
    await world.live(30, 'b');
    expect(await world.taints('a')).toEqual(['unreachable:NoSchedule', 'unreachable:NoExecute']);
  });

  test('limit the rate of NoExecute taints to one node in ten seconds', async () => {
    await start({ unhealthyZoneThreshold: 1 });
    for (const name of ['a', 'b', 'c', 'd']) await world.ready(name);
    await world.live(70, 'd');
    const tainted = async () => {
      const all = await Promise.all(['a', 'b', 'c', 'd'].map((name) => world.taints(name)));
      return all.filter((taints) => taints.includes('unreachable:NoExecute')).length;
    };
    const first = await tainted();
    expect(first).toBeLessThan(3);
    await world.live(10, 'd');
    expect(await tainted()).toBe(first + 1);
    await world.live(30, 'd');
    expect(await tainted()).toBe(3);
  });

  test('stop NoExecute taints in a small zone if most of its nodes are lost', async () => {
    await start();
    for (const name of ['a', 'b', 'c', 'd']) await world.ready(name);
    await world.live(300, 'd');
    for (const name of ['a', 'b', 'c']) expect(await world.taints(name)).toEqual(['unreachable:NoSchedule']);
  });

  test('are judged by zone, without nodes that are excluded', async () => {
    await start();
    const zone = (name: string) => ({ 'topology.orch.io/zone': name });
    await world.ready('a1', zone('a'));
    await world.ready('b1', zone('b'));
    await world.ready('b2', { ...zone('b'), 'node.orch.io/exclude-disruption': '' });
    await world.live(120, 'b1', 'b2');
    // The zone a is fully disrupted, but b is not: evictions continue at the normal rate.
    expect(await world.taints('a1')).toContain('unreachable:NoExecute');
    await world.live(120, 'b2');
    expect(await world.taints('a1')).toEqual(['unreachable:NoSchedule']);
  });
});

test('examines nothing while nodes renew their Leases and a day passes', async () => {
  await start();
  await world.ready('a');
  await world.renew('a', 2 * 86_400);
  await world.advance(10);
  let requests = 0;
  world.cluster.use((_request, next) => {
    requests++;
    return next();
  });
  await world.advance(86_400);
  expect(requests).toBe(0);
});

test('rejects options that are unknown or no numbers', async () => {
  await start();
  expect(() => nodeLifecycle({ gracePeriod: 1 } as NodeLifecycleOptions)).toThrow('nodeLifecycle has no option');
  expect(() => nodeLifecycle({ gracePeriodMs: -1 })).toThrow('gracePeriodMs is a number that is not negative, not -1');
  expect(() => nodeLifecycle({ monitorPeriodMs: 0 })).toThrow('monitorPeriodMs');
});
