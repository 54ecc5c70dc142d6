import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
const ready = configMaps.waitFor('web', (web) => web?.data?.['ready'] === 'yes', { timeoutMs: 5_000 });
await configMaps.create({ metadata: { name: 'web' } });
await configMaps.edit('web', (draft) => {
  draft.data = { ready: 'yes' };
});
assert.equal((await ready)?.metadata.name, 'web');

const never = configMaps.waitFor('web', (web) => web === undefined, { timeoutMs: 1 });
await assert.rejects(never, (error) => StatusError.is(error, 'Timeout'));
export {};
