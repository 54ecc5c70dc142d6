import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
const configMaps = cluster.api(ConfigMap);
for (const [name, app, tier] of [['a', 'web', 'front'], ['b', 'web', 'back'], ['c', 'api', 'back']] as const) {
  await configMaps.create({ metadata: { name, labels: { app, tier } } });
}
const names = async (options: Parameters<typeof configMaps.list>[0]) =>
  (await configMaps.list(options)).items.map((item) => item.metadata.name).join(' ');

// Labels: exact values, a selector text, or requirements.
assert.equal(await names({ labels: { app: 'web', tier: 'back' } }), 'b');
assert.equal(await names({ labels: 'app in (web, api),tier!=front' }), 'b c');
assert.equal(await names({ labels: [{ key: 'tier', operator: 'NotIn', values: ['back'] }] }), 'a');

// Fields: a record or a selector text.
assert.equal(await names({ fields: { 'metadata.name': 'c' } }), 'c');
assert.equal(await names({ fields: 'metadata.name!=c' }), 'a b');
export {};
