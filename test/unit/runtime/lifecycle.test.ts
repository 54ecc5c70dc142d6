import { expect, test } from 'vitest';
import { Pod } from '../../../src/kinds/index.js';
import type { ProcessImage, Program } from '../../../src/runtime/index.js';
import { idle, runningCluster } from './fixture.js';

test('a pod that has ended has its exit code, its times and its reason', async () => {
  await using running = runningCluster({ job: async ({ sleep }) => sleep(5_000), bad: () => 3 });
  await running.start('good', 'job', { restartPolicy: 'Never' });
  expect((await running.pod('good')).status).toMatchObject({ phase: 'Running', podIP: '10.244.0.1' });
  await running.advance(5_000);
  const { status } = await running.pod('good');
  expect(status.phase).toBe('Succeeded');
  expect(status.containerStatuses?.[0]).toMatchObject({
    ready: false,
    started: false,
    restartCount: 0,
    state: {
      terminated: {
        exitCode: 0,
        reason: 'Completed',
        startedAt: '2026-01-01T00:00:00Z',
        finishedAt: '2026-01-01T00:00:05Z',
      },
    },
  });
  expect(status.conditions?.find(({ type }) => type === 'Ready')).toMatchObject({
    status: 'False',
    reason: 'PodCompleted',
  });
  await running.start('failed', 'bad', { restartPolicy: 'Never' });
  const failed = await running.pod('failed');
  expect(failed.status.phase).toBe('Failed');
  expect(failed.status.containerStatuses?.[0]?.state.terminated).toMatchObject({ exitCode: 3, reason: 'Error' });
});

test('a container that crashes is restarted at once, then with a back-off that doubles', async () => {
  let runs = 0;
  await using running = runningCluster({
    bad: () => {
      runs++;
      throw new Error(`no database in run ${runs}`);
    },
  });
  await running.start('loop', 'bad');
  expect(runs).toBe(2);
  const { uid } = (await running.pod('loop')).metadata;
  const { status } = await running.pod('loop');
  expect(status.phase).toBe('Running');
  expect(status.containerStatuses?.[0]).toMatchObject({
    restartCount: 1,
    ready: false,
    state: {
      waiting: {
        reason: 'CrashLoopBackOff',
        message: `back-off 10s restarting failed container=c pod=loop_default(${uid})`,
      },
    },
    lastState: { terminated: { exitCode: 1, reason: 'Error' } },
  });
  await running.advance(9_999);
  expect(runs).toBe(2);
  await running.advance(1);
  expect(runs).toBe(3);
  await running.advance(19_999);
  expect(runs).toBe(3);
  await running.advance(1);
  expect(runs).toBe(4);
  expect((await running.pod('loop')).status.containerStatuses?.[0]?.restartCount).toBe(3);
  // While it waits, both are the log of the last run.
  expect(await running.cluster.logs('loop').text()).toMatch(/^Error: no database in run 4\n/);
  expect(await running.cluster.logs('loop', { previous: true }).text()).toMatch(/^Error: no database in run 4\n/);
  expect(await running.events('loop')).toContain(
    `BackOff Back-off restarting failed container c in pod loop_default(${uid}) (x3)`,
  );
});

test('a restart counts when the container has started again', async () => {
  const [firstRun, secondStart] = [pending(), pending()];
  let runs = 0;
  const slow: ProcessImage = {
    start() {
      const exit = runs++ === 0 ? firstRun.promise : pending().promise;
      const process = { exit: exit.then((exitCode) => ({ exitCode })), kill: () => secondStart.end(0) };
      return runs === 1 ? process : { ...process, started: secondStart.promise.then(() => undefined) };
    },
  };
  const running = runningCluster({ slow });
  const starting = running.start('slow', 'slow');
  const status = async () => (await running.pod('slow')).status.containerStatuses?.[0];
  await expect.poll(() => status()).toMatchObject({ ready: true, restartCount: 0 });
  firstRun.end(1);
  await expect.poll(() => status()).toMatchObject({ lastState: { terminated: { exitCode: 1 } } });
  expect(runs).toBe(2);
  expect(await status()).toMatchObject({ restartCount: 0, ready: false });
  secondStart.end(0);
  await expect.poll(async () => (await status())?.restartCount).toBe(1);
  expect(await status()).toMatchObject({ ready: true, state: { running: {} } });
  await running.cluster.close();
  await starting.catch(() => undefined);
});

