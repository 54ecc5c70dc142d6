/**
 * A cluster in an Express app: one line mounts it below a path, with tokens in front. The app's own routes hold the
 * cluster itself, and requests of both kinds share its port.
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
// In front of whatever reads bodies or compresses answers: the listener does both by itself.
app.use('/cluster', createNodeListener(cluster, { tokens }));
app.use(express.json());
app.put('/settings/:name', async (request, response) => {
  const { name } = request.params;
  const made = await cluster.api(ConfigMap).apply({ metadata: { name }, data: request.body }, { fieldManager: 'app' });
  response.json(made.data);
});
// The server's refusals are answers for the app's users, too: they have a code and say why.
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

console.log('The app writes, and a client of the cluster sees it over the same port');
const transport = httpTransport({ baseUrl: `${origin}/cluster`, token: 'secret' });
const client = createClient({ transport });
const { metadata } = await client.api(ConfigMap).list();
const watch = client.api(ConfigMap).watch({ resourceVersion: metadata.resourceVersion });
assert.deepEqual(await (await put('theme', { colour: 'green' })).json(), { colour: 'green' });
const { value: event } = await watch.next();
console.log(`  ${event.type} ${event.object.metadata.name}: ${JSON.stringify(event.object.data)}`);
assert.equal(event.object.metadata.name, 'theme');

console.log('What the cluster refuses, the app refuses');
const refused = await put('No Name', {});
assert.equal(refused.status, 422);
console.log(`  ${refused.status} ${(await refused.json()).message.slice(0, 52)}…`);

console.log('Strangers get as far as the door');
const stranger = await fetch(`${origin}/cluster/api/v1/configmaps`);
assert.equal(stranger.status, 403);
console.log(`  ${stranger.status} ${(await stranger.json()).message.slice(0, 63)}…`);

// Closing the cluster ends its watches; then nothing is left that the server would wait for.
await cluster.close();
assert.equal((await watch.next()).done, true);
server.close();
console.log('the port is free');
