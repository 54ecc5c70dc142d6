/** Service account tokens: their claims, their keys and their validity. */
import { generateKeyPairSync, webcrypto } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type AccountTokenOptions, createAccountTokens } from '../../../../src/auth/tokens/account-tokens.js';
import type { TokenClaims } from '../../../../src/kinds/tokens.js';
import { type Dialect, kubernetesDialect, orchDialect } from '../../../../src/meta/dialect.js';
import { sequentialIds } from '../../../../src/testing/sequential-ids.js';
import { fakeClockAt, type KnownObject, objectsOf } from './token-context.js';

const NOW = '2026-01-01T00:00:00Z';
const NOW_SECONDS = Date.parse(NOW) / 1000;
const ISSUER = 'https://kubernetes.default.svc';

function site(options: AccountTokenOptions = {}, dialect: Dialect = kubernetesDialect) {
  const storedObjects: Record<string, KnownObject[]> = {
    serviceaccounts: [{ namespace: 'prod', name: 'robot', uid: 'uid-1' }],
    pods: [{ namespace: 'prod', name: 'web', uid: 'uid-2' }],
    secrets: [{ namespace: 'prod', name: 'door', uid: 'uid-3' }],
    nodes: [{ namespace: '', name: 'n1', uid: 'uid-4' }],
  };
  const clock = fakeClockAt(NOW);
  const tokens = createAccountTokens(
    { dialect, objects: objectsOf(storedObjects), clock, ids: sequentialIds() },
    options,
  );
  return { tokens, storedObjects, clock };
}

const request: TokenClaims = {
  namespace: 'prod',
  account: { name: 'robot', uid: 'uid-1' },
  audiences: [],
  expirationSeconds: 3600,
};

function decoded(token: string) {
  const [header = '', payload = '', signature = ''] = token.split('.');
  const text = (part: string) => Buffer.from(part, 'base64url').toString();
  return { header: text(header), payload: text(payload), signed: `${header}.${payload}`, signature };
}

/** The outcome of a token: its user, the error, or undefined if it is not recognized. */
async function outcomeOf(tokens: ReturnType<typeof site>['tokens'], token: string, audiences = tokens.audiences) {
  try {
    return (await tokens.authenticate(token, audiences))?.user.user;
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the claims of a token', () => {
  test('writes the claims of a token in the order of the reference server', async () => {
    const { tokens } = site();
    const signed = await tokens.sign(request);
    const { header, payload } = decoded(signed.token);
    const { kid } = JSON.parse(header);
    expect(header).toBe(`{"alg":"ES256","kid":"${kid}"}`);
    expect(kid).toMatch(/^[\w-]{43}$/);
    const { jti } = JSON.parse(payload);
    expect(payload).toBe(
      `{"aud":["${ISSUER}"],"exp":${NOW_SECONDS + 3600},"iat":${NOW_SECONDS},"iss":"${ISSUER}","jti":"${jti}",` +
        `"kubernetes.io":{"namespace":"prod","serviceaccount":{"name":"robot","uid":"uid-1"}},` +
        `"nbf":${NOW_SECONDS},"sub":"system:serviceaccount:prod:robot"}`,
    );
    expect(signed).toEqual({
      token: signed.token,
      audiences: [ISSUER],
      expirationTimestamp: '2026-01-01T01:00:00Z',
      credentialId: `JTI=${jti}`,
    });
  });

  test('uses the domain of the dialect in the claims of a token', async () => {
    const { tokens } = site({}, orchDialect);
    const { token } = await tokens.sign(request);
    const claims = JSON.parse(decoded(token).payload);
    expect(Object.keys(claims)).toEqual(['aud', 'exp', 'iat', 'iss', 'jti', 'nbf', 'orch.io', 'sub']);
    expect(claims['orch.io'].serviceaccount).toEqual({ name: 'robot', uid: 'uid-1' });
    expect(await tokens.authenticate(token, tokens.audiences)).toMatchObject({
      user: { extra: { 'authentication.orch.io/credential-id': [`JTI=${claims.jti}`] } },
    });
  });

  test.each<[string, Partial<TokenClaims>, object]>([
    [
      'a pod on a node',
      { bound: { kind: 'Pod', name: 'web', uid: 'uid-2' }, node: { name: 'n1', uid: 'uid-4' } },
      { node: { name: 'n1', uid: 'uid-4' }, pod: { name: 'web', uid: 'uid-2' } },
    ],
    [
      'a pod on a deleted node',
      { bound: { kind: 'Pod', name: 'web', uid: 'uid-2' }, node: { name: 'n9' } },
      { node: { name: 'n9' }, pod: { name: 'web', uid: 'uid-2' } },
    ],
    ['a secret', { bound: { kind: 'Secret', name: 'door', uid: 'uid-3' } }, { secret: { name: 'door', uid: 'uid-3' } }],
    ['a node', { bound: { kind: 'Node', name: 'n1', uid: 'uid-4' } }, { node: { name: 'n1', uid: 'uid-4' } }],
  ])('writes a claim that binds a token to %s', async (_, binding, claims) => {
    const { tokens } = site();
    const { token } = await tokens.sign({ ...request, ...binding });
    expect(JSON.parse(decoded(token).payload)['kubernetes.io']).toEqual({
      namespace: 'prod',
      serviceaccount: { name: 'robot', uid: 'uid-1' },
      ...claims,
    });
    expect(await outcomeOf(tokens, token)).toBe('system:serviceaccount:prod:robot');
  });
});

