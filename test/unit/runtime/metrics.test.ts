import { expect, test } from 'vitest';
import { createFetchHandler } from '../../../src/http/index.js';
import { Deployment, HorizontalPodAutoscaler, Pod } from '../../../src/kinds/index.js';
import type { Program } from '../../../src/runtime/index.js';
import { idle, runningCluster } from './fixture.js';

const busy: Program = async ({ use, untilStopped }) => {
  use({ cpu: '250m', memory: '64Mi' });
  await untilStopped();
};

test('the metrics API serves what programs use', async () => {
  await using running = runningCluster({ busy, idle }, { metrics: true });
  const { cluster } = running;
  await running.start('worker', 'busy');
  await running.start('sleeper', 'idle');
  await running.advance(30_000);
  const handler = createFetchHandler(cluster);
  const get = async (path: string) => {
    const response = await handler(new Request(`http://cluster.local/apis/metrics.k8s.io/v1beta1${path}`));
    return (await response.json()) as {
      items: { metadata: { name: string }; containers: unknown }[];
      message?: string;
    };
  };
  const { items } = await get('/namespaces/default/pods');
  expect(items.map(({ metadata: { name }, containers }) => ({ name, containers }))).toEqual([
    { name: 'worker', containers: [{ name: 'c', usage: { cpu: '250000000n', memory: '65536Ki' } }] },
    { name: 'sleeper', containers: [{ name: 'c', usage: { cpu: '0n', memory: '0Ki' } }] },
  ]);
  expect((await get('/nodes')).items).toMatchObject([
    { metadata: { name: 'node-1' }, usage: { cpu: '250000000n', memory: '65536Ki' } },
  ]);
  expect((await get('/namespaces/default/pods/worker')) as unknown).toMatchObject({ kind: 'PodMetrics' });
  expect((await get('/namespaces/default/pods/missing')).message).toBe('pods.metrics.k8s.io "missing" not found');
  expect((await cluster.api(Pod, 'kube-system').get('metrics-server')).status.phase).toBe('Running');
});

test('an autoscaler follows the usage of the pods', async () => {
  let cpu = '900m';
  await using running = runningCluster(
    { idle },
    { metrics: ({ metadata }) => (metadata.labels?.['app'] === 'web' ? { cpu, memory: '1Mi' } : undefined) },
  );
  const { cluster } = running;
  await cluster.api(Deployment).create({
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'c', image: 'idle', resources: { requests: { cpu: '1' } } }] },
      },
    },
  });
  await cluster.api(HorizontalPodAutoscaler).create({
    metadata: { name: 'web' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
      maxReplicas: 5,
      metrics: [
        { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 30 } } },
      ],
    },
  });
  await running.advance(60_000);
  await running.advance(60_000);
  expect((await cluster.api(Deployment).get('web')).status.readyReplicas).toBe(5);
  cpu = '10m';
  for (let minute = 0; minute < 8; minute++) await running.advance(60_000);
  expect((await cluster.api(Deployment).get('web')).status.readyReplicas).toBe(1);
});

test('an autoscaler with a thousand metrics reads the usage of its pods once', async () => {
  let reads = 0;
  const usage = () => {
    reads++;
    return { cpu: '100m', memory: '1Mi' };
  };
  await using running = runningCluster({ idle }, { metrics: usage });
  const { cluster } = running;
  const containers = [{ name: 'c', image: 'idle', resources: { requests: { cpu: '1' } } }];
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers } };
  const selector = { matchLabels: { app: 'web' } };
  await cluster.api(Deployment).create({ metadata: { name: 'web' }, spec: { replicas: 2, selector, template } });
  await running.advance(60_000);
  const metrics = Array.from({ length: 1_000 }, (_, at) => ({
    type: 'Resource' as const,
    resource: { name: 'cpu', target: { type: 'AverageValue' as const, averageValue: `${100 + at}m` } },
  }));
  await cluster.api(HorizontalPodAutoscaler).create({
    metadata: { name: 'web' },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }, maxReplicas: 5, metrics },
  });
  reads = 0;
  await running.advance(15_000);
  const { status } = await cluster.api(HorizontalPodAutoscaler).get('web');
  expect(status.currentMetrics).toHaveLength(1_000);
  expect(reads).toBe(2);
});
