import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
const as = (fieldManager: string) => cluster.with({ fieldManager }).api(ConfigMap);
await as('ci').apply({ metadata: { name: 'settings' }, data: { colour: 'red', size: 'm' } });
await as('design').apply({ metadata: { name: 'settings' }, data: { colour: 'red' } });

const ownership = await cluster.api(ConfigMap).explain('settings');
assert.deepEqual(
  ownership.ownersOf('.data.colour').map(({ manager }) => manager),
  ['design', 'ci'],
);
console.log(String(ownership));
// FIELD         VALUE  OWNED BY
// .data.colour  "red"  design (Apply), ci (Apply, since 2026-01-01T00:00:00Z)
// .data.size    "m"    ci (Apply, since 2026-01-01T00:00:00Z)
export {};
