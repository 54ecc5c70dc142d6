import { expect, test } from 'vitest';
import { controllers, standardControllers } from '../../../src/controllers/index.js';
import { createCluster } from '../../../src/index.js';
import { ConfigMap, Deployment, Pod, Service } from '../../../src/kinds/index.js';
import { type Program, runtime } from '../../../src/runtime/index.js';
import { fakeClock } from '../../../src/testing/index.js';

const server: Program = async ({ listen, env, log, untilStopped }) => {
  listen(8080, (request) => new Response(`${env['GREETING'] ?? 'hello'} ${new URL(request.url).pathname}`));
  log('listening');
  await untilStopped();
  log('bye');
};

function clusterWith(images: Record<string, Program>) {
  return createCluster({
    dialect: 'kubernetes',
    clock: fakeClock(),
    controllers: controllers([...standardControllers(), ...runtime({ images })]),
  });
}

test('runs a program, serves its log and answers through a Service', async () => {
  const client: Program = async ({ fetch, log }) => {
    const response = await fetch('http://web/orders');
    log(await response.text());
  };
  await using cluster = clusterWith({ 'shop/web': server, 'shop/client': client });
  await cluster.api(ConfigMap).create({ metadata: { name: 'settings' }, data: { GREETING: 'good day' } });
  await cluster.api(Deployment).create({
    metadata: { name: 'web' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: {
          containers: [
            {
              name: 'web',
              image: 'shop/web:1.0',
              envFrom: [{ configMapRef: { name: 'settings' } }],
              readinessProbe: { httpGet: { port: 8080, path: '/ready' } },
            },
          ],
        },
      },
    },
  });
  await cluster.api(Service).create({
    metadata: { name: 'web' },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  });
  await cluster.settle();
  const deployment = await cluster.api(Deployment).get('web');
  expect(deployment.status.readyReplicas).toBe(2);
  const [pod] = (await cluster.api(Pod).list()).items;
  expect(await cluster.logs(pod?.metadata.name ?? '').text()).toBe('listening\n');
  await cluster.api(Pod).create({
    metadata: { name: 'client' },
    spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'shop/client' }] },
  });
  await cluster.settle();
  expect(await cluster.logs('client').text()).toBe('good day /orders\n');
  expect((await cluster.api(Pod).get('client')).status.phase).toBe('Succeeded');
  expect(await cluster.logs('client').text()).toBe('good day /orders\n');
});
