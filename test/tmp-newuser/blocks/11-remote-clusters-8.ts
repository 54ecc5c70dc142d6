import assert from 'node:assert/strict';
import { createClient, createCluster, StatusError } from 'orchplane';
import { createFetchHandler, httpTransport } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster(); // stands for a server somewhere else
const transport = httpTransport({ baseUrl: 'http://cluster.local', fetch: createFetchHandler(cluster) });
const remote = createClient({ transport, fieldManager: 'ci' });

const created = await remote.api(ConfigMap).create({ metadata: { name: 'web' }, data: { size: 'm' } });
assert.deepEqual(created, await cluster.api(ConfigMap).get('web'));

const missing = await remote.api(ConfigMap).get('nope').catch((error: unknown) => error);
assert(StatusError.is(missing, 'NotFound'));
export {};
