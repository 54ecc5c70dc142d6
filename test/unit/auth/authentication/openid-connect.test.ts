/** Authentication with ID tokens of an OpenID provider on a local HTTPS port. */
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type OpenIdConnectOptions, openIdConnect } from '../../../../src/auth/openid/openid-connect.js';
import { createCluster } from '../../../../src/cluster/full-cluster.js';
import { createFetchHandler } from '../../../../src/http/handler.js';
import { kubernetesDialect } from '../../../../src/meta/dialect.js';
import { fakeClock } from '../../../../src/testing/fake-clock.js';
import { type Provider, type ProviderKey, providerKey, signToken, startProvider } from './openid-provider.js';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const SECONDS = NOW / 1000;
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

let key: ProviderKey;
let provider: Provider;

beforeAll(async () => {
  key = await providerKey('one');
});

beforeEach(async () => {
  provider = await startProvider([key]);
});

afterEach(() => provider[Symbol.asyncDispose]());

const optionsFor = (more: Partial<OpenIdConnectOptions> = {}): OpenIdConnectOptions => ({
  issuerUrl: provider.url,
  clientId: 'my-client',
  ca: provider.ca,
  ...more,
});

function authenticator(more: Partial<OpenIdConnectOptions> = {}) {
  const context = { dialect: kubernetesDialect, clock: fakeClock({ now: NOW }), audiences: ['api'] };
  const authenticate = openIdConnect(optionsFor(more)).createAuthenticator(context);
  return async (token: string) => authenticate(token, ['api']);
}

const claims = (more: object = {}) => ({
  iss: provider.url,
  aud: 'my-client',
  exp: SECONDS + 60,
  sub: 'alice',
  ...more,
});

describe('the user of a token', () => {
  test('is the subject with the issuer as a prefix', async () => {
    const token = await signToken(key, claims({ jti: 'id-1' }));
    expect(await authenticator()(token)).toEqual({
      user: { user: `${provider.url}#alice`, extra: { [CREDENTIAL_ID]: ['JTI=id-1'] } },
    });
  });

  test.each([
    [{ usernamePrefix: '-' }, {}, { user: 'alice' }],
    [{ usernamePrefix: 'oidc:' }, {}, { user: 'oidc:alice' }],
    [{ usernameClaim: 'email' }, { email: 'a@example.com' }, { user: 'a@example.com' }],
    [{ usernameClaim: 'email' }, { email: 'a@example.com', email_verified: true }, { user: 'a@example.com' }],
    [
      { usernamePrefix: '-', groupsClaim: 'roles' },
      { roles: ['dev', 'ops'] },
      { user: 'alice', groups: ['dev', 'ops'] },
    ],
    [
      { usernamePrefix: '-', groupsClaim: 'roles', groupsPrefix: 'oidc:' },
      { roles: 'dev' },
      { user: 'alice', groups: ['oidc:dev'] },
    ],
    [{ usernamePrefix: '-', groupsClaim: 'roles' }, {}, { user: 'alice' }],
    [{ usernamePrefix: '-', requiredClaims: { hd: 'example.com' } }, { hd: 'example.com' }, { user: 'alice' }],
  ] as const)('follows the options %j', async (options, more, user) => {
    const token = await signToken(key, claims(more));
    expect(await authenticator(options)(token)).toEqual({ user });
  });
});

