import assert from 'node:assert/strict';
import { createCluster } from 'orchplane/core';
import { ConfigMap, Lease } from 'orchplane/kinds';

const cluster = createCluster({ kinds: [ConfigMap, Lease] });
assert.deepEqual((await cluster.api(Lease).list()).items, []);
export {};
