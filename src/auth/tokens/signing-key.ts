/**
 * The keys of a cluster: the signing key is generated on first use or given by the user; further public keys verify tokens.
 * The default is elliptic, because generating such a key takes a millisecond instead of a second for RSA.
 */

import { encodeBase64Url } from '../../util/base64.js';
import { subtleCrypto } from '../../util/ids.js';

export interface VerificationKey {
  /** The hash of the public key; tokens name it as `kid`. */
  readonly id: string;
  readonly algorithm: SigningAlgorithm;
  /** The public key as in a JWK set. */
  readonly publicJwk: Readonly<Record<string, string>>;
  verify(data: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

export interface SigningKey extends VerificationKey {
  sign(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
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

/** Throws a TypeError for an unsupported public key. */
export function checkPublicKey(given: JsonWebKey): void {
  publicKeyType(given);
}

/** Rejects if the platform has no Web Crypto or cannot import the key. */
export async function createSigningKey(given?: GivenKey): Promise<SigningKey> {
  const subtle = requireCrypto();
  const type = given === undefined ? (CURVES['P-256'] as KeyType) : keyTypeOf(given);
  const { privateKey, publicKey } = await pairOf(subtle, type, given);
  return Object.freeze({
    ...(await verificationKey(subtle, type, publicKey)),
    sign: async (data: Uint8Array<ArrayBuffer>) => new Uint8Array(await subtle.sign(type.use, privateKey, data)),
  });
}

/** The key of a public JWK; private members are ignored. */
export async function createVerificationKey(given: JsonWebKey): Promise<VerificationKey> {
  const subtle = requireCrypto();
  const type = publicKeyType(given);
  return verificationKey(subtle, type, await subtle.importKey('jwk', publicPart(given), type.key, true, ['verify']));
}

function requireCrypto(): SubtleCrypto {
  const subtle = subtleCrypto();
  if (subtle !== undefined) return subtle;
  throw new Error('orchplane: tokens need crypto.subtle, which pages have only in a secure context');
}

async function verificationKey(subtle: SubtleCrypto, type: KeyType, publicKey: CryptoKey): Promise<VerificationKey> {
  const spki = await subtle.exportKey('spki', publicKey);
  const id = encodeBase64Url(new Uint8Array(await subtle.digest('SHA-256', spki)));
  const jwk = await subtle.exportKey('jwk', publicKey);
  return Object.freeze({
    id,
    algorithm: type.algorithm,
    publicJwk: Object.freeze(publicJwk(jwk, id, type.algorithm)),
    verify: (data: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>) =>
      subtle.verify(type.use, publicKey, signature, data),
  });
}

async function pairOf(subtle: SubtleCrypto, type: KeyType, given: GivenKey | undefined): Promise<CryptoKeyPair> {
  if (given === undefined) {
    return (await subtle.generateKey(type.key as EcKeyGenParams, false, ['sign', 'verify'])) as CryptoKeyPair;
  }
  if (isPair(given)) return given;
  const { alg: _alg, use: _use, key_ops: _ops, ext: _ext, ...secret } = given;
  return {
    privateKey: await subtle.importKey('jwk', secret, type.key, false, ['sign']),
    publicKey: await subtle.importKey('jwk', publicPart(given), type.key, true, ['verify']),
  };
}

function publicPart({ kty = '', crv, x, y, n, e }: JsonWebKey): JsonWebKey {
  const fields = kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonWebKey;
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

function publicKeyType(given: JsonWebKey): KeyType {
  const type = typeof given === 'object' && given !== null ? typeOfMembers(given) : undefined;
  if (type !== undefined) return type;
  throw new TypeError(`orchplane: a public key for tokens must be a JWK, ${SUPPORTED_KEYS}`);
}

function jwkType(key: JsonWebKey): KeyType | undefined {
  return typeof key.d === 'string' ? typeOfMembers(key) : undefined;
}

function typeOfMembers({ kty, crv = '', alg }: JsonWebKey): KeyType | undefined {
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