test('OnFailure restarts a failed container until it succeeds', async () => {
  let runs = 0;
  await using running = runningCluster({ flaky: () => (++runs < 2 ? 1 : 0) });
  await running.start('flaky', 'flaky', { restartPolicy: 'OnFailure' });
  const { status } = await running.pod('flaky');
  expect(status.phase).toBe('Succeeded');
  expect(status.containerStatuses?.[0]).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 1 } } });
});

test('init containers run one after the other, sidecars before the containers and until these have ended', async () => {
  const order: string[] = [];
  const note: Program = async ({ name, sleep }) => {
    order.push(`${name} begins`);
    await sleep(1_000);
    order.push(`${name} ends`);
  };
  const sidecar: Program = async ({ name, untilStopped }) => {
    order.push(`${name} begins`);
    await untilStopped();
    order.push(`${name} ends`);
  };
  await using running = runningCluster({ note, sidecar });
  await running.start('staged', 'note', {
    restartPolicy: 'Never',
    initContainers: [
      { name: 'first', image: 'note' },
      { name: 'proxy', image: 'sidecar', restartPolicy: 'Always' },
      { name: 'second', image: 'note' },
    ],
  });
  const pending = await running.pod('staged');
  expect(pending.status.phase).toBe('Pending');
  expect(pending.status.conditions?.find(({ type }) => type === 'Initialized')).toMatchObject({
    status: 'False',
    reason: 'ContainersNotInitialized',
    message: 'containers with incomplete status: [first proxy second]',
  });
  expect(pending.status.containerStatuses?.[0]?.state.waiting?.reason).toBe('PodInitializing');
  await running.advance(1_000);
  await running.advance(1_000);
  expect((await running.pod('staged')).status.phase).toBe('Running');
  await running.advance(1_000);
  expect(order).toEqual([
    'first begins',
    'first ends',
    'proxy begins',
    'second begins',
    'second ends',
    'c begins',
    'c ends',
    'proxy ends',
  ]);
  expect((await running.pod('staged')).status.phase).toBe('Succeeded');
});

test('a failed init container fails a pod that is never restarted', async () => {
  await using running = runningCluster({ bad: () => 7, idle });
  await running.start('failed', 'idle', { restartPolicy: 'Never', initContainers: [{ name: 'init', image: 'bad' }] });
  const { status } = await running.pod('failed');
  expect(status.phase).toBe('Failed');
  expect(status.initContainerStatuses?.[0]?.state.terminated?.exitCode).toBe(7);
});

test('a deleted pod gets SIGTERM, its preStop hook and its grace period', async () => {
  const order: string[] = [];
  const stubborn: Program = ({ signal }) =>
    new Promise(() => signal.addEventListener('abort', () => order.push('SIGTERM')));
  await using running = runningCluster({
    stubborn: { run: stubborn, commands: { drain: () => void order.push('drain') } },
    idle,
  });
  await running.start('slow', 'stubborn', {
    terminationGracePeriodSeconds: 20,
    containers: [{ name: 'c', image: 'stubborn', lifecycle: { preStop: { exec: { command: ['drain', 'now'] } } } }],
  });
  await running.start('polite', 'idle');
  const watch = running.cluster.api(Pod).watch({ fields: { 'metadata.name': 'slow' } });
  await running.cluster.api(Pod).delete('polite');
  await running.cluster.api(Pod).delete('slow');
  await running.cluster.settle();
  expect(await running.cluster.api(Pod).find('polite')).toBeUndefined();
  expect(order).toEqual(['drain', 'SIGTERM']);
  await running.advance(19_999);
  expect(await running.cluster.api(Pod).find('slow')).toBeDefined();
  await running.advance(1);
  expect(await running.cluster.api(Pod).find('slow')).toBeUndefined();
  let last: unknown;
  for await (const event of watch) {
    last = event.object;
    if (event.type === 'DELETED') break;
  }
  expect(last).toMatchObject({
    status: { phase: 'Failed', containerStatuses: [{ state: { terminated: { exitCode: 137, reason: 'Error' } } }] },
  });
  expect(await running.events('slow')).toContain('Killing Stopping container c');
});

