/**
 * Decides whether the certificate of a client was issued by given authorities. OpenSSL has verified the connection, with two
 * limits: it verifies against all authorities of the server together, and it rejects certificates that state
 * anyExtendedKeyUsage instead of client authentication, which the reference server accepts.
 */
import type { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { DerReader, orUndefined, TAG } from '../text/x509/der.js';
import { systemClock } from '../util/clock.js';

/** The certificate of a connection, and the authorities that may have issued it. */
export interface PresentedCertificate {
  readonly socket: TLSSocket;
  readonly certificate: X509Certificate;
  /** What the client sent after its certificate; none of it is verified. */
  readonly intermediates: readonly X509Certificate[];
  readonly anchors: readonly X509Certificate[];
}

/** Why the certificate is not accepted; undefined: it is. */
export function chainProblem(presented: PresentedCertificate): string | undefined {
  const { socket } = presented;
  if (!socket.authorized && !hasOtherPurpose(socket)) return `${FAILED}: ${socket.authorizationError}`;
  if (isIssuedByAnchor(presented)) return undefined;
  return socket.authorized
    ? `${FAILED}: x509: certificate signed by unknown authority`
    : `${FAILED}: x509: certificate specifies an incompatible key usage`;
}

const FAILED = 'verifying certificate failed';

/** The limit of intermediate certificates. */
const MAX_CHAIN = 10;

/** For so many client certificates, the intermediate certificates are remembered. */
const MAX_REMEMBERED = 1_000;

/** A resumed connection has only the client's own certificate, so those that came with it before are remembered. */
export function createIntermediateReader(
  anchors: readonly X509Certificate[],
): (socket: TLSSocket, certificate: X509Certificate) => readonly X509Certificate[] {
  const remembered = new Map<string, readonly X509Certificate[]>();
  return (socket, certificate) => {
    const sent: X509Certificate[] = [];
    for (let next = certificate.issuerCertificate; next !== undefined && sent.length < MAX_CHAIN; ) {
      sent.push(next);
      next = next.issuerCertificate;
    }
    const key = certificate.fingerprint256;
    if (sent.length === 0) return remembered.get(key) ?? [];
    // Anyone can create certificates; only those of the authorities take up memory.
    const isVerified =
      socket.authorized || chainProblem({ socket, certificate, intermediates: sent, anchors }) === undefined;
    if (!isVerified) return sent;
    remembered.delete(key);
    remembered.set(key, sent);
    const oldest = remembered.size > MAX_REMEMBERED ? remembered.keys().next().value : undefined;
    if (oldest !== undefined) remembered.delete(oldest);
    return sent;
  };
}

/**
 * Whether OpenSSL found that a certificate of the chain is not for TLS clients. Only the last error is known. It hides a
 * missing issuer, issuers that are no authorities and path lengths, but not signatures that are wrong or weak, validity
 * periods and names, which OpenSSL verifies later.
 */
function hasOtherPurpose({ authorized, authorizationError }: TLSSocket): boolean {
  // Node declares an Error and sets its code.
  return !authorized && String(authorizationError) === 'INVALID_PURPOSE';
}

/**
 * Whether an authority issued the certificate, directly or through intermediate certificates that the client sent. Node
 * does not tell which authority it verified the connection with, and the client may send any certificates after its own, so
 * each signature is verified, and what OpenSSL may not have reported.
 * upstream: Go's crypto/x509, verify.go, Certificate.Verify
 */
function isIssuedByAnchor({ socket, certificate, intermediates, anchors }: PresentedCertificate): boolean {
  const isVerified = socket.authorized;
  if (!isForClients(certificate)) return false;
  if (anchors.some(({ raw }) => raw.equals(certificate.raw))) return true;
  const untried = new Set(intermediates.filter((each) => each.ca && isValidNow(each)));
  const trusted = anchors.filter((each) => isValidNow(each) && (isVerified || each.ca));
  /** `below`: the number of intermediate certificates up to `child`. */
  const isIssuedBy = (child: X509Certificate, issuer: X509Certificate, below: number): boolean =>
    child.checkIssued(issuer) &&
    isForClients(issuer) &&
    (isVerified || allowsPath(issuer, below)) &&
    child.verify(issuer.publicKey);
  const leadsToAnchor = (child: X509Certificate, below: number): boolean => {
    if (trusted.some((anchor) => isIssuedBy(child, anchor, below))) return true;
    for (const issuer of untried) {
      if (!isIssuedBy(child, issuer, below)) continue;
      untried.delete(issuer);
      if (leadsToAnchor(issuer, below + 1)) return true;
    }
    return false;
  };
  return leadsToAnchor(certificate, 0);
}

/** Whether so many intermediate certificates may follow a certificate in a chain; false for a malformed certificate. */
function allowsPath({ raw }: X509Certificate, count: number): boolean {
  const limit = orUndefined(() => readPathLength(new DerReader(raw).only(TAG.sequence).sequence()));
  return limit !== undefined && count <= limit;
}

const BASIC_CONSTRAINTS = '551d13';

function readPathLength(body: DerReader): number {
  let limit = MAX_CHAIN;
  while (!body.empty && !body.has(TAG.context3)) body.any();
  if (body.empty) return limit;
  const extensions = body.element(TAG.context3).sequence();
  extensions.each(() => {
    const extension = extensions.sequence();
    if (extension.oid() !== BASIC_CONSTRAINTS) return;
    if (extension.has(TAG.boolean)) extension.boolean();
    const constraints = extension.element(TAG.octetString).sequence();
    if (constraints.has(TAG.boolean)) constraints.boolean();
    if (constraints.has(TAG.integer)) limit = constraints.smallInteger();
  });
  return limit;
}

function isValidNow({ validFrom, validTo }: X509Certificate): boolean {
  const now = systemClock.now();
  return now >= Date.parse(validFrom) && now <= Date.parse(validTo);
}

/** Extended key usages: client authentication, any. */
const CLIENT_USAGES: readonly string[] = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

/** A certificate without extended key usages is for all purposes. */
function isForClients({ keyUsage }: X509Certificate): boolean {
  return keyUsage?.some((usage) => CLIENT_USAGES.includes(usage)) ?? true;
}
