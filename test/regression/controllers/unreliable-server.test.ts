/**
 * Controllers reach their goal despite faults: rejected, delayed or unacknowledged writes, late or broken watches,
 * forks and restores during the work.
 */
import { errors, type Middleware, memoryStorage } from 'orchplane';
import { controllers, replicaSets, stages, standardControllers } from 'orchplane/controllers';
import {
  CoreEvent,
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  Node,
  Pod,
  PodDisruptionBudget,
  ReplicaSet,
  ResourceQuota,
  Service,
  StatefulSet,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

type Request = Parameters<Middleware>[0];
type Response = Awaited<ReturnType<Middleware>>;

interface Faults {
  readonly refused: number;
  /** The write is committed, but the response is an error. */
  readonly lost: number;
  readonly delayed: number;
  /** The maximum number of turns that a watch event is late. */
  readonly lateTurns: number;
}

const READS = ['get', 'list', 'watch'];

function unreliable(random: () => number, faults: Faults) {
  const state = { isOn: true, count: 0 };
  const wait = async (most: number) => {
    for (let turns = Math.floor(random() * most); turns > 0; turns--) await turn();
  };
  const refusal = ({ resource, name = '', verb }: Request) => {
    const all = [
      errors.conflict(resource, name, 'again'),
      errors.timeout('late', 1),
      errors.internal('broken'),
      errors.tooManyRequests('slowly', 2),
      errors.forbidden(resource, name, 'no'),
      errors.serverTimeout(resource, verb, 1),
    ];
    return all[Math.floor(random() * all.length)];
  };
  const late = (response: Response): Response => {
    if (response.type !== 'watch' || faults.lateTurns === 0) return response;
    const { watch } = response;
    const stream = {
      next: async () => {
        const event = await watch.next();
        if (!state.isOn) return event;
        await wait(faults.lateTurns);
        if (random() > 0.005) return event;
        watch.close();
        return { done: true as const, value: undefined };
      },
      close: () => watch.close(),
      [Symbol.asyncIterator]: () => stream,
    };
    return { ...response, watch: stream };
  };
  const middleware: Middleware = async (request, next) => {
    if (!state.isOn) return next();
    const isWrite = !READS.includes(request.verb);
    if (random() < faults.delayed) await wait(12);
    if (isWrite && random() < faults.refused) {
      state.count++;
      throw refusal(request);
    }
    const response = await next();
    if (isWrite && random() < faults.lost) {
      state.count++;
      throw errors.timeout('lost');
    }
    if (random() < faults.delayed) await wait(12);
    return late(response);
  };
  return { state, middleware };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A deterministic random number generator. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const podSpec = { containers: [{ name: 'c', image: 'i' }] };
const ofApp = (app: string) => ({
  selector: { matchLabels: { app } },
  template: { metadata: { labels: { app } }, spec: podSpec },
});

async function retryWrite(write: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await write();
      return;
    } catch (error) {
      if (String(error).includes('already exists')) return;
      if (attempt > 100) throw error;
    }
  }
}

async function build(cluster: TestCluster): Promise<void> {
  await retryWrite(() => cluster.api(Namespace).create({ metadata: { name: 'n' } }));
  for (const name of ['n0', 'n1']) await retryWrite(() => cluster.api(Node).create({ metadata: { name } }));
  const make = {
    deployment: () =>
      cluster.api(Deployment, 'n').create({ metadata: { name: 'd' }, spec: { replicas: 4, ...ofApp('d') } }),
    set: () =>
      cluster
        .api(StatefulSet, 'n')
        .create({ metadata: { name: 's' }, spec: { replicas: 3, serviceName: 's', ...ofApp('s') } }),
    daemons: () => cluster.api(DaemonSet, 'n').create({ metadata: { name: 'ds' }, spec: ofApp('ds') }),
    job: () => {
      const template = { metadata: { labels: { app: 'j' } }, spec: { ...podSpec, restartPolicy: 'Never' } } as const;
      const spec = { completions: 5, parallelism: 2, completionMode: 'Indexed', template } as const;
      return cluster.api(Job, 'n').create({ metadata: { name: 'j' }, spec });
    },
    service: () => {
      const spec = { ports: [{ port: 80 }], selector: { app: 'd' } };
      return cluster.api(Service, 'n').create({ metadata: { name: 'd' }, spec });
    },
    budget: () => {
      const spec = { maxUnavailable: 1, selector: { matchLabels: { app: 'd' } } };
      return cluster.api(PodDisruptionBudget, 'n').create({ metadata: { name: 'd' }, spec });
    },
    quota: () => cluster.api(ResourceQuota, 'n').create({ metadata: { name: 'q' }, spec: { hard: { pods: '100' } } }),
  };
  for (const each of Object.values(make)) await retryWrite(each);
}

