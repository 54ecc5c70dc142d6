/** The published OpenID documents of a cluster, and verification of its tokens with them. */
import { webcrypto } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AccountTokenOptions } from '../../../../src/auth/tokens/account-tokens.js';
import { createFetchHandler } from '../../../../src/http/index.js';
import { ServiceAccount } from '../../../../src/kinds/index.js';
import { testCluster } from '../../../../src/testing/index.js';

const CONFIGURATION = '/.well-known/openid-configuration';
const KEY_SET = '/openid/v1/jwks';

function site(serviceAccounts: AccountTokenOptions = {}) {
  const cluster = testCluster({ dialect: 'kubernetes', authentication: { serviceAccounts } });
  const handle = createFetchHandler(cluster);
  const call = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    handle(new Request(`https://cluster.local:8443${path}`, { method, headers }));
  return { cluster, handle, call };
}

describe('OpenID pages', () => {
  const { call } = site();

  test('returns the provider configuration', async () => {
    const response = await call(CONFIGURATION);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('public, max-age=3600');
    expect(await response.text()).toBe(
      '{"issuer":"https://kubernetes.default.svc","jwks_uri":"https://cluster.local:8443/openid/v1/jwks",' +
        '"response_types_supported":["id_token"],"subject_types_supported":["public"],' +
        '"id_token_signing_alg_values_supported":["ES256"]}',
    );
  });

  test('returns the public keys as a JWK set', async () => {
    const response = await call(KEY_SET);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/jwk-set+json');
    expect(await response.json()).toEqual({
      keys: [
        {
          use: 'sig',
          kty: 'EC',
          kid: expect.stringMatching(/^[\w-]{43}$/),
          crv: 'P-256',
          alg: 'ES256',
          x: expect.any(String),
          y: expect.any(String),
        },
      ],
    });
  });

  test('lists the OpenID pages in the path index', async () => {
    const { paths } = (await (await call('/')).json()) as { paths: string[] };
    expect(paths).toEqual(expect.arrayContaining([CONFIGURATION, KEY_SET]));
  });

  test.each([
    [KEY_SET, 'POST', '*/*', 405],
    [CONFIGURATION, 'DELETE', '*/*', 405],
    [CONFIGURATION, 'GET', 'text/html', 406],
    [KEY_SET, 'GET', 'application/json', 406],
    [KEY_SET, 'GET', 'application/json, */*', 200],
    [`${KEY_SET}/`, 'GET', '*/*', 404],
    ['/openid/v1', 'GET', '*/*', 404],
  ])('serves %s for %s requests that accept %s with code %i', async (path, method, accept, code) => {
    expect((await call(path, { accept }, method)).status).toBe(code);
  });

  test('serves no OpenID pages for an issuer that is not a URL', async () => {
    const other = site({ issuer: 'my-cluster' });
    expect((await other.call(CONFIGURATION)).status).toBe(404);
    expect((await other.call(KEY_SET)).status).toBe(404);
  });
});

test('publishes keys with which other programs can verify a token', async () => {
  const { cluster, handle, call } = site({ issuer: 'https://ci.example.com' });
  await cluster.api(ServiceAccount).create({ metadata: { name: 'robot', namespace: 'default' } });
  const path = 'https://cluster.local/api/v1/namespaces/default/serviceaccounts/robot/token';
  const body = JSON.stringify({ spec: { audiences: ['vault'] } });
  const answer = await handle(
    new Request(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
  );
  const { status } = (await answer.json()) as { status: { token: string } };
  const [header = '', payload = '', signature = ''] = status.token.split('.');
  const { issuer } = (await (await call(CONFIGURATION)).json()) as { issuer: string };
  const { keys } = (await (await call(KEY_SET)).json()) as { keys: (JsonWebKey & { kid: string })[] };
  const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString());
  const jwk = keys.find((each) => each.kid === kid) as JsonWebKey;
  const form = { name: 'ECDSA', namedCurve: 'P-256' };
  const key = await webcrypto.subtle.importKey('jwk', jwk, form, false, ['verify']);
  const data = Buffer.from(`${header}.${payload}`);
  const use = { name: 'ECDSA', hash: 'SHA-256' };
  expect(await webcrypto.subtle.verify(use, key, Buffer.from(signature, 'base64url'), data)).toBe(true);
  expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ iss: issuer, aud: ['vault'] });
});
