/**
 * A server with one cluster per tenant. `node main.mjs` shows it with three tenants; `node --expose-gc main.mjs 1000`
 * measures the memory of so many idle ones.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { TENANT_OPTIONS, Tenants } from './tenants.mjs';

const folder = await mkdtemp(join(tmpdir(), 'tenants-'));
const template = createCluster(TENANT_OPTIONS);
await template.api(ConfigMap).create({ metadata: { name: 'plan' }, data: { name: 'free' } });

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
async function send(tenants, tenant, path, body) {
  const write = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const headers = { 'content-type': 'application/json' };
  const response = await tenants.fetch(new Request(`http://${tenant}.clusters.example${path}`, { ...write, headers }));
  return { status: response.status, body: await response.json() };
}

if (process.argv[2] === undefined) await show();
else await measure(Number(process.argv[2]));
await rm(folder, { recursive: true });

async function show() {
  const tenants = await Tenants.in(folder, template, { maxObjects: 10, requestsPerSecond: 20, idleMs: 0 });
  for (const name of ['red', 'green', 'blue']) await tenants.add(name);
  assert.equal((await send(tenants, 'red', CONFIG_MAPS, { metadata: { name: 'a' } })).status, 201);
  assert.equal((await send(tenants, 'red', `${CONFIG_MAPS}/a`)).status, 200);
  assert.equal((await send(tenants, 'blue', `${CONFIG_MAPS}/a`)).status, 404);
  assert.equal((await send(tenants, 'blue', `${CONFIG_MAPS}/plan`)).status, 200);
  assert.equal((await send(tenants, 'other', CONFIG_MAPS)).status, 404);

  const created = (name) => send(tenants, 'green', CONFIG_MAPS, { metadata: { name } });
  const statuses = await Promise.all(Array.from({ length: 10 }, (_, i) => created(`c${i}`)));
  assert.ok(statuses.filter(({ status }) => status === 201).length < 10);
  console.log(statuses.find(({ status }) => status === 403).body.message);
  while ((await send(tenants, 'green', CONFIG_MAPS)).status !== 429);
  console.log('green is slowed down, red is not:', (await send(tenants, 'red', CONFIG_MAPS)).status);

  console.log(`${await tenants.closeIdle()} idle tenants closed, ${tenants.openCount} open`);
  const restarted = await Tenants.in(folder, template);
  assert.equal((await send(restarted, 'red', `${CONFIG_MAPS}/a`)).status, 200);
  console.log(`after a restart red has its object; ${restarted.openCount} of ${restarted.size} tenants are open`);
  await restarted.close();
}

async function measure(count) {
  const megabytes = () => {
    globalThis.gc?.();
    const { rss, heapUsed } = process.memoryUsage();
    return `${Math.round(rss / 1e6)} MB, heap ${Math.round(heapUsed / 1e6)} MB`;
  };
  const tenants = await Tenants.in(folder, template, { idleMs: 0 });
  const before = megabytes();
  let start = performance.now();
  for (let i = 0; i < count; i++) {
    await tenants.add(`t${i}`);
    await send(tenants, `t${i}`, CONFIG_MAPS, { metadata: { name: 'own' } });
  }
  console.log(`${count} open tenants: ${megabytes()} (before: ${before}), ${ms(start, count)} ms to add and use one`);
  start = performance.now();
  await tenants.closeIdle(Number.POSITIVE_INFINITY);
  console.log(`${count} idle tenants on disk: ${megabytes()}, ${ms(start, count)} ms to write one`);
  start = performance.now();
  for (let i = 0; i < Math.min(count, 100); i++)
    assert.equal((await send(tenants, `t${i}`, `${CONFIG_MAPS}/own`)).status, 200);
  console.log(`${ms(start, Math.min(count, 100))} ms for the first request of an idle tenant`);
  await tenants.close();
}

function ms(start, count) {
  return ((performance.now() - start) / count).toFixed(1);
}
