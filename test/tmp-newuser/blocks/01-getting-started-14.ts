import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { Namespace } from 'orchplane/kinds';

const cluster = createCluster();
const { items } = await cluster.api(Namespace).list();
assert.deepEqual(
  items.map((namespace) => namespace.metadata.name),
  ['default', 'kube-node-lease', 'kube-public', 'kube-system'],
);
await cluster.close();
export {};
