/**
 * The signing key of a cluster: generated on first use or given by the user. The default is elliptic, because generating
 * such a key takes a millisecond instead of a second for RSA.
 */

import { encodeBase64Url } from '../../util/base64.js';
import { subtleCrypto } from '../../util/ids.js';

export interface SigningKey {
  /** The hash of the public key; tokens name it as `kid`. */
  readonly id: string;
  readonly algorithm: SigningAlgorithm;
  /** The public key as in a JWK set. */
  readonly publicJwk: Readonly<Record<string, string>>;
  sign(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  verify(data: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

export type SigningAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** A key pair with an extractable public key, or a private JWK. */
export type GivenKey = CryptoKeyPair | JsonWebKey;

interface KeyType {
  readonly algorithm: SigningAlgorithm;
  /** For generateKey and importKey. */
  readonly key: EcKeyImportParams | RsaHashedImportParams;
  /** For sign and verify. */
  readonly use: EcdsaParams | AlgorithmIdentifier;
}

const RSA: KeyType = {
  algorithm: 'RS256',
  key: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  use: { name: 'RSASSA-PKCS1-v1_5' },
};

const CURVES: Readonly<Record<string, KeyType>> = {
  'P-256': elliptic('ES256', 'P-256', 'SHA-256'),
  'P-384': elliptic('ES384', 'P-384', 'SHA-384'),
  'P-521': elliptic('ES512', 'P-521', 'SHA-512'),
};

function elliptic(algorithm: SigningAlgorithm, namedCurve: string, hash: string): KeyType {
  return { algorithm, key: { name: 'ECDSA', namedCurve }, use: { name: 'ECDSA', hash } as EcdsaParams };
}

const SUPPORTED_KEYS = 'ECDSA with P-256, P-384 or P-521, or RSASSA-PKCS1-v1_5 with SHA-256';

/** Throws a TypeError for an unsupported key, as far as can be checked synchronously. */
export function checkKey(given: GivenKey): void {
  keyTypeOf(given);
}

/** Rejects if the platform has no Web Crypto or cannot import the key. */
export async function createSigningKey(given?: GivenKey): Promise<SigningKey> {
  const subtle = subtleCrypto();
  if (subtle === undefined) {
    throw new Error('orchplane: tokens need crypto.subtle, which pages have only in a secure context');
  }
  const type = given === undefined ? (CURVES['P-256'] as KeyType) : keyTypeOf(given);
  const { privateKey, publicKey } = await pairOf(subtle, type, given);
  const spki = await subtle.exportKey('spki', publicKey);
  const id = encodeBase64Url(new Uint8Array(await subtle.digest('SHA-256', spki)));
  const jwk = await subtle.exportKey('jwk', publicKey);
  return Object.freeze({
    id,
    algorithm: type.algorithm,
    publicJwk: Object.freeze(publicJwk(jwk, id, type.algorithm)),
    sign: async (data: Uint8Array<ArrayBuffer>) => new Uint8Array(await subtle.sign(type.use, privateKey, data)),
    verify: (data: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>) =>
      subtle.verify(type.use, publicKey, signature, data),
  });
}

async function pairOf(subtle: SubtleCrypto, type: KeyType, given: GivenKey | undefined): Promise<CryptoKeyPair> {
  if (given === undefined) {
    return (await subtle.generateKey(type.key as EcKeyGenParams, false, ['sign', 'verify'])) as CryptoKeyPair;
  }
  if (isPair(given)) return given;
  const { kty = '', crv, x, y, n, e } = given;
  const { alg: _alg, use: _use, key_ops: _ops, ext: _ext, ...secret } = given;
  const publicFields = kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y };
  const publicPart = Object.fromEntries(
    Object.entries(publicFields).filter(([, value]) => value !== undefined),
  ) as JsonWebKey;
  return {
    privateKey: await subtle.importKey('jwk', secret, type.key, false, ['sign']),
    publicKey: await subtle.importKey('jwk', publicPart, type.key, true, ['verify']),
  };
}

function isPair(given: GivenKey): given is CryptoKeyPair {
  return 'privateKey' in given;
}

function keyTypeOf(given: GivenKey): KeyType {
  const type =
    typeof given !== 'object' || given === null ? undefined : isPair(given) ? pairType(given) : jwkType(given);
  if (type === undefined) {
    throw new TypeError(`orchplane: a key for tokens must be a private JWK or a CryptoKeyPair, ${SUPPORTED_KEYS}`);
  }
  return type;
}

function pairType({ privateKey, publicKey }: CryptoKeyPair): KeyType | undefined {
  if (privateKey?.type !== 'private' || publicKey?.type !== 'public') return undefined;
  // The key id is the hash of the exported public key.
  if (!publicKey.extractable) throw new TypeError('orchplane: the public key for tokens must be extractable');
  const { name, namedCurve = '', hash } = privateKey.algorithm as Partial<EcKeyAlgorithm & RsaHashedKeyAlgorithm>;
  if (name === 'ECDSA') return curveType(namedCurve);
  return name === 'RSASSA-PKCS1-v1_5' && hash?.name === 'SHA-256' ? RSA : undefined;
}

function jwkType({ kty, crv = '', d, alg }: JsonWebKey): KeyType | undefined {
  if (typeof d !== 'string') return undefined;
  const type = kty === 'RSA' ? RSA : kty === 'EC' ? curveType(crv) : undefined;
  return alg === undefined || alg === type?.algorithm ? type : undefined;
}

function curveType(curve: string): KeyType | undefined {
  return Object.hasOwn(CURVES, curve) ? CURVES[curve] : undefined;
}

function publicJwk(jwk: JsonWebKey, kid: string, alg: SigningAlgorithm): Record<string, string> {
  const { kty = '', crv, x, y, n, e } = jwk;
  const parts = { use: 'sig', kty, kid, crv, alg, x, y, n, e };
  return Object.fromEntries(Object.entries(parts).filter((part): part is [string, string] => part[1] !== undefined));
}
