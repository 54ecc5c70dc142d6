/** Access reviews return the authorizer's complete answer. */
import {
  ClusterRole,
  ClusterRoleBinding,
  LocalSubjectAccessReview,
  RoleBinding,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import type { AuthorizerFactory } from '../../../../src/auth/authorizer.js';
import type { AccessAttributes } from '../../../../src/protocol/access.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';

const pods = { namespace: 'default', verb: 'get', resource: 'pods' };

describe.each(['orch', 'kubernetes'] as const)('access reviews with RBAC in the dialect %s', (dialect) => {
  const GROUP = dialect === 'orch' ? 'rbac.authorization.orch.io' : 'rbac.authorization.k8s.io';
  const start = async () => {
    const cluster = testCluster({ dialect });
    const roleRef = { apiGroup: GROUP, kind: 'ClusterRole' as const, name: 'view' };
    await cluster.api(RoleBinding).create({
      metadata: { name: 'viewers' },
      roleRef,
      subjects: [{ kind: 'Group', name: 'dev' }],
    });
    return cluster;
  };

  test('allows a user in a review what a group of the user is allowed', async () => {
    const cluster = await start();
    const reviews = cluster.api(SubjectAccessReview);
    const reviewOf = async (spec: object) =>
      (await reviews.create({ spec: { resourceAttributes: pods, ...spec } })).status;
    const reason = 'RBAC: allowed by RoleBinding "viewers/default" of ClusterRole "view" to Group "dev"';
    expect(await reviewOf({ groups: ['dev'] })).toEqual({ allowed: true, reason });
    // Groups are used as given, and none is added.
    expect(await reviewOf({ user: 'alice' })).toEqual({ allowed: false });
    expect(
      await reviewOf({ user: 'alice', resourceAttributes: { ...pods, namespace: 'other' }, groups: ['dev'] }),
    ).toEqual({
      allowed: false,
    });
    expect(await reviewOf({ user: 'alice', groups: ['system:masters'] })).toEqual({ allowed: true });
    const local = cluster.api(LocalSubjectAccessReview, 'default');
    const { status } = await local.create({ spec: { groups: ['dev'], resourceAttributes: pods } });
    expect(status).toEqual({ allowed: true, reason });
  });

  test('looks up a group once that a review names many times', async () => {
    const cluster = testCluster();
    const subjects = [{ kind: 'Group' as const, apiGroup: 'rbac.authorization.orch.io', name: 'g' }];
    const roleRef = { kind: 'Role' as const, apiGroup: 'rbac.authorization.orch.io', name: 'missing' };
    const bindings = cluster.api(RoleBinding, 'default');
    for (let i = 0; i < 3; i++) await bindings.create({ metadata: { name: `b${i}` }, subjects, roleRef });
    const spec = {
      groups: Array.from({ length: 60_000 }, () => 'g'),
      resourceAttributes: { namespace: 'default', verb: 'get', resource: 'pods' },
    };
    const spentMs = cpuTimer();
    const { status } = await cluster.api(LocalSubjectAccessReview, 'default').create({ spec });
    expect(spentMs()).toBeLessThan(2_000);
    expect(status).toMatchObject({ allowed: false, reason: expect.stringContaining('"missing" not found') });
  });

  test('returns the same result for self reviews, including rules', async () => {
    const cluster = await start();
    const client = cluster.with({ as: { user: 'alice', groups: ['dev', 'system:authenticated'] } });
    const { status } = await client.api(SelfSubjectAccessReview).create({ spec: { resourceAttributes: pods } });
    expect(status.allowed).toBe(true);
    const review = await client.api(SelfSubjectRulesReview).create({ spec: { namespace: 'default' } });
    expect(review.metadata).toEqual({ creationTimestamp: null });
    expect(review.status.incomplete).toBe(false);
    expect(review.status.evaluationError).toBeUndefined();
    expect(review.status.resourceRules.length).toBeGreaterThan(10);
    expect(review.status.nonResourceRules).toHaveLength(2);
    await expect(
      client.api(SubjectAccessReview).create({ spec: { user: 'x', resourceAttributes: pods } }),
    ).rejects.toThrow('is forbidden');
  });

  test('reports missing roles in a rules review', async () => {
    const cluster = await start();
    const client = cluster.with({ as: { user: 'alice', groups: ['system:authenticated'] } });
    const roleRef = { apiGroup: GROUP, kind: 'ClusterRole' as const, name: 'gone' };
    const subjects = [{ kind: 'User' as const, name: 'alice' }];
    await cluster.api(ClusterRoleBinding).create({ metadata: { name: 'ghost' }, roleRef, subjects });
    const review = await client.api(SelfSubjectRulesReview).create({ spec: { namespace: 'default' } });
    expect(review.status.evaluationError).toBe(`clusterrole.${GROUP} "gone" not found`);
    await cluster.api(ClusterRole).create({ metadata: { name: 'gone' }, rules: [] });
    const later = await client.api(SelfSubjectRulesReview).create({ spec: { namespace: 'default' } });
    expect(later.status.evaluationError).toBeUndefined();
  });
});

describe('access reviews with a custom authorizer', () => {
  const seen: AccessAttributes[] = [];
  const authorizer: AuthorizerFactory = () => ({
    decide(_user, attributes) {
      seen.push(attributes);
      return { allowed: false, denied: true, reason: 'not today', error: 'it rains' };
    },
  });
  const cluster = testCluster({ authorizer });

  test('returns the denial, reason and error of a custom authorizer', async () => {
    const { status } = await cluster.api(SubjectAccessReview).create({
      spec: { user: 'u', resourceAttributes: { ...pods, fieldSelector: { rawSelector: '!!' } } },
    });
    expect(status).toEqual({
      allowed: false,
      denied: true,
      reason: 'not today',
      evaluationError: 'it rains; spec.resourceAttributes.fieldSelector ignored due to parse error',
    });
  });

  test('passes all attributes of a review to the custom authorizer', async () => {
    await cluster.api(SubjectAccessReview).create({
      spec: {
        user: 'u',
        resourceAttributes: {
          ...pods,
          verb: 'list',
          fieldSelector: { rawSelector: 'spec.nodeName=a' },
          labelSelector: { requirements: [{ key: 'app', operator: 'Exists' }] },
        },
      },
    });
    expect(seen.at(-1)).toEqual({
      type: 'resource',
      verb: 'list',
      group: '',
      version: '*',
      resource: 'pods',
      subresource: '',
      namespace: 'default',
      name: '',
      fieldSelector: [{ key: 'spec.nodeName', operator: 'In', values: ['a'] }],
      labelSelector: [{ key: 'app', operator: 'Exists', values: [] }],
    });
    await cluster.api(SubjectAccessReview).create({
      spec: { user: 'u', nonResourceAttributes: { path: '/x', verb: 'get' } },
    });
    expect(seen.at(-1)).toEqual({ type: 'path', path: '/x', verb: 'get' });
  });

  test('leaves rules out of a rules review that would be too large', async () => {
    const resources = Array.from({ length: 100_000 }, (_, at) => `resource-${at}`);
    const rule = { verbs: ['get'], apiGroups: [''], resources };
    const statusOf = async (count: number, error?: string) => {
      const rules = {
        resourceRules: Array.from({ length: count }, () => rule),
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
        ...(error === undefined ? {} : { error }),
      };
      const other = testCluster({ authorizer: () => ({ decide: () => true, rules: () => rules }) });
      const client = other.with({ as: { user: 'u' } });
      return (await client.api(SelfSubjectRulesReview).create({ spec: { namespace: 'default' } })).status;
    };
    const small = await statusOf(1);
    expect(small).toMatchObject({ resourceRules: [rule], nonResourceRules: [{ verbs: ['get'] }], incomplete: false });
    expect(small.evaluationError).toBeUndefined();
    const spentMs = cpuTimer();
    const large = await statusOf(10_000, 'it rains');
    expect(spentMs()).toBeLessThan(2_000);
    expect(large.resourceRules).toHaveLength(4);
    expect(large.nonResourceRules ?? []).toEqual([]);
    expect(large.incomplete).toBe(true);
    expect(large.evaluationError).toBe('it rains; rules beyond 8388608 characters are left out');
  });

  test('returns incomplete rules if the custom authorizer lists none', async () => {
    const other = testCluster({ authorizer: () => ({ decide: () => true }) });
    const client = other.with({ as: { user: 'u' } });
    const { status } = await client.api(SelfSubjectRulesReview).create({ spec: { namespace: 'default' } });
    expect(status.incomplete).toBe(true);
    expect(status.resourceRules ?? []).toEqual([]);
  });
});
