/**
 * Reads the identity of a client from the certificate of its connection: the user that the certificate names, or a proxy
 * that names the user in headers.
 */
import { X509Certificate } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import { type RequestHeaderOptions, removeUserHeaders, userOfHeaders } from '../auth/request-header.js';
import type { Dialect } from '../meta/dialect.js';
import type { Peer } from '../protocol/http.js';
import type { User } from '../protocol/request.js';
import { readCertificateSubject } from '../text/x509/certificate.js';
import { pemBlocks } from '../text/x509/pem.js';
import { systemClock } from '../util/clock.js';
import { chainProblem, createIntermediateReader, type PresentedCertificate } from './client-chain.js';
import { type Incoming, IncomingHeaders, isHttp2 } from './incoming-request.js';

/** Which certificates identify which kind of client. */
export interface PeerTrust {
  /** The CAs (PEM) of users; absent: a certificate names no user. */
  readonly clientCa?: string | undefined;
  /** The proxies that name users in headers. */
  readonly requestHeader?: RequestHeaderOptions | undefined;
}

/** The certificates of a text in PEM. Throws TypeError when it contains none. */
export function readCertificates(pem: string, option: string): readonly X509Certificate[] {
  const blocks = typeof pem === 'string' ? pemBlocks(pem).filter(({ type }) => type === 'CERTIFICATE') : [];
  if (blocks.length === 0) {
    throw new TypeError(`orchplane: ${option} is a text in PEM with the certificates of authorities`);
  }
  try {
    return blocks.map(({ bytes }) => new X509Certificate(bytes));
  } catch (error) {
    throw new TypeError(`orchplane: ${option} has a certificate that cannot be read`, { cause: error });
  }
}

/**
 * Reads the client identity of a connection, for the option `peerOf` of a listener. The handshake accepts clients with
 * any certificate or none; the handler decides what that means for a request, because it can respond where a handshake
 * can only fail.
 */
export function createPeerReader(dialect: Dialect, trust: PeerTrust): (incoming: Incoming) => Peer | undefined {
  const { requestHeader } = trust;
  const anchors = {
    users: trust.clientCa === undefined ? undefined : readCertificates(trust.clientCa, 'clientCa'),
    proxies: requestHeader === undefined ? undefined : readCertificates(requestHeader.ca, 'requestHeader.ca'),
  };
  const readIntermediates = createIntermediateReader([...(anchors.users ?? []), ...(anchors.proxies ?? [])]);
  const read = (socket: TLSSocket): PeerCertificate | undefined => {
    const certificate = socket.getPeerX509Certificate?.();
    if (certificate === undefined) return undefined;
    const presented = { socket, certificate, intermediates: readIntermediates(socket, certificate) };
    return {
      user: anchors.users && readUser({ ...presented, anchors: anchors.users }, dialect),
      proxy: anchors.proxies && readProxy({ ...presented, anchors: anchors.proxies }, requestHeader),
      validFrom: Date.parse(certificate.validFrom),
      validTo: Date.parse(certificate.validTo),
    };
  };
  // A connection carries many requests, so the result is cached.
  const certificates = new WeakMap<object, PeerCertificate | 'nothing'>();
  return (incoming) => {
    // Over HTTP/2, each request has its own view of the socket.
    const connection = isHttp2(incoming) ? (incoming.stream.session ?? incoming) : incoming.socket;
    let certificate = certificates.get(connection);
    if (certificate === undefined) {
      certificate = read(incoming.socket as TLSSocket) ?? 'nothing';
      certificates.set(connection, certificate);
    }
    const peer = certificate === 'nothing' ? undefined : peerOf(certificate, incoming, requestHeader);
    // Also without a certificate: the aggregated API servers accept these headers from this server.
    if (requestHeader !== undefined) removeUserHeaders(incoming.headers, requestHeader);
    return peer;
  };
}

/** The client certificate of a connection. */
interface PeerCertificate {
  /** Undefined: it names no user. */
  readonly user: Peer | undefined;
  /** Undefined: no proxies are configured. */
  readonly proxy: { readonly type: 'accepted' } | Refused | undefined;
  /** In milliseconds since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
}

type Refused = Extract<Peer, { readonly type: 'refused' }>;

function refused(why: string): Refused {
  return { type: 'refused', error: why };
}

/** Headers of an accepted proxy take precedence. A certificate may expire while its connection is open. */
function peerOf(
  { user, proxy, validFrom, validTo }: PeerCertificate,
  incoming: Incoming,
  requestHeader: RequestHeaderOptions | undefined,
): Peer | undefined {
  const now = systemClock.now();
  if (now < validFrom || now > validTo) {
    return refused('verifying certificate failed: x509: certificate has expired or is not yet valid');
  }
  if (proxy?.type === 'accepted' && requestHeader !== undefined) {
    const named = userOfHeaders(new IncomingHeaders(incoming), requestHeader);
    if (named !== undefined) return { type: 'known', user: named };
  }
  return user ?? (proxy?.type === 'refused' ? proxy : undefined);
}

function readProxy(presented: PresentedCertificate, options: RequestHeaderOptions | undefined) {
  const problem = chainProblem(presented);
  if (problem !== undefined) return refused(problem);
  const allowed = options?.allowedNames ?? [];
  const { commonName = '' } = readCertificateSubject(presented.certificate.raw) ?? {};
  if (allowed.length === 0 || allowed.includes(commonName)) return { type: 'accepted' } as const;
  return refused(`x509: subject with cn=${commonName} is not in the allowed list`);
}

/** Undefined: the certificate is valid but contains no user name. */
function readUser(presented: PresentedCertificate, dialect: Dialect): Peer | undefined {
  const problem = chainProblem(presented);
  if (problem !== undefined) return refused(problem);
  const { certificate } = presented;
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
