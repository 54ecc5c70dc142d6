/** Authorizers without rules, combined authorizers, and clusters without anonymous requests. */
import { describe, expect, test } from 'vitest';
import { createCluster } from '../../../../src/cluster/full-cluster.js';
import {
  type AuthorizerFactory,
  allowAll,
  denyAll,
  rbac,
  unionAuthorizer,
} from '../../../../src/cluster/public-api.js';
import { createCluster as createCoreCluster } from '../../../../src/core.js';
import { createFetchHandler } from '../../../../src/http/handler.js';
import { ConfigMap, SelfSubjectRulesReview } from '../../../../src/kinds/index.js';
import type { AccessDecision } from '../../../../src/protocol/access.js';

const opinion =
  (decision: AccessDecision | boolean | undefined): AuthorizerFactory =>
  () => ({ decide: () => decision });

function clusterWith(authorizer: AuthorizerFactory) {
  const cluster = createCluster({ authorizer });
  return { cluster, alice: cluster.with({ as: { user: 'alice' } }) };
}

describe('denyAll', () => {
  test('rejects every user except administrators', async () => {
    const { cluster, alice } = clusterWith(denyAll());
    await expect(alice.api(ConfigMap).list()).rejects.toThrow(/in the namespace "default": Everything is forbidden\.$/);
    const root = cluster.with({ as: { user: 'root', groups: ['system:masters'] } });
    expect((await root.api(ConfigMap).list()).items).toEqual([]);
  });
});

describe('unionAuthorizer', () => {
  test('takes the first decision', async () => {
    const allowed = clusterWith(
      unionAuthorizer(opinion(undefined), opinion(true), opinion({ allowed: false, denied: true, reason: 'late' })),
    );
    expect((await allowed.alice.api(ConfigMap).list()).items).toEqual([]);
    const denied = clusterWith(unionAuthorizer(opinion({ allowed: false, denied: true, reason: 'no' }), allowAll()));
    await expect(denied.alice.api(ConfigMap).list()).rejects.toThrow(/: no$/);
  });

  test('joins the reasons of authorizers without a decision', async () => {
    const { alice } = clusterWith(unionAuthorizer(opinion({ allowed: false, reason: 'first' }), rbac(), denyAll()));
    await expect(alice.api(ConfigMap).list()).rejects.toThrow(/: first\nEverything is forbidden\.$/);
  });

  test('lists the rules of all authorizers', async () => {
    const rulesOf = async (authorizer: AuthorizerFactory) => {
      const { alice } = clusterWith(authorizer);
      const { status } = await alice.api(SelfSubjectRulesReview).create({ spec: { namespace: 'default' } });
      return status;
    };
    const all = await rulesOf(unionAuthorizer(rbac(), allowAll()));
    expect(all).toMatchObject({ incomplete: false });
    expect(all?.resourceRules).toContainEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
    expect(all?.resourceRules.length).toBeGreaterThan(1);
    const own = await rulesOf(unionAuthorizer(rbac(), denyAll()));
    expect(own?.resourceRules).not.toContainEqual({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] });
    expect(own).toMatchObject({ incomplete: false });
  });
});

describe('allowAuthenticated, the default of orchplane/core', () => {
  test('allows everything to authenticated users and nothing to others', async () => {
    const cluster = createCoreCluster({ kinds: [ConfigMap] });
    expect(
      (
        await cluster
          .with({ as: { user: 'alice' } })
          .api(ConfigMap)
          .list()
      ).items,
    ).toEqual([]);
    const handle = createFetchHandler(cluster, { tokens: { secret: { user: 'alice' } } });
    const get = async (headers: Record<string, string>) =>
      (await handle(new Request('http://c/api/v1/configmaps', { headers }))).status;
    expect(await get({ authorization: 'Bearer secret' })).toBe(200);
    expect(await get({})).toBe(403);
  });
});

test('a handler without tokens treats every client as the administrator', async () => {
  const handle = createFetchHandler(createCluster({ authorizer: denyAll() }));
  expect((await handle(new Request('http://c/api/v1/secrets'))).status).toBe(200);
});

test('a cluster without anonymous requests rejects requests without credentials', async () => {
  const authentication = { tokens: { secret: { user: 'alice' } }, anonymous: false };
  const handle = createFetchHandler(createCluster({ authorizer: allowAll(), authentication }));
  const get = async (headers: Record<string, string>) =>
    (await handle(new Request('http://c/api/v1/namespaces', { headers }))).status;
  expect(await get({})).toBe(401);
  expect(await get({ authorization: 'Basic x' })).toBe(401);
  expect(await get({ authorization: 'Bearer secret' })).toBe(200);
  const closed = createFetchHandler(createCluster({ authentication: { anonymous: false } }));
  expect((await closed(new Request('http://c/version'))).status).toBe(401);
});
