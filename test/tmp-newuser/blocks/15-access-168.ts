import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { ServiceAccount } from 'orchplane/kinds';

const cluster = createCluster();
const handle = createFetchHandler(cluster, {
  tokens: { 'alice-token': { user: 'alice', groups: ['dev'] } },
});
const get = async (path: string, headers: Record<string, string> = {}) =>
  (await handle(new Request(`http://cluster${path}`, { headers }))).status;

assert.equal(await get('/api/v1/namespaces', { authorization: 'Bearer nope' }), 401);
assert.equal(await get('/api/v1/namespaces'), 403);
assert.equal(await get('/api/v1/namespaces', { authorization: 'Bearer alice-token' }), 403);
assert.equal(await get('/version'), 200);
// A token says who asks, not what he may do: alice needs a role, or the group system:masters.

// Service accounts get real tokens: signed, with an audience and an end, bound to objects if asked for.
await cluster.api(ServiceAccount).create({ metadata: { name: 'robot' } });
const request = await cluster.api(ServiceAccount).subresource('token').create('robot', { spec: { audiences: [] } });
assert.ok(typeof request.status === 'object'); // its type leaves room for a Status
const robot = { authorization: `Bearer ${request.status.token}` };
assert.equal(await get('/api', robot), 200);
assert.equal(await get('/api/v1/nodes', robot), 403);
export {};
