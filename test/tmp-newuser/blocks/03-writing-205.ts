import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
const web = await configMaps.create({ metadata: { name: 'web', labels: { app: 'web' } } });

// Only if it is still the one we know.
await configMaps.delete('web', { preconditions: { uid: web.metadata.uid } });
await assert.rejects(configMaps.delete('web'), (error) => StatusError.is(error, 'NotFound'));

// All that the selectors pick; not atomic.
await configMaps.deleteCollection({ labels: { app: 'web' } });
assert.equal((await configMaps.list()).items.length, 0);
export {};
