import assert from 'node:assert/strict';
import { createCluster, StatusError } from 'orchplane';
import { ConfigMap, Role, RoleBinding } from 'orchplane/kinds';

const cluster = createCluster();
const alice = cluster.with({ as: { user: 'alice', groups: ['dev'] } });

const denied = await alice.api(ConfigMap).get('settings').catch((error: unknown) => error);
assert.ok(StatusError.is(denied, 'Forbidden'));
assert.equal(
  denied.message,
  'configmaps "settings" is forbidden: User "alice" cannot get resource "configmaps" in API group "" in the namespace "default"',
);

await cluster.api(Role).create({
  metadata: { name: 'reader' },
  rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
});
await cluster.api(RoleBinding).create({
  metadata: { name: 'readers' },
  roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'reader' },
  subjects: [{ kind: 'Group', name: 'dev' }],
});
await cluster.api(ConfigMap).create({ metadata: { name: 'settings' } });
assert.equal((await alice.api(ConfigMap).get('settings')).metadata.name, 'settings');
export {};
