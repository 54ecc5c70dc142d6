import assert from 'node:assert/strict';
import { createCluster, memoryStorage, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster({ storage: memoryStorage({ history: 2 }) }).api(ConfigMap);
const slow = configMaps.watch();
for (let i = 0; i < 5; i++) await configMaps.create({ metadata: { name: `c${i}` } });
await assert.rejects(slow.next(), (error) => StatusError.is(error, 'Expired'));
export {};
