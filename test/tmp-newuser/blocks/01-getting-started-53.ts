import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap, Namespace } from 'orchplane/kinds';

const cluster = createCluster();
await cluster.api(Namespace).create({ metadata: { name: 'team-a' } });

const configMaps = cluster.api(ConfigMap, 'team-a');
const made = await configMaps.create({ metadata: { name: 'web' }, data: { size: 'm' } });
assert.equal(made.apiVersion, 'v1'); // filled in, like everything that only has one answer
assert.equal(made.metadata.namespace, 'team-a');
assert.ok(made.metadata.uid);

const everywhere = await cluster.all(ConfigMap).list();
assert.equal(everywhere.items.length, 1);
export {};
