/** An OpenID provider on a local HTTPS port, for tests of its clients. */
import { webcrypto } from 'node:crypto';
import { issue, listen } from '../../webhook/tls-servers.js';

const HASHES = { RS: 'RSASSA-PKCS1-v1_5', PS: 'RSA-PSS', ES: 'ECDSA' } as const;
const CURVES: Readonly<Record<string, string>> = { '256': 'P-256', '384': 'P-384', '512': 'P-521' };

/** A signing key of the provider. */
export interface ProviderKey {
  readonly id: string;
  readonly algorithm: string;
  readonly keys: CryptoKeyPair;
}

export async function providerKey(id: string, algorithm = 'RS256'): Promise<ProviderKey> {
  const name = HASHES[algorithm.slice(0, 2) as keyof typeof HASHES];
  const size = algorithm.slice(2);
  const parameters =
    name === 'ECDSA'
      ? { name, namedCurve: CURVES[size] ?? '' }
      : { name, hash: `SHA-${size}`, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const keys = (await webcrypto.subtle.generateKey(parameters, true, ['sign', 'verify'])) as CryptoKeyPair;
  return { id, algorithm, keys };
}

const encode = (data: string | Uint8Array): string => Buffer.from(data).toString('base64url');

/** A signed token; `header` replaces members of its header. */
export async function signToken(
  { id, algorithm, keys }: ProviderKey,
  claims: object,
  header: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const unsigned = `${encode(JSON.stringify({ alg: algorithm, kid: id, ...header }))}.${encode(JSON.stringify(claims))}`;
  const size = Number(algorithm.slice(2));
  const use = { name: HASHES[algorithm.slice(0, 2) as keyof typeof HASHES], hash: `SHA-${size}`, saltLength: size / 8 };
  const signature = await webcrypto.subtle.sign(use, keys.privateKey, Buffer.from(unsigned));
  return `${unsigned}.${encode(new Uint8Array(signature))}`;
}

export interface Provider extends AsyncDisposable {
  readonly url: string;
  /** The certificate of the server in PEM. */
  readonly ca: string;
  /** The published keys. */
  keys: readonly ProviderKey[];
  /** The Cache-Control header of the keys. */
  cacheControl: string | undefined;
  /** Replaces the issuer in the discovery document. */
  namedIssuer: string | undefined;
  isDown: boolean;
  /** The status code of further paths. */
  pageStatus: number;
  /** Texts of further paths. */
  readonly pages: Map<string, (authorization: string | undefined) => string>;
  /** The paths of all requests so far. */
  readonly requests: string[];
}

export async function startProvider(keys: readonly ProviderKey[]): Promise<Provider> {
  const certificate = await issue({ hosts: ['localhost', '127.0.0.1'] });
  const server = await listen(certificate, async (request, response) => {
    const path = request.url ?? '';
    provider.requests.push(path);
    if (provider.isDown) return void response.writeHead(503).end('down');
    const page = provider.pages.get(path);
    if (page !== undefined) {
      return void response.writeHead(provider.pageStatus).end(page(request.headers.authorization));
    }
    if (path === '/.well-known/openid-configuration') {
      const issuer = provider.namedIssuer ?? provider.url;
      return void response.end(JSON.stringify({ issuer, jwks_uri: `${provider.url}/keys` }));
    }
    if (path !== '/keys') return void response.writeHead(404).end();
    if (provider.cacheControl !== undefined) response.setHeader('cache-control', provider.cacheControl);
    const published = provider.keys.map(async ({ id, keys: { publicKey } }) => ({
      ...(await webcrypto.subtle.exportKey('jwk', publicKey)),
      kid: id,
    }));
    response.end(JSON.stringify({ keys: await Promise.all(published) }));
  });
  const provider: Provider = {
    url: `https://127.0.0.1:${server.port}`,
    ca: certificate.pem,
    keys,
    cacheControl: undefined,
    namedIssuer: undefined,
    isDown: false,
    pageStatus: 200,
    pages: new Map(),
    requests: [],
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return provider;
}
