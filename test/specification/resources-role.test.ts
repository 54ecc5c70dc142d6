/** docs/specification.md, R2: Role. */
import { rbac } from 'orchplane';
import { describe, expect, test } from 'vitest';
import { fieldsOf, type Json, openService, pathOf } from './service.js';

const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] };

/** A service in which alice has the rules of a role, or of a ClusterRole that a cluster-wide binding refers to. */
async function withAlice(rules: Json[], kind: 'Role' | 'ClusterRole' = 'Role') {
  const groups = ['system:authenticated'];
  const tokens = { alice: { user: 'alice', groups }, admin: { user: 'admin', groups: ['system:masters', ...groups] } };
  const { send } = openService({ authorizer: rbac() }, { tokens });
  const as = (token: string) => ({ authorization: `Bearer ${token}` });
  const group = 'rbac.authorization.orch.io';
  const made = await send('POST', pathOf(kind), { metadata: { name: 'r' }, rules }, as('admin'));
  expect(made.code).toBe(201);
  await send(
    'POST',
    pathOf(kind === 'Role' ? 'Role' : 'ClusterRoleBinding').replace('/roles', '/rolebindings'),
    {
      metadata: { name: 'b' },
      roleRef: { apiGroup: group, kind, name: 'r' },
      subjects: [{ apiGroup: group, kind: 'User', name: 'alice' }],
    },
    as('admin'),
  );
  for (const name of ['a', 'b']) await send('POST', pathOf('ConfigMap'), { metadata: { name } }, as('admin'));
  return async (method: string, path: string) => (await send(method, path, undefined, as('alice'))).code;
}

describe('Role', () => {
  test('R2.1: has rules of atomic lists', async () => {
    const service = openService();
    expect(await fieldsOf(service, 'Role', 'Role')).toMatchObject({ rules: '[]PolicyRule atomic' });
    expect(await fieldsOf(service, 'Role', 'PolicyRule')).toEqual({
      apiGroups: '[]string atomic',
      resources: '[]string atomic',
      verbs: '[]string atomic!',
      resourceNames: '[]string atomic',
      nonResourceURLs: '[]string atomic',
    });
  });

  test('R2.2: a rule has verbs', async () => {
    const service = openService();
    const { verbs: _, ...rest } = rule;
    expect((await service.create('Role', { rules: [rest] })).causes).toEqual(['rules[0].verbs: Required']);
    expect((await service.create('Role', { rules: [rule] })).code).toBe(201);
  });

  test.each<[string, Json, [number, number]]>([
    ['the core group', rule, [200, 403]],
    ['another group', { ...rule, apiGroups: ['apps'] }, [403, 403]],
    ['several groups', { ...rule, apiGroups: ['apps', ''] }, [200, 403]],
    ['all groups', { ...rule, apiGroups: ['*'] }, [200, 403]],
    ['all resources', { ...rule, resources: ['*'] }, [200, 403]],
    ['all verbs', { ...rule, verbs: ['*'] }, [200, 200]],
  ])('R2.3: a rule for %s allows what it names', async (_, one, [read, remove]) => {
    const alice = await withAlice([one]);
    expect(await alice('GET', pathOf('ConfigMap', 'a'))).toBe(read);
    expect(await alice('DELETE', pathOf('ConfigMap', 'a'))).toBe(remove);
  });

  test('R2.4: resourceNames restricts a rule to these names', async () => {
    const alice = await withAlice([{ ...rule, resourceNames: ['a'] }]);
    expect(await alice('GET', pathOf('ConfigMap', 'a'))).toBe(200);
    expect(await alice('GET', pathOf('ConfigMap', 'b'))).toBe(403);
  });

  test.each<[string, number]>([
    ['/healthz', 201],
    ['/healthz/*', 201],
    ['*', 201],
    ['/*', 201],
    ['/hea*', 422],
    ['/a/*/b', 422],
    ['/a/**', 422],
    ['*/a', 422],
  ])('R2.5: a role with the URL %s is answered with %i', async (url, code) => {
    const made = await openService().create('ClusterRole', { rules: [{ nonResourceURLs: [url], verbs: ['get'] }] });
    expect(made.code).toBe(code);
    expect(made.causes).toEqual(code === 201 ? [] : ['rules[0].nonResourceURLs[0]: Invalid']);
  });

  test('R2.6: non-resource URLs are for cluster-wide roles and bindings', async () => {
    const metrics = { nonResourceURLs: ['/metrics'], verbs: ['get'] };
    expect((await openService().create('Role', { rules: [metrics] })).code).toBe(422);
    const service = openService();
    expect((await service.create('ClusterRole', { rules: [metrics] })).code).toBe(201);
    const user = { user: 'alice', groups: ['system:authenticated'] };
    const ask = async () => {
      const review = { spec: { ...user, nonResourceAttributes: { path: '/metrics', verb: 'get' } } };
      return (await guarded.send('POST', '/apis/authorization.orch.io/v1/subjectaccessreviews', review)).body.status;
    };
    const guarded = openService({ authorizer: rbac() });
    await guarded.create('ClusterRole', { rules: [metrics] });
    const binding = {
      metadata: { name: 'b' },
      roleRef: { apiGroup: 'rbac.authorization.orch.io', kind: 'ClusterRole', name: 'a' },
      subjects: [{ apiGroup: 'rbac.authorization.orch.io', kind: 'User', name: 'alice' }],
    };
    await guarded.send('POST', pathOf('Role').replace('/roles', '/rolebindings'), binding);
    expect((await ask()).allowed).toBe(false);
    await guarded.send('POST', pathOf('ClusterRoleBinding'), binding);
    expect((await ask()).allowed).toBe(true);
  });

  test('R2.7: a rule is for resources or for URLs, not for both', async () => {
    const both = { ...rule, nonResourceURLs: ['/metrics'] };
    expect((await openService().create('ClusterRole', { rules: [both] })).code).toBe(422);
  });
});
