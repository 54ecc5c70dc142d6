import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { serve } from 'orchplane/node';

const cluster = createCluster({ dialect: 'kubernetes' });
const server = await serve(cluster); // a free port of 127.0.0.1, a random token
console.log(server.url, server.kubeconfig);

const headers = { authorization: `Bearer ${server.token}` };
const watching = await fetch(`${server.url}/api/v1/configmaps?watch=true`, { headers });
await cluster.api(ConfigMap).create({ metadata: { name: 'web' } }); // the same cluster

const stranger = await fetch(`${server.url}/api/v1/configmaps`);
assert.equal(stranger.status, 403);

await server.close(); // ends the watch, frees the port; the cluster stays
assert.match(await watching.text(), /^\{"type":"ADDED","object":\{"kind":"ConfigMap"/);
export {};
