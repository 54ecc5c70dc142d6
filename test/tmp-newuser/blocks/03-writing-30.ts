import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
const first = await configMaps.create({ metadata: { name: 'web' }, data: { size: 's' } });
await configMaps.update({ ...first, data: { size: 'm' } });

// `first` is out of date now.
const late = configMaps.update({ ...first, data: { size: 'l' } });
await assert.rejects(late, (error) => StatusError.is(error, 'Conflict'));

// Without a version: whatever is there is replaced.
await configMaps.update({ metadata: { name: 'web' }, data: { size: 'xl' } });
assert.equal((await configMaps.get('web')).data?.['size'], 'xl');
export {};
