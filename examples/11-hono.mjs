/**
 * A cluster in a Hono app. Hono mounts the fetch handler, after the app's middleware. The app's routes use the cluster
 * directly; clients over HTTP need a token.
 *
 * To serve it: `serve({ fetch: app.fetch })` of @hono/node-server, `Bun.serve({ fetch: app.fetch })`, `Deno.serve(app.fetch)`.
 */
import assert from 'node:assert/strict';
import { Hono } from 'hono';
import { createClient, createCluster } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ClusterRoleBinding, ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
await cluster.api(ClusterRoleBinding).create({
  metadata: { name: 'readers' },
  roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'User', name: 'alice' }],
});

const app = new Hono();
const log = [];
app.use(async (context, next) => {
  await next();
  log.push(`${context.req.method} ${context.req.path} → ${context.res.status}`);
});
// Hono removes the mount path: the cluster gets /api/v1/….
app.mount(
  '/cluster',
  createFetchHandler(cluster, {
    tokens: { 'alice-token': { user: 'alice' }, 'root-token': { user: 'root', groups: ['system:masters'] } },
  }),
);
// A route of the app. It uses the cluster directly, without authentication.
app.get('/flags/:name', async (context) => {
  const flag = await cluster.api(ConfigMap).find(context.req.param('name'));
  return flag === undefined ? context.notFound() : context.json({ on: flag.data?.on === 'yes' });
});

// Clients of the app, here without a socket. To use a socket, leave `fetch` out.
const as = (token) =>
  createClient({
    transport: httpTransport({ baseUrl: 'http://app.example/cluster', token, fetch: (request) => app.fetch(request) }),
  });

await as('root-token')
  .api(ConfigMap)
  .create({ metadata: { name: 'dark-mode' }, data: { on: 'yes' } });
assert.deepEqual(await (await app.request('/flags/dark-mode')).json(), { on: true });
assert.equal((await app.request('/flags/nothing')).status, 404);

const alice = as('alice-token').api(ConfigMap);
assert.equal((await alice.list()).items.length, 1);
const refused = await alice.delete('dark-mode').catch((error) => error);
assert.equal(refused.reason, 'Forbidden');

// A watch works through the app too.
const watch = alice.watch();
const first = await watch.next();
await watch.return();
assert.equal(first.value.type, 'ADDED');

for (const line of log) console.log(line);
console.log(`refused: ${refused.message}`);
await cluster.close();
