/**
 * The key that a cluster signs its tokens with: made up on first use, or brought along by the user. Elliptic unless the
 * user wants it otherwise, because to make such a key takes a millisecond where RSA takes a second.
 */
import { subtleCrypto } from '../../util/ids.js';
import { encodeBase64Url } from './compact.js';

export interface SigningKey {
  /** The hash of the public key, by which whoever checks a token finds it. */
  readonly id: string;
  readonly algorithm: SigningAlgorithm;
  /** The public half, as a key set shows it. */
  readonly publicJwk: Readonly<Record<string, string>>;
  sign(data: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
  verify(data: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>): Promise<boolean>;
}

export type SigningAlgorithm = 'ES256' | 'ES384' | 'ES512' | 'RS256';

/** A pair whose public half can be exported, or a private key in JSON. */
export type GivenKey = CryptoKeyPair | JsonWebKey;

interface KeyForm {
  readonly algorithm: SigningAlgorithm;
  /** For generateKey and importKey. */
  readonly key: EcKeyImportParams | RsaHashedImportParams;
  /** For sign and verify. */
  readonly use: EcdsaParams | AlgorithmIdentifier;
}

const RSA: KeyForm = {
  algorithm: 'RS256',
  key: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
  use: { name: 'RSASSA-PKCS1-v1_5' },
};

const CURVES: Readonly<Record<string, KeyForm>> = {
  'P-256': elliptic('ES256', 'P-256', 'SHA-256'),
  'P-384': elliptic('ES384', 'P-384', 'SHA-384'),
  'P-521': elliptic('ES512', 'P-521', 'SHA-512'),
};

function elliptic(algorithm: SigningAlgorithm, namedCurve: string, hash: string): KeyForm {
  return { algorithm, key: { name: 'ECDSA', namedCurve }, use: { name: 'ECDSA', hash } as EcdsaParams };
}

const KINDS_OF_KEYS = 'ECDSA with P-256, P-384 or P-521, or RSASSA-PKCS1-v1_5 with SHA-256';

/** Throws TypeError for a key that no token can be signed with, as far as that can be told at once. */
export function checkKey(given: GivenKey): void {
  formOf(given);
}

/** Rejects when the platform has no cryptography, or cannot read the key. */
export async function createSigningKey(given?: GivenKey): Promise<SigningKey> {
  const subtle = subtleCrypto();
  if (subtle === undefined) {
    throw new Error('orchplane: tokens need crypto.subtle, which pages have only when they were loaded securely');
  }
  const form = given === undefined ? (CURVES['P-256'] as KeyForm) : formOf(given);
  const { privateKey, publicKey } = await pairOf(subtle, form, given);
  const spki = await subtle.exportKey('spki', publicKey);
  const id = encodeBase64Url(new Uint8Array(await subtle.digest('SHA-256', spki)));
  const jwk = await subtle.exportKey('jwk', publicKey);
  return Object.freeze({
    id,
    algorithm: form.algorithm,
    publicJwk: Object.freeze(publicJwk(jwk, id, form.algorithm)),
    sign: async (data: Uint8Array<ArrayBuffer>) => new Uint8Array(await subtle.sign(form.use, privateKey, data)),
    verify: (data: Uint8Array<ArrayBuffer>, signature: Uint8Array<ArrayBuffer>) =>
      subtle.verify(form.use, publicKey, signature, data),
  });
}

async function pairOf(subtle: SubtleCrypto, form: KeyForm, given: GivenKey | undefined): Promise<CryptoKeyPair> {
  if (given === undefined) {
    return (await subtle.generateKey(form.key as EcKeyGenParams, false, ['sign', 'verify'])) as CryptoKeyPair;
  }
  if (isPair(given)) return given;
  const { kty = '', crv, x, y, n, e } = given;
  const { alg: _alg, use: _use, key_ops: _ops, ext: _ext, ...secret } = given;
  const known = kty === 'RSA' ? { kty, n, e } : { kty, crv, x, y };
  const open = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)) as JsonWebKey;
  return {
    privateKey: await subtle.importKey('jwk', secret, form.key, false, ['sign']),
    publicKey: await subtle.importKey('jwk', open, form.key, true, ['verify']),
  };
}

function isPair(given: GivenKey): given is CryptoKeyPair {
  return 'privateKey' in given;
}

function formOf(given: GivenKey): KeyForm {
  const form =
    typeof given !== 'object' || given === null ? undefined : isPair(given) ? pairForm(given) : jwkForm(given);
  if (form === undefined) {
    throw new TypeError(`orchplane: a key for tokens is a private JWK or a CryptoKeyPair, ${KINDS_OF_KEYS}`);
  }
  return form;
}

function pairForm({ privateKey, publicKey }: CryptoKeyPair): KeyForm | undefined {
  if (privateKey?.type !== 'private' || publicKey?.type !== 'public') return undefined;
  // Its id is the hash of it.
  if (!publicKey.extractable) throw new TypeError('orchplane: the public key for tokens must be extractable');
  const { name, namedCurve = '', hash } = privateKey.algorithm as Partial<EcKeyAlgorithm & RsaHashedKeyAlgorithm>;
  if (name === 'ECDSA') return curveForm(namedCurve);
  return name === 'RSASSA-PKCS1-v1_5' && hash?.name === 'SHA-256' ? RSA : undefined;
}

function jwkForm({ kty, crv = '', d, alg }: JsonWebKey): KeyForm | undefined {
  if (typeof d !== 'string') return undefined;
  const form = kty === 'RSA' ? RSA : kty === 'EC' ? curveForm(crv) : undefined;
  return alg === undefined || alg === form?.algorithm ? form : undefined;
}

function curveForm(curve: string): KeyForm | undefined {
  return Object.hasOwn(CURVES, curve) ? CURVES[curve] : undefined;
}

function publicJwk(jwk: JsonWebKey, kid: string, alg: SigningAlgorithm): Record<string, string> {
  const { kty = '', crv, x, y, n, e } = jwk;
  const parts = { use: 'sig', kty, kid, crv, alg, x, y, n, e };
  return Object.fromEntries(Object.entries(parts).filter((part): part is [string, string] => part[1] !== undefined));
}
