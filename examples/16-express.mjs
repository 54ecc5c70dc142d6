/**
 * A cluster in an Express app: one line mounts it below a path, with tokens. The app's routes use the cluster directly, on
 * the same port.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import express from 'express';
import { createClient, createCluster, StatusError } from 'orchplane';
import { httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';
import { createNodeListener } from 'orchplane/node';

const cluster = createCluster();
const tokens = { secret: { user: 'admin', groups: ['system:masters'] } };

const app = express();
// Mount it before middleware that reads bodies or compresses responses: the listener does both itself.
app.use('/cluster', createNodeListener(cluster, { tokens }));
app.use(express.json());
app.put('/settings/:name', async (request, response) => {
  const { name } = request.params;
  const made = await cluster.api(ConfigMap).apply({ metadata: { name }, data: request.body }, { fieldManager: 'app' });
  response.json(made.data);
});
// Errors of the cluster have a code and a readable message, so the app can forward them.
app.use((error, _request, response, next) => {
  if (error instanceof StatusError) response.status(error.code).json({ message: error.message });
  else next(error);
});

const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${server.address().port}`;
const put = (name, body) =>
  fetch(`${origin}/settings/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

console.log('The app writes, and a client of the cluster watches over the same port');
const transport = httpTransport({ baseUrl: `${origin}/cluster`, token: 'secret' });
const client = createClient({ transport });
const { metadata } = await client.api(ConfigMap).list();
const watch = client.api(ConfigMap).watch({ resourceVersion: metadata.resourceVersion });
assert.deepEqual(await (await put('theme', { colour: 'green' })).json(), { colour: 'green' });
const { value: event } = await watch.next();
console.log(`  ${event.type} ${event.object.metadata.name}: ${JSON.stringify(event.object.data)}`);
assert.equal(event.object.metadata.name, 'theme');

console.log('The app forwards errors of the cluster');
const refused = await put('No Name', {});
assert.equal(refused.status, 422);
console.log(`  ${refused.status} ${(await refused.json()).message.slice(0, 52)}…`);

console.log('A request without a token is rejected');
const anonymous = await fetch(`${origin}/cluster/api/v1/configmaps`);
assert.equal(anonymous.status, 403);
console.log(`  ${anonymous.status} ${(await anonymous.json()).message.slice(0, 63)}…`);

// Closing the cluster ends its watches, so the server has nothing to wait for.
await cluster.close();
assert.equal((await watch.next()).done, true);
server.close();
console.log('the port is free');
