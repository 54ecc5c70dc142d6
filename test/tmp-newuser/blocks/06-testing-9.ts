import assert from 'node:assert/strict';
import { ConfigMap } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

const cluster = testCluster();
const made = await cluster.api(ConfigMap).create({ metadata: { generateName: 'web-' } });
assert.equal(made.metadata.name, 'web-bbbbb'); // the next one is web-bbbbc
assert.equal(made.metadata.creationTimestamp, '2030-01-01T00:00:00Z');
assert.equal(made.metadata.uid, '00000000-0000-4000-8000-000000000005'); // four namespaces came before
export {};
