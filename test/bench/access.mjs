/**
 * Decisions of the authorizer with 500 bindings, compared with a loop that looks up a user and a verb in two Maps: for a
 * user in a binding, for a member of a group that is in all bindings, and for a user without permission.
 */
import { createCluster } from '../../dist/index.js';
import { ClusterRole, ClusterRoleBinding } from '../../dist/kinds/index.js';
import { compare, verify } from './measure.mjs';

const BINDINGS = 500;
const GROUP = 'rbac.authorization.orch.io';

async function clusterWithRoles() {
  const cluster = createCluster();
  const roles = cluster.api(ClusterRole);
  const bindings = cluster.api(ClusterRoleBinding);
  for (let index = 0; index < BINDINGS; index++) {
    const name = `role-${index}`;
    const rule = {
      verbs: ['get', 'list', 'watch'],
      apiGroups: ['', `g${index}`],
      resources: ['pods', `things${index}`],
    };
    await roles.create({ metadata: { name }, rules: [rule] });
    const subjects = [
      { kind: 'User', name: `user-${index}` },
      { kind: 'Group', name: 'members' },
    ];
    await bindings.create({ metadata: { name }, roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name }, subjects });
  }
  return cluster;
}

const about = (verb) => ({
  type: 'resource',
  verb,
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'default',
  name: 'web',
});

const CASES = [
  ['by name', { user: `user-${BINDINGS - 1}`, groups: ['system:authenticated'] }, 'get', true],
  ['by group', { user: 'member', groups: ['members', 'system:authenticated'] }, 'get', true],
  ['refused', { user: 'member', groups: ['members', 'system:authenticated'] }, 'delete', false],
];

export async function access({ scale, ...settings }) {
  const count = Math.ceil(200_000 * scale);
  const cluster = await clusterWithRoles();
  const rows = [];
  for (const [how, user, verb, isAllowed] of CASES) {
    const ours = decisions(count, isAllowed, () => cluster.authorize(user, about(verb)).allowed);
    const users = new Map(Array.from({ length: BINDINGS }, (_, index) => [`user-${index}`, new Set(['get'])]));
    users.set('member', new Set(['get']));
    const bare = decisions(count, isAllowed, () => users.get(user.user).has(about(verb).verb));
    // 2 µs for a decision.
    const name = `decide with ${BINDINGS} bindings, ${how}`;
    rows.push({ name, unit: 'ops/s', goal: 500_000, ...(await compare({ ours, bare }, settings)) });
  }
  return rows;
}

function decisions(count, isAllowed, decide) {
  return {
    count,
    prepare: () => undefined,
    run() {
      let allowed = 0;
      for (let index = 0; index < count; index++) if (decide()) allowed++;
      return allowed;
    },
    check: (_state, allowed) => verify(allowed === (isAllowed ? count : 0), 'every question has the same answer'),
  };
}
