import assert from 'node:assert/strict';
import { createCluster, jsonPatch, mergePatch, StatusError } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const configMaps = createCluster().api(ConfigMap);
await configMaps.create({ metadata: { name: 'web', labels: { old: 'yes' } }, data: { size: 's' } });

// A merge patch: the fields to change, null for those to delete. The body is typed by the kind.
await configMaps.patch('web', mergePatch({ metadata: { labels: { old: null, tier: 'front' } } }));

// A JSON patch: steps that all succeed or change nothing.
const web = await configMaps.patch(
  'web',
  jsonPatch([
    { op: 'test', path: '/data/size', value: 's' },
    { op: 'replace', path: '/data/size', value: 'm' },
  ]),
);
assert.deepEqual(web.metadata.labels, { tier: 'front' });
assert.deepEqual(web.data, { size: 'm' });

const failing = configMaps.patch('web', jsonPatch([{ op: 'test', path: '/data/size', value: 's' }]));
await assert.rejects(failing, (error) => StatusError.is(error, 'Invalid'));
export {};
