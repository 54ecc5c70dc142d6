/**
 * A certificate authority for tests. Keys and signatures come from Web Crypto; certificates and their usage extensions are
 * encoded here, because the libraries for it are large.
 */

import type { KeyUsage } from '../../kinds/generated/certificates-v1.js';
import { DerReader, TAG } from '../../text/x509/der.js';
import { firstPemBlock } from '../../text/x509/pem.js';
import { encodeBase64 } from '../../util/base64.js';
import { systemClock } from '../../util/clock.js';
import { randomIds, subtleCrypto } from '../../util/ids.js';
import { refuseUnknownOptions } from '../../util/options.js';
import * as der from './write-der.js';
import { type Bytes, bitString, oid, sequence } from './write-der.js';

/** The contents of a certificate to issue. */
export interface CertificateTemplate extends UsageExtensions {
  /** A complete DER element. */
  readonly subject: Uint8Array;
  readonly publicKey: Uint8Array;
  readonly dnsNames?: readonly string[];
  readonly emailAddresses?: readonly string[];
  readonly ipAddresses?: readonly Uint8Array[];
  readonly uris?: readonly string[];
  /** In milliseconds since the epoch. */
  readonly notBefore: number;
  readonly notAfter: number;
  /** Hexadecimal digits; unique for this authority. */
  readonly serial: string;
}

/** Signs certificates. */
export interface CertificateAuthority {
  /** Its own certificate in PEM. Clients and servers must trust it. */
  readonly certificate: string;
  /** The end of its validity, in milliseconds since the epoch. */
  readonly notAfter: number;
  /** Issues a certificate in PEM. */
  issue(template: CertificateTemplate): Promise<string>;
}

export interface CertificateAuthorityOptions {
  /** The common name of a new authority; `orchplane-ca` unless given. */
  readonly commonName?: string | undefined;
  /** An existing authority: its certificate and its key, both in PEM, the key as PKCS #8 (`BEGIN PRIVATE KEY`). */
  readonly from?: { readonly certificate: string; readonly privateKey: string } | undefined;
  /** The current time for a new authority's validity, in milliseconds since the epoch; the system time unless given. */
  readonly now?: number | undefined;
}

const TEN_YEARS_MS = 10 * 365 * 24 * 3_600_000;
const HOUR_MS = 3_600_000;

const OID = {
  commonName: '550403',
  keyUsage: '551d0f',
  extendedKeyUsage: '551d25',
  basicConstraints: '551d13',
  subjectKeyId: '551d0e',
  authorityKeyId: '551d23',
  subjectAltName: '551d11',
  rsa: '2a864886f70d010101',
} as const;

/** Bit positions of key usages. */
const DIGITAL_SIGNATURE = 0;
const KEY_ENCIPHERMENT = 2;
const CERT_SIGN = 5;

/**
 * Creates a certificate authority, or imports an existing one.
 *
 * @example
 * const authority = await createCertificateAuthority({ commonName: 'test' });
 * const cluster = createCluster({ controllers: controllers([certificateSigning({ authority })]) });
 */
export async function createCertificateAuthority(
  options: CertificateAuthorityOptions = {},
): Promise<CertificateAuthority> {
  refuseUnknownOptions('createCertificateAuthority', options, ['commonName', 'from', 'now']);
  const subtle = subtleCrypto();
  if (subtle === undefined)
    throw new TypeError('orchplane: certificates need cryptography, which this page does not have');
  const { commonName = 'orchplane-ca', from, now = systemClock.now() } = options;
  if (from !== undefined) return importAuthority(subtle, from);
  const keys = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
  const publicKey = new Uint8Array(await subtle.exportKey('spki', keys.publicKey));
  const name = der.sequence(
    der.element(TAG.set, der.sequence(der.oid(OID.commonName), der.text(TAG.utf8, commonName))),
  );
  const signer: Signer = { subtle, key: keys.privateKey, scheme: ecdsa('SHA-256', 32), name };
  const keyId = await keyIdOf(subtle, publicKey);
  const notAfter = wholeSeconds(now + TEN_YEARS_MS);
  const usages = bitList(new Set([DIGITAL_SIGNATURE, KEY_ENCIPHERMENT, CERT_SIGN]));
  const certificate = await sign(signer, {
    subject: name,
    publicKey,
    notBefore: now - HOUR_MS,
    notAfter,
    serial: randomIds.uid(),
    extensions: [
      extension(OID.keyUsage, usages, { critical: true }),
      extension(OID.basicConstraints, der.sequence(der.element(TAG.boolean, Uint8Array.of(0xff))), { critical: true }),
      extension(OID.subjectKeyId, der.octetString(keyId)),
    ],
  });
  return authorityOf(signer, { certificate, notAfter, keyId });
}

/** A signature algorithm: its Web Crypto parameters and its DER encoding. */
interface Scheme {
  readonly algorithm: Uint8Array;
  readonly parameters: EcdsaParams | Algorithm;
  /** Converts a Web Crypto signature to the form in certificates. */
  readonly encodeSignature: (signature: Uint8Array) => Uint8Array;
}

