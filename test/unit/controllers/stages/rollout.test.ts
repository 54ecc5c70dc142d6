/**
 * Rollouts of workloads whose pods stages simulate, as in a user's test.
 */
import { controllers, crashLoop, nodeStages, readyPods, stages, standardControllers } from 'orchplane/controllers';
import { DaemonSet, Deployment, Job, Node, Pod, ReplicaSet } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

function deployment(name: string, replicas: number, image = 'nginx:1') {
  return {
    metadata: { name },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'web', image }] } },
    },
  };
}

function playground(rules = readyPods()) {
  const failures: string[] = [];
  const cluster = testCluster({
    controllers: controllers([...standardControllers(), stages(rules)], {
      onError: (error, about) => failures.push(`${about}: ${error}`),
    }),
  });
  return { cluster, failures };
}

test('completes a rolling update of a hundred replicas without time passing and with few writes', {
  timeout: 60_000,
}, async () => {
  const { cluster, failures } = playground();
  const deployments = cluster.api(Deployment);
  await deployments.create(deployment('web', 100));
  await cluster.settle({ timeoutMs: 30_000 });
  expect(failures).toEqual([]);
  expect((await deployments.get('web')).status).toMatchObject({ readyReplicas: 100, availableReplicas: 100 });
  const writes = new Map<string, number>();
  cluster.use((request, next) => {
    const { verb, resource, subresource } = request;
    const what = [verb, resource.resource, ...(subresource === undefined ? [] : [subresource])].join(' ');
    if (!['get', 'list', 'watch'].includes(verb)) writes.set(what, (writes.get(what) ?? 0) + 1);
    return next();
  });
  await deployments.edit('web', (draft) => {
    for (const container of draft.spec.template.spec?.containers ?? []) container.image = 'nginx:2';
  });
  await cluster.settle({ timeoutMs: 30_000 });
  expect((await deployments.get('web')).status).toMatchObject({
    replicas: 100,
    updatedReplicas: 100,
    readyReplicas: 100,
  });
  // Each new pod is created, bound and made ready; each old pod is deleted, gets its final status and is then removed.
  expect(Object.fromEntries([...writes].filter(([what]) => what.includes(' pods')))).toEqual({
    'create pods': 100,
    'create pods binding': 100,
    'update pods status': 200,
    'delete pods': 200,
  });
  const { items } = await cluster.api(Pod).list();
  expect(items.map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(100).fill('nginx:2'));
  expect(new Set(items.map(({ status }) => status.podIP)).size).toBe(100);
  expect((await cluster.api(ReplicaSet).list()).items).toHaveLength(2);
  expect((await cluster.api(Node).list()).items.map(({ metadata }) => metadata.name)).toEqual(['node-1']);
  expect(failures).toEqual([]);
  await cluster.close();
  expect(cluster.clock.pending).toBe(0);
});

test('stalls a rollout whose pods crash and continues when they are fixed', { timeout: 60_000 }, async () => {
  const { cluster } = playground([...crashLoop({ labels: { version: 'bad' } }), ...readyPods()]);
  const deployments = cluster.api(Deployment);
  const versioned = (version: string) => ({
    ...deployment('web', 4),
    spec: {
      ...deployment('web', 4).spec,
      progressDeadlineSeconds: 60,
      template: {
        metadata: { labels: { app: 'web', version } },
        spec: { containers: [{ name: 'web', image: `web:${version}` }] },
      },
    },
  });
  await deployments.create(versioned('good'));
  await cluster.settle();
  const live = await deployments.get('web');
  await deployments.update({ ...live, spec: { ...live.spec, ...versioned('bad').spec } });
  await cluster.clock.advance(61_000);
  const stuck = (await deployments.get('web')).status;
  expect(stuck.availableReplicas).toBeGreaterThanOrEqual(3);
  expect(stuck.conditions?.find(({ type }) => type === 'Progressing')).toMatchObject({
    status: 'False',
    reason: 'ProgressDeadlineExceeded',
  });
  await deployments.edit('web', (draft) => {
    draft.spec.template.metadata = { labels: { app: 'web', version: 'better' } };
  });
  await cluster.settle();
  expect((await deployments.get('web')).status).toMatchObject({ updatedReplicas: 4, availableReplicas: 4 });
  await cluster.close();
});

test('completes a Job and ends its pods', async () => {
  const { cluster, failures } = playground();
  const template = { spec: { restartPolicy: 'Never' as const, containers: [{ name: 'c', image: 'busybox' }] } };
  await cluster.api(Job).create({ metadata: { name: 'batch' }, spec: { completions: 3, parallelism: 2, template } });
  await cluster.settle();
  const { status } = await cluster.api(Job).get('batch');
  expect(status.succeeded).toBe(3);
  expect(status.conditions?.find(({ type }) => type === 'Complete')?.status).toBe('True');
  expect((await cluster.api(Pod).list()).items.map((pod) => pod.status.phase)).toEqual(Array(3).fill('Succeeded'));
  expect(failures).toEqual([]);
  await cluster.close();
});

test('schedules DaemonSet pods to their target nodes', async () => {
  const { cluster } = playground([...readyPods(), ...nodeStages()]);
  for (const name of ['a', 'b', 'c']) await cluster.api(Node).create({ metadata: { name } });
  await cluster.settle();
  await cluster.api(DaemonSet).create({
    metadata: { name: 'agent' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [{ name: 'c', image: 'agent' }] } },
    },
  });
  await cluster.settle();
  expect((await cluster.api(DaemonSet).get('agent')).status).toMatchObject({
    desiredNumberScheduled: 3,
    numberReady: 3,
  });
  expect((await cluster.api(Pod).list()).items.map(({ spec }) => spec.nodeName).sort()).toEqual(['a', 'b', 'c']);
  await cluster.close();
});