test('activeDeadlineSeconds ends a pod', async () => {
  await using running = runningCluster({ idle });
  await running.start('limited', 'idle', { activeDeadlineSeconds: 30, terminationGracePeriodSeconds: 1 });
  await running.advance(30_000);
  expect((await running.pod('limited')).status).toMatchObject({
    phase: 'Failed',
    reason: 'DeadlineExceeded',
    message: 'Pod was active on the node longer than the specified deadline',
  });
});

test('an unknown image is pulled again and again', async () => {
  await using running = runningCluster({ idle });
  await running.start('unknown', 'nowhere/none:1');
  const { status } = await running.pod('unknown');
  expect(status.phase).toBe('Pending');
  expect(status.containerStatuses?.[0]?.state.waiting).toMatchObject({ reason: 'ImagePullBackOff' });
  expect(await running.events('unknown')).toEqual([
    'Pulling Pulling image "nowhere/none:1"',
    expect.stringMatching(/^Failed Failed to pull image "nowhere\/none:1": .*not found$/),
    'Failed Error: ErrImagePull',
    'BackOff Back-off pulling image "nowhere/none:1"',
    'Failed Error: ImagePullBackOff',
  ]);
  await running.start('never', 'nowhere/none:1', {
    containers: [{ name: 'c', image: 'nowhere/none:1', imagePullPolicy: 'Never' }],
  });
  expect((await running.pod('never')).status.containerStatuses?.[0]?.state.waiting).toEqual({
    reason: 'ErrImageNeverPull',
    message: 'Container image "nowhere/none:1" is not present with pull policy of Never',
  });
});

test('probes decide about readiness and restarts', async () => {
  let isReady = false;
  let isAlive = true;
  const web: Program = async ({ listen, untilStopped }) => {
    listen(80, ({ url }) => {
      const path = new URL(url).pathname;
      return new Response(null, { status: (path === '/ready' ? isReady : isAlive) ? 200 : 503 });
    });
    await untilStopped();
  };
  await using running = runningCluster({ web });
  await running.start('web', 'web', {
    containers: [
      {
        name: 'c',
        image: 'web',
        readinessProbe: { httpGet: { path: '/ready', port: 80 }, periodSeconds: 5 },
        livenessProbe: { httpGet: { path: '/live', port: 80 }, periodSeconds: 10, failureThreshold: 2 },
      },
    ],
  });
  const readiness = async () =>
    (await running.pod('web')).status.conditions?.find(({ type }) => type === 'Ready')?.status;
  expect(await readiness()).toBe('False');
  isReady = true;
  await running.advance(5_000);
  expect(await readiness()).toBe('True');
  isAlive = false;
  await running.advance(20_000);
  expect((await running.pod('web')).status.containerStatuses?.[0]?.restartCount).toBe(1);
  const events = await running.events('web');
  expect(events).toContain('Unhealthy Readiness probe failed: HTTP probe failed with statuscode: 503');
  expect(events).toContain('Killing Container c failed liveness probe, will be restarted');
});

test('a startup probe holds the other probes back', async () => {
  let tries = 0;
  const slow: Program = idle;
  await using running = runningCluster({ slow: { run: slow, commands: { up: () => (++tries < 3 ? 1 : 0) } } });
  await running.start('slow', 'slow', {
    containers: [
      { name: 'c', image: 'slow', startupProbe: { exec: { command: ['up'] }, periodSeconds: 1, failureThreshold: 5 } },
    ],
  });
  const status = async () => (await running.pod('slow')).status.containerStatuses?.[0];
  expect(await status()).toMatchObject({ started: false, ready: false });
  await running.advance(1_000);
  await running.advance(1_000);
  expect(await status()).toMatchObject({ started: true, ready: true, restartCount: 0 });
});

test('a failed postStart hook restarts the container', async () => {
  await using running = runningCluster({ hooked: { run: idle, commands: { prepare: () => 1 } } });
  await running.start('hooked', 'hooked', {
    terminationGracePeriodSeconds: 1,
    containers: [{ name: 'c', image: 'hooked', lifecycle: { postStart: { exec: { command: ['prepare'] } } } }],
  });
  expect(await running.events('hooked')).toContain('FailedPostStartHook PostStartHook failed (x2)');
});

/** A promise of an exit code. */
function pending() {
  let end: (exitCode: number) => void = () => undefined;
  const promise = new Promise<number>((resolve) => {
    end = resolve;
  });
  return { promise, end: (exitCode: number) => end(exitCode) };
}

