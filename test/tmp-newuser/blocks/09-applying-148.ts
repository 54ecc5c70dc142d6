import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const cluster = createCluster();
const as = (fieldManager: string) => cluster.with({ fieldManager }).api(ConfigMap);
await as('ci').apply({ metadata: { name: 'settings' }, data: { colour: 'red', size: 'm' } });

const plan = await as('design').explain({ metadata: { name: 'settings' }, data: { colour: 'blue', font: 'mono' } });
assert.equal(plan.outcome, 'conflict');
assert.deepEqual(
  plan.fields.map(({ path, change }) => [path, change]),
  [
    ['.data.colour', 'conflict'],
    ['.data.font', 'add'],
  ],
);
assert.equal(plan.fields[0]?.others[0]?.manager, 'ci');
console.log(String(plan)); // console.log(plan) does the same in Node
// ConfigMap "settings", applied by "design": would fail with a conflict
//   conflict  .data.colour  "red" → "blue"     owned by ci (Apply, since 2026-01-01T00:00:00Z)
//   add       .data.font    (absent) → "mono"
export {};
