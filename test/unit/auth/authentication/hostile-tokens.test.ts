/** Forged tokens: rejected with 401 over HTTP, without an internal error, and cheaply. */
import { createHmac, generateKeyPairSync, webcrypto } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createHandler } from '../../../../src/http/handler.js';
import { createFetchHandler } from '../../../../src/http/index.js';
import { testCluster } from '../../../../src/testing/index.js';
import fc from '../../../property/seeded.js';

const tokens = { admin: { user: 'admin', groups: ['system:masters'] } };
const cluster = testCluster({ dialect: 'kubernetes' });
const faults: unknown[] = [];
const handle = createFetchHandler(cluster, { tokens, onError: (error) => void faults.push(error) });

const call = async (path: string, authorization: string, body?: unknown) =>
  handle(
    new Request(`http://cluster.local${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
let good: string;
let parts: { header: Record<string, string>; claims: Record<string, unknown>; signature: string };

beforeAll(async () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await call(accounts, 'Bearer admin', { metadata: { name: 'robot' } });
  const answer = await call(`${accounts}/robot/token`, 'Bearer admin', { spec: {} });
  good = ((await answer.json()) as { status: { token: string } }).status.token;
  const [header = '', claims = '', signature = ''] = good.split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
  parts = { header: read(header), claims: read(claims), signature };
});

async function expectRefused(token: string) {
  const response = await call('/version', `Bearer ${token}`);
  expect([response.status, ((await response.json()) as { message: string }).message]).toEqual([401, 'Unauthorized']);
  expect(faults).toEqual([]);
}

test('accepts the original token', async () => {
  expect((await call('/version', `Bearer ${good}`)).status).toBe(200);
});

describe('tokens with another algorithm', () => {
  test.each(['none', 'None', 'NONE', '', 'HS256', 'RS256', 'ES384', 'PS256', 'EdDSA', 'es256', '__proto__'])(
    'rejects a token with the algorithm %j',
    async (alg) => {
      const { header, claims, signature } = parts;
      await expectRefused(`${encode({ ...header, alg })}.${encode(claims)}.`);
      await expectRefused(`${encode({ ...header, alg })}.${encode(claims)}.${signature}`);
    },
  );

  test('rejects an HMAC token that uses the public key as the secret', async () => {
    const { keys } = (await (await keySet()).json()) as { keys: JsonWebKey[] };
    const publicKey = await webcrypto.subtle.importKey(
      'jwk',
      keys[0] as JsonWebKey,
      { name: 'ECDSA', namedCurve: 'P-256' },
      true,
      ['verify'],
    );
    const spki = Buffer.from(await webcrypto.subtle.exportKey('spki', publicKey));
    const pem = `-----BEGIN PUBLIC KEY-----\n${spki.toString('base64')}\n-----END PUBLIC KEY-----\n`;
    const unsigned = `${encode({ ...parts.header, alg: 'HS256' })}.${encode(parts.claims)}`;
    for (const secret of [spki, Buffer.from(pem), Buffer.from(JSON.stringify(keys[0]))]) {
      await expectRefused(`${unsigned}.${createHmac('sha256', secret).update(unsigned).digest('base64url')}`);
    }
  });

  test('rejects a token that embeds its own key', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = await webcrypto.subtle.importKey(
      'jwk',
      privateKey.export({ format: 'jwk' }) as JsonWebKey,
      { name: 'ECDSA', namedCurve: 'P-256' },
      false,
      ['sign'],
    );
    const jwk = publicKey.export({ format: 'jwk' });
    for (const header of [
      { alg: 'ES256', jwk },
      { ...parts.header, jwk },
      { alg: 'ES256', jku: 'https://evil' },
    ]) {
      const unsigned = `${encode(header)}.${encode(parts.claims)}`;
      const signature = await webcrypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, key, Buffer.from(unsigned));
      await expectRefused(`${unsigned}.${Buffer.from(signature).toString('base64url')}`);
    }
  });

  async function keySet() {
    return (await call('/openid/v1/jwks', 'Bearer admin')) as Response;
  }
});

describe('tokens changed after signing', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a later expiration', { exp: 4_102_444_800 }],
    [
      'another service account',
      { 'kubernetes.io': { namespace: 'kube-system', serviceaccount: { name: 'x', uid: 'y' } } },
    ],
    ['another subject', { sub: 'system:serviceaccount:kube-system:admin' }],
    ['another audience', { aud: ['other'] }],
  ])('rejects a token that is changed after signing to %s', async (_, change) => {
    const { claims, signature } = parts;
    const [header] = good.split('.');
    await expectRefused(`${header}.${encode({ ...claims, ...change })}.${signature}`);
  });

  test('rejects a token with any byte changed', async () => {
    // Unused bits of base64 can change without changing the token.
    const decodedParts = (token: string) =>
      token.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'));
    const change = async (at: number, character: string) => {
      const changed = `${good.slice(0, at)}${character}${good.slice(at + 1)}`;
      if (String(decodedParts(changed)) !== String(decodedParts(good))) await expectRefused(changed);
    };
    const place = fc.nat({ max: good.length - 1 });
    await fc.assert(fc.asyncProperty(place, fc.constantFrom(...LETTERS, '.'), change), { numRuns: 300 });
  });

  test('rejects a token that is truncated at any position', async () => {
    for (let length = 1; length < good.length; length += 7) await expectRefused(good.slice(0, length));
  });
});

describe('tokens of another key', () => {
  test.each(['', 'x', '../../dev/null', "' OR 1=1", '__proto__', 'x'.repeat(10_000)])(
    'rejects a token of another key with kid %j',
    async (kid) => {
      const [, claims, signature] = good.split('.');
      await expectRefused(`${encode({ ...parts.header, kid })}.${claims}.${signature}`);
    },
  );

  test('rejects a token of another cluster with the same objects', async () => {
    const other = createFetchHandler(testCluster({ dialect: 'kubernetes' }), { tokens });
    const request = new Request('http://other.local/version', { headers: { authorization: `Bearer ${good}` } });
    expect((await other(request)).status).toBe(401);
    await using fork = cluster.fork();
    const handleFork = createFetchHandler(fork, { tokens });
    const again = new Request('http://fork.local/version', { headers: { authorization: `Bearer ${good}` } });
    expect((await handleFork(again)).status).toBe(401);
  });
});

describe('texts that are not tokens', () => {
  test.each([
    '.',
    '..',
    '...',
    'a.b.c',
    'null',
    '{}',
    '[]',
    'e30.e30.e30',
    'Bearer',
    '=====',
    '%00',
    'a'.repeat(65_536),
  ])('rejects a text that is not a token (%#)', async (text) => expectRefused(text));

  test('rejects tokens with deeply nested or unusual payloads', async () => {
    const [header] = good.split('.');
    const deep = Buffer.from(`{"iss":"https://kubernetes.default.svc","x":${'['.repeat(9_000)}`).toString('base64url');
    await expectRefused(`${header}.${deep}.${parts.signature}`);
    for (const iss of [null, 5, {}, [], '', 'https://kubernetes.default.svc\0']) {
      await expectRefused(`${header}.${encode({ iss })}.${parts.signature}`);
    }
  });

  test('rejects tokens in a TokenReview that no header can carry', async () => {
    for (const token of ['\u{1f600}', '\u0000', '\ud800', 'ä.ö.ü', `${good}\u00e9`, `${good}\n`]) {
      const answer = await call('/apis/authentication.k8s.io/v1/tokenreviews', 'Bearer admin', { spec: { token } });
      const { status } = (await answer.json()) as { status: { authenticated?: boolean } };
      // A trailing line break is not part of the header.
      expect([token, status.authenticated === true]).toEqual([token, token.endsWith('\n')]);
    }
    expect(faults).toEqual([]);
  });

  test('rejects raw bytes in a token as a Node server passes them', async () => {
    const answerTo = createHandler(cluster, { tokens, onError: (error) => void faults.push(error) });
    for (const token of ['\xff\xfe', '\xf0\x9f\x98\x80.\xf0.\xf0', '\x01', `${good}\xe9`]) {
      const headers = new Map([['authorization', `Bearer ${token}`]]);
      const answer = await answerTo({
        method: 'GET',
        url: 'http://cluster.local/version',
        headers: { get: (name) => headers.get(name) ?? null, [Symbol.iterator]: () => headers.entries() },
        body: null,
        signal: new AbortController().signal,
        arrayBuffer: async () => new ArrayBuffer(0),
      });
      expect(answer.code).toBe(401);
    }
    expect(faults).toEqual([]);
  });

  test('rejects random texts that resemble tokens', async () => {
    const noise = fc.string({ unit: fc.constantFrom(...LETTERS, ...'....'), minLength: 1, maxLength: 400 });
    await fc.assert(fc.asyncProperty(noise, expectRefused), { numRuns: 300 });
  });
});

test('does not decode overlong tokens', async () => {
  const [header] = good.split('.');
  const long = `${header}.${encode({ ...parts.claims, junk: 'x'.repeat(700_000) })}.${parts.signature}`;
  const decoder = vi.spyOn(globalThis, 'atob');
  await expectRefused(long);
  expect(decoder).not.toHaveBeenCalled();
  decoder.mockRestore();
});
