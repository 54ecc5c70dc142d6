/** Validation of Roles and ClusterRoles. */
import { ClusterRole, type ClusterRoleInput, Role, type RoleInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

const createRole = (rules: unknown, name = 'r') =>
  testCluster()
    .api(Role)
    .create({ metadata: { name }, rules: rules as RoleInput['rules'] & object });
const createClusterRole = (body: object) =>
  testCluster()
    .api(ClusterRole)
    .create({ metadata: { name: 'r' }, ...body } as ClusterRoleInput);

const NO_VERBS = ['rules[0].verbs', 'Required value: verbs must contain at least one value'] as const;
const NO_GROUPS = ['rules[0].apiGroups', 'Required value: resource rules must supply at least one api group'] as const;
const NO_RESOURCES = [
  'rules[0].resources',
  'Required value: resource rules must supply at least one resource',
] as const;

describe('rules of a role', () => {
  test.each([
    ['no fields', {}, [NO_VERBS, NO_GROUPS, NO_RESOURCES]],
    ['no verbs', { apiGroups: [''], resources: ['pods'], verbs: [] }, [NO_VERBS]],
    ['no groups', { resources: ['pods'], verbs: ['get'] }, [NO_GROUPS]],
    ['no resources', { apiGroups: [''], verbs: ['get'] }, [NO_RESOURCES]],
  ])('rejects a role rule with %s', async (_what, rule, causes) => {
    await expect(createRole([rule])).rejects.toMatchObject(invalidWith(...causes));
    await expect(createClusterRole({ rules: [rule] })).rejects.toMatchObject(invalidWith(...causes));
  });

  test('rejects a role rule for both resources and non-resource URLs', async () => {
    const both = { verbs: ['get'], nonResourceURLs: ['/a'], resourceNames: ['x'] };
    const shown = 'Invalid value: []string{"/a"}: ';
    const mixed = [
      'rules[0].nonResourceURLs',
      `${shown}rules cannot apply to both regular resources and non-resource URLs`,
    ] as const;
    await expect(createClusterRole({ rules: [both] })).rejects.toMatchObject(invalidWith(mixed));
    const outside = ['rules[0].nonResourceURLs', `${shown}namespaced rules cannot apply to non-resource URLs`] as const;
    await expect(createRole([both])).rejects.toMatchObject(invalidWith(outside, mixed));
  });

  test('returns null for a role without rules', async () => {
    expect((await createRole([])).rules).toBeNull();
    expect((await createRole(null)).rules).toBeNull();
    expect((await createClusterRole({})).rules).toBeNull();
  });

  test('validates the rules of a role twice on update', async () => {
    const roles = testCluster().api(Role);
    const role = await roles.create({ metadata: { name: 'r' } });
    const rules = [{ verbs: [], apiGroups: [''], resources: ['pods'] }];
    await expect(roles.update({ ...role, rules })).rejects.toMatchObject(invalidWith(NO_VERBS, NO_VERBS));
  });
});

describe('the name of a role', () => {
  test.each(['system:node', 'A B', 'a_b', 'ä'])('accepts the role name %s', async (name) => {
    expect((await createRole(null, name)).metadata.name).toBe(name);
  });

  test.each([
    ['a/b', "may not contain '/'"],
    ['a%b', "may not contain '%'"],
    ['.', "may not be '.'"],
    ['..', "may not be '..'"],
  ])('rejects the role name %s', async (name, why) => {
    const message = `Invalid value: "${name}": ${why}`;
    await expect(createRole(null, name)).rejects.toMatchObject(invalidWith(['metadata.name', message]));
  });
});

describe('the aggregationRule of a ClusterRole', () => {
  const path = 'aggregationRule.clusterRoleSelectors';
  const select = (...clusterRoleSelectors: unknown[]) =>
    createClusterRole({ aggregationRule: { clusterRoleSelectors } });
  const one = (expression: object) => select({ matchExpressions: [expression] });

  test('requires a selector, which may be empty', async () => {
    const message = 'Required value: at least one clusterRoleSelector required if aggregationRule is non-nil';
    await expect(select()).rejects.toMatchObject(invalidWith([path, message]));
    expect((await select({})).aggregationRule).toEqual({ clusterRoleSelectors: [{}] });
  });

  test('reports an invalid selector twice: for its field and for the whole selector', async () => {
    const at = `${path}[0].matchExpressions[0]`;
    const none = [`${path}[0]`, 'Invalid value: "null": invalid label selector.'] as const;
    await expect(one({ key: 'k', operator: 'Near' })).rejects.toMatchObject(
      invalidWith([`${at}.operator`, 'Invalid value: "Near": not a valid selector operator'], none),
    );
    await expect(one({ key: 'k', operator: 'In' })).rejects.toMatchObject(
      invalidWith([`${at}.values`, "Required value: must be specified when `operator` is 'In' or 'NotIn'"], none),
    );
    const needless = "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
    await expect(one({ key: 'k', operator: 'Exists', values: ['v'] })).rejects.toMatchObject(
      invalidWith([`${at}.values`, needless], none),
    );
    await expect(select({ matchLabels: { k: 'a b' } })).rejects.toMatchObject({
      status: { details: { causes: [{ field: `${path}[0].matchLabels` }, { field: none[0], message: none[1] }] } },
    });
  });
});
