import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
const configMaps = cluster.api(ConfigMap);
await configMaps.create({ metadata: { name: 'web' }, data: { size: 's' } });
const then = cluster.resourceVersion;
await configMaps.delete('web');

const past = await configMaps.list({ resourceVersion: then, resourceVersionMatch: 'Exact' });
assert.equal(past.items[0]?.data?.['size'], 's');
export {};
