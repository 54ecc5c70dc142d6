/**
 * Reads the fields of X.509 certificates and PKCS#10 requests that validation needs. Rejects what Go's crypto/x509
 * parser rejects in the structure, names, times, key and basicConstraints. Does not verify signatures and ignores other
 * extensions.
 *
 * Implemented here because libraries are slow to load: in Node, @peculiar/x509 takes about 140 ms to import and asn1js
 * alone about 27 ms.
 */

import { sameItems } from '../../util/arrays.js';
import { toHex } from '../../util/bytes.js';
import { DerError, DerReader, isNegative, orUndefined, TAG } from './der.js';

export interface CertificateFacts {
  /** The CA flag of basicConstraints; false without that extension. */
  readonly ca: boolean;
  /** Whether there is a basicConstraints extension. An invalid one makes the certificate invalid. */
  readonly basicConstraintsValid: boolean;
}

export interface CertificateRequestFacts {
  /** The last CN of the subject; empty if there is none. */
  readonly commonName: string;
  /** Every O of the subject, in order. */
  readonly organizations: readonly string[];
}

/** The subject of a certificate. */
export interface CertificateSubject extends CertificateRequestFacts {
  /** Every UID of the subject, by the OID that the reference server uses. */
  readonly uids: readonly string[];
}

/**
 * Reads a certificate; undefined if the bytes are not exactly one certificate.
 *
 * @example
 * const isAuthority = (der: Uint8Array) => readCertificate(der)?.ca === true;
 */
export function readCertificate(der: Uint8Array): CertificateFacts | undefined {
  return parseCertificate(der)?.facts;
}

/** Reads the subject of a certificate; undefined if the bytes are not exactly one certificate. */
export function readCertificateSubject(der: Uint8Array): CertificateSubject | undefined {
  const subject = parseCertificate(der)?.subject;
  return subject === undefined ? undefined : { ...namesIn(subject), uids: valuesIn(subject, OID.uid) };
}

function parseCertificate(der: Uint8Array): { facts: CertificateFacts; subject: readonly NameEntry[] } | undefined {
  return orUndefined(() => {
    const outer = new DerReader(der).only(TAG.sequence);
    const body = outer.sequence();
    const version = body.has(TAG.context0) ? readVersion(body.element(TAG.context0)) : 0;
    if (isNegative(body.integer())) throw new DerError();
    const algorithm = body.sequence();
    if (!sameItems(algorithm.bytes, outer.sequence().bytes)) throw new DerError();
    readAlgorithm(algorithm);
    readTextName(body.sequence());
    readValidity(body.sequence());
    const subject = readTextName(body.sequence());
    readPublicKey(body.sequence());
    const facts = version === 0 ? NO_EXTENSIONS : readExtensions(body, version);
    outer.bitString();
    return { facts, subject };
  });
}

/** The subject of a certificate request. */
export interface RequestSubject extends CertificateRequestFacts {
  /** Every attribute that is a string, in order. */
  readonly attributes: readonly { readonly type: string; readonly value: string }[];
}

/** Reads a certificate request; undefined if the bytes are not exactly one request. */
export function readCertificateRequest(der: Uint8Array): RequestSubject | undefined {
  return orUndefined(() => {
    const outer = new DerReader(der).only(TAG.sequence);
    const body = outer.sequence();
    body.smallInteger();
    const subject = readName(body.sequence());
    readPublicKey(body.sequence());
    body.element(TAG.context0).each((attribute) => attribute.any());
    readAlgorithm(outer.sequence());
    outer.bitString();
    const attributes = subject.flatMap(({ type, value }) => (value === undefined ? [] : [{ type, value }]));
    return { ...namesIn(subject), attributes };
  });
}

function namesIn(subject: readonly NameEntry[]): CertificateRequestFacts {
  return {
    commonName: valuesIn(subject, OID.commonName).at(-1) ?? '',
    organizations: valuesIn(subject, OID.organization),
  };
}

function valuesIn(subject: readonly NameEntry[], type: string): string[] {
  return subject.flatMap((entry) => (entry.type === type ? (entry.value ?? []) : []));
}

