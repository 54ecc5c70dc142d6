import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { Secret } from 'orchplane/kinds';

const cluster = createCluster();
const before = cluster.resourceVersion;
const preview = await cluster.api(Secret).create({ metadata: { name: 'login' } }, { dryRun: true });
assert.equal(preview.type, 'Opaque');
assert.equal(cluster.resourceVersion, before);
export {};
