/**
 * The public keys of an OpenID provider: found through its discovery document, fetched over HTTPS, and fetched again when
 * a token names a key that is not among them.
 */
import { quote } from '../../text/go/go-text.js';
import { JsonSyntaxError, parseJson } from '../../text/json/parse-json.js';
import { recoverFrom } from '../../util/catch-error.js';
import { systemClock } from '../../util/clock.js';
import { subtleCrypto } from '../../util/ids.js';
import { isRecord, own } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { readText } from '../../util/read-text.js';
import { networkProblem, sendToBackend } from '../../webhook/connection.js';
import type { CompactToken } from '../tokens/compact.js';

/** The signature algorithms of ID tokens. Symmetric ones are not accepted. */
export const ID_TOKEN_ALGORITHMS = [
  'ES256',
  'ES384',
  'ES512',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
] as const;

export type IdTokenAlgorithm = (typeof ID_TOKEN_ALGORITHMS)[number];

/** Sends a request to an issuer. */
export type SendRequest = (url: string, init: RequestInit) => Promise<Response>;

/** Verifies signatures with the keys of one issuer. */
export interface IssuerKeys {
  /** Rejects with an Error if the issuer cannot be asked, or if no key has made the signature. */
  verify(token: CompactToken, algorithm: IdTokenAlgorithm): Promise<void>;
}

/** The issuer's discovery document could not be read. */
export class DiscoveryError extends Error {
  override readonly name = 'DiscoveryError';
}

/** How often the discovery is attempted at most. The reference server tries in this interval. */
const DISCOVERY_INTERVAL_MS = 10_000;

/** Keys are fetched again this long before the provider says that they expire. */
const EXPIRY_MARGIN_MS = 30_000;

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 3 * 1024 * 1024;

/** Trusts the certificates of `ca` (PEM) instead of those of the platform. */
export function sendWith(ca: string | undefined): SendRequest {
  const caBundle = ca === undefined ? '' : btoa(ca);
  return (url, init) => sendToBackend(url, init, { caBundle });
}

/** Nothing is fetched before the first token. */
export function createIssuerKeys(issuer: string, send: SendRequest): IssuerKeys {
  let keysUrl: Promise<string> | undefined;
  let lastDiscovery = Number.NEGATIVE_INFINITY;
  let known: KeySet = { keys: [], expiresAt: Number.NEGATIVE_INFINITY };
  let fetching: Promise<KeySet> | undefined;

  const discover = (): Promise<string> => {
    if (keysUrl !== undefined) return keysUrl;
    const now = systemClock.now();
    if (now - lastDiscovery < DISCOVERY_INTERVAL_MS) return Promise.reject(new DiscoveryError('tried recently'));
    lastDiscovery = now;
    keysUrl = discoverKeysUrl(issuer, send).catch((error: unknown) => {
      keysUrl = undefined;
      throw new DiscoveryError(messageOf(error), { cause: error });
    });
    return keysUrl;
  };
  /** Requests at the same time share one fetch. */
  const refresh = (url: string): Promise<KeySet> => {
    fetching ??= fetchKeys(url, send).finally(() => {
      fetching = undefined;
    });
    return fetching;
  };

  return {
    async verify(token, algorithm) {
      const url = await discover();
      if (await isSignedBy(known.keys, token, algorithm)) return;
      if (systemClock.now() + EXPIRY_MARGIN_MS <= known.expiresAt) throw new Error(UNVERIFIED);
      try {
        known = await refresh(url);
      } catch (error) {
        throw new Error(`failed to verify signature: fetching keys ${messageOf(error)}`, { cause: error });
      }
      if (!(await isSignedBy(known.keys, token, algorithm))) throw new Error(UNVERIFIED);
    },
  };
}

const UNVERIFIED = 'failed to verify signature: failed to verify id token signature';

interface KeySet {
  readonly keys: readonly PublicKey[];
  /** In milliseconds since the epoch; until then, an unknown key does not cause another fetch. */
  readonly expiresAt: number;
}

/** A public key of a JWK set. */
interface PublicKey {
  readonly id: string;
  readonly jwk: JsonWebKey;
  readonly imported: Map<IdTokenAlgorithm, Promise<CryptoKey | undefined>>;
}

async function discoverKeysUrl(issuer: string, send: SendRequest): Promise<string> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { text, status } = await get(url, send);
  if (status !== 200) throw new Error(`${status}: ${text}`);
  const document = parseRecord(text);
  if (document === undefined) throw new Error('oidc: failed to decode provider discovery object');
  const named = own(document, 'issuer');
  if (named !== issuer) {
    throw new Error(
      `oidc: issuer did not match the issuer returned by provider, expected ${quote(issuer)} got ${quote(String(named ?? ''))}`,
    );
  }
  return String(own(document, 'jwks_uri') ?? '');
}