const NO_EXTENSIONS: CertificateFacts = { ca: false, basicConstraintsValid: false };

/** Object identifiers as hexadecimal bytes. */
const OID = {
  commonName: '550403',
  organization: '55040a',
  uid: '2b0601040183c25302',
  basicConstraints: '551d13',
  rsa: '2a864886f70d010101',
  ecdsa: '2a8648ce3d0201',
  ed25519: '2b6570',
  x25519: '2b656e',
  dsa: '2a8648ce380401',
} as const;

/** y² = x³ - 3x + b modulo a prime. */
interface Curve {
  /** The size of a coordinate in bytes. */
  readonly size: number;
  readonly prime: bigint;
  readonly b: bigint;
}

/** The supported curves: P-224, P-256, P-384, P-521. */
const CURVES: ReadonlyMap<string, Curve> = new Map([
  [
    '2b81040021',
    { size: 28, prime: 2n ** 224n - 2n ** 96n + 1n, b: 0xb4050a850c04b3abf54132565044b0b7d7bfd8ba270b39432355ffb4n },
  ],
  [
    '2a8648ce3d030107',
    {
      size: 32,
      prime: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
      b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    },
  ],
  [
    '2b81040022',
    {
      size: 48,
      prime: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
      b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    },
  ],
  [
    '2b81040023',
    {
      size: 66,
      prime: 2n ** 521n - 1n,
      b: 0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    },
  ],
]);

function isPositive(integer: Uint8Array): boolean {
  return !isNegative(integer) && integer.some((byte) => byte !== 0);
}

/** Returns 0, 1 or 2 for version 1, 2 or 3. */
function readVersion(content: DerReader): number {
  const version = content.smallInteger();
  if (!content.empty || version < 0 || version > 2) throw new DerError();
  return version;
}

interface Algorithm {
  readonly type: string;
  /** The encoded parameters; empty if there are none. */
  readonly parameters: Uint8Array;
}

function readAlgorithm(algorithm: DerReader): Algorithm {
  const type = algorithm.oid();
  const { rest } = algorithm;
  if (!algorithm.empty) algorithm.any();
  return { type, parameters: rest.subarray(0, rest.length - algorithm.rest.length) };
}

interface NameEntry {
  readonly type: string;
  /** Undefined if it is not a string, which only requests allow. */
  readonly value: string | undefined;
}

function readTextName(name: DerReader): NameEntry[] {
  const entries = readName(name);
  if (entries.some(({ value }) => value === undefined)) throw new DerError();
  return entries;
}

function readName(name: DerReader): NameEntry[] {
  const entries: NameEntry[] = [];
  name.each(() => {
    name.element(TAG.set).each((set) => {
      const entry = set.sequence();
      const type = entry.oid();
      const { tag, content } = entry.any();
      entries.push({ type, value: readText(tag, content.bytes) });
    });
  });
  return entries;
}

/** The standard does not include `*` and `&`, but certificates in use do. */
const PRINTABLE = /^[A-Za-z0-9 '()+,\-./:=?*&]*$/;

function readText(tag: number, bytes: Uint8Array): string | undefined {
  const latin = () => Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  const matching = (pattern: RegExp) => {
    const text = latin();
    if (!pattern.test(text)) throw new DerError();
    return text;
  };
  switch (tag) {
    case TAG.utf8:
      return utf8(bytes);
    case TAG.printable:
      return matching(PRINTABLE);
    case TAG.numeric:
      return matching(/^[0-9 ]*$/);
    case TAG.ia5:
      return matching(/^\p{ASCII}*$/u);
    case TAG.t61:
      return latin();
    case TAG.bmp:
      return bmp(bytes);
    default:
      return undefined;
  }
}

function utf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // The decoder only throws for invalid UTF-8.
    throw new DerError();
  }
}

/** Decodes two bytes per character. Some writers append a terminator. */
function bmp(bytes: Uint8Array): string {
  if (bytes.length % 2 !== 0) throw new DerError();
  let text = '';
  for (let i = 0; i < bytes.length; i += 2) text += String.fromCharCode((bytes[i] ?? 0) * 256 + (bytes[i + 1] ?? 0));
  return text.endsWith('\0') ? text.slice(0, -1) : text;
}

