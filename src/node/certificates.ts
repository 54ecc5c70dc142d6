/**
 * Certificate authorities made up on the spot. That of a server signs one certificate and forgets its key, so nobody can
 * make another that clients of this server would trust; that of clients keeps it, in memory, to name whom it is asked to.
 */
import { randomBytes, webcrypto, X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Extension, JsonNameParams, Name } from '@peculiar/x509';
import type { Peer } from '../auth/authentication.js';
import type { Dialect } from '../meta/dialect.js';
import type { User } from '../protocol/request.js';
import { readCertificateSubject } from '../text/x509/certificate.js';
import { systemClock } from '../util/clock.js';

export interface ServerCertificate {
  /** All in PEM. */
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Whom a certificate is to name. */
export interface ClientIdentity {
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
  readonly uid?: string | undefined;
  /** When it ends; in a year unless said otherwise. */
  readonly expiresAt?: Date | undefined;
}

/** What a client shows of itself, in PEM: the options `cert` and `key` of an https.Agent. */
export interface ClientCertificate {
  readonly cert: string;
  readonly key: string;
}

/** Names clients to a server that trusts it. */
export interface ClientAuthority {
  /** In PEM. */
  readonly ca: string;
  issue(identity: ClientIdentity): Promise<ClientCertificate>;
}

const KEYS = { name: 'ECDSA', namedCurve: 'P-256' };
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' };
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

/** By which the reference server knows a uid in the name of a certificate. */
const UID_TYPE = '1.3.6.1.4.1.57683.2';

/** A certificate for a server that is reached under these names and addresses. */
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
        ...(uid === undefined ? [] : [{ [UID_TYPE]: text(uid) }]),
      ];
      const extensions = [new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth])];
      return issue({ subject: new x509.Name(subject), extensions, ...(expiresAt === undefined ? {} : { expiresAt }) });
    },
  };
}

/** Dear to load, and needed only here; it wants the metadata reflection in place before it is loaded. */
async function loadX509(): Promise<typeof import('@peculiar/x509')> {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

interface CertificateRequest {
  readonly subject: Name;
  /** Those that tell what it is for. */
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
      ...validity(now, new Date(now + YEAR_MS)),
      serialNumber: '01',
      name: `CN=${commonName}`,
      keys,
      signingAlgorithm: SIGNATURE,
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
          ...validity(systemClock.now(), expiresAt ?? new Date(systemClock.now() + YEAR_MS)),
          // Positive, whatever the bytes.
          serialNumber: `01${randomBytes(15).toString('hex')}`,
          subject,
          issuer: ca.subject,
          publicKey,
          signingKey: keys.privateKey,
          signingAlgorithm: SIGNATURE,
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

/** Clocks differ: what is made now is valid for a peer that is a little behind. */
function validity(now: number, notAfter: Date): { notBefore: Date; notAfter: Date } {
  return { notBefore: new Date(Math.min(now, notAfter.getTime()) - HOUR_MS), notAfter };
}

function pemOf(certificate: { toString(format: 'pem'): string }): string {
  return `${certificate.toString('pem')}\n`;
}

function generateKeys(): Promise<CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEYS, true, ['sign', 'verify']) as Promise<CryptoKeyPair>;
}

/** Throws TypeError for a text without certificates. */
export function checkClientCa(pem: string): void {
  try {
    new X509Certificate(pem);
  } catch (error) {
    throw new TypeError('orchplane: clientCa is true, or a text in PEM with the certificates of authorities', {
      cause: error,
    });
  }
}

/** Who is at the other end of a connection; for the option `peerOf` of a listener. */
export function certifiedPeers(dialect: Dialect): (incoming: IncomingMessage) => Peer | undefined {
  // A connection carries many requests.
  const seen = new WeakMap<object, Shown | 'nothing'>();
  return ({ socket }) => {
    let shown = seen.get(socket);
    if (shown === undefined) {
      shown = lookAt(socket as TLSSocket, dialect) ?? 'nothing';
      seen.set(socket, shown);
    }
    return shown === 'nothing' ? undefined : peerOf(shown);
  };
}

/** What the handshake has brought. */
interface Shown {
  readonly peer: Peer | undefined;
  /** In milliseconds since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** A certificate may end while its connection lives on. */
function peerOf({ peer, validFrom, validTo }: Shown): Peer | undefined {
  const now = systemClock.now();
  if (now >= validFrom && now <= validTo) return peer;
  return { type: 'refused', error: 'verifying certificate failed: x509: certificate has expired or is not yet valid' };
}

function lookAt(socket: TLSSocket, dialect: Dialect): Shown | undefined {
  const certificate = socket.getPeerX509Certificate?.();
  if (certificate === undefined) return undefined;
  return {
    peer: readPeer(socket, certificate, dialect),
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
  };
}

/** Undefined: the certificate is good, and names nobody. */
function readPeer(socket: TLSSocket, certificate: X509Certificate, dialect: Dialect): Peer | undefined {
  const refused = (why: string): Peer => ({ type: 'refused', error: why });
  if (!socket.authorized) return refused(`verifying certificate failed: ${socket.authorizationError}`);
  const subject = readCertificateSubject(certificate.raw);
  if (subject === undefined) return refused('verifying certificate failed: x509: malformed certificate');
  const { commonName, organizations, uids } = subject;
  if (commonName === '') return undefined;
  if (uids.length > 1) return refused(`expected 1 UID, but found multiple: [${uids.join(' ')}]`);
  if (uids[0] === '') return refused('UID cannot be an empty string');
  const fingerprint = certificate.fingerprint256.replaceAll(':', '').toLowerCase();
  const user: User = {
    user: commonName,
    ...(uids[0] === undefined ? {} : { uid: uids[0] }),
    groups: organizations,
    extra: { [dialect.subkey('authentication', 'credential-id')]: [`X509SHA256=${fingerprint}`] },
  };
  return { type: 'known', user };
}