async function fetchKeys(url: string, send: SendRequest): Promise<KeySet> {
  const { text, status, headers } = await get(url, send).catch((error: unknown) => {
    throw new Error(`oidc: get keys failed ${messageOf(error)}`, { cause: error });
  });
  if (status !== 200) throw new Error(`oidc: get keys failed: ${status} ${text}`);
  const keys = own(parseRecord(text) ?? {}, 'keys');
  if (!Array.isArray(keys)) throw new Error(`oidc: failed to decode keys: ${text}`);
  return { keys: keys.flatMap(publicKeyOf), expiresAt: systemClock.now() + cacheSeconds(headers) * 1000 };
}

/** Keys without a lifetime are fetched again whenever a token names an unknown one. */
function cacheSeconds(headers: Headers): number {
  const control = headers.get('cache-control') ?? '';
  if (/\bno-(?:store|cache)\b/i.test(control)) return 0;
  return Number(/\bmax-age\s*=\s*"?(\d+)/i.exec(control)?.[1] ?? 0);
}

/** Private members are dropped; keys of other types are ignored. */
function publicKeyOf(key: unknown): PublicKey[] {
  if (!isRecord(key)) return [];
  const { kid, kty, crv, x, y, n, e } = key as Record<string, string | undefined>;
  const members = kty === 'RSA' ? { kty, n, e } : kty === 'EC' ? { kty, crv, x, y } : undefined;
  if (members === undefined || Object.values(members).some((each) => typeof each !== 'string')) return [];
  return [{ id: kid ?? '', jwk: members as JsonWebKey, imported: new Map() }];
}

async function isSignedBy(
  keys: readonly PublicKey[],
  { keyId, signed, signature, isCritical }: CompactToken,
  algorithm: IdTokenAlgorithm,
): Promise<boolean> {
  const subtle = subtleCrypto();
  if (subtle === undefined)
    throw new Error('orchplane: tokens need crypto.subtle, which pages have only in a secure context');
  if (isCritical) return false;
  for (const key of keys) {
    if (keyId !== '' && key.id !== keyId) continue;
    const imported = await importKey(subtle, key, algorithm);
    if (imported !== undefined && (await subtle.verify(useOf(algorithm), imported, signature, signed))) return true;
  }
  return false;
}

/** Undefined if the key is not of the algorithm's type. */
function importKey(subtle: SubtleCrypto, key: PublicKey, algorithm: IdTokenAlgorithm): Promise<CryptoKey | undefined> {
  let imported = key.imported.get(algorithm);
  if (imported === undefined) {
    const curve = CURVES[algorithm];
    const fits = curve === undefined ? key.jwk.kty === 'RSA' : key.jwk.crv === curve;
    const params =
      curve === undefined ? { name: nameOf(algorithm), hash: hashOf(algorithm) } : { name: 'ECDSA', namedCurve: curve };
    // A malformed key verifies nothing.
    imported = fits
      ? subtle.importKey('jwk', key.jwk, params, false, ['verify']).catch(() => undefined)
      : Promise.resolve(undefined);
    key.imported.set(algorithm, imported);
  }
  return imported;
}

const CURVES: Readonly<Partial<Record<IdTokenAlgorithm, string>>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };

const NAMES: Readonly<Record<string, string>> = { ES: 'ECDSA', PS: 'RSA-PSS', RS: 'RSASSA-PKCS1-v1_5' };

function nameOf(algorithm: IdTokenAlgorithm): string {
  return NAMES[algorithm.slice(0, 2)] ?? '';
}

function hashOf(algorithm: IdTokenAlgorithm): string {
  return `SHA-${algorithm.slice(2)}`;
}

/** The salt of PSS signatures is as long as the hash. */
function useOf(algorithm: IdTokenAlgorithm): RsaPssParams | EcdsaParams {
  return { name: nameOf(algorithm), hash: hashOf(algorithm), saltLength: Number(algorithm.slice(2)) / 8 };
}

/** Sends a GET request with a time limit. Rejects with the message of Go's HTTP client. */
export async function get(
  url: string,
  send: SendRequest,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly text: string; readonly status: number; readonly headers: Headers }> {
  const timeout = new AbortController();
  const undo = systemClock.after(REQUEST_TIMEOUT_MS, () => timeout.abort(new Error('context deadline exceeded')), {
    background: true,
  });
  try {
    const response = await send(url, { headers, signal: timeout.signal });
    const text = await readText(response, MAX_RESPONSE_BYTES);
    if (text === undefined) throw new Error('the response is too large');
    return { text, status: response.status, headers: response.headers };
  } catch (error) {
    throw new Error(`Get ${quote(url)}: ${networkProblem(error, url)}`, { cause: error });
  } finally {
    undo();
  }
}

function parseRecord(text: string): Record<string, unknown> | undefined {
  const value = recoverFrom(
    JsonSyntaxError,
    () => parseJson(text).value,
    () => undefined,
  );
  return isRecord(value) ? value : undefined;
}