describe('a valid token', () => {
  test('authenticates the service account of a token, synchronously after the first time', async () => {
    const { tokens } = site();
    const { token, credentialId } = await tokens.sign({
      ...request,
      bound: { kind: 'Pod', name: 'web', uid: 'uid-2' },
    });
    const first = tokens.authenticate(token, tokens.audiences);
    expect(first).toBeInstanceOf(Promise);
    const identity = await first;
    expect(identity).toEqual({
      user: {
        user: 'system:serviceaccount:prod:robot',
        uid: 'uid-1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:prod'],
        extra: {
          'authentication.kubernetes.io/credential-id': [credentialId],
          'authentication.kubernetes.io/pod-name': ['web'],
          'authentication.kubernetes.io/pod-uid': ['uid-2'],
        },
      },
      audiences: [ISSUER],
    });
    expect(tokens.authenticate(token, tokens.audiences)).toEqual(identity);
  });

  test('accepts a token for its audiences only', async () => {
    const { tokens } = site({ audiences: ['api', 'also-api'] });
    const { token } = await tokens.sign({ ...request, audiences: ['vault', 'also-api'] });
    expect(await tokens.authenticate(token, ['also-api'])).toMatchObject({ audiences: ['also-api'] });
    expect(await outcomeOf(tokens, token, ['api'])).toBe(
      'token audiences ["vault" "also-api"] is invalid for the target audiences ["api"]',
    );
    expect((await tokens.sign(request)).audiences).toEqual(['api', 'also-api']);
  });

  test('adds an audit annotation for a token after its warning time', async () => {
    const { tokens, clock } = site();
    const { token, expirationTimestamp } = await tokens.sign({
      ...request,
      expirationSeconds: 31_536_000,
      warnAfterSeconds: 3607,
    });
    expect(expirationTimestamp).toBe('2026-01-01T01:00:07Z');
    await clock.advance(3_607_000);
    expect(await tokens.authenticate(token, [ISSUER])).not.toHaveProperty('annotations');
    await clock.advance(10_000);
    expect(await tokens.authenticate(token, [ISSUER])).toMatchObject({
      annotations: {
        'authentication.k8s.io/stale-token':
          'subject: system:serviceaccount:prod:robot, seconds after warning threshold: 10',
      },
    });
  });
});

describe('an invalid token', () => {
  const robot = 'system:serviceaccount:prod:robot';

  test('rejects a token one minute after its expiration time', async () => {
    const { tokens, clock } = site();
    const { token } = await tokens.sign(request);
    await clock.advance(3_660_000);
    expect(await outcomeOf(tokens, token)).toBe(robot);
    await clock.advance(1);
    expect(await outcomeOf(tokens, token)).toBe('service account token has expired');
  });

  test('rejects a token that was issued more than a minute in the future', async () => {
    const ahead = site({ key: PRIVATE_KEY });
    const behind = site({ key: PRIVATE_KEY });
    await ahead.clock.advance(60_000);
    expect(await outcomeOf(behind.tokens, (await ahead.tokens.sign(request)).token)).toBe(robot);
    await ahead.clock.advance(1_000);
    expect(await outcomeOf(behind.tokens, (await ahead.tokens.sign(request)).token)).toBe(
      'service account token is not valid yet',
    );
  });

  test('rejects a token after its account is deleted, also if the account is created again', async () => {
    const { tokens, storedObjects } = site();
    const { token } = await tokens.sign(request);
    expect(await outcomeOf(tokens, token)).toBe(robot);
    storedObjects['serviceaccounts'] = [];
    expect(await outcomeOf(tokens, token)).toBe('serviceaccounts "robot" not found');
    storedObjects['serviceaccounts'] = [{ namespace: 'prod', name: 'robot', uid: 'uid-9' }];
    expect(await outcomeOf(tokens, token)).toBe('service account UID (uid-9) does not match claim (uid-1)');
  });

  test.each([
    ['Pod', 'pods', 'prod', 'web', 'uid-2'],
    ['Secret', 'secrets', 'prod', 'door', 'uid-3'],
    ['Node', 'nodes', '', 'n1', 'uid-4'],
  ] as const)(
    'rejects a token after the %s it is bound to is deleted',
    async (kind, resource, namespace, name, uid) => {
      const { tokens, storedObjects, clock } = site();
      const { token } = await tokens.sign({ ...request, bound: { kind, name, uid } });
      expect(await outcomeOf(tokens, token)).toBe(robot);
      storedObjects[resource] = [{ namespace, name, uid, deleted: NOW }];
      expect(await outcomeOf(tokens, token)).toBe(robot);
      await clock.advance(61_000);
      expect(await outcomeOf(tokens, token)).toBe('service account token has been invalidated');
      storedObjects[resource] = [];
      expect(await outcomeOf(tokens, token)).toBe('service account token has been invalidated');
      storedObjects[resource] = [{ namespace, name, uid: 'uid-9' }];
      const what = kind.toLowerCase();
      expect(await outcomeOf(tokens, token)).toBe(
        `${what} UID (uid-9) does not match service account ${what} ref claim (${uid})`,
      );
    },
  );

  test('rejects a token in another cluster', async () => {
    const mine = site();
    const other = site();
    const { token } = await other.tokens.sign(request);
    // This cluster has no key yet, and creates none for a foreign token.
    expect(await outcomeOf(mine.tokens, token)).toBe('invalid signature, no keys found');
    await mine.tokens.sign(request);
    expect(await outcomeOf(mine.tokens, token)).toBe('invalid signature, no keys found');
  });
});

