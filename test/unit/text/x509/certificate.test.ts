/** Certificates and requests: compared with a full library, and damaged inputs. */
import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { beforeAll, describe, expect, test } from 'vitest';
import { readCertificate, readCertificateRequest } from '../../../../src/text/x509/certificate.js';
import { DerError, DerReader } from '../../../../src/text/x509/der.js';
import { pemBlocks } from '../../../../src/text/x509/pem.js';

const CURVES = ['P-256', 'P-384', 'P-521'];
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  publicExponent: Uint8Array.of(1, 0, 1),
  modulusLength: 2048,
};

async function ecKeys(namedCurve = 'P-256') {
  return crypto.subtle.generateKey({ name: 'ECDSA', namedCurve }, true, ['sign', 'verify']);
}

interface Wish {
  readonly keys: CryptoKeyPair;
  readonly name?: string;
  readonly extensions?: x509.Extension[];
}

async function certificate({ keys, name = 'CN=test', extensions = [] }: Wish): Promise<Uint8Array<ArrayBuffer>> {
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    keys,
    name,
    extensions,
    serialNumber: '01',
    notBefore: new Date('2026-01-01'),
    // Times beyond 2049 use GeneralizedTime instead of UTCTime.
    notAfter: new Date('2060-01-01'),
    signingAlgorithm: { name: keys.privateKey.algorithm.name, hash: 'SHA-256' },
  });
  return new Uint8Array(made.rawData);
}

async function request({ keys, name = 'CN=test', extensions = [] }: Wish): Promise<Uint8Array> {
  const made = await x509.Pkcs10CertificateRequestGenerator.create({
    keys,
    name,
    extensions,
    signingAlgorithm: { name: keys.privateKey.algorithm.name, hash: 'SHA-256' },
  });
  return new Uint8Array(made.rawData);
}

const changed = (bytes: Uint8Array, at: number, by = 1) =>
  bytes.map((byte, index) => (index === at ? (byte + by) & 0xff : byte));

/** The index of a byte sequence. */
function indexOf(bytes: Uint8Array, part: readonly number[]): number {
  return bytes.findIndex((_, start) => part.every((byte, offset) => bytes[start + offset] === byte));
}

const BASIC_CONSTRAINTS = [0x55, 0x1d, 0x13];
const ECDSA_WITH_SHA256 = [0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2];

describe('readCertificate', () => {
  let keys: CryptoKeyPair;
  let authority: Uint8Array<ArrayBuffer>;

  beforeAll(async () => {
    keys = await ecKeys();
    authority = await certificate({ keys, extensions: [new x509.BasicConstraintsExtension(true, 2, true)] });
  });

  test('reads the certificate of an authority', () => {
    expect(readCertificate(authority)).toEqual({ ca: true, basicConstraintsValid: true });
    const theirs = new x509.X509Certificate(authority).getExtension(x509.BasicConstraintsExtension);
    expect(theirs?.ca).toBe(true);
  });

  test('reads a certificate that is not an authority', async () => {
    const der = await certificate({ keys, extensions: [new x509.BasicConstraintsExtension(false)] });
    expect(readCertificate(der)).toEqual({ ca: false, basicConstraintsValid: true });
  });

  test('reads a certificate without basicConstraints', async () => {
    const plain = await certificate({ keys });
    expect(readCertificate(plain)).toEqual({ ca: false, basicConstraintsValid: false });
    const extensions = [new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true)];
    expect(readCertificate(await certificate({ keys, extensions }))?.basicConstraintsValid).toBe(false);
  });

  test.each(CURVES)('reads a key on the curve %s', async (curve) => {
    const der = await certificate({ keys: await ecKeys(curve) });
    expect(readCertificate(der)).toBeDefined();
  });

  test('reads an RSA key', async () => {
    const rsa = await crypto.subtle.generateKey(RSA, true, ['sign', 'verify']);
    expect(readCertificate(await certificate({ keys: rsa }))).toBeDefined();
  });

  test('reads names in any alphabet', async () => {
    expect(readCertificate(await certificate({ keys, name: 'CN=Жанна, O=Ä & B, C=DE' }))).toBeDefined();
  });

  test('rejects empty, truncated and trailing bytes', () => {
    expect(readCertificate(new Uint8Array())).toBeUndefined();
    for (let length = 0; length < authority.length; length += 7) {
      expect(readCertificate(authority.slice(0, length))).toBeUndefined();
    }
    expect(readCertificate(Uint8Array.of(...authority, 0))).toBeUndefined();
    expect(readCertificate(Uint8Array.of(...authority, ...authority))).toBeUndefined();
  });

  test('rejects an invalid basicConstraints extension', () => {
    const at = indexOf(authority, BASIC_CONSTRAINTS);
    // The identifier, critical (3 bytes), then 04 08 30 06 01 01 ff 02 01 02.
    expect([...authority.slice(at + 6, at + 13)]).toEqual([4, 8, 0x30, 6, 1, 1, 0xff]);
    expect(readCertificate(changed(authority, at + 12))).toEqual({ ca: false, basicConstraintsValid: true });
    expect(readCertificate(changed(authority, at + 12, 2))).toBeUndefined();
    expect(readCertificate(changed(authority, at + 8))).toBeUndefined();
  });

  test('rejects a duplicate extension', async () => {
    const extension = new x509.BasicConstraintsExtension(true);
    const twice = await certificate({ keys, extensions: [extension, extension] });
    expect(readCertificate(twice)).toBeUndefined();
  });

  test('rejects different signature algorithms', () => {
    const inner = indexOf(authority, ECDSA_WITH_SHA256);
    const outer = inner + 1 + indexOf(authority.slice(inner + 1), ECDSA_WITH_SHA256);
    expect(outer).toBeGreaterThan(inner);
    expect(readCertificate(changed(authority, outer + ECDSA_WITH_SHA256.length - 1))).toBeUndefined();
  });

  test('rejects a point that is not on its curve', () => {
    const point = indexOf(authority, [3, 0x42, 0, 4]);
    expect(readCertificate(changed(authority, point + 10))).toBeUndefined();
    expect(readCertificate(changed(authority, point + 3))).toBeUndefined();
  });

  test.each([
    ['a month that does not exist', '261301000000Z'],
    ['a day that does not exist', '260230000000Z'],
    ['an invalid time', '26010100000xZ'],
  ])('rejects %s', (_name, time) => {
    const at = indexOf(authority, [0x17, 13]);
    const damaged = authority.slice();
    damaged.set(new TextEncoder().encode(time), at + 2);
    expect(readCertificate(damaged)).toBeUndefined();
  });

  test('never throws for damaged bytes', () => {
    for (const [at] of authority.entries()) {
      for (const by of [1, 0x7f, 0x80, 0xff]) expect(() => readCertificate(changed(authority, at, by))).not.toThrow();
    }
  });
});