function readValidity(validity: DerReader): void {
  for (let i = 0; i < 2; i++) {
    const { tag, content } = validity.any();
    const text = String.fromCharCode(...content.bytes.subarray(0, LONGEST_TIME + 1));
    if (tag === TAG.utcTime && isTime(text, UTC_TIME)) continue;
    if (tag === TAG.generalizedTime && isTime(text, GENERALIZED_TIME)) continue;
    throw new DerError();
  }
}

/** `20060102150405+0700` */
const LONGEST_TIME = 19;
const UTC_TIME = /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?(?:Z|[+-](?!0000)([01]\d|2[0-3])[0-5]\d)$/;
const GENERALIZED_TIME = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(?:Z|[+-](?!0000)([01]\d|2[0-3])[0-5]\d)$/;

function isTime(text: string, pattern: RegExp): boolean {
  const [, year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (pattern.exec(text) ?? []).map(Number);
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59) return false;
  // Only leap years matter, and they repeat every 400 years; NaN means omitted seconds.
  const daysInMonth = new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
  return day <= daysInMonth && !(second > 59);
}

/** Checks the key of a supported algorithm; others are accepted. */
function readPublicKey(info: DerReader): void {
  const { type, parameters } = readAlgorithm(info.sequence());
  const key = info.bitString();
  if (!isPublicKey(type, new DerReader(parameters), key)) throw new DerError();
}

function isPublicKey(type: string, parameters: DerReader, key: Uint8Array): boolean {
  switch (type) {
    case OID.rsa: {
      const numbers = new DerReader(key).sequence();
      const isNull = sameItems(parameters.bytes, Uint8Array.of(5, 0));
      return isNull && isPositive(numbers.integer()) && numbers.smallInteger() > 0;
    }
    case OID.ecdsa: {
      const curve = CURVES.get(parameters.oid());
      return curve !== undefined && isPoint(key, curve);
    }
    case OID.ed25519:
    case OID.x25519:
      return parameters.empty && key.length === 32;
    case OID.dsa: {
      const numbers = parameters.sequence();
      const all = [new DerReader(key).integer(), numbers.integer(), numbers.integer(), numbers.integer()];
      return all.every(isPositive);
    }
    default:
      return true;
  }
}

function isPoint(key: Uint8Array, { size, prime, b }: Curve): boolean {
  // 4 means uncompressed; compressed points are not accepted.
  if (key[0] !== 4 || key.length !== 1 + 2 * size) return false;
  const x = BigInt(`0x${toHex(key.subarray(1, 1 + size))}`);
  const y = BigInt(`0x${toHex(key.subarray(1 + size))}`);
  return x < prime && y < prime && (x ** 3n - 3n * x + b - y * y) % prime === 0n;
}

function readExtensions(body: DerReader, version: number): CertificateFacts {
  // Unique identifiers of issuer and subject are allowed from version 2 and ignored.
  if (body.has(TAG.context1)) body.any();
  if (body.has(TAG.context2)) body.any();
  if (version < 2 || !body.has(TAG.context3)) return NO_EXTENSIONS;
  const extensions = body.element(TAG.context3).sequence();
  const seen = new Set<string>();
  let facts = NO_EXTENSIONS;
  extensions.each(() => {
    const extension = extensions.sequence();
    const type = extension.oid();
    if (seen.has(type)) throw new DerError();
    seen.add(type);
    if (extension.has(TAG.boolean)) extension.boolean();
    const value = extension.element(TAG.octetString);
    if (type === OID.basicConstraints) facts = readBasicConstraints(value.sequence());
  });
  return facts;
}

function readBasicConstraints(constraints: DerReader): CertificateFacts {
  const ca = constraints.has(TAG.boolean) && constraints.boolean();
  if (constraints.has(TAG.integer)) constraints.smallInteger();
  return { ca, basicConstraintsValid: true };
}
