import assert from 'node:assert/strict';
import { createCluster, mergePatch } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().with({ fieldManager: 'me' }).api(ConfigMap);
const before = await configMaps.create({ metadata: { name: 'settings' }, data: { colour: 'red', size: 'm' } });

// Everything as it is, applied: shared with the updates. Then the updates let go.
const { name } = before.metadata;
const applied = await configMaps.apply({ metadata: { name }, data: before.data ?? {} });
const managedFields = applied.metadata.managedFields?.filter(({ operation }) => operation === 'Apply') ?? [];
await configMaps.patch(name, mergePatch({ metadata: { managedFields } }));

const after = await configMaps.apply({ metadata: { name }, data: { colour: 'blue' } });
assert.deepEqual(after.data, { colour: 'blue' });
export {};