/** A summary of the final state. */
async function outcome(cluster: TestCluster) {
  const pods = (await cluster.api(Pod, 'n').list()).items.filter(
    ({ metadata }) => metadata.deletionTimestamp === undefined,
  );
  const ofApp = (app: string) => pods.filter(({ metadata }) => metadata.labels?.app === app);
  const { status: deployment } = await cluster.api(Deployment, 'n').get('d');
  const { status: job } = await cluster.api(Job, 'n').get('j');
  const { status: budget } = await cluster.api(PodDisruptionBudget, 'n').get('d');
  const { status: quota } = await cluster.api(ResourceQuota, 'n').get('q');
  return {
    counts: ['d', 'ds', 'j'].map((app) => ofApp(app).length),
    ordinals: ofApp('s').map(({ metadata }) => metadata.name),
    deployment: [deployment.replicas, deployment.updatedReplicas, deployment.availableReplicas],
    job: [job.completedIndexes, job.succeeded, job.failed ?? 0, job.conditions?.at(-1)?.type],
    held: pods.filter(({ metadata, status }) => status.phase === 'Succeeded' && metadata.finalizers !== undefined)
      .length,
    budget: [budget.currentHealthy, budget.disruptionsAllowed],
    quota: Number(quota.used?.pods),
  };
}

const GOAL = {
  counts: [4, 2, 5],
  ordinals: ['s-0', 's-1', 's-2'],
  deployment: [4, 4, 4],
  job: ['0-4', 5, 0, 'Complete'],
  held: 0,
  budget: [4, 1],
  quota: 9,
};

const world = (options: Parameters<typeof testCluster>[0] = {}) =>
  testCluster({
    ...options,
    controllers: controllers([...standardControllers(), stages()], { accounts: 'own', onError: () => undefined }),
  });

test.each<[string, Faults, number]>([
  ['writes are rejected', { refused: 0.3, lost: 0, delayed: 0, lateTurns: 0 }, 1],
  ['responses are lost', { refused: 0, lost: 0.2, delayed: 0, lateTurns: 0 }, 2],
  ['watches are late and the event log is short', { refused: 0, lost: 0, delayed: 0.3, lateTurns: 20 }, 3],
  ['all faults occur together', { refused: 0.2, lost: 0.1, delayed: 0.3, lateTurns: 20 }, 4],
])('reaches the goal when %s', async (_what, faults, seed) => {
  const cluster = world({ storage: memoryStorage({ history: 5 }) });
  const { state, middleware } = unreliable(numbers(seed), faults);
  cluster.use(middleware);
  await build(cluster);
  for (let step = 0; step < 10; step++) await cluster.clock.advance(13_000);
  await retryWrite(() =>
    cluster.api(Deployment, 'n').edit('d', (draft) => {
      draft.metadata.labels = { ...draft.metadata.labels, seen: 'yes' };
      draft.spec.template.metadata = { labels: { app: 'd', version: '2' } };
    }),
  );
  for (let step = 0; step < 5; step++) await cluster.clock.advance(13_000);
  state.isOn = false;
  await cluster.clock.advance(3_600_000);
  expect(await outcome(cluster)).toEqual(GOAL);
  if (faults.refused + faults.lost > 0) expect(state.count).toBeGreaterThan(10);
  await cluster.api(Namespace).delete('n');
  await cluster.clock.advance(120_000);
  expect(await cluster.api(Namespace).find('n')).toBeUndefined();
  await cluster.close();
  await turn();
  expect(cluster.clock.pending).toBe(0);
});

test('reaches the goal after a fork and a restore during the work', async () => {
  const cluster = world();
  await build(cluster);
  for (let turns = 0; turns < 20; turns++) await turn();
  const middle = cluster.snapshot();
  const fork = cluster.fork();
  await cluster.clock.advance(60_000);
  for (const each of [fork, cluster]) expect(await outcome(each)).toEqual(GOAL);
  await fork.close();
  cluster.restore(middle);
  await cluster.clock.advance(60_000);
  expect(await outcome(cluster)).toEqual(GOAL);
});

test('generates unused event names on a fork', async () => {
  const failures: unknown[] = [];
  const cluster = testCluster({
    controllers: controllers([replicaSets()], { onError: (error) => failures.push(error) }),
  });
  await cluster.api(ReplicaSet).create({ metadata: { name: 'r' }, spec: { replicas: 20, ...ofApp('r') } });
  await cluster.settle();
  const before = (await cluster.api(CoreEvent).list()).items.length;
  // The fork has the same time, and its recorder has no record of existing names.
  const fork = cluster.fork();
  await fork.api(ReplicaSet).edit('r', (draft) => {
    draft.spec.replicas = 21;
  });
  await fork.settle();
  expect((await fork.api(CoreEvent).list()).items).toHaveLength(before + 1);
  expect(failures).toEqual([]);
});

test('reports no error on a cluster without the Event kind', async () => {
  const failures: unknown[] = [];
  const cluster = testCluster({
    kinds: [Pod, ReplicaSet],
    controllers: controllers([replicaSets()], { onError: (error) => failures.push(error) }),
  });
  await cluster.api(ReplicaSet).create({ metadata: { name: 'r' }, spec: { replicas: 2, ...ofApp('r') } });
  await cluster.settle();
  expect((await cluster.api(Pod).list()).items).toHaveLength(2);
  expect(failures).toEqual([]);
});
