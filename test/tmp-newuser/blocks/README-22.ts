import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
const configMaps = cluster.api(ConfigMap); // in the namespace "default"
const watch = configMaps.watch({ labels: { app: 'web' } }); // on from this line

await configMaps.create({ metadata: { name: 'web', labels: { app: 'web' } }, data: { size: 'm' } });
try {
  await configMaps.create({ metadata: { name: 'web' } });
} catch (error) {
  if (!StatusError.is(error, 'AlreadyExists')) throw error;
  console.log(error.message); // configmaps "web" already exists
}

// Read, change, write; again whenever somebody else was faster.
const web = await configMaps.edit('web', (draft) => {
  draft.data = { size: 'l' };
});
assert.deepEqual(web.data, { size: 'l' });

for await (const event of watch) {
  console.log(event.type, event.object.metadata.resourceVersion); // ADDED 5, MODIFIED 6
  if (event.type === 'MODIFIED') break;
}
export {};
