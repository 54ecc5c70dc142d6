import assert from 'node:assert/strict';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster({ dialect: 'kubernetes' });
await cluster.api(ConfigMap).create({ metadata: { name: 'web' }, data: { size: 'm' } });
await cluster.clock.advance(90_000);

const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1'; // meta.orch.io in the orch dialect
const url = 'http://cluster/api/v1/namespaces/default/configmaps?includeObject=None';
const table = await (await createFetchHandler(cluster)(new Request(url, { headers: { accept } }))).json();
assert.deepEqual(table.rows[0].cells, ['web', 1, '90s']);
export {};
