/**
 * Which role does a controller need? It runs as the administrator while its requests are recorded, then as its service
 * account with the recorded role. Finally, the permissions that an existing role lacks are listed.
 */
import assert from 'node:assert/strict';
import { recordAccess, StatusError } from 'orchplane';
import { ConfigMap, Pod, RoleBinding, Secret } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';

/** The controller: writes the number of pods in the namespace to a ConfigMap. It gets a client as a parameter. */
async function countPods(client) {
  const { items } = await client.api(Pod).list();
  const configuration = { metadata: { name: 'pods' }, data: { count: String(items.length) } };
  await client.api(ConfigMap).apply(configuration, { fieldManager: 'counter' });
}

const cluster = testCluster();
await cluster.api(Pod).create({
  metadata: { name: 'web' },
  spec: { containers: [{ name: 'web', image: 'nginx:1.29' }] },
});
const before = cluster.snapshot();

console.log('The requests of the controller');
const access = recordAccess(cluster);
await countPods(cluster);
access.stop();
console.log(access.yaml('counter'));

console.log('As its service account');
cluster.restore(before);
const counter = cluster.with({ as: { user: 'system:serviceaccount:default:counter' } });
const refused = await countPods(counter).catch((error) => error);
assert.ok(StatusError.is(refused, 'Forbidden'));
console.log(`without the role: ${refused.message}`);

await cluster.applyYaml(access.yaml('counter'));
await cluster.api(RoleBinding).create({
  metadata: { name: 'counter' },
  roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'Role', name: 'counter' },
  subjects: [{ kind: 'ServiceAccount', name: 'counter', namespace: 'default' }],
});
await countPods(counter);
assert.equal((await cluster.api(ConfigMap).get('pods')).data?.['count'], '1');
await assert.rejects(counter.api(Secret).list(), (error) => StatusError.is(error, 'Forbidden'));
console.log('with the role: it works, and may do nothing else');

console.log('The role in the repository');
const shipped = { kind: 'Role', rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'patch'] }] };
const missing = access.refusedBy(shipped);
assert.equal(missing.length, 2);
for (const line of missing) console.log(`it lacks: ${line}`);
await cluster.close();
