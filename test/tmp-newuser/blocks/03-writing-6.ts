import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap, Secret } from 'orchplane/kinds';

const cluster = createCluster();
const made = await cluster.api(ConfigMap).create({ metadata: { generateName: 'job-' } });
assert.match(made.metadata.name, /^job-[a-z0-9]{5}$/);

const secret = await cluster.api(Secret).create({ metadata: { name: 'login' }, stringData: { user: 'alice' } });
assert.equal(secret.type, 'Opaque'); // a default
assert.deepEqual(secret.data, { user: 'YWxpY2U=' }); // the server's doing, as on a real one
export {};
