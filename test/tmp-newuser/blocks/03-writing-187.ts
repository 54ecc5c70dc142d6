import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const warnings: string[] = [];
const configMaps = createCluster({ client: { onWarning: (warning) => warnings.push(warning) } }).api(ConfigMap);
const misspelt = { metadata: { name: 'web' }, daat: { size: 'm' } }; // as it might come from a file

await configMaps.create(misspelt);
assert.deepEqual(warnings, ['unknown field "daat"']);

const strict = configMaps.create(misspelt, { fieldValidation: 'Strict' });
await assert.rejects(strict, (error) => StatusError.is(error, 'BadRequest'));
export {};
