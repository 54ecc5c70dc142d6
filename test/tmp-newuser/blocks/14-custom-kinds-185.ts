import assert from 'node:assert/strict';
import { createCluster, ManifestsError, StatusError } from 'orchplane';

const cluster = createCluster();
const text = `
apiVersion: v1
kind: ConfigMap
metadata: { name: Wrong }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: right }
---
apiVersion: v1
kind: ConfgMap
metadata: { name: misspelt }
`;
await assert.rejects(cluster.applyYaml(text), (error) => {
  assert.ok(error instanceof ManifestsError);
  assert.match(error.message, /^applyYaml: 2 of 3 failed\n {2}line 2 \(document 1\): ConfigMap default\/Wrong: /);
  assert.match(error.message, /\(document 3\): no kind ConfgMap in v1 is served; did you mean ConfigMap\?$/);
  assert.ok(StatusError.is(error.errors[0]?.cause, 'Invalid'));
  return true;
});

const report = await cluster.applyYaml(text, { onError: 'report', dryRun: true, namespace: 'kube-system' });
assert.deepEqual(
  report.map(({ outcome }) => outcome),
  ['failed', 'created', 'failed'],
);
export {};
