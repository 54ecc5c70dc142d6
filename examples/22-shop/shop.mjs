/**
 * A shop in a cluster whose pods are functions. It needs no container runtime and no network, so it runs in Node and in a
 * page, and minutes pass in milliseconds: the time moves only with `advance`.
 */
import { controllers, standardControllers } from 'orchplane/controllers';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap, Deployment, Pod } from 'orchplane/kinds';
import { runtime } from 'orchplane/runtime';
import { testCluster } from 'orchplane/testing';
import { AUTOSCALER, POLICY, REPORT, SERVICES, WEBHOOK } from './manifests.mjs';
import { orders, policy, report, stock, web } from './programs.mjs';

const MINUTE_MS = 60_000;

/** A cluster that can run the programs of the shop. */
export function createShopCluster() {
  const images = {
    'shop/stock': stock,
    'shop/orders': orders,
    'shop/web': web,
    'shop/report': report,
    'shop/policy': policy,
  };
  return testCluster({
    dialect: 'kubernetes',
    now: Date.UTC(2026, 0, 1, 23, 55),
    controllers: controllers([...standardControllers(), ...runtime({ images, metrics: true })]),
  });
}

/** Opens the shop just before midnight. Returns what happened, line by line. */
export async function openShop() {
  const lines = [];
  const cluster = createShopCluster();
  const { clock } = cluster;

  // A customer comes from outside of the cluster: through the proxy of the API server.
  const handler = createFetchHandler(cluster);
  const shop = 'http://cluster.local/api/v1/namespaces/default/services/web/proxy';
  const visit = async (path, init) => (await handler(new Request(shop + path, init))).text();
  const buy = (item, count) => visit('/buy', { method: 'POST', body: JSON.stringify({ item, count }) });

  // 1. Three Services.
  await cluster.applyYaml(SERVICES);
  await cluster.settle();
  lines.push(await buy('tea', 3), await buy('cup', 2), await buy('cup', 1));
  const [{ metadata }] = (await cluster.api(Pod).list({ labels: { app: 'orders' } })).items;
  for await (const line of cluster.logs(metadata.name)) lines.push(`orders: ${line}`);

  // 2. A report at midnight.
  await cluster.applyYaml(REPORT);
  await clock.advance(5 * MINUTE_MS);
  await cluster.settle();
  const { data } = await cluster.api(ConfigMap).get('report-2026-01-02');
  lines.push(`report: ${data.orders} orders, ${data.items} items`);

  // 3. An autoscaler that follows what the web servers use.
  await cluster.applyYaml(AUTOSCALER);
  const replicas = async () => (await cluster.api(Deployment).get('web')).status.readyReplicas;
  for (let round = 0; round < 8; round++) {
    await Promise.all(Array.from({ length: 15 }, () => visit('/')));
    await clock.advance(15_000);
  }
  lines.push(`web servers in the rush hour: ${await replicas()}`);
  await clock.advance(10 * MINUTE_MS);
  lines.push(`web servers ten minutes later: ${await replicas()}`);

  // 4. A webhook that runs in the cluster and refuses a Deployment.
  await cluster.applyYaml(WEBHOOK);
  await cluster.settle();
  await cluster.applyYaml(POLICY);
  const labels = { app: 'ads' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'ads', image: 'shop/ads' }] } };
  await cluster
    .api(Deployment)
    .create({ metadata: { name: 'ads' }, spec: { selector: { matchLabels: labels }, template } })
    .catch(({ message }) => lines.push(message));
  await cluster.close();
  return lines;
}
