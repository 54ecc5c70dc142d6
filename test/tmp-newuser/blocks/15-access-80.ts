import assert from 'node:assert/strict';
import { createCluster, recordAccess } from 'orchplane';
import { ConfigMap, Node } from 'orchplane/kinds';

const cluster = createCluster();
const access = recordAccess(cluster);
// The program under test, as the administrator or as anybody else:
await cluster.api(ConfigMap).create({ metadata: { name: 'state' } });
await cluster.api(ConfigMap).edit('state', (draft) => void (draft.data = { seen: 'yes' }));
await cluster.api(Node).list();
access.stop();

assert.equal(
  access.yaml('my-controller'),
  `apiVersion: rbac.authorization.orch.io/v1
kind: ClusterRole
metadata:
  name: my-controller
rules:
  - apiGroups: [""]
    resources: [nodes]
    verbs: [list]
---
apiVersion: rbac.authorization.orch.io/v1
kind: Role
metadata:
  name: my-controller
  namespace: default
rules:
  - apiGroups: [""]
    resources: [configmaps]
    verbs: [get, create, update]
`,
);

// And the other way round, as an assertion: does the role that is in the repository suffice?
const shipped = {
  kind: 'ClusterRole',
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'create', 'update'] }],
};
assert.deepEqual(access.refusedBy(shipped), ['list nodes']);
export {};
