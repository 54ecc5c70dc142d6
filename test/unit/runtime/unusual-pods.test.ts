/** Pods whose parts disturb each other: failures, odd values, forks and the end of the grace period. */
import { expect, test } from 'vitest';
import { Pod } from '../../../src/kinds/index.js';
import type { Program } from '../../../src/runtime/index.js';
import { idle, runningCluster } from './fixture.js';

test('a failed init container ends a pod although a sidecar runs', async () => {
  await using running = runningCluster({ bad: () => 1, idle });
  await running.start('failed', 'idle', {
    restartPolicy: 'Never',
    initContainers: [
      { name: 'proxy', image: 'idle', restartPolicy: 'Always' },
      { name: 'migrate', image: 'bad' },
    ],
  });
  expect((await running.pod('failed')).status.phase).toBe('Failed');
});

test('a program that throws what cannot be printed fails like others', async () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const itself = new Error('itself');
  itself.cause = itself;
  await using running = runningCluster({
    big: () => {
      throw 1n;
    },
    cyclic: () => {
      throw cyclic;
    },
    itself: () => {
      throw itself;
    },
  });
  for (const image of ['big', 'cyclic', 'itself']) {
    await running.start(image, image, { restartPolicy: 'Never' });
    expect((await running.pod(image)).status.containerStatuses?.[0]?.state.terminated?.exitCode).toBe(1);
  }
});

test('a volume at the path of the termination message does no harm', async () => {
  await using running = runningCluster({ done: () => 0 });
  await running.start('odd', 'done', {
    restartPolicy: 'Never',
    volumes: [{ name: 'scratch', emptyDir: {} }],
    containers: [
      {
        name: 'c',
        image: 'done',
        terminationMessagePath: '/odd',
        volumeMounts: [{ name: 'scratch', mountPath: '/odd' }],
      },
    ],
  });
  expect((await running.pod('odd')).status.phase).toBe('Succeeded');
});

test('a fork does not run containers again that are not restarted', async () => {
  let runs = 0;
  const once: Program = () => {
    runs++;
  };
  await using running = runningCluster({ once, idle });
  await running.start('job', 'once', {
    restartPolicy: 'Never',
    containers: [
      { name: 'done', image: 'once' },
      { name: 'running', image: 'idle' },
    ],
  });
  await using fork = running.cluster.fork();
  await fork.settle();
  expect(runs).toBe(1);
  const { containerStatuses = [], phase } = (await fork.api(Pod).get('job')).status;
  expect(containerStatuses.map(({ state }) => state.terminated?.reason)).toEqual([
    'Completed',
    'ContainerStatusUnknown',
  ]);
  expect(phase).toBe('Failed');
});

test('paths with control characters are refused', async () => {
  await using running = runningCluster({ idle });
  await running.start('bad', 'idle', {
    volumes: [{ name: 'scratch', emptyDir: {} }],
    containers: [{ name: 'c', image: 'idle', volumeMounts: [{ name: 'scratch', mountPath: '/x\trw\n/etc\t/mnt' }] }],
  });
  expect((await running.pod('bad')).status.containerStatuses?.[0]?.state.waiting).toMatchObject({
    reason: 'CreateContainerConfigError',
    message: expect.stringContaining('has control characters'),
  });
});

test('a preStop hook that takes the whole grace period leaves two seconds', async () => {
  const order: string[] = [];
  const stubborn: Program = ({ signal }) =>
    new Promise(() => signal.addEventListener('abort', () => order.push('SIGTERM')));
  await using running = runningCluster({ stubborn });
  await running.start('slow', 'stubborn', {
    terminationGracePeriodSeconds: 5,
    containers: [{ name: 'c', image: 'stubborn', lifecycle: { preStop: { sleep: { seconds: 5 } } } }],
  });
  await running.cluster.api(Pod).delete('slow');
  await running.advance(4_999);
  expect(order).toEqual([]);
  await running.advance(1);
  expect(order).toEqual(['SIGTERM']);
  await running.advance(1_999);
  expect(await running.cluster.api(Pod).find('slow')).toBeDefined();
  await running.advance(1);
  expect(await running.cluster.api(Pod).find('slow')).toBeUndefined();
});

test('exit ends a program in a callback, too, and a sleep that it does not await ends nothing else', async () => {
  await using running = runningCluster({
    // The error of `exit` reaches the caller of the callback only.
    crash: async ({ exit }) => {
      await Promise.resolve()
        .then(() => exit(7))
        .catch(() => undefined);
      await new Promise(() => undefined);
    },
    sleepy: async ({ sleep, untilStopped }) => {
      void sleep(60_000);
      await untilStopped();
    },
  });
  await running.start('crash', 'crash', { restartPolicy: 'Never' });
  const { status } = await running.pod('crash');
  expect(status.containerStatuses?.[0]?.state.terminated).toMatchObject({ exitCode: 7, reason: 'Error' });
  await running.start('sleepy', 'sleepy');
  await running.cluster.api(Pod).delete('sleepy', { gracePeriodSeconds: 1 });
  await running.advance(2_000);
  expect(await running.cluster.api(Pod).find('sleepy')).toBeUndefined();
});
