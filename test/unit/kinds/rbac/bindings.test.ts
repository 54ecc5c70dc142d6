/** Validation of RoleBindings and ClusterRoleBindings. */
import { ClusterRoleBinding, type ClusterRoleBindingInput, RoleBinding, type RoleBindingInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

const GROUP = 'rbac.authorization.orch.io';
const ref = { apiGroup: GROUP, kind: 'ClusterRole', name: 'r' } as const;

const bind = (body: object) =>
  testCluster()
    .api(RoleBinding)
    .create({ metadata: { name: 'b' }, roleRef: ref, ...body } as RoleBindingInput);
const bindEverywhere = (body: object) =>
  testCluster()
    .api(ClusterRoleBinding)
    .create({ metadata: { name: 'b' }, roleRef: ref, ...body } as ClusterRoleBindingInput);

describe('API groups of a binding', () => {
  test('sets unambiguous API groups of a binding', async () => {
    const subjects = [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's' },
    ];
    const { roleRef, subjects: stored } = await bind({ roleRef: { kind: 'Role', name: 'r' }, subjects });
    expect(roleRef).toEqual({ apiGroup: GROUP, kind: 'Role', name: 'r' });
    expect(stored).toEqual([
      { kind: 'User', apiGroup: GROUP, name: 'u' },
      { kind: 'Group', apiGroup: GROUP, name: 'g' },
      { kind: 'ServiceAccount', name: 's' },
    ]);
    expect(Object.keys(stored?.[0] ?? {})).toEqual(['kind', 'apiGroup', 'name']);
  });

  test('uses the API groups of the dialect in a binding', async () => {
    const bindings = testCluster({ dialect: 'kubernetes' }).api(RoleBinding);
    const metadata = { name: 'b' };
    const roleRef = { kind: 'Role', name: 'r' };
    const { roleRef: stored } = await bindings.create({ metadata, roleRef } as RoleBindingInput);
    expect(stored.apiGroup).toBe('rbac.authorization.k8s.io');
  });
});

describe('the roleRef of a binding', () => {
  const kindMessage = (kind: string, kinds: string) => `Unsupported value: "${kind}": supported values: ${kinds}`;

  test.each([
    ['is missing', {}, '', [['roleRef.name', 'Required value'] as const]],
    ['is of another kind', { kind: 'User', name: 'r' }, 'User', []],
  ])('rejects the roleRef of a binding if it %s', async (_what, roleRef, kind, more) => {
    const either = ['roleRef.kind', kindMessage(kind, '"Role", "ClusterRole"')] as const;
    await expect(bind({ roleRef })).rejects.toMatchObject(invalidWith(either, ...more));
    const only = ['roleRef.kind', kindMessage(kind, '"ClusterRole"')] as const;
    await expect(bindEverywhere({ roleRef })).rejects.toMatchObject(invalidWith(only, ...more));
  });

  test('rejects a ClusterRoleBinding whose roleRef is a Role', async () => {
    const message = kindMessage('Role', '"ClusterRole"');
    await expect(bindEverywhere({ roleRef: { ...ref, kind: 'Role' } })).rejects.toMatchObject(
      invalidWith(['roleRef.kind', message]),
    );
  });

  test.each([
    [{ ...ref, apiGroup: 'apps' }, 'roleRef.apiGroup', `Unsupported value: "apps": supported values: "${GROUP}"`],
    [{ ...ref, name: 'a/b' }, 'roleRef.name', `Invalid value: "a/b": may not contain '/'`],
  ])('rejects the roleRef %o of a binding', async (roleRef, field, message) => {
    await expect(bind({ roleRef })).rejects.toMatchObject(invalidWith([field, message]));
  });

  test('rejects changes of the roleRef, and validates everything twice on update', async () => {
    const bindings = testCluster().api(RoleBinding);
    const binding = await bindings.create({ metadata: { name: 'b' }, roleRef: ref });
    const dump = (kind: string, name: string) =>
      `Invalid value: rbac.RoleRef{APIGroup:"${GROUP}", Kind:"${kind}", Name:"${name}"}: cannot change roleRef`;
    await expect(bindings.update({ ...binding, roleRef: { ...ref, name: 'other' } })).rejects.toMatchObject(
      invalidWith(['roleRef', dump('ClusterRole', 'other')]),
    );
    const named = ['roleRef.name', 'Required value'] as const;
    await expect(bindings.update({ ...binding, roleRef: { ...ref, name: '' } })).rejects.toMatchObject(
      invalidWith(named, named, ['roleRef', dump('ClusterRole', '')]),
    );
  });
});

describe('a subject of a binding', () => {
  const kinds = 'supported values: "ServiceAccount", "User", "Group"';

  test.each([
    [{ kind: 'User' }, [['name', 'Required value']]],
    [
      { kind: 'Robot' },
      [
        ['name', 'Required value'],
        ['kind', `Unsupported value: "Robot": ${kinds}`],
      ],
    ],
    [{ name: 'x' }, [['kind', `Unsupported value: "": ${kinds}`]]],
    [
      { kind: 'Group', name: 'g', apiGroup: 'apps' },
      [['apiGroup', `Unsupported value: "apps": supported values: "${GROUP}"`]],
    ],
    [
      { kind: 'ServiceAccount', name: 's', namespace: 'n', apiGroup: GROUP },
      [['apiGroup', `Unsupported value: "${GROUP}": supported values: ""`]],
    ],
  ])('rejects the subject %o of a binding', async (subject, causes) => {
    const expected = invalidWith(...causes.map(([field, message]) => [`subjects[0].${field}`, `${message}`] as const));
    await expect(bind({ subjects: [subject] })).rejects.toMatchObject(expected);
    await expect(bindEverywhere({ subjects: [subject] })).rejects.toMatchObject(expected);
  });

  test('requires a valid name of a ServiceAccount subject', async () => {
    const subjects = [{ kind: 'ServiceAccount', name: 'X_Y' }];
    await expect(bind({ subjects })).rejects.toMatchObject({
      status: { details: { causes: [{ field: 'subjects[0].name', reason: 'FieldValueInvalid' }] } },
    });
  });

  test('requires the namespace of a ServiceAccount subject in a ClusterRoleBinding', async () => {
    const subjects = [{ kind: 'ServiceAccount', name: 's' }];
    await expect(bind({ subjects })).resolves.toMatchObject({ subjects });
    await expect(bindEverywhere({ subjects })).rejects.toMatchObject(
      invalidWith(['subjects[0].namespace', 'Required value']),
    );
  });
});
