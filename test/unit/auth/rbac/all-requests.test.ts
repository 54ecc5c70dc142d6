/**
 * Every verb in every scope, on every subresource, by every kind of subject: the authorizer agrees with a simple
 * evaluation, including the reason.
 */
import { describe, expect, test } from 'vitest';
import { rbac } from '../../../../src/auth/rbac/authorizer.js';
import type { AccessAttributes } from '../../../../src/protocol/access.js';
import { fakeCluster } from './fake-cluster.js';
import type { BindingObject, RoleObject, Subject } from './random-policies.js';
import { GROUP } from './random-policies.js';
import { naiveDecision } from './simple-rbac.js';

const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', 'bind', '*'];
const NAMESPACES = ['', 'team', 'other'];
const RESOURCES = [
  { group: '', resource: 'pods' },
  { group: '', resource: 'secrets' },
  { group: '', resource: 'nodes' },
  { group: 'apps', resource: 'deployments' },
  { group: 'example.com', resource: 'widgets' },
];
const SUBRESOURCES = ['', 'status', 'log', 'scale'];
const NAMES = ['', 'web', 'db'];
const PATHS = ['/', '/healthz', '/healthz/ping', '/metrics', '/logs', '/logs/x', '/logs/x/y'];

const ALL = ['*'];
const clusterRoles: Record<string, RoleObject['rules']> = {
  everything: [
    { verbs: ALL, apiGroups: ALL, resources: ALL },
    { verbs: ALL, nonResourceURLs: ALL },
  ],
  reader: [{ verbs: ['get', 'list', 'watch'], apiGroups: ALL, resources: ALL }],
  scaler: [{ verbs: ['update', 'patch'], apiGroups: ALL, resources: ['*/scale'] }],
  nodes: [{ verbs: ['get'], apiGroups: [''], resources: ['nodes', 'nodes/status'] }],
  'one-secret': [{ verbs: ['get', 'delete'], apiGroups: [''], resources: ['secrets'], resourceNames: ['db'] }],
  logs: [
    { verbs: ['get'], nonResourceURLs: ['/logs/*', '/metrics'] },
    { verbs: ALL, nonResourceURLs: ['/healthz*'] },
  ],
  widgets: [{ verbs: ALL, apiGroups: ['example.com', 'apps'], resources: ['widgets', 'widgets/status'] }],
  nothing: null,
};

const roles: RoleObject[] = [
  role('pods', [
    { verbs: ['get', 'list', 'create'], apiGroups: [''], resources: ['pods', 'pods/log'] },
    { verbs: ['delete'], apiGroups: ['', 'apps'], resources: ['pods', 'deployments'], resourceNames: ['web'] },
  ]),
  role('apps', [{ verbs: ALL, apiGroups: ['apps'], resources: ALL }]),
];

function role(name: string, rules: RoleObject['rules']): RoleObject {
  return { metadata: { name, namespace: 'team' }, rules };
}

const user = (name: string): Subject => ({ kind: 'User', apiGroup: GROUP, name });
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: GROUP, name });
const account = (name: string, namespace?: string): Subject => ({
  kind: 'ServiceAccount',
  name,
  ...(namespace === undefined ? {} : { namespace }),
});

function everywhere(name: string, subjects: Subject[], role = name): BindingObject {
  return { metadata: { name }, subjects, roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: role } };
}

function within(name: string, kind: string, about: { namespace?: string; role: string; subjects: Subject[] }) {
  const { namespace = 'team', role, subjects } = about;
  return { metadata: { name, namespace }, subjects, roleRef: { apiGroup: GROUP, kind, name: role } };
}

const policy = {
  group: GROUP,
  clusterRoles: Object.entries(clusterRoles).map(([name, rules]) => ({ metadata: { name }, rules })),
  roles,
  clusterRoleBindings: [
    everywhere('admins', [group('admins')], 'everything'),
    everywhere('scaler', [user('alice'), group('ops')]),
    everywhere('nodes', [account('robot', 'team'), user('unused')]),
    everywhere('logs', [group('ops'), user('alice')]),
    everywhere('ghost', [user('haunted')], 'gone'),
    everywhere('nothing', [user('alice')]),
  ],
  roleBindings: [
    within('pods', 'Role', { role: 'pods', subjects: [user('alice'), account('robot')] }),
    within('apps', 'Role', { role: 'apps', subjects: [group('ops')] }),
    within('readers', 'ClusterRole', { role: 'reader', subjects: [group('readers'), user('haunted')] }),
    within('secret', 'ClusterRole', { role: 'one-secret', subjects: [user('bob'), account('robot', 'other')] }),
    within('widgets', 'ClusterRole', { role: 'widgets', subjects: [user('bob')], namespace: 'other' }),
    within('everything', 'ClusterRole', { role: 'everything', subjects: [user('owner')], namespace: 'other' }),
    within('missing', 'Role', { role: 'reader', subjects: [user('haunted'), group('ops')] }),
  ],
};

const subjects = [
  { user: 'root', groups: ['admins'] },
  { user: 'alice', groups: [] },
  { user: 'alice', groups: ['ops', 'readers'] },
  { user: 'bob', groups: ['readers'] },
  { user: 'owner', groups: [] },
  { user: 'haunted', groups: ['ops'] },
  { user: 'system:serviceaccount:team:robot', groups: ['system:serviceaccounts'] },
  { user: 'system:serviceaccount:other:robot', groups: ['ops'] },
  { user: 'unknown', groups: ['system:unauthenticated'] },
];

const checks: AccessAttributes[] = VERBS.flatMap((verb) => [
  ...PATHS.map((path) => ({ type: 'path', verb, path }) as const),
  ...NAMESPACES.flatMap((namespace) =>
    RESOURCES.flatMap(({ group, resource }) =>
      SUBRESOURCES.flatMap((subresource) =>
        NAMES.map(
          (name) => ({ type: 'resource', verb, group, version: 'v1', resource, subresource, namespace, name }) as const,
        ),
      ),
    ),
  ),
]);

const authorizer = rbac()(fakeCluster(policy));
let allowed = 0;

describe.each(subjects)('$user in $groups', (subject) => {
  test.each(VERBS)('may %s exactly what the RBAC rules allow', (verb) => {
    for (const attributes of checks.filter((one) => one.verb === verb)) {
      const decision = authorizer.decide(subject, attributes);
      if (typeof decision === 'object' && decision.allowed) allowed++;
      const expected = naiveDecision(policy, subject, attributes);
      // A plain comparison first, because there are many requests.
      if (JSON.stringify(decision) !== JSON.stringify(expected)) {
        expect({ attributes, decision }).toEqual({ attributes, decision: expected });
      }
    }
  });
});

test('covers thousands of allowed and denied requests', () => {
  const total = checks.length * subjects.length;
  expect(total).toBeGreaterThan(10_000);
  expect(allowed).toBeGreaterThan(1_000);
  expect(total - allowed).toBeGreaterThan(1_000);
});
