import assert from 'node:assert/strict';
import { createClient, createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { kubeconfigTransport, serve } from 'orchplane/node';

const cluster = createCluster();
const server = await serve(cluster, { tls: true });

const transport = kubeconfigTransport(server.kubeconfig, { dialect: server.dialect });
const client = createClient({ transport, namespace: transport.namespace }); // that of the context
await client.api(ConfigMap).create({ metadata: { name: 'web' } });
assert.equal((await cluster.api(ConfigMap).list()).items.length, 1);
await server.close();
export {};