interface Signer {
  readonly subtle: SubtleCrypto;
  readonly key: CryptoKey;
  readonly scheme: Scheme;
  /** The issuer's name, a complete DER element. */
  readonly name: Uint8Array;
}

interface IssuerFacts {
  readonly certificate: string;
  readonly notAfter: number;
  readonly keyId: Uint8Array | undefined;
}

function authorityOf(signer: Signer, { certificate, notAfter, keyId }: IssuerFacts): CertificateAuthority {
  return {
    certificate,
    notAfter,
    issue: (template) => {
      const { keyUsage, extendedKeyUsage } = template;
      const names = namesOf(template);
      const isNameless = template.subject.length <= 2;
      return sign(signer, {
        ...template,
        extensions: [
          ...(keyUsage === undefined ? [] : [extension(OID.keyUsage, keyUsage, { critical: true })]),
          ...(extendedKeyUsage === undefined ? [] : [extension(OID.extendedKeyUsage, extendedKeyUsage)]),
          extension(OID.basicConstraints, der.sequence(), { critical: true }),
          ...(keyId === undefined ? [] : [extension(OID.authorityKeyId, der.sequence(der.element(0x80, keyId)))]),
          ...(names.length === 0
            ? []
            : [extension(OID.subjectAltName, der.sequence(...names), { critical: isNameless })]),
        ],
      });
    },
  };
}

function namesOf({
  dnsNames = [],
  emailAddresses = [],
  ipAddresses = [],
  uris = [],
}: CertificateTemplate): Uint8Array[] {
  return [
    ...dnsNames.map((name) => der.text(0x82, name)),
    ...emailAddresses.map((address) => der.text(0x81, address)),
    ...ipAddresses.map((address) => der.element(0x87, address)),
    ...uris.map((uri) => der.text(0x86, uri)),
  ];
}

function extension(type: string, value: Uint8Array, { critical = false } = {}): Uint8Array {
  const criticalFlag = critical ? [der.element(TAG.boolean, Uint8Array.of(0xff))] : [];
  return der.sequence(der.oid(type), ...criticalFlag, der.octetString(value));
}

interface ToSign extends Pick<CertificateTemplate, 'subject' | 'publicKey' | 'notBefore' | 'notAfter' | 'serial'> {
  readonly extensions: readonly Uint8Array[];
}

async function sign({ subtle, key, scheme, name }: Signer, template: ToSign): Promise<string> {
  const { subject, publicKey, notBefore, notAfter, serial, extensions } = template;
  const body = der.sequence(
    // Version 3.
    der.element(TAG.context0, der.integer(Uint8Array.of(2))),
    der.integer(der.fromHex(serial.replaceAll('-', ''))),
    scheme.algorithm,
    name,
    der.sequence(der.time(notBefore), der.time(notAfter)),
    subject,
    publicKey,
    der.element(TAG.context3, der.sequence(...extensions)),
  );
  const signature = scheme.encodeSignature(new Uint8Array(await subtle.sign(scheme.parameters, key, body)));
  return toPem(der.sequence(body, scheme.algorithm, der.bitString(signature)));
}