describe('an invalid token is rejected', () => {
  test.each([
    [{ aud: 'other' }, {}, 'oidc: verify token: oidc: expected audience "my-client" got ["other"]'],
    [
      { exp: SECONDS - 1 },
      {},
      'oidc: verify token: oidc: token is expired (Token Expiry: 2029-12-31 23:59:59 +0000 UTC)',
    ],
    [
      { exp: undefined },
      {},
      'oidc: verify token: oidc: token is expired (Token Expiry: 0001-01-01 00:00:00 +0000 UTC)',
    ],
    [{ nbf: SECONDS + 61 }, {}, 'before the nbf (not before) time: 2030-01-01 00:01:01 +0000 UTC'],
    [{ sub: undefined }, {}, 'oidc: parse username claims "sub": claim not present'],
    [
      { sub: 7 },
      {},
      'oidc: verify token: oidc: failed to unmarshal claims: json: cannot unmarshal number into Go struct field idToken.sub of type string',
    ],
    [
      { name: 7 },
      { usernameClaim: 'name' },
      'oidc: parse username claims "name": json: cannot unmarshal number into Go value of type string',
    ],
    [{ aud: 7 }, {}, 'json: cannot unmarshal number into Go struct field idToken.aud of type []string'],
    [{ exp: '1' }, {}, 'oidc: token is expired (Token Expiry: 1970-01-01 00:00:01 +0000 UTC)'],
    [{ email: 'a', email_verified: false }, { usernameClaim: 'email' }, 'oidc: email not verified'],
    [{ groups: [1] }, { groupsClaim: 'groups' }, 'oidc: parse groups claim "groups": json: cannot unmarshal array'],
    [{}, { requiredClaims: { hd: 'x' } }, 'oidc: required claim hd not present in ID token'],
    [{ hd: 'y' }, { requiredClaims: { hd: 'x' } }, 'oidc: required claim hd value does not match. Got = y, want = x'],
    [
      {},
      { signingAlgs: ['ES256' as const] },
      'oidc: id token signed with unsupported algorithm, expected ["ES256"] got "RS256"',
    ],
  ])('with the claims %j', async (more, options, message) => {
    const token = await signToken(key, claims(more));
    await expect(authenticator(options)(token)).rejects.toThrow(message);
  });

  test('if another key has signed it', async () => {
    const token = await signToken(await providerKey('one'), claims());
    await expect(authenticator()(token)).rejects.toThrow(
      'oidc: verify token: failed to verify signature: failed to verify id token signature',
    );
  });

  test('if it has no signature or a symmetric one', async () => {
    const authenticate = authenticator({ signingAlgs: ['RS256', 'ES256'] });
    for (const alg of ['none', 'HS256']) {
      await expect(authenticate(await signToken(key, claims(), { alg }))).rejects.toThrow(`got "${alg}"`);
    }
    await expect(authenticate(await signToken(key, claims(), { alg: 'ES256' }))).rejects.toThrow('failed to verify');
    await expect(authenticate(await signToken(key, claims(), { crit: ['b64'] }))).rejects.toThrow('failed to verify');
  });

  test('but a token of another issuer is left to other authenticators', async () => {
    expect(await authenticator()(await signToken(key, claims({ iss: 'https://other' })))).toBeUndefined();
    expect(await authenticator()('no-token')).toBeUndefined();
    expect(provider.requests).toEqual([]);
  });
});

test.each(['RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'] as const)(
  'verifies a signature with %s',
  async (algorithm) => {
    const other = await providerKey('two', algorithm);
    provider.keys = [key, other];
    const authenticate = authenticator({ signingAlgs: [algorithm] });
    expect((await authenticate(await signToken(other, claims())))?.user.user).toBe(`${provider.url}#alice`);
    await expect(authenticate(await signToken({ ...other, id: 'one' }, claims()))).rejects.toThrow('failed to verify');
  },
);

describe('the keys of the provider', () => {
  test('are fetched once, and again for an unknown key', async () => {
    const authenticate = authenticator();
    await Promise.all([authenticate(await signToken(key, claims())), authenticate(await signToken(key, claims()))]);
    await authenticate(await signToken(key, claims()));
    expect(provider.requests).toEqual(['/.well-known/openid-configuration', '/keys']);
    const next = await providerKey('two');
    provider.keys = [next];
    expect(await authenticate(await signToken(next, claims()))).toBeDefined();
    expect(provider.requests.length).toBe(3);
  });

  test('are not fetched again before their lifetime ends', async () => {
    provider.cacheControl = 'max-age=3600';
    const authenticate = authenticator();
    await authenticate(await signToken(key, claims()));
    const next = await providerKey('two');
    provider.keys = [next];
    await expect(authenticate(await signToken(next, claims()))).rejects.toThrow('failed to verify id token signature');
  });

  test('cannot be read while the provider does not respond', async () => {
    provider.isDown = true;
    const authenticate = authenticator();
    const token = await signToken(key, claims());
    await expect(authenticate(token)).rejects.toThrow(/^oidc: authenticator not initialized$/);
    // The next attempt follows after ten seconds.
    provider.isDown = false;
    await expect(authenticate(token)).rejects.toThrow('not initialized');
    expect(provider.requests).toEqual(['/.well-known/openid-configuration']);
  });

  test('are not read from a provider that names another issuer or has an untrusted certificate', async () => {
    const token = await signToken(key, claims());
    provider.namedIssuer = 'https://other';
    await expect(authenticator()(token)).rejects.toThrow('not initialized');
    provider.namedIssuer = undefined;
    await expect(authenticator({ ca: undefined })(token)).rejects.toThrow('not initialized');
    expect(await authenticator()(token)).toBeDefined();
  });
});

