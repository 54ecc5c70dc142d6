import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';

const text = `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: team }
data: { size: m }
---
apiVersion: v1
kind: Namespace
metadata: { name: team, labels: { of: us } }
`;
const cluster = createCluster();
const report = await cluster.applyYaml(text, { fieldManager: 'ci' });
assert.deepEqual(
  report.map(({ kind, name, outcome }) => [kind, name, outcome]),
  [
    ['ConfigMap', 'settings', 'created'],
    ['Namespace', 'team', 'created'],
  ],
);

const again = await cluster.applyYaml(text.replace('size: m', 'size: l'), { fieldManager: 'ci' });
assert.deepEqual(
  again.map(({ outcome }) => outcome),
  ['configured', 'unchanged'],
);
assert.deepEqual((await cluster.api(ConfigMap, 'team').get('settings')).data, { size: 'l' });
export {};
