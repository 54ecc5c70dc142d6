/** Pods whose parts disturb each other: failures, odd values, forks and the end of the grace period. */
import { expect, test } from 'vitest';
import { createFetchHandler } from '../../../src/http/index.js';
import { StatusError } from '../../../src/index.js';
import { Pod } from '../../../src/kinds/index.js';
import type { ProcessImage, Program } from '../../../src/runtime/index.js';
import { printJson } from '../../../src/util/json.js';
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

const CONTAINER = { name: 'c', image: 'idle' };

/** The fields of 64 bits of a pod, with what validation requires beside them. */
const LARGE_FIELDS: Readonly<Record<string, (value: bigint) => object>> = {
  terminationGracePeriodSeconds: (value) => ({ terminationGracePeriodSeconds: value }),
  activeDeadlineSeconds: (value) => ({ activeDeadlineSeconds: value }),
  'postStart.sleep': (value) => ({
    terminationGracePeriodSeconds: value,
    containers: [{ ...CONTAINER, lifecycle: { postStart: { sleep: { seconds: value } } } }],
  }),
  'preStop.sleep': (value) => ({
    terminationGracePeriodSeconds: value,
    containers: [{ ...CONTAINER, lifecycle: { preStop: { sleep: { seconds: value } } } }],
  }),
  'livenessProbe.terminationGracePeriodSeconds': (value) => ({
    containers: [
      {
        ...CONTAINER,
        livenessProbe: { exec: { command: ['missing'] }, failureThreshold: 1, terminationGracePeriodSeconds: value },
      },
    ],
  }),
  'pod security context': (value) => ({
    securityContext: { runAsUser: value, runAsGroup: value, fsGroup: value, supplementalGroups: [value] },
  }),
  'container security context': (value) => ({
    containers: [{ ...CONTAINER, securityContext: { runAsUser: value, runAsGroup: value } }],
  }),
  tolerationSeconds: (value) => ({
    tolerations: [{ key: 'a', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: value }],
  }),
  expirationSeconds: (value) => ({
    volumes: [
      { name: 'v', projected: { sources: [{ serviceAccountToken: { path: 'token', expirationSeconds: value } }] } },
    ],
  }),
};

test.each([
  ['the largest value as', 2n ** 63n - 1n],
  ['a value above 2^53 as', 2n ** 53n + 1n],
  ['the least value as', -(2n ** 63n)],
])('%s any field of 64 bits disturbs no controller and no pod', { timeout: 120_000 }, async (_what, value) => {
  const errors = new Set<string>();
  const onRejection = (reason: unknown) => void errors.add(`unhandled: ${reason}`);
  process.on('unhandledRejection', onRejection);
  await using running = runningCluster({ idle }, {}, (error, context) => {
    // The server refuses pods of templates with such values, and the revision after the largest one.
    if (!StatusError.is(error)) errors.add(`${context}: ${error}`);
  });
  const { cluster } = running;
  await cluster.settle();
  const handler = createFetchHandler(cluster);
  const send = async (method: string, path: string, object: object) => {
    const headers = { 'content-type': 'application/json' };
    const { status } = await handler(
      new Request(`http://cluster.local${path}`, { method, headers, body: printJson(object) }),
    );
    expect(status).toBeLessThan(500);
    return status;
  };
  const selector = { matchLabels: { app: 'x' } };
  const accepted: string[] = [];
  for (const [at, [name, fields]] of Object.entries(LARGE_FIELDS).entries()) {
    const spec = { containers: [CONTAINER], ...fields(value) };
    const metadata = { name: `p${at}`, generation: value, deletionGracePeriodSeconds: value };
    if ((await send('POST', '/api/v1/namespaces/default/pods', { metadata, spec })) === 201) accepted.push(name);
    const template = { metadata: { labels: { app: `x` } }, spec };
    for (const resource of ['deployments', 'replicasets', 'statefulsets', 'daemonsets']) {
      const workload = { metadata, spec: { selector, serviceName: 'x', template } };
      await send('POST', `/apis/apps/v1/namespaces/default/${resource}`, workload);
    }
    const job = { activeDeadlineSeconds: value, template: { spec: { ...spec, restartPolicy: 'Never' } } };
    await send('POST', '/apis/batch/v1/namespaces/default/jobs', { metadata, spec: job });
    const cronJob = { schedule: '* * * * *', startingDeadlineSeconds: value, jobTemplate: { spec: job } };
    await send('POST', '/apis/batch/v1/namespaces/default/cronjobs', { metadata, spec: cronJob });
  }
  // They belong to the sets.
  for (const revision of [value, value - 1n]) {
    const metadata = { name: `r${revision}`.replace('-', 'm'), labels: { app: 'x' } };
    await send('POST', '/apis/apps/v1/namespaces/default/controllerrevisions', { metadata, data: {}, revision });
  }
  const devices = {
    requests: [{ name: 'r', exactly: { deviceClassName: 'none', allocationMode: 'ExactCount', count: value } }],
  };
  await send('POST', '/apis/resource.k8s.io/v1beta2/namespaces/default/resourceclaims', {
    metadata: { name: 'claim' },
    spec: { devices },
  });
  await running.advance(90_000);
  const listed = await handler(new Request('http://cluster.local/api/v1/nodes/node-1/proxy/pods'));
  expect(listed.status).toBe(200);
  expect(await listed.text()).toContain(`:${value}`);
  for (const at of Object.keys(Object.keys(LARGE_FIELDS))) {
    await send('DELETE', `/api/v1/namespaces/default/pods/p${at}`, { gracePeriodSeconds: value });
  }
  await running.advance(90_000);
  process.off('unhandledRejection', onRejection);
  expect([...errors]).toEqual([]);
  expect(accepted).toContain(value > 0n ? 'postStart.sleep' : 'tolerationSeconds');
});

test('a process that breaks its contract is reported with the name of its pod, and others go on', async () => {
  const errors: string[] = [];
  const broken: ProcessImage = {
    start: () => ({
      started: Promise.reject(new Error('it does not start')),
      exit: Promise.reject(new Error('it does not end')),
      kill: () => undefined,
    }),
  };
  await using running = runningCluster({ broken, idle }, {}, (error, context) => errors.push(`${context}: ${error}`));
  await running.start('odd', 'broken');
  await running.start('usual', 'idle');
  expect(errors).toContain('kubelet: default/odd: Error: it does not start');
  expect(errors).toContain('kubelet: default/odd: Error: it does not end');
  expect((await running.pod('usual')).status.phase).toBe('Running');
});
