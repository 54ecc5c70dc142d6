import assert from 'node:assert/strict';
import { type Client, recordAccess } from 'orchplane';
import { ConfigMap, RoleBinding, Secret } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

/** The program under test: it is given a client, and does not know as whom it speaks. */
const run = (client: Client) =>
  client.api(ConfigMap).apply({ metadata: { name: 'state' }, data: { seen: 'yes' } }, { fieldManager: 'robot' });

const cluster = testCluster();
const empty = cluster.snapshot();
const access = recordAccess(cluster);
await run(cluster);
access.stop();
cluster.restore(empty);

await cluster.applyYaml(access.yaml('robot'));
await cluster.api(RoleBinding).create({
  metadata: { name: 'robot' },
  roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'robot' },
  subjects: [{ kind: 'ServiceAccount', name: 'robot', namespace: 'default' }],
});
const robot = cluster.with({ as: { user: 'system:serviceaccount:default:robot' } });
await run(robot); // is refused nothing
await assert.rejects(robot.api(Secret).list(), /cannot list resource "secrets"/);
export {};
