/**
 * The access check of the playground: decisions of the cluster and the rules behind them.
 */
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import {
  accessMatrix,
  checkAccess,
  userWithDefaultGroups,
  VERBS,
} from '../../../examples/playground/src/access/check-access.js';

const pods = { group: '', resource: 'pods', namespace: 'default' };

async function put() {
  const cluster = testCluster({ dialect: 'kubernetes' });
  await cluster.applyYaml(`
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: readers }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view }
subjects: [{ kind: Group, name: dev }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: { name: one-secret }
rules: [{ apiGroups: [""], resources: [secrets], resourceNames: [mine], verbs: [get] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: { name: one-secret }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: Role, name: one-secret }
subjects: [{ kind: ServiceAccount, name: robot, namespace: default }]
`);
  return cluster;
}

test('adds the groups of the server to a user', () => {
  expect(userWithDefaultGroups('alice', ['dev', ''])).toEqual({
    user: 'alice',
    groups: ['dev', 'system:authenticated'],
  });
  expect(userWithDefaultGroups('system:serviceaccount:default:robot').groups).toEqual([
    'system:serviceaccounts',
    'system:serviceaccounts:default',
    'system:authenticated',
  ]);
  expect(userWithDefaultGroups('system:anonymous').groups).toEqual(['system:unauthenticated']);
});

test('names the binding, the role and the rule of a decision', async () => {
  const cluster = await put();
  const user = userWithDefaultGroups('alice', ['dev']);
  expect(checkAccess(cluster, { user: user, verb: 'delete', ...pods })).toEqual({ isAllowed: false, reason: '' });
  const { isAllowed, grant } = checkAccess(cluster, { user: user, verb: 'list', ...pods });
  expect(isAllowed).toBe(true);
  expect(grant).toMatchObject({
    binding: { kind: 'RoleBinding', name: 'readers', namespace: 'default' },
    role: { kind: 'ClusterRole', name: 'view' },
    subject: { kind: 'Group', name: 'dev' },
  });
  // The role is aggregated; the rule comes from one of the selected roles.
  expect(grant?.rule?.resources).toContain('pods');
  expect(grant?.rule?.verbs).toEqual(['get', 'list', 'watch']);
  expect(checkAccess(cluster, { user: user, verb: 'list', ...pods, namespace: 'kube-system' }).isAllowed).toBe(false);
});

test('checks the names of objects', async () => {
  const cluster = await put();
  const user = userWithDefaultGroups('system:serviceaccount:default:robot');
  const secrets = { user, verb: 'get', group: '', resource: 'secrets', namespace: 'default' };
  expect(checkAccess(cluster, { ...secrets, name: 'other' }).isAllowed).toBe(false);
  expect(checkAccess(cluster, { ...secrets, name: 'mine' }).grant?.rule?.resourceNames).toEqual(['mine']);
});

test('returns allowed verbs and verbs that a kind does not have', async () => {
  const cluster = await put();
  const kinds = cluster.kinds().filter(({ gvr }) => ['pods', 'secrets', 'nodes'].includes(gvr.resource));
  const rows = accessMatrix(cluster, kinds, userWithDefaultGroups('alice', ['dev']), 'default');
  const allowed = Object.fromEntries(
    rows.map(({ kind, cells }) => [kind.gvr.resource, VERBS.filter((_, index) => cells[index] === true)]),
  );
  expect(allowed).toEqual({ pods: ['get', 'list', 'watch'], secrets: [], nodes: [] });
  const reviews = cluster.kinds().filter(({ gvr }) => gvr.resource === 'selfsubjectreviews');
  expect(accessMatrix(cluster, reviews, userWithDefaultGroups('alice'), '')[0]?.cells).toEqual(
    VERBS.map((verb) => (verb === 'create' ? true : undefined)),
  );
});
