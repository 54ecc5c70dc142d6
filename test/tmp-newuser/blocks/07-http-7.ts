import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster({ dialect: 'kubernetes' });
const handler = createFetchHandler(cluster);

const created = await handler(
  new Request('http://cluster/api/v1/namespaces/default/configmaps', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ metadata: { name: 'web' }, data: { size: 'm' } }),
  }),
);
assert.equal(created.status, 201);
assert.equal((await cluster.api(ConfigMap).get('web')).data?.['size'], 'm'); // the same cluster

const absent = await handler(new Request('http://cluster/api/v1/namespaces/default/configmaps/nope'));
assert.equal(absent.status, 404);
assert.equal((await absent.json()).reason, 'NotFound');
export {};
