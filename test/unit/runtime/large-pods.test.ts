/** Pods of one request whose containers would use up memory, and pods that their node rejects again and again. */
import { expect, test, vi } from 'vitest';
import { ConfigMap, Pod, ReplicaSet } from '../../../src/kinds/index.js';
import { commandBudget } from '../../../src/runtime/commands.js';
import type { Volume } from '../../../src/runtime/files/file-tree.js';
import type { Program } from '../../../src/runtime/index.js';
import { cpuTimer } from '../../fixtures/cpu-time.js';
import { idle, type RunningCluster, runningCluster } from './fixture.js';

const items = <Item>(count: number, itemAt: (index: number) => Item) =>
  Array.from({ length: count }, (_, at) => itemAt(at));

/** The messages of the containers that cannot be created. */
async function refusals(running: RunningCluster, name: string): Promise<readonly string[]> {
  const { containerStatuses = [] } = (await running.pod(name)).status;
  return containerStatuses.flatMap(({ state: { waiting } }) =>
    waiting?.reason === 'CreateContainerConfigError' ? [waiting.message ?? ''] : [],
  );
}

test('refuses paths from variables that are longer than those of Linux', async () => {
  await using running = runningCluster({ idle });
  const env = [{ name: 'A', value: 'x'.repeat(100_000) }];
  const volumeMounts = items(2_000, (at) => ({ name: 'v', mountPath: `/a/${at}`, subPathExpr: '$(A)'.repeat(20) }));
  const volumes = [{ name: 'v', emptyDir: {} }];
  const before = process.memoryUsage().rss;
  await running.start('p', 'idle', { volumes, containers: [{ name: 'c', image: 'idle', env, volumeMounts }] });
  expect(await refusals(running, 'p')).toEqual([expect.stringMatching(/^file name too long/)]);
  expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000);
});

test('counts paths from variables with the other texts of a container', async () => {
  await using running = runningCluster({ idle });
  const env = [{ name: 'A', value: 'x'.repeat(4_000) }];
  const volumeMounts = items(3_000, (at) => ({ name: 'v', mountPath: `/a/${at}`, subPathExpr: '$(A)' }));
  const volumes = [{ name: 'v', emptyDir: {} }];
  await running.start('p', 'idle', { volumes, containers: [{ name: 'c', image: 'idle', env, volumeMounts }] });
  expect(await refusals(running, 'p')).toEqual([expect.stringMatching(/^argument list too long/)]);
});

test('limits the variables of all containers of a pod together', async () => {
  await using running = runningCluster({ idle });
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'long' }, data: { a: 'x'.repeat(1_000_000) } });
  const envFrom = items(8, (at) => ({ prefix: `A${at}`, configMapRef: { name: 'long' } }));
  const containers = items(100, (at) => ({ name: `c${at}`, image: 'idle', envFrom }));
  await running.start('p', 'idle', { containers });
  // Four have eight million characters each.
  expect(await refusals(running, 'p')).toHaveLength(96);
});

test('returns the variables of a container that has ended to the other containers of the pod', async () => {
  await using running = runningCluster({ idle, ends: () => undefined });
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'long' }, data: { a: 'x'.repeat(1_000_000) } });
  const envFrom = items(8, (at) => ({ prefix: `A${at}`, configMapRef: { name: 'long' } }));
  const initContainers = items(8, (at) => ({ name: `i${at}`, image: 'ends', envFrom }));
  await running.start('p', 'idle', { initContainers, containers: [{ name: 'c', image: 'idle', envFrom }] });
  expect((await running.pod('p')).status.phase).toBe('Running');
});

test('writes the hosts of a pod once for all of its containers', async () => {
  await using running = runningCluster({ idle });
  const hostAliases = items(20_000, (at) => ({ ip: '1.2.3.4', hostnames: [`a${at}`, 'b'] }));
  const containers = items(200, (at) => ({ name: `c${at}`, image: 'idle' }));
  const spentMs = cpuTimer();
  await running.start('p', 'idle', { hostAliases, containers });
  expect((await running.pod('p')).status.phase).toBe('Running');
  expect(spentMs()).toBeLessThan(3_000);
});

test('does not start a pod of more than 1,000 containers', async () => {
  await using running = runningCluster({ idle });
  const containers = items(1_001, (at) => ({ name: `c${at}`, image: 'idle' }));
  await running.start('p', 'idle', { containers });
  expect((await running.pod('p')).status.phase).toBe('Pending');
  expect(await running.events('p')).toEqual([
    'FailedCreatePodSandBox the runtime runs at most 1000 containers of a pod',
  ]);
});

test('delays the rejection of pods whose owner replaces them on the same node', async () => {
  await using running = runningCluster({ idle });
  await running.cluster.settle();
  const resources = { requests: { cpu: '100000' } };
  const spec = { nodeName: 'node-1', containers: [{ name: 'c', image: 'idle', resources }] };
  const labels = { a: 'b' };
  await running.cluster.api(ReplicaSet).create({
    metadata: { name: 'r' },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
  await running.advance(10 * 60_000);
  const { items: pods } = await running.cluster.api(Pod).list();
  const rejected = pods.filter(({ status }) => status.reason === 'OutOfcpu');
  expect(rejected.length).toBeGreaterThan(2);
  expect(rejected.length).toBeLessThan(25);

  // Those that wait for their rejection use nothing of the node.
  await running.start('small', 'idle', {
    nodeName: 'node-1',
    containers: [{ name: 'c', image: 'idle', resources: { requests: { cpu: '1' } } }],
  });
  expect((await running.pod('small')).status.phase).toBe('Running');
});

test('keeps the files of a volume once, however many subPaths and containers mount it', async () => {
  const mounted: Volume[][] = [];
  const program: Program = ({ files, untilStopped }) => {
    mounted.push(files.mounts.filter(({ subPath }) => subPath !== '').map(({ volume }) => volume));
    return untilStopped();
  };
  await using running = runningCluster({ program });
  await running.cluster.api(ConfigMap).create({ metadata: { name: 'map' }, data: { a: 'x' } });
  const fields = { items: [{ path: 'a', fieldRef: { fieldPath: 'metadata.name' } }] };
  const volumes = [
    { name: 'projected', projected: { sources: [{ configMap: { name: 'map' } }, { downwardAPI: fields }] } },
    { name: 'fields', downwardAPI: fields },
  ];
  for (const { name } of volumes) {
    const volumeMounts = items(3, (at) => ({ name, mountPath: `/m${at}`, subPath: 'a' }));
    // The status of the pod changes between the starts.
    const initContainers = items(2, (at) => ({
      name: `i${at}`,
      image: 'program',
      restartPolicy: 'Always' as const,
      volumeMounts,
    }));
    const containers = items(2, (at) => ({ name: `c${at}`, image: 'program', volumeMounts }));
    mounted.length = 0;
    await running.start(name, 'program', { volumes, initContainers, containers });
    expect(mounted).toHaveLength(4);
    for (const each of mounted) expect(new Set(each).size).toBe(1);
    expect(new Set(mounted.flat().map((volume) => volume.entries())).size).toBe(1);
  }
});

test('asks for time in the turn of the event loop before it starts a container', async () => {
  await using running = runningCluster({ idle });
  const untilFree = vi.spyOn(commandBudget, 'untilFree');
  await running.start('p', 'idle', { containers: items(20, (at) => ({ name: `c${at}`, image: 'idle' })) });
  expect(untilFree.mock.calls.length).toBeGreaterThanOrEqual(20);
  vi.restoreAllMocks();
  expect((await running.pod('p')).status.phase).toBe('Running');
});