const PRIVATE_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  format: 'jwk',
}) as JsonWebKey;

describe('signing keys', () => {
  const usual = { publicExponent: new Uint8Array([1, 0, 1]), modulusLength: 2048 };
  const make = (algorithm: object) =>
    webcrypto.subtle.generateKey(algorithm as EcKeyGenParams, true, ['sign', 'verify']) as Promise<CryptoKeyPair>;

  test.each([
    ['ES256', { name: 'ECDSA', namedCurve: 'P-256' }, { name: 'ECDSA', hash: 'SHA-256' }],
    ['ES384', { name: 'ECDSA', namedCurve: 'P-384' }, { name: 'ECDSA', hash: 'SHA-384' }],
    ['ES512', { name: 'ECDSA', namedCurve: 'P-521' }, { name: 'ECDSA', hash: 'SHA-512' }],
    ['RS256', { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', ...usual }, { name: 'RSASSA-PKCS1-v1_5' }],
  ])('supports %s signing keys as a key pair and as a JWK', async (algorithm, form, use) => {
    const pair = await make(form);
    const jwk = await webcrypto.subtle.exportKey('jwk', pair.privateKey);
    const spki = await webcrypto.subtle.exportKey('spki', pair.publicKey);
    const kid = Buffer.from(await webcrypto.subtle.digest('SHA-256', spki)).toString('base64url');
    const [ofPair, ofJwk] = [site({ key: pair }), site({ key: jwk })];
    const { token } = await ofPair.tokens.sign(request);
    const { header, signed, signature } = decoded(token);
    expect(JSON.parse(header)).toEqual({ alg: algorithm, kid });
    const data = Buffer.from(signed);
    expect(await webcrypto.subtle.verify(use, pair.publicKey, Buffer.from(signature, 'base64url'), data)).toBe(true);
    expect(await outcomeOf(ofJwk.tokens, token)).toBe('system:serviceaccount:prod:robot');
    expect(await outcomeOf(ofPair.tokens, (await ofJwk.tokens.sign(request)).token)).toBe(
      'system:serviceaccount:prod:robot',
    );
  });

  test('publishes signing keys without their private part', async () => {
    const { tokens } = site();
    const { header } = decoded((await tokens.sign(request)).token);
    const { keys } = (await tokens.keySet()) as { keys: Record<string, string>[] };
    expect(keys.map((key) => Object.keys(key))).toEqual([['use', 'kty', 'kid', 'crv', 'alg', 'x', 'y']]);
    expect(keys[0]).toMatchObject({ use: 'sig', kty: 'EC', crv: 'P-256', alg: 'ES256', kid: JSON.parse(header).kid });
    expect(await tokens.configuration('https://127.0.0.1/openid/v1/jwks')).toEqual({
      issuer: ISSUER,
      jwks_uri: 'https://127.0.0.1/openid/v1/jwks',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
    const rsa = await site({
      key: await make({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256', ...usual }),
    }).tokens.keySet();
    expect(rsa).toMatchObject({ keys: [{ use: 'sig', kty: 'RSA', alg: 'RS256', e: 'AQAB' }] });
    expect(JSON.stringify([keys, rsa])).not.toMatch(/"[dpq]":/);
  });

  test.each(['http://cluster.example.com', 'https://x?a=b', 'https://x#y', 'my-cluster'])(
    'publishes no keys for the issuer %s, but signs tokens',
    async (issuer) => {
      const { tokens } = site({ issuer });
      expect(await tokens.configuration('https://127.0.0.1/openid/v1/jwks')).toBeUndefined();
      expect(await outcomeOf(tokens, (await tokens.sign(request)).token)).toBe('system:serviceaccount:prod:robot');
    },
  );

  test('validates signing keys when the cluster is created', async () => {
    const { privateKey, publicKey } = await make({ name: 'ECDSA', namedCurve: 'P-256' });
    const { d: _, ...open } = PRIVATE_KEY;
    const hmac = await webcrypto.subtle.generateKey({ name: 'HMAC', hash: 'SHA-256' }, true, ['sign', 'verify']);
    const pss = await make({ name: 'RSA-PSS', hash: 'SHA-256', ...usual });
    const sha512 = await make({ name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512', ...usual });
    const swapped = { privateKey: publicKey, publicKey: privateKey };
    const secret = { kty: 'oct', k: 'c2VjcmV0', d: 'x' };
    for (const key of [open, hmac, pss, sha512, swapped, secret, { ...PRIVATE_KEY, alg: 'ES512' }, 'text', null, {}]) {
      expect(() => site({ key: key as CryptoKeyPair })).toThrow(TypeError);
    }
    expect(() => site({ key: { privateKey: hmac, publicKey: hmac } as unknown as CryptoKeyPair })).toThrow(
      'orchplane: a key for tokens must be a private JWK or a CryptoKeyPair',
    );
  });

  test('rejects signing without Web Crypto', async () => {
    vi.stubGlobal('crypto', { getRandomValues: webcrypto.getRandomValues.bind(webcrypto) });
    const { tokens } = site();
    await expect(tokens.sign(request)).rejects.toThrow('orchplane: tokens need crypto.subtle');
    vi.unstubAllGlobals();
  });
});

describe('token options', () => {
  test.each<[object, string]>([
    [{ issuer: '' }, 'the issuer of tokens must be a string'],
    [{ audiences: [] }, 'must be a non-empty list of strings'],
    [{ audiences: [''] }, 'audiences of tokens must be a non-empty list'],
    [{ audiences: 'api' }, 'audiences of tokens must be a non-empty list'],
    [{ maxExpirationSeconds: 10 }, 'at least 600'],
    [{ issuers: ['x'] }, 'tokens has no option "issuers"'],
  ])('rejects the token options %j', (options, message) => {
    expect(() => site(options)).toThrow(message);
  });
});

describe('further keys and issuers', () => {
  const jwkPair = () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    return { key: privateKey.export({ format: 'jwk' }), publicKey: publicKey.export({ format: 'jwk' }) };
  };

  test('verifies tokens with the given public keys only', async () => {
    const [old, current] = [jwkPair(), jwkPair()];
    const before = site({ key: old.key });
    const { token } = await before.tokens.sign(request);
    const both = site({ key: current.key, publicKeys: [current.publicKey, old.publicKey] });
    expect(await outcomeOf(both.tokens, token)).toBe('system:serviceaccount:prod:robot');
    expect(await outcomeOf(both.tokens, (await both.tokens.sign(request)).token)).toBe(
      'system:serviceaccount:prod:robot',
    );
    expect(((await both.tokens.keySet()) as { keys: object[] }).keys.length).toBe(2);
    const rotated = site({ key: current.key, publicKeys: [old.publicKey] });
    expect(await outcomeOf(rotated.tokens, (await rotated.tokens.sign(request)).token)).toBe(
      'invalid signature, no keys found',
    );
  });

  test('accepts tokens of further issuers and signs with the first', async () => {
    const { key } = jwkPair();
    const before = site({ key, issuer: 'https://old' });
    const { token } = await before.tokens.sign(request);
    const { tokens } = site({ key, issuer: 'https://new', acceptedIssuers: ['https://old'] });
    expect(tokens.audiences).toEqual(['https://new', 'https://old']);
    expect(await outcomeOf(tokens, token)).toBe('system:serviceaccount:prod:robot');
    expect(JSON.parse(decoded((await tokens.sign(request)).token).payload).iss).toBe('https://new');
    expect(await outcomeOf(site({ key, issuer: 'https://new' }).tokens, token)).toBeUndefined();
  });

  test.each([
    [{ publicKeys: [] }, 'list of JWKs'],
    [{ publicKeys: [{ kty: 'oct' }] }, 'a public key for tokens must be a JWK'],
    [{ acceptedIssuers: [''] }, 'accepted issuers'],
  ])('rejects the options %j', (options, message) => {
    expect(() => site(options)).toThrow(message);
  });
});
