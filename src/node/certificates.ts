/**
 * A certificate authority made up on the spot, and a certificate of it for one server. Its key is forgotten as soon as
 * it has signed, so nobody can make another certificate that clients of this server would trust.
 */
import { webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import { systemClock } from '../util/clock.js';

export interface ServerCertificate {
  /** All in PEM. */
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

const KEYS = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** A certificate for a server that is reached under these names and addresses. */
export async function createServerCertificate(hosts: readonly string[]): Promise<ServerCertificate> {
  // Dear to load, and needed only here; it wants the metadata reflection in place before it is loaded.
  await import('reflect-metadata');
  const x509 = await import('@peculiar/x509');
  const now = systemClock.now();
  // Clocks differ: what is made now is valid for a peer that is a little behind.
  const validity = { notBefore: new Date(now - HOUR_MS), notAfter: new Date(now + YEAR_MS) };
  const authorityName = 'CN=orchplane-ca';

  const authority = await generateKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned(
    {
      ...validity,
      serialNumber: '01',
      name: authorityName,
      keys: authority,
      signingAlgorithm: SIGNATURE,
      extensions: [
        new x509.BasicConstraintsExtension(true, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.digitalSignature, true),
        await x509.SubjectKeyIdentifierExtension.create(authority.publicKey, false, webcrypto as Crypto),
      ],
    },
    webcrypto as Crypto,
  );

  const server = await generateKeys();
  const cert = await x509.X509CertificateGenerator.create(
    {
      ...validity,
      serialNumber: '02',
      subject: 'CN=orchplane',
      issuer: authorityName,
      publicKey: server.publicKey,
      signingKey: authority.privateKey,
      signingAlgorithm: SIGNATURE,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension(
          [...new Set(hosts)].map((value) => ({ type: isIP(value) === 0 ? ('dns' as const) : ('ip' as const), value })),
        ),
        await x509.AuthorityKeyIdentifierExtension.create(authority.publicKey, false, webcrypto as Crypto),
      ],
    },
    webcrypto as Crypto,
  );

  const key = await webcrypto.subtle.exportKey('pkcs8', server.privateKey);
  return {
    cert: `${cert.toString('pem')}\n`,
    key: `${x509.PemConverter.encode(key, 'PRIVATE KEY')}\n`,
    ca: `${ca.toString('pem')}\n`,
  };
}

function generateKeys(): Promise<CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEYS, true, ['sign', 'verify']) as Promise<CryptoKeyPair>;
}
