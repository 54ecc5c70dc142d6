import assert from 'node:assert/strict';
import { createClient, createCluster } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
await cluster.api(ConfigMap).create({ metadata: { name: 'web' }, data: { size: 'm' } });

// Code that is meant for a server: give it the handler instead of the network.
const transport = httpTransport({ baseUrl: 'http://cluster', fetch: createFetchHandler(cluster) });
const { items } = await createClient({ transport }).api(ConfigMap).list();
assert.equal(items.length, 1);
export {};
