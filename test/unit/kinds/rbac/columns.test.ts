/** Table columns of roles and bindings. */
import type { ApiObject, Kind } from 'orchplane';
import { ClusterRoleBinding, Role, RoleBinding } from 'orchplane/kinds';
import { expect, test } from 'vitest';
import { orchDialect } from '../../../../src/meta/dialect.js';

const metadata = { name: 'a', creationTimestamp: '2030-01-01T00:00:00Z' };
const cells = (kind: Kind, body: object) =>
  kind.columns?.map(({ cell }) =>
    cell({ metadata, ...body } as unknown as ApiObject, { nowMs: Date.UTC(2030, 0, 1, 0, 1, 0), dialect: orchDialect }),
  );

test('prints the creation time of a role', () => {
  expect(Role.columns?.map(({ name, type }) => [name, type])).toEqual([
    ['Name', 'string'],
    ['Created At', 'date'],
  ]);
  expect(cells(Role, {})).toEqual(['a', '2030-01-01T00:00:00Z']);
});

test('prints the role of a binding and, in wide output, its subjects', () => {
  const subjects = [
    { kind: 'User', name: 'u' },
    { kind: 'User', name: 'v' },
    { kind: 'Group', name: 'g' },
    { kind: 'ServiceAccount', name: 's' },
    { kind: 'ServiceAccount', name: 't', namespace: 'n' },
  ];
  const roleRef = { kind: 'Role', name: 'r' };
  expect(cells(RoleBinding, { roleRef, subjects })).toEqual(['a', 'Role/r', '60s', 'u, v', 'g', '/s, n/t']);
  expect(cells(ClusterRoleBinding, { roleRef })).toEqual(['a', 'Role/r', '60s', '', '', '']);
  expect(RoleBinding.columns?.map(({ priority = 0 }) => priority)).toEqual([0, 0, 0, 1, 1, 1]);
  expect(ClusterRoleBinding.columns?.[3]?.description).toBe('Users that the role is granted to.');
});