describe('distributed claims', () => {
  const distributed = () => ({
    _claim_names: { groups: 'source' },
    _claim_sources: { source: { endpoint: `${provider.url}/groups`, access_token: 'secret' } },
  });

  test('are fetched from the endpoint that the token names', async () => {
    const answer = await signToken(key, claims({ groups: ['dev'] }));
    let sent: string | undefined;
    provider.pages.set('/groups', (authorization) => {
      sent = authorization;
      return answer;
    });
    const token = await signToken(key, claims(distributed()));
    const identity = await authenticator({ groupsClaim: 'groups', usernamePrefix: '-' })(token);
    expect(identity).toEqual({ user: { user: 'alice', groups: ['dev'] } });
    expect(sent).toBe('Bearer secret');
  });

  test('are accepted with a status code from 200 to 226', async () => {
    const answer = await signToken(key, claims({ groups: ['dev'] }));
    provider.pages.set('/groups', () => answer);
    const token = await signToken(key, claims(distributed()));
    const authenticate = authenticator({ groupsClaim: 'groups', usernamePrefix: '-' });
    provider.pageStatus = 226;
    expect(await authenticate(token)).toEqual({ user: { user: 'alice', groups: ['dev'] } });
    for (const status of [300, 404]) {
      provider.pageStatus = status;
      await expect(authenticate(token)).rejects.toThrow(`error while getting distributed claim JWT: ${status}`);
    }
  });

  test('must be signed and contain the claim', async () => {
    const authenticate = authenticator({ groupsClaim: 'groups' });
    const token = await signToken(key, claims(distributed()));
    await expect(authenticate(token)).rejects.toThrow('oidc: could not expand distributed claims: while getting');
    const unsigned = await signToken(await providerKey('one'), claims({ groups: ['system:masters'] }));
    provider.pages.set('/groups', () => unsigned);
    await expect(authenticate(token)).rejects.toThrow('verify distributed claim token: failed to verify signature');
    const empty = await signToken(key, claims());
    provider.pages.set('/groups', () => empty);
    await expect(authenticate(token)).rejects.toThrow('did not contain claim: groups');
  });
});

test.each([
  [{ issuerUrl: 'http://login.example.com' }, 'URL scheme must be https'],
  [{ issuerUrl: 'https://a:b@login.example.com?c#d' }, /username or password.*query.*fragment/],
  [{ clientId: '' }, 'needs issuerUrl and clientId'],
  [{ signingAlgs: ['HS256'] }, 'oidc: unsupported signing alg: "HS256"'],
  [{ ca: 'nothing' }, 'ca contains no PEM certificates'],
  [{ audience: 'x' }, 'audience'],
])('rejects the options %j', (more, message) => {
  const options = { ...optionsFor(), ...more } as OpenIdConnectOptions;
  expect(() => openIdConnect(options)).toThrow(TypeError);
  expect(() => openIdConnect(options)).toThrow(message);
});

test('a cluster authenticates requests with ID tokens', async () => {
  const cluster = createCluster({
    dialect: 'kubernetes',
    clock: fakeClock({ now: NOW }),
    authentication: { authenticators: [openIdConnect(optionsFor({ groupsClaim: 'groups' }))] },
  });
  const handle = createFetchHandler(cluster);
  const get = async (token: string) =>
    (await handle(new Request('http://c/api/v1/pods', { headers: { authorization: `Bearer ${token}` } }))).status;
  expect(await get(await signToken(key, claims({ groups: ['system:masters'] })))).toBe(200);
  expect(await get(await signToken(key, claims()))).toBe(403);
  expect(await get(await signToken(key, claims({ aud: 'other' })))).toBe(401);
});