test('a container that is being stopped does not become ready when its postStart hook ends', async () => {
  const hook = pending();
  const program = pending();
  await using running = runningCluster({
    slow: { run: () => program.promise, commands: { prepare: () => hook.promise } },
  });
  const starting = running.start('slow', 'slow', {
    containers: [{ name: 'c', image: 'slow', lifecycle: { postStart: { exec: { command: ['prepare'] } } } }],
  });
  await expect.poll(async () => (await running.pod('slow')).status.phase).toBe('Running');
  await running.cluster.api(Pod).delete('slow');
  await expect.poll(() => running.events('slow')).toContain('Killing Stopping container c');
  hook.end(0);
  await new Promise((resolve) => void setTimeout(resolve, 20));
  expect((await running.pod('slow')).status.containerStatuses?.[0]).toMatchObject({ ready: false, started: false });
  program.end(0);
  await starting;
  await running.advance(1_000);
  await expect(running.pod('slow')).rejects.toThrow('not found');
});

test('the termination message is that of the file, or the end of the log', async () => {
  await using running = runningCluster({
    writes: ({ files }) => {
      files.write('/dev/termination-log', 'disk full');
      return 4;
    },
    logs: ({ log }) => {
      log('one');
      log('two');
      return 1;
    },
  });
  const containers = (image: string) => [
    { name: 'c', image, terminationMessagePolicy: 'FallbackToLogsOnError' as const },
  ];
  await running.start('writes', 'writes', { restartPolicy: 'Never', containers: containers('writes') });
  await running.start('logs', 'logs', { restartPolicy: 'Never', containers: containers('logs') });
  const message = async (name: string) =>
    (await running.pod(name)).status.containerStatuses?.[0]?.state.terminated?.message;
  expect(await message('writes')).toBe('disk full');
  expect(await message('logs')).toBe('one\ntwo\n');
});

test('a pod that needs more than its node has is rejected', async () => {
  await using running = runningCluster({ idle });
  await running.start('first', 'idle');
  const resources = { requests: { cpu: '33' } };
  await running.start('big', 'idle', { nodeName: 'node-1', containers: [{ name: 'c', image: 'idle', resources }] });
  expect((await running.pod('big')).status).toMatchObject({
    phase: 'Failed',
    reason: 'OutOfcpu',
    message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 33000, used: 0, capacity: 32000",
  });
});

test('closing the cluster stops all programs', async () => {
  const stopped: string[] = [];
  const running = runningCluster({
    forever: ({ name, signal }) => new Promise(() => signal.addEventListener('abort', () => stopped.push(name))),
  });
  await running.start('one', 'forever');
  await running.cluster.close();
  expect(stopped).toEqual(['c']);
});

test('a fork runs its own containers, which count as restarted', async () => {
  let runs = 0;
  await using running = runningCluster({
    counted: async ({ untilStopped }) => {
      runs++;
      await untilStopped();
    },
  });
  await running.start('one', 'counted');
  await using fork = running.cluster.fork();
  await fork.settle();
  expect(runs).toBe(2);
  expect((await fork.api(Pod).get('one')).status.containerStatuses?.[0]).toMatchObject({
    restartCount: 1,
    state: { running: {} },
    lastState: { terminated: { exitCode: 255, reason: 'Unknown' } },
  });
});

test('the first start of a container waits for the pull of its image, restarts do not', async () => {
  let runs = 0;
  const worker: Program = async ({ sleep }) => {
    runs++;
    await sleep(60_000);
  };
  await using running = runningCluster({ worker: { run: worker, pullMs: 2_000 } });
  await running.start('slow', 'worker');
  await running.advance(1_999);
  expect(runs).toBe(0);
  const { status } = await running.pod('slow');
  expect(status).toMatchObject({
    phase: 'Pending',
    containerStatuses: [{ state: { waiting: { reason: 'ContainerCreating' } } }],
  });
  await running.advance(1);
  expect(runs).toBe(1);
  expect((await running.pod('slow')).status.phase).toBe('Running');
  await running.advance(60_000);
  expect(runs).toBe(2);

  await running.start('gone', 'worker');
  await running.cluster.api(Pod).delete('gone');
  await running.advance(0);
  expect(await running.cluster.api(Pod).find('gone')).toBeUndefined();
  await running.advance(2_000);
  expect(runs).toBe(2);
});