describe('readCertificateRequest', () => {
  test('returns the last common name and all organizations of the subject', async () => {
    const keys = await ecKeys();
    const der = await request({ keys, name: 'O=devs, O=ops, CN=first, CN=jane' });
    const attributes = ['O devs', 'O ops', 'CN first', 'CN jane'].map((each) => ({
      type: each.startsWith('O') ? '55040a' : '550403',
      value: each.replace(/^\S+ /, ''),
    }));
    expect(readCertificateRequest(der)).toEqual({ commonName: 'jane', organizations: ['devs', 'ops'], attributes });
    expect(new x509.Pkcs10CertificateRequest(new Uint8Array(der)).subjectName.getField('O')).toEqual(['devs', 'ops']);
  });

  test('ignores the attributes beside the subject', async () => {
    const extensions = [new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'example.com' }])];
    const der = await request({ keys: await ecKeys(), name: 'CN=jane', extensions });
    expect(readCertificateRequest(der)).toMatchObject({ commonName: 'jane', organizations: [] });
  });

  test('rejects a certificate, and readCertificate rejects a request', async () => {
    const keys = await ecKeys();
    expect(readCertificateRequest(await certificate({ keys }))).toBeUndefined();
    expect(readCertificate(await request({ keys }))).toBeUndefined();
  });

  test('rejects truncated and trailing bytes', async () => {
    const der = await request({ keys: await ecKeys() });
    expect(readCertificateRequest(der.slice(0, -1))).toBeUndefined();
    expect(readCertificateRequest(Uint8Array.of(...der, 0))).toBeUndefined();
  });
});

test('reads an Ed25519 certificate of openssl', () => {
  const [block] = pemBlocks(OPENSSL);
  expect(block?.type).toBe('CERTIFICATE');
  expect(readCertificate(block?.bytes ?? new Uint8Array())).toEqual({ ca: true, basicConstraintsValid: true });
});

const OPENSSL = `-----BEGIN CERTIFICATE-----
MIIBZTCCARegAwIBAgIUeU1G4S/PdWKrPj9iv71xE7oMuh0wBQYDK2VwMCgxCzAJ
BgNVBAMMAmVkMQ0wCwYDVQQKDATDg8KkMQowCAYDVQQLDAF4MB4XDTI2MTExNTA2
MDIxOFoXDTI2MTEyNTA2MDIxOFowKDELMAkGA1UEAwwCZWQxDTALBgNVBAoMBMOD
wqQxCjAIBgNVBAsMAXgwKjAFBgMrZXADIQBJO/QENrUKLC384WO3cFNExj/S2CB4
Jaoox6wENhM2wqNTMFEwHQYDVR0OBBYEFIg9f4b6XKReyzA+B6qL43RAl9DeMB8G
A1UdIwQYMBaAFIg9f4b6XKReyzA+B6qL43RAl9DeMA8GA1UdEwEB/wQFMAMBAf8w
BQYDK2VwA0EAM3WuBSz+1lpEwsyxfaYT8M7HS5BkbMAfwnWnoz2A+d0nUnowi9ne
QErGIrHkhp32e8hVyRsx+NauXgHin0S+Dg==
-----END CERTIFICATE-----
`;

describe('an object identifier', () => {
  const read =
    (...bytes: number[]) =>
    () =>
      new DerReader(Uint8Array.from([0x06, bytes.length, ...bytes])).oid();

  test('has components of up to 31 bits', () => {
    expect(read(0x2a, 0x87, 0xff, 0xff, 0xff, 0x7f)()).toBe('2a87ffffff7f');
    expect(read(0x2a, 0x88, 0x80, 0x80, 0x80, 0x00)).toThrow(DerError);
  });

  test.each([
    ['without components', []],
    ['with an unfinished component', [0x2a, 0x86]],
    ['with a leading zero', [0x2a, 0x80, 0x01]],
  ])('%s is rejected', (_what, bytes) => {
    expect(read(...bytes)).toThrow(DerError);
  });
});
