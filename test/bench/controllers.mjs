/**
 * Controllers, from the change that starts them until all queues are empty: a namespace with 10,000 objects with
 * finalizers, a rollout of 100 replicas, and a week of CronJob runs every five minutes across a change to winter time.
 * Each is compared with a loop that adds as many entries to a Map and removes them.
 */
import { controllers, cronJobs, defineController, stages, standardControllers } from '../../dist/controllers/index.js';
import { ConfigMap, CronJob, Deployment, Job, Namespace, Pod } from '../../dist/kinds/index.js';
import { testCluster } from '../../dist/testing/index.js';
import { compare, median, verify } from './measure.mjs';
import { runNode } from './processes.mjs';

const HOLD = 'example.com/hold';
const OBJECTS = 10_000;
const REPLICAS = 100;
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;
const RUNS = WEEK_MS / 300_000;
/** The Thursday before Berlin changes to winter time. */
const BEFORE_WINTER = Date.UTC(2030, 9, 24);

/** Each row runs in its own process, so that heap and compiled code of one row do not affect another. */
export function controllersAtWork(settings) {
  const rows = ROWS.map(({ rounds }, index) =>
    oneRow(settings.scale < 1 ? settings : { ...settings, ...rounds }, index),
  );
  const firsts = ROWS.flatMap((row, index) => (row.first === undefined ? [] : [firstTime(row, index, settings)]));
  return [...rows, ...firsts];
}

function oneRow(settings, index) {
  return runNode('section.mjs', ['controller', JSON.stringify({ ...settings, index })], ['--expose-gc']).result[0];
}

/** Measures without warm-up, like a single test in its own file. The goal is the same. */
function firstTime({ first: name, goal }, index, { repeats }) {
  const samples = Array.from({ length: repeats }, () => oneRow({ rounds: 1, warmups: 0 }, index));
  const best = samples.reduce((left, right) => (left.ours.best > right.ours.best ? left : right));
  const ours = { ...best.ours, median: median(samples.map((sample) => sample.ours.median)) };
  return { name, unit: 'ops/s', goal, ours, bare: best.bare };
}

export async function controllerAtWork({ index, ...settings }) {
  const { name, ours, goal } = ROWS[index];
  const figures = await compare({ ours: { ...ours, keepsGarbage: true }, bare: bareLoop(ours.count) }, settings);
  return [{ name, unit: 'ops/s', ...(goal === undefined ? {} : { goal }), ...figures }];
}

/** Removes the finalizers of deleted objects, like a user's controller. */
const letGo = defineController({
  name: 'let-go',
  kind: ConfigMap,
  finalizer: { name: HOLD, cleanup: async () => undefined },
  reconcile: async () => undefined,
});

const namespaceGoes = {
  count: OBJECTS,
  async prepare() {
    const cluster = testCluster({ controllers: controllers([...standardControllers(), stages(), letGo]) });
    await cluster.api(Namespace).create({ metadata: { name: 'full' } });
    const configMaps = cluster.api(ConfigMap, 'full');
    for (let index = 0; index < OBJECTS; index++) {
      await configMaps.create({ metadata: { name: `c${index}`, finalizers: [HOLD] } });
    }
    await cluster.settle();
    return cluster;
  },
  async run(cluster) {
    await cluster.api(Namespace).delete('full');
    await cluster.settle({ timeoutMs: 60_000 });
  },
  async check(cluster) {
    verify((await cluster.api(Namespace).find('full')) === undefined, 'the namespace is gone');
    await cluster.close();
  },
};

const rollout = {
  count: REPLICAS,
  async prepare() {
    const cluster = testCluster({ controllers: controllers([...standardControllers(), stages()]) });
    await cluster.api(Deployment).create({
      metadata: { name: 'web' },
      spec: {
        replicas: REPLICAS,
        selector: { matchLabels: { app: 'web' } },
        template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
      },
    });
    await cluster.settle({ timeoutMs: 60_000 });
    return cluster;
  },
  async run(cluster) {
    await cluster.api(Deployment).edit('web', (web) => {
      web.spec.template.spec.containers[0].image = 'web:2';
    });
    await cluster.settle({ timeoutMs: 60_000 });
  },
  async check(cluster) {
    const { status } = await cluster.api(Deployment).get('web');
    verify(status.updatedReplicas === REPLICAS && status.availableReplicas === REPLICAS, 'all replicas are new and up');
    const { items } = await cluster.api(Pod).list();
    verify(items.length === REPLICAS, 'no old pod is left');
    await cluster.close();
  },
};

/** No controller completes Jobs, so each run replaces the previous one. */
function cronWeek(list, concurrencyPolicy) {
  return {
    count: RUNS,
    async prepare() {
      const cluster = testCluster({ now: BEFORE_WINTER, controllers: controllers(list) });
      const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'run', image: 'run:1' }] } };
      await cluster.api(CronJob).create({
        metadata: { name: 'run' },
        spec: {
          schedule: '*/5 * * * *',
          timeZone: 'Europe/Berlin',
          concurrencyPolicy,
          jobTemplate: { spec: { template } },
        },
      });
      await cluster.settle();
      return cluster;
    },
    run: (cluster) => cluster.clock.advance(WEEK_MS),
    async check(cluster) {
      const { status } = await cluster.api(CronJob).get('run');
      verify(cluster.clock.now() - Date.parse(status.lastScheduleTime) < 300_000, 'it ran to the end of the week');
      const jobs = (await cluster.api(Job).list()).items.length;
      verify(jobs <= 5 || jobs === RUNS, 'old jobs are cleaned away, or all are there');
      await cluster.close();
    },
  };
}

/** After a few seconds the engine has optimized the hot code. */
const SHORT = { rounds: 7, warmups: 10 };
const LONG = { rounds: 5, warmups: 5 };
const LONGEST = { rounds: 3, warmups: 1 };

const WEEK = 'a week of a CronJob, every five minutes';
const FIRST = 'first thing in a new process';

/** The goals: one second, 200 ms and one second. */
const ROWS = [
  {
    name: `empty a namespace of ${OBJECTS} objects with finalizers`,
    first: `empty the namespace, ${FIRST}`,
    ours: namespaceGoes,
    goal: OBJECTS,
    rounds: LONG,
  },
  {
    name: `roll out ${REPLICAS} replicas`,
    first: `roll out, ${FIRST}`,
    ours: rollout,
    goal: REPLICAS / 0.2,
    rounds: SHORT,
  },
  { name: WEEK, first: `the week, ${FIRST}`, ours: cronWeek([cronJobs()], 'Replace'), goal: RUNS, rounds: LONG },
  { name: `${WEEK}, Jobs stay active`, ours: cronWeek([cronJobs()], 'Allow'), rounds: LONG },
  {
    name: `${WEEK}, Jobs and pods run`,
    ours: cronWeek([...standardControllers(), stages()], 'Allow'),
    rounds: LONGEST,
  },
];

function bareLoop(count) {
  return {
    count,
    prepare: () => new Map(),
    run(things) {
      for (let index = 0; index < count; index++) things.set(`thing-${index}`, { index });
      for (let index = 0; index < count; index++) things.delete(`thing-${index}`);
    },
    check: (things) => verify(things.size === 0, 'everything is gone'),
  };
}
