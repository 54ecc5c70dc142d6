/** TokenRequest and TokenReview in a cluster: issuing, validity and reviews of tokens. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { ClusterOptions } from '../../../../src/cluster/options.js';
import { createFetchHandler } from '../../../../src/http/index.js';
import type { TestCluster } from '../../../../src/testing/index.js';
import { testCluster } from '../../../../src/testing/index.js';

type Json = Record<string, unknown>;

const ISSUER = 'https://kubernetes.default.svc';
const ACCOUNT = '/api/v1/namespaces/default/serviceaccounts/robot';
const REVIEWS = '/apis/authentication.k8s.io/v1/tokenreviews';
const admin = { authorization: 'Bearer admin' };
const tokens = { admin: { user: 'admin', groups: ['system:masters'] }, alice: { user: 'alice', uid: '2' } };

function site(options: Omit<ClusterOptions, 'clock'> = {}) {
  const cluster = testCluster({ dialect: 'kubernetes', ...options });
  const handle = createFetchHandler(cluster, { tokens });
  const call = async (method: string, path: string, body?: unknown, credentials: Record<string, string> = admin) => {
    const headers = { 'content-type': 'application/json', ...credentials };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await handle(new Request(`http://cluster.local${path}`, { method, headers, ...content }));
    return { code: response.status, warning: response.headers.get('warning'), body: (await response.json()) as Json };
  };
  const create = (path: string, body: unknown, headers = admin) => call('POST', path, body, headers);
  const token = async (spec: Json = {}, more: Json = {}) => create(`${ACCOUNT}/token`, { spec, ...more });
  const review = async (text: unknown, audiences?: string[]) => {
    const spec = { token: text, ...(audiences === undefined ? {} : { audiences }) };
    return (await create(REVIEWS, { spec })).body['status'] as Json;
  };
  return { cluster, call, create, token, review };
}

type Site = ReturnType<typeof site>;

const tokenOf = ({ body }: { body: Json }): string => (body['status'] as Json)['token'] as string;
const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
const uidOf = ({ body }: { body: Json }): string => (body['metadata'] as Json)['uid'] as string;

async function createObjects({ create }: Site) {
  const account = await create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } });
  await create('/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'other' } });
  const node = await create('/api/v1/nodes', { metadata: { name: 'n1' } });
  const pod = (name: string, spec: Json) =>
    create('/api/v1/namespaces/default/pods', {
      metadata: { name },
      spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }], ...spec },
    });
  const secret = await create('/api/v1/namespaces/default/secrets', { metadata: { name: 'door' } });
  return {
    account: uidOf(account),
    node: uidOf(node),
    pod: uidOf(await pod('web', { nodeName: 'n1' })),
    lost: uidOf(await pod('lost', { nodeName: 'n9' })),
    others: uidOf(await pod('others', { serviceAccountName: 'other' })),
    secret: uidOf(secret),
  };
}

let one: Site;
let uids: Awaited<ReturnType<typeof createObjects>>;

beforeAll(async () => {
  one = site();
  uids = await createObjects(one);
});

describe('a TokenRequest', () => {
  test('returns a completed TokenRequest with the token', async () => {
    const { code, body } = await one.token();
    expect(code).toBe(201);
    expect(body).toMatchObject({
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name: 'robot', namespace: 'default', creationTimestamp: expect.any(String) },
      spec: { audiences: [ISSUER], expirationSeconds: 3600, boundObjectRef: null },
      status: { token: expect.any(String), expirationTimestamp: expect.any(String) },
    });
    const { iat, exp } = claimsOf(tokenOf({ body }));
    expect(exp - iat).toBe(3600);
    expect(Date.parse((body['status'] as Json)['expirationTimestamp'] as string) / 1000).toBe(exp);
  });

  test('returns a signed token for a dry-run TokenRequest', async () => {
    const { code, body } = await one.create(`${ACCOUNT}/token?dryRun=All`, { spec: {} });
    expect(code).toBe(201);
    expect(await one.review(tokenOf({ body }))).toMatchObject({ authenticated: true });
  });

  test.each<[string, Json, Json, number, string]>([
    [
      'another name',
      {},
      { metadata: { name: 'x' } },
      422,
      'TokenRequest.authentication.k8s.io "robot" is invalid: metadata.name: Invalid value: "x": must match the service account name if specified',
    ],
    [
      'a short expiration',
      { expirationSeconds: 599 },
      {},
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes',
    ],
    [
      'a long expiration',
      { expirationSeconds: 4294967297 },
      {},
      422,
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds',
    ],
    [
      'a kind that cannot be bound',
      { boundObjectRef: { kind: 'ConfigMap', apiVersion: 'v1', name: 'x' } },
      {},
      400,
      'cannot bind token to object of type /v1, Kind=ConfigMap',
    ],
    [
      'a pod of another group',
      { boundObjectRef: { kind: 'Pod', apiVersion: 'apps/v1', name: 'web' } },
      {},
      400,
      'cannot bind token to object of type apps/v1, Kind=Pod',
    ],
    ['an empty bound object', { boundObjectRef: {} }, {}, 400, 'cannot bind token to object of type /, Kind='],
    [
      'a kind named like an inherited property',
      { boundObjectRef: { kind: 'toString' } },
      {},
      400,
      'cannot bind token to object of type /, Kind=toString',
    ],
    ['a pod without a name', { boundObjectRef: { kind: 'Pod' } }, {}, 400, 'Name parameter required.'],
    [
      'an invalid name',
      { boundObjectRef: { kind: 'Secret', name: 'a/b' } },
      {},
      400,
      `Name parameter invalid: "a/b": may not contain '/'`,
    ],
    ['a missing pod', { boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name: 'x' } }, {}, 404, 'pods "x" not found'],
    ['a missing secret', { boundObjectRef: { kind: 'Secret', name: 'x' } }, {}, 404, 'secrets "x" not found'],
    ['a missing node', { boundObjectRef: { kind: 'Node', name: 'x' } }, {}, 404, 'nodes "x" not found'],
    [
      'a pod of another account',
      { boundObjectRef: { kind: 'Pod', name: 'others' } },
      {},
      400,
      'cannot bind token for serviceaccount "robot" to pod running with different serviceaccount name.',
    ],
    [
      'an object with another uid',
      { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'door', uid: 'old' } },
      {},
      409,
      'Operation cannot be fulfilled on Secret "door": the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated',
    ],
  ])('rejects a TokenRequest with %s', async (_, spec, more, code, message) => {
    expect(await one.token(spec, more)).toMatchObject({ code, body: { message } });
  });

  test('rejects a TokenRequest for a service account that does not exist', async () => {
    const path = '/api/v1/namespaces/default/serviceaccounts/missing/token';
    expect(await one.create(path, { spec: { expirationSeconds: 1 } })).toMatchObject({
      code: 404,
      body: { message: 'serviceaccounts "missing" not found' },
    });
  });

  test.each([
    ['Pod', 'web', { pod: 'web', node: 'n1' }],
    ['Pod', 'lost', { pod: 'lost', node: 'n9' }],
    ['Secret', 'door', { secret: 'door' }],
    ['Node', 'n1', { node: 'n1' }],
  ])('binds the token to the %s %s', async (kind, name, names) => {
    const { code, body } = await one.token({ boundObjectRef: { kind, apiVersion: 'v1', name } });
    expect(code).toBe(201);
    expect(body).toMatchObject({ spec: { boundObjectRef: { kind, apiVersion: 'v1', name } } });
    const { namespace: _, serviceaccount: __, ...bound } = claimsOf(tokenOf({ body }))['kubernetes.io'];
    expect(Object.fromEntries(Object.entries(bound).map(([what, ref]) => [what, (ref as Json)['name']]))).toEqual(
      names,
    );
    if (name === 'lost') expect(bound.node).toEqual({ name: 'n9' });
  });

  test('extends injected pod tokens to a year, and reports an expiration of one hour', async () => {
    const spec = { expirationSeconds: 3607, boundObjectRef: { kind: 'Pod', name: 'web', uid: uids.pod } };
    const extended = await one.token(spec);
    const { iat, exp, 'kubernetes.io': cluster } = claimsOf(tokenOf(extended));
    expect([exp - iat, cluster.warnafter - iat]).toEqual([31_536_000, 3607]);
    const { expirationTimestamp } = extended.body['status'] as { expirationTimestamp: string };
    expect(Date.parse(expirationTimestamp) / 1000 - iat).toBe(3607);
    expect(extended.body).toMatchObject({ spec: { expirationSeconds: 3607 } });
    for (const other of [
      { ...spec, expirationSeconds: 3608 },
      { ...spec, audiences: ['vault'] },
      { expirationSeconds: 3607 },
    ]) {
      const claims = claimsOf(tokenOf(await one.token(other)));
      expect([claims.exp - claims.iat, claims['kubernetes.io'].warnafter]).toEqual([
        other.expirationSeconds,
        undefined,
      ]);
    }
  });

  test('limits the expiration with a warning, and does not extend it, if configured', async () => {
    const short = site({
      authentication: {
        tokens,
        serviceAccounts: {
          maxExpirationSeconds: 3607,
          extendsExpiration: false,
          issuer: 'https://x',
          audiences: ['api'],
        },
      },
    });
    await createObjects(short);
    const spec = { expirationSeconds: 7200, boundObjectRef: { kind: 'Pod', name: 'web' } };
    const { body, warning } = await short.token(spec);
    expect(warning).toContain('requested expiration of 7200 seconds shortened to 3607 seconds');
    expect(body).toMatchObject({ spec: { expirationSeconds: 3607, audiences: ['api'] } });
    const { iat, exp, iss } = claimsOf(tokenOf({ body }));
    expect([exp - iat, iss]).toEqual([3607, 'https://x']);
  });
});

describe('a TokenReview', () => {
  test('returns the user of the token in a TokenReview', async () => {
    const token = tokenOf(await one.token({ boundObjectRef: { kind: 'Pod', name: 'web' } }));
    const { jti } = claimsOf(token);
    expect(await one.review(token)).toEqual({
      authenticated: true,
      user: {
        username: 'system:serviceaccount:default:robot',
        uid: uids.account,
        groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
        extra: {
          'authentication.kubernetes.io/credential-id': [`JTI=${jti}`],
          'authentication.kubernetes.io/node-name': ['n1'],
          'authentication.kubernetes.io/node-uid': [uids.node],
          'authentication.kubernetes.io/pod-name': ['web'],
          'authentication.kubernetes.io/pod-uid': [uids.pod],
        },
      },
      audiences: [ISSUER],
    });
  });

  test('returns the error of an invalid token in a TokenReview', async () => {
    const token = tokenOf(await one.token({ audiences: ['vault'] }));
    expect(await one.review(token)).toEqual({
      user: {},
      error: `[invalid bearer token, token audiences ["vault"] is invalid for the target audiences ["${ISSUER}"]]`,
    });
    expect(await one.review(token, ['vault', 'x'])).toMatchObject({ authenticated: true, audiences: ['vault'] });
    expect(await one.review('nonsense')).toEqual({ user: {}, error: 'invalid bearer token' });
  });

  test('recognizes tokens of a handler in a TokenReview', async () => {
    expect(await one.review('alice')).toEqual({
      authenticated: true,
      user: { username: 'alice', uid: '2', groups: ['system:authenticated'] },
      audiences: [ISSUER],
    });
    expect(await one.review('alice', ['elsewhere'])).toEqual({ user: {}, error: 'invalid bearer token' });
  });

  test('reads the token of a TokenReview like a token in a header', async () => {
    expect(await one.review('alice and more')).toMatchObject({ user: { username: 'alice' } });
    expect(await one.review(' alice')).toMatchObject({ user: { username: 'system:anonymous' } });
    expect(await one.create(REVIEWS, { spec: {} })).toMatchObject({
      code: 400,
      body: { message: 'token is required for TokenReview in authentication' },
    });
  });

  test('fails a TokenReview if an authenticator returns wrong audiences', async () => {
    const wrong = site({
      authentication: { tokens, authenticators: [() => ({ user: { user: 'x' }, audiences: ['y'] })] },
    });
    expect(await wrong.create(REVIEWS, { spec: { token: 'z' } })).toMatchObject({
      code: 500,
      body: { message: 'Internal error occurred: error validating audiences' },
    });
  });
});

describe('requests with a token', () => {
  const whoAmI = (target: Site, token: string) =>
    target.create('/apis/authentication.k8s.io/v1/selfsubjectreviews', {}, { authorization: `Bearer ${token}` });

  test('authenticates a request as its service account until the account is deleted', async () => {
    const mine = site();
    await createObjects(mine);
    const token = tokenOf(await mine.token());
    expect(await whoAmI(mine, token)).toMatchObject({
      code: 201,
      body: { status: { userInfo: { username: 'system:serviceaccount:default:robot' } } },
    });
    expect((await mine.call('GET', '/api/v1/nodes', undefined, { authorization: `Bearer ${token}` })).code).toBe(403);
    await mine.call('DELETE', ACCOUNT);
    expect(await whoAmI(mine, token)).toMatchObject({ code: 401, body: { message: 'Unauthorized' } });
    await createObjects(mine);
    expect((await whoAmI(mine, token)).code).toBe(401);
    expect(await mine.review(token)).toMatchObject({ error: expect.stringContaining('does not match claim') });
  });

  test('rejects a request after its token expires, after its pod is deleted, and in another cluster', async () => {
    const mine = site();
    await createObjects(mine);
    const plain = tokenOf(await mine.token());
    const bound = tokenOf(await mine.token({ boundObjectRef: { kind: 'Pod', name: 'web' } }));
    expect((await whoAmI(mine, bound)).code).toBe(201);
    expect((await whoAmI(one, plain)).code).toBe(401);
    await mine.call('DELETE', '/api/v1/namespaces/default/pods/web?gracePeriodSeconds=0');
    expect([(await whoAmI(mine, bound)).code, (await whoAmI(mine, plain)).code]).toEqual([401, 201]);
    await (mine.cluster as TestCluster).clock.advance(3_661_000);
    expect((await whoAmI(mine, plain)).code).toBe(401);
  });

  test.each(['orch', 'kubernetes'] as const)(
    'authenticates requests with a token in the dialect %s',
    async (dialect) => {
      const mine = site({ dialect });
      await createObjects(mine);
      const token = tokenOf(await mine.token());
      const group = dialect === 'orch' ? 'authentication.orch.io' : 'authentication.k8s.io';
      const { body } = await mine.create(`/apis/${group}/v1/tokenreviews`, { spec: { token } });
      expect(body).toMatchObject({ status: { authenticated: true } });
      expect(Object.keys(claimsOf(token))).toContain(dialect === 'orch' ? 'orch.io' : 'kubernetes.io');
    },
  );
});
