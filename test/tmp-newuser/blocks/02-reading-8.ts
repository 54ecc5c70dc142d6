import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
await configMaps.create({ metadata: { name: 'web' }, data: { size: 'm' } });

assert.equal((await configMaps.get('web')).data?.['size'], 'm');
assert.equal(await configMaps.find('nope'), undefined);
await assert.rejects(configMaps.get('nope'), (error) => StatusError.is(error, 'NotFound'));

// What is read is what is stored: the same object, frozen.
assert.equal(await configMaps.get('web'), await configMaps.get('web'));
export {};
