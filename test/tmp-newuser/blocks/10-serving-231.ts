import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { ConfigMap } from 'orchplane/kinds';
import { loadManifests } from 'orchplane/node';

const text = `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings, namespace: team }
data: { size: m }
---
apiVersion: v1
kind: Namespace
metadata: { name: team }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: Wrong }
`;
const cluster = createCluster();
const loaded = await loadManifests(cluster, [{ name: 'team.yaml', text }]);

assert.deepEqual((await cluster.api(ConfigMap, 'team').get('settings')).data, { size: 'm' });
for (const each of loaded) {
  if (each.outcome === 'failed') console.log(each.error.message); // team.yaml:11 (document 3): ConfigMap default/Wrong: …
  else console.log(each.outcome, each.kind, each.name);
}
assert.deepEqual(
  loaded.map(({ outcome }) => outcome),
  ['created', 'created', 'failed'],
);
export {};
