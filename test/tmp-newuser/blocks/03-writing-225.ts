import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
await configMaps.create({ metadata: { name: 'held', finalizers: ['example.com/cleanup'] } });
await configMaps.delete('held');
assert.ok((await configMaps.get('held')).metadata.deletionTimestamp);

await configMaps.edit('held', (draft) => {
  delete draft.metadata.finalizers;
});
assert.equal(await configMaps.find('held'), undefined);
export {};
