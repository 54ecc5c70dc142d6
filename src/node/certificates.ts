/**
 * TLS certificates: generates certificate authorities and issues server and client certificates. The key of a server's CA is discarded after signing; the key of a client CA stays in memory.
 */
import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { Extension, JsonNameParams, Name } from '@peculiar/x509';
import { systemClock } from '../util/clock.js';

/** A server certificate and the CA that signed it. */
export interface ServerCertificate {
  /** All in PEM format. */
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** The identity in a client certificate. */
export interface ClientIdentity {
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
  /** The expiry; in one year by default. */
  readonly expiresAt?: Date | undefined;
}

/** A client certificate in PEM format: the options `cert` and `key` of an https.Agent. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Issues client certificates for servers that trust this CA. */
export interface ClientAuthority {
  /** The CA certificate in PEM format. */
  readonly ca: string;
  issue(identity: ClientIdentity): Promise<ClientCertificate>;
}

const KEY_ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE_ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** The attribute type of a user's UID in a certificate subject, as in the reference server. */
const UID_ATTRIBUTE = '1.3.6.1.4.1.57683.2';

/** Issues a certificate for a server with these DNS names and IP addresses. */
export async function createServerCertificate(hosts: readonly string[]): Promise<ServerCertificate> {
  const x509 = await loadX509();
  const { ca, issue } = await createAuthority('orchplane-ca');
  const names = [...new Set(hosts)].map((value) => ({
    type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const),
    value,
  }));
  const { cert, key } = await issue({
    subject: new x509.Name([{ CN: ['orchplane'] }]),
    extensions: [
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names),
    ],
  });
  return { cert, key, ca };
}

/** Generates a CA for client certificates. */
export async function createClientAuthority(): Promise<ClientAuthority> {
  const x509 = await loadX509();
  const { ca, issue } = await createAuthority('orchplane-client-ca');
  return {
    ca,
    issue({ user, groups = [], uid, expiresAt }) {
      const text = (value: string) => [{ utf8String: value }];
      const subject: JsonNameParams = [
        ...groups.map((group) => ({ O: text(group) })),
        { CN: text(user) },
        ...(uid === undefined ? [] : [{ [UID_ATTRIBUTE]: text(uid) }]),
      ];
      const extensions = [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])];
      return issue({ subject: new x509.Name(subject), extensions, ...(expiresAt === undefined ? {} : { expiresAt }) });
    },
  };
}

/** Loaded on demand because it is large; it requires reflect-metadata to be loaded first. */
async function loadX509(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

interface CertificateRequest {
  readonly subject: Name;
  /** The extensions that state its purpose. */
  readonly extensions: Extension[];
  readonly expiresAt?: Date;
}

interface Authority {
  readonly ca: string;
  issue(request: CertificateRequest): Promise<ClientCertificate>;
}

async function createAuthority(commonName: string): Promise<Authority> {
  const x509 = await loadX509();
  const now = systemClock.now();
  const keys = await generateKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...validityPeriod(now, new Date(now + YEAR_MS)),
      serialNumber: '01',
      name: `CN=${commonName}`,
      keys,
      signingAlgorithm: SIGNATURE_ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey, false, webcrypto as Crypto),
      ],
    },
    webcrypto as Crypto,
  );
  return {
    ca: pemOf(ca),
    async issue({ subject, extensions, expiresAt }) {
      const { publicKey, privateKey } = await generateKeys();
      const cert = await x509.X509CertificateGenerator.create(
        {
          ...validityPeriod(systemClock.now(), expiresAt ?? new Date(systemClock.now() + YEAR_MS)),
          // The leading 01 keeps the number positive.
          serialNumber: `01${randomBytes(15).toString('hex')}`,
          subject,
          issuer: ca.subject,
          publicKey,
          signingKey: keys.privateKey,
          signingAlgorithm: SIGNATURE_ALGORITHM,
          extensions: [
            new x509.BasicConstraintsExtension(false, undefined, true),
            new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
            ...extensions,
            await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey, false, webcrypto as Crypto),
          ],
        },
        webcrypto as Crypto,
      );
      const key = await webcrypto.subtle.exportKey('pkcs8', privateKey);
      return { cert: pemOf(cert), key: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n` };
    },
  };
}

/** Starts an hour early, for peers whose clock is behind. */
function validityPeriod(now: number, notAfter: Date): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Math.min(now, notAfter.getTime()) - HOUR_MS), notAfter };
}

function pemOf(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem')}\n`;
}

function generateKeys(): Promise<CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY_ALGORITHM, true, ['sign', 'verify']) as Promise<CryptoKeyPair>;
}
