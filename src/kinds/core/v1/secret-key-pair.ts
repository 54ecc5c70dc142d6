/**
 * Whether a certificate and a private key belong together, as far as writers of TLS secrets are told. It compares what
 * stands in both; a key that does not carry its public half is believed.
 */

import { readCertificate } from '../../../text/x509/certificate.js';
import { DerReader, orUndefined, TAG } from '../../../text/x509/der.js';
import { type PemBlock, pemBlocks } from '../../../text/x509/pem.js';
import { toHex } from '../../../util/bytes.js';

/** The first thing that is wrong with a pair of PEM texts; undefined when nothing is. */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const blocks = pemBlocks(certificate);
  const leaf = blocks.find(({ type }) => type === CERTIFICATE);
  if (leaf === undefined) return noCertificate(blocks.map(({ type }) => type));
  const keyBlocks = pemBlocks(key);
  const secret = keyBlocks.find(({ type }) => type === PRIVATE || type.endsWith(` ${PRIVATE}`));
  if (secret === undefined) return noKey(keyBlocks.map(({ type }) => type));
  if (readCertificate(leaf.bytes) === undefined) return 'x509: malformed certificate';
  return mismatch(leaf, secret);
}

const CERTIFICATE = 'CERTIFICATE';
const PRIVATE = 'PRIVATE KEY';

function noCertificate(skipped: readonly string[]): string {
  const [only = ''] = skipped;
  if (skipped.length === 0) return 'tls: failed to find any PEM data in certificate input';
  if (skipped.length === 1 && only.endsWith(PRIVATE)) {
    return 'tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched';
  }
  const what = 'PEM block in certificate input after skipping PEM blocks of the following types';
  return `tls: failed to find "${CERTIFICATE}" ${what}: [${skipped.join(' ')}]`;
}

function noKey(skipped: readonly string[]): string {
  const [only] = skipped;
  if (skipped.length === 0) return 'tls: failed to find any PEM data in key input';
  if (skipped.length === 1 && only === CERTIFICATE) {
    return 'tls: found a certificate rather than a key in the PEM for the private key';
  }
  const what = 'in key input after skipping PEM blocks of the following types';
  return `tls: failed to find PEM block with type ending in "${PRIVATE}" ${what}: [${skipped.join(' ')}]`;
}

/** Object identifiers by their bytes in hexadecimal. */
const ALGORITHMS: ReadonlyMap<string, Algorithm> = new Map([
  ['2a864886f70d010101', 'rsa'],
  ['2a8648ce3d0201', 'ecdsa'],
  ['2b6570', 'ed25519'],
]);

type Algorithm = 'rsa' | 'ecdsa' | 'ed25519';

/** A key as far as it can be compared. */
interface Key {
  readonly algorithm: Algorithm | undefined;
  /** Modulus or point in hexadecimal; absent when it would have to be computed. */
  readonly half?: string | undefined;
}

function mismatch(certificate: PemBlock, secret: PemBlock): string | undefined {
  const key = readPrivateKey(secret.bytes);
  if (key === undefined) return 'tls: failed to parse private key';
  if (key.algorithm === undefined) return 'tls: found unknown private key type in PKCS#8 wrapping';
  const { algorithm, half } = publicKey(certificate.bytes);
  if (algorithm === undefined) return 'tls: unknown public key algorithm';
  if (algorithm !== key.algorithm) return 'tls: private key type does not match public key type';
  const isOther = half !== undefined && key.half !== undefined && half !== key.half;
  return isOther ? 'tls: private key does not match public key' : undefined;
}

/** Of a certificate that has been read before, so nothing here can fail. */
function publicKey(der: Uint8Array): Key {
  const body = new DerReader(der).sequence().sequence();
  if (body.has(TAG.context0)) body.any();
  // Serial number, algorithm of the signature, issuer, validity, subject.
  for (let passed = 0; passed < 5; passed++) body.any();
  const info = body.sequence();
  const algorithm = ALGORITHMS.get(info.sequence().oid());
  const bits = info.bitString();
  return { algorithm, half: algorithm === 'rsa' ? toHex(new DerReader(bits).sequence().integer()) : toHex(bits) };
}

/** In one of the three forms that keys are written in, tried in turn. */
function readPrivateKey(der: Uint8Array): Key | undefined {
  return (
    orUndefined(() => readRsaKey(der)) ?? orUndefined(() => readWrappedKey(der)) ?? orUndefined(() => readCurveKey(der))
  );
}

/** Version, modulus, two exponents, two primes and three numbers made of them. */
function readRsaKey(der: Uint8Array): Key {
  const numbers = new DerReader(der).only(TAG.sequence);
  numbers.smallInteger();
  const half = toHex(numbers.integer());
  for (let passed = 0; passed < 7; passed++) numbers.integer();
  return { algorithm: 'rsa', half };
}

/** A key of any algorithm, which is named in front of it. */
function readWrappedKey(der: Uint8Array): Key {
  const outer = new DerReader(der).only(TAG.sequence);
  outer.smallInteger();
  const algorithm = ALGORITHMS.get(outer.sequence().oid());
  const inner = outer.element(TAG.octetString);
  switch (algorithm) {
    case 'rsa':
      return readRsaKey(inner.bytes);
    case 'ecdsa':
      return readCurveKey(inner.bytes);
    default:
      return { algorithm };
  }
}

const PARAMETERS = 0xa0;
const POINT = 0xa1;

/** Version and number, and what the number belongs to, which may be left out. */
function readCurveKey(der: Uint8Array): Key {
  const parts = new DerReader(der).only(TAG.sequence);
  parts.smallInteger();
  parts.element(TAG.octetString);
  if (parts.has(PARAMETERS)) parts.any();
  return parts.has(POINT)
    ? { algorithm: 'ecdsa', half: toHex(parts.element(POINT).bitString()) }
    : { algorithm: 'ecdsa' };
}
