/**
 * Checks whether a certificate and a private key match, for warnings about TLS secrets. It compares the public keys in
 * both. A private key without its public key is accepted, because no cryptography is done here.
 */

import { readCertificate } from '../../../text/x509/certificate.js';
import { DerReader, orUndefined, TAG } from '../../../text/x509/der.js';
import { type PemBlock, pemBlocks } from '../../../text/x509/pem.js';
import { toHex } from '../../../util/bytes.js';

/** The first problem of a certificate and key in PEM format; undefined if there is none. */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const blocks = pemBlocks(certificate);
  const leaf = blocks.find(({ type }) => type === CERTIFICATE);
  if (leaf === undefined) return noCertificateMessage(blocks.map(({ type }) => type));
  const keyBlocks = pemBlocks(key);
  const secret = keyBlocks.find(({ type }) => type === PRIVATE || type.endsWith(` ${PRIVATE}`));
  if (secret === undefined) return noKeyMessage(keyBlocks.map(({ type }) => type));
  if (readCertificate(leaf.bytes) === undefined) return 'x509: malformed certificate';
  return mismatchMessage(leaf, secret);
}

const CERTIFICATE = 'CERTIFICATE';
const PRIVATE = 'PRIVATE KEY';

function noCertificateMessage(skipped: readonly string[]): string {
  const [only = ''] = skipped;
  if (skipped.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (skipped.length === 1 && only.endsWith(PRIVATE)) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  const what = 'PEM block in certificate input after skipping PEM blocks of the following types';
  return `tls: failed to find "${CERTIFICATE}" ${what}: [${skipped.join(' ')}]`;
}

function noKeyMessage(skipped: readonly string[]): string {
  const [only] = skipped;
  if (skipped.length === 0) return 'tls: failed to find any PEM data in key input';
  if (skipped.length === 1 && only === CERTIFICATE) {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  const what = 'in key input after skipping PEM blocks of the following types';
  return `tls: failed to find PEM block with type ending in "${PRIVATE}" ${what}: [${skipped.join(' ')}]`;
}

/** Algorithms by the hexadecimal bytes of their object identifiers. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['2a864886f70d010101', 'rsa'],
  ['2a8648ce3d0201', 'ecdsa'],
  ['2b6570', 'ed25519'],
]);

type Algorithm = 'rsa' | 'ecdsa' | 'ed25519';

/** The comparable part of a key. */
interface Key {
  readonly algorithm: Algorithm | undefined;
  /** RSA modulus or curve point in hexadecimal; absent if it would have to be computed. */
  readonly publicPart?: string | undefined;
}

function mismatchMessage(certificate: PemBlock, secret: PemBlock): string | undefined {
  const key = readPrivateKey(secret.bytes);
  if (key === undefined) return 'tls: failed to parse private key';
  if (key.algorithm === undefined) return 'tls: found unknown private key type in PKCS#8 wrapping';
  const { algorithm, publicPart } = publicKey(certificate.bytes);
  if (algorithm === undefined) return 'tls: unknown public key algorithm';
  if (algorithm !== key.algorithm) return 'tls: private key type does not match public key type';
  const differs = publicPart !== undefined && key.publicPart !== undefined && publicPart !== key.publicPart;
  return differs ? 'tls: private key does not match public key' : undefined;
}

/** Reads the public key of a certificate that has already been parsed, so this cannot fail. */
function publicKey(der: Uint8Array): Key {
  const body = new DerReader(der).sequence().sequence();
  if (body.has(TAG.context0)) body.any();
  // Skips serial number, signature algorithm, issuer, validity and subject.
  for (let passed = 0; passed < 5; passed++) body.any();
  const info = body.sequence();
  const algorithm = ALGORITHMS.get(info.sequence().oid());
  const bits = info.bitString();
  return { algorithm, publicPart: algorithm === 'rsa' ? toHex(new DerReader(bits).sequence().integer()) : toHex(bits) };
}

/** Tries PKCS#1, PKCS#8 and SEC 1, in this order. */
function readPrivateKey(der: Uint8Array): Key | undefined {
  return (
    orUndefined(() => readRsaKey(der)) ?? orUndefined(() => readPkcs8Key(der)) ?? orUndefined(() => readEcKey(der))
  );
}

/** PKCS#1: version, modulus, two exponents, two primes and three derived numbers. */
function readRsaKey(der: Uint8Array): Key {
  const numbers = new DerReader(der).only(TAG.sequence);
  numbers.smallInteger();
  const publicPart = toHex(numbers.integer());
  for (let passed = 0; passed < 7; passed++) numbers.integer();
  return { algorithm: 'rsa', publicPart };
}

/** PKCS#8: an algorithm identifier and a key of that algorithm. */
function readPkcs8Key(der: Uint8Array): Key {
  const outer = new DerReader(der).only(TAG.sequence);
  outer.smallInteger();
  const algorithm = ALGORITHMS.get(outer.sequence().oid());
  const inner = outer.element(TAG.octetString);
  switch (algorithm) {
    case 'rsa':
      return readRsaKey(inner.bytes);
    case 'ecdsa':
      return readEcKey(inner.bytes);
    default:
      return { algorithm };
  }
}

const PARAMETERS = 0xa0;
const POINT = 0xa1;

/** SEC 1: version and private key, with optional curve parameters and public key. */
function readEcKey(der: Uint8Array): Key {
  const parts = new DerReader(der).only(TAG.sequence);
  parts.smallInteger();
  parts.element(TAG.octetString);
  if (parts.has(PARAMETERS)) parts.any();
  return parts.has(POINT)
    ? { algorithm: 'ecdsa', publicPart: toHex(parts.element(POINT).bitString()) }
    : { algorithm: 'ecdsa' };
}
