import assert from 'node:assert/strict';
import { createCluster } from 'orchplane';
import { createFetchHandler } from 'orchplane/http';
import { ClusterRoleBinding } from 'orchplane/kinds';

const cluster = createCluster();
const handler = createFetchHandler(cluster, {
  tokens: {
    'alice-token': { user: 'alice', groups: ['dev'] },
    'root-token': { user: 'root', groups: ['system:masters'] }, // may do everything
  },
  authenticate: ({ headers }) => {
    const user = headers.get('x-forwarded-user'); // set by a proxy that nobody can go around
    return user === null ? undefined : { user };
  },
  onError: (error) => console.error(error), // what no client should see: faults of plugins or of the library
});
const ask = async (headers: Record<string, string> = {}) =>
  (await handler(new Request('http://cluster/api/v1/configmaps', { headers }))).status;

assert.equal(await ask({ authorization: 'Bearer root-token' }), 200);
assert.equal(await ask({ authorization: 'Bearer alice-token' }), 403); // known, but bound to no role
assert.equal(await ask({ 'x-forwarded-user': 'bob' }), 403);
assert.equal(await ask({ authorization: 'Bearer guessed' }), 401);
assert.equal(await ask(), 403); // system:anonymous

await cluster.api(ClusterRoleBinding).create({
  metadata: { name: 'developers' },
  roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'view' },
  subjects: [{ kind: 'Group', name: 'dev' }],
});
assert.equal(await ask({ authorization: 'Bearer alice-token' }), 200);
export {};
