import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
const error: unknown = await configMaps.create({ metadata: { name: 'No Spaces' } }).catch((thrown) => thrown);

assert.ok(StatusError.is(error, 'Invalid'));
assert.equal(error.code, 422);
assert.equal(error.status.details?.causes?.[0]?.field, 'metadata.name');
export {};
