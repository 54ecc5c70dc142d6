import assert from 'node:assert/strict';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster();
const configMaps = cluster.api(ConfigMap);
await configMaps.create({ metadata: { name: 'seed' } });

const seeded = cluster.snapshot();
await configMaps.deleteCollection();
cluster.restore(seeded);
assert.equal((await configMaps.list()).items.length, 1);

// A fork starts from this moment and goes its own way; so several tests can start from one seed at once.
const fork = cluster.fork();
await fork.api(ConfigMap).delete('seed');
assert.equal((await configMaps.list()).items.length, 1);
export {};
