/**
 * A cluster on a port: a manifest, a token, a watch over the socket. The command `orchplane serve` does the same from the
 * command line.
 */
import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { Deployment } from 'orchplane/kinds';
import { loadManifests, serve } from 'orchplane/node';

const manifest = `
apiVersion: v1
kind: Namespace
metadata: { name: shop }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop }
spec:
  replicas: 2
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: web, image: "web:1" }] }
`;

const cluster = createCluster({ dialect: 'kubernetes' });
for (const each of await loadManifests(cluster, [{ name: 'shop.yaml', text: manifest }])) {
  if (each.outcome === 'failed') throw each.error;
  console.log(`${each.outcome} ${each.kind} ${each.name}`);
}

const lines = [];
const server = await serve(cluster, { port: 0, log: (line) => lines.push(line) });
console.log(`a kubeconfig of ${server.kubeconfig.split('\n').length} lines leads to ${new URL(server.url).hostname}`);

const path = '/apis/apps/v1/namespaces/shop/deployments';
const headers = { authorization: `Bearer ${server.token}` };
const anonymous = await fetch(server.url + path);
assert.equal(anonymous.status, 403);
console.log(`without the token: ${(await anonymous.json()).message}`);

// A watch over the socket reports the writes of this process.
const watching = await fetch(`${server.url}${path}?watch=true`, { headers });
const reader = watching.body.pipeThrough(new TextDecoderStream()).getReader();
const next = async () => JSON.parse((await reader.read()).value);
assert.equal((await next()).type, 'ADDED');
await cluster.api(Deployment, 'shop').edit('web', (draft) => {
  draft.spec.replicas = 3;
});
const { type, object } = await next();
assert.equal(object.spec.replicas, 3);
console.log(`${type} ${object.metadata.name}: ${object.spec.replicas} replicas`);

// Closing the server ends the watch normally; the cluster stays open.
await server.close();
assert.equal((await reader.read()).done, true);
assert.equal(lines.length, 2);
assert.equal((await cluster.api(Deployment, 'shop').get('web')).spec.replicas, 3);
console.log('the port is free, the cluster is still open');
await cluster.close();
