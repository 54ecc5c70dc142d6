/**
 * Clients that show a certificate: its subject says who they are, as in the reference server. The common name is the
 * user, organizations are groups.
 *
 * The handshake asks for a certificate and lets everybody in, with one that is good, bad or missing: what that means for
 * a request is for the handler to say, which can answer where a handshake can only break off.
 */
import { X509Certificate } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Peer } from '../auth/authentication.js';
import type { Dialect } from '../meta/dialect.js';
import type { User } from '../protocol/request.js';
import { readCertificateSubject } from '../text/x509/certificate.js';
import { systemClock } from '../util/clock.js';

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