function toPem(bytes: Uint8Array): string {
  const lines = encodeBase64(bytes).match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function ecdsa(hash: 'SHA-256' | 'SHA-384', size: number): Scheme {
  const identifier = hash === 'SHA-256' ? '2a8648ce3d040302' : '2a8648ce3d040303';
  return {
    algorithm: der.sequence(der.oid(identifier)),
    parameters: { name: 'ECDSA', hash },
    encodeSignature: (raw) => der.sequence(der.integer(raw.subarray(0, size)), der.integer(raw.subarray(size))),
  };
}

const RSA: Scheme = {
  // RSA requires explicit NULL parameters.
  algorithm: der.sequence(der.oid('2a864886f70d01010b'), Uint8Array.of(5, 0)),
  parameters: { name: 'RSASSA-PKCS1-v1_5' },
  encodeSignature: (signature) => signature,
};

async function importAuthority(
  subtle: SubtleCrypto,
  { certificate, privateKey }: { readonly certificate: string; readonly privateKey: string },
): Promise<CertificateAuthority> {
  const [certificateBlock, keyBlock] = [firstPemBlock(certificate), firstPemBlock(privateKey)];
  if (certificateBlock?.type !== 'CERTIFICATE' || keyBlock?.type !== 'PRIVATE KEY') {
    throw new TypeError('orchplane: an authority is a certificate and a key (PKCS #8), both in PEM');
  }
  const info = new DerReader(keyBlock.bytes).sequence();
  info.integer();
  const algorithm = info.sequence();
  const isRsa = algorithm.oid() === OID.rsa;
  const isP384 = !isRsa && algorithm.oid() === '2b81040022';
  const scheme = isRsa ? RSA : isP384 ? ecdsa('SHA-384', 48) : ecdsa('SHA-256', 32);
  const parameters = isRsa
    ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
    : { name: 'ECDSA', namedCurve: isP384 ? 'P-384' : 'P-256' };
  const key = await subtle.importKey('pkcs8', new Uint8Array(keyBlock.bytes), parameters, false, ['sign']);
  const { subject, notAfter, keyId } = readIssuerFacts(certificateBlock.bytes);
  return authorityOf({ subtle, key, scheme, name: subject }, { certificate, notAfter, keyId });
}

/** The end of a certificate's validity, in milliseconds since the epoch. */
export function notAfterOf(bytes: Uint8Array): number {
  return readIssuerFacts(bytes).notAfter;
}

/** Reads from the issuer's certificate what the certificates that it issues must contain. */
function readIssuerFacts(bytes: Uint8Array): { subject: Uint8Array; notAfter: number; keyId: Uint8Array | undefined } {
  const body = new DerReader(bytes).sequence().sequence();
  if (body.has(TAG.context0)) body.any();
  body.integer();
  body.sequence();
  body.sequence();
  const validity = body.sequence();
  validity.any();
  const end = validity.any();
  const { rest } = body;
  body.sequence();
  const subject = rest.subarray(0, rest.length - body.rest.length);
  body.sequence();
  let keyId: Uint8Array | undefined;
  body.each(() => {
    const { tag, content } = body.any();
    if (tag !== TAG.context3) return;
    const extensions = content.sequence();
    extensions.each(() => {
      const one = extensions.sequence();
      const type = one.oid();
      if (one.has(TAG.boolean)) one.boolean();
      const value = one.element(TAG.octetString);
      if (type === OID.subjectKeyId) keyId = value.element(TAG.octetString).bytes;
    });
  });
  return { subject, notAfter: readTime(end.tag, end.content.bytes), keyId };
}

function readTime(tag: number, bytes: Uint8Array): number {
  const text = new TextDecoder().decode(bytes);
  const short = tag === TAG.utcTime;
  const year = Number(text.slice(0, short ? 2 : 4));
  const [month = 1, day = 1, hour = 0, minute = 0, second = 0] = (text.slice(short ? 2 : 4).match(/\d\d/g) ?? []).map(
    Number,
  );
  return Date.UTC(short ? year + (year < 50 ? 2000 : 1900) : year, month - 1, day, hour, minute, second);
}

/** The SHA-1 hash of the key bits, without the algorithm identifier. */
async function keyIdOf(subtle: SubtleCrypto, publicKey: Uint8Array): Promise<Uint8Array> {
  const info = new DerReader(publicKey).sequence();
  info.sequence();
  return new Uint8Array(await subtle.digest('SHA-1', new Uint8Array(info.bitString())));
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

interface UsageExtensions {
  /** Absent: no usage of that extension. */
  readonly keyUsage?: Bytes;
  readonly extendedKeyUsage?: Bytes;
}

const BITS: Partial<Record<KeyUsage, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

/** The OIDs of extended usages, in the order of certificates. */
const EXTENDED: Partial<Record<KeyUsage, string>> = {
  any: '551d2500',
  'server auth': '2b06010505070301',
  'client auth': '2b06010505070302',
  'code signing': '2b06010505070303',
  'email protection': '2b06010505070304',
  's/mime': '2b06010505070304',
  'ipsec end system': '2b06010505070305',
  'ipsec tunnel': '2b06010505070306',
  'ipsec user': '2b06010505070307',
  timestamping: '2b06010505070308',
  'ocsp signing': '2b06010505070309',
  'microsoft sgc': '2b0601040182370a0303',
  'netscape sgc': '6086480186f8420401',
};

export function usageExtensions(usages: readonly string[]): UsageExtensions {
  const bits = new Set<number>();
  const wanted = new Set<string>();
  for (const usage of usages as readonly KeyUsage[]) {
    const [bit, extended] = [BITS[usage], EXTENDED[usage]];
    if (bit !== undefined) bits.add(bit);
    if (extended !== undefined) wanted.add(extended);
  }
  const sorted = [...new Set(Object.values(EXTENDED))].filter((identifier) => wanted.has(identifier));
  return {
    ...(bits.size === 0 ? {} : { keyUsage: bitList(bits) }),
    ...(sorted.length === 0 ? {} : { extendedKeyUsage: sequence(...sorted.map(oid)) }),
  };
}

/** A DER bit string without trailing zero bits. */
function bitList(bits: ReadonlySet<number>): Bytes {
  const last = Math.max(...bits);
  const bytes = new Uint8Array(Math.floor(last / 8) + 1);
  for (const bit of bits) {
    const at = Math.floor(bit / 8);
    bytes[at] = (bytes[at] ?? 0) | (0x80 >> (bit % 8));
  }
  return bitString(bytes, 7 - (last % 8));
}
