/**
 * Why the certificate of a TLS server is not accepted, with the messages and in the order of Go's crypto/x509: validity
 * period, names, issuer. Node has verified the signatures of the chain; see `node-connection.ts`.
 */
import type { X509Certificate } from 'node:crypto';
import { quote } from '../text/go/go-text.js';

/** A server certificate and what is known about its chain. */
export interface ReceivedCertificate {
  readonly leaf: X509Certificate;
  /** The error code of Node for the chain; undefined: it ends at a trusted certificate. */
  readonly chainError: string | undefined;
  /** The certificates of the bundle; undefined: those of the platform. */
  readonly anchors: readonly X509Certificate[] | undefined;
  /** The certificate must be valid for one of these; messages name the first. */
  readonly hosts: readonly string[];
  readonly nowMs: number;
}

/** Returns undefined if the certificate is accepted. */
export function certificateProblem({
  leaf,
  chainError,
  anchors,
  hosts,
  nowMs,
}: ReceivedCertificate): string | undefined {
  const expired = validityProblem(leaf, nowMs);
  if (expired !== undefined) return expired;
  if (!hosts.some((host) => isValidFor(leaf, host))) return nameProblem(leaf, hosts[0] ?? '');
  // Go accepts a server certificate that is in the bundle itself, whatever its issuer.
  const isAnchor = anchors?.some(({ raw }) => raw.equals(leaf.raw)) === true;
  if (!isAnchor && chainError !== undefined && chainError !== INVALID_PURPOSE) {
    return `x509: certificate signed by unknown authority${issuerHint(leaf, anchors ?? [], nowMs)}`;
  }
  if (chainError === undefined && !isAnchor) return undefined;
  const isUsable = isForServers(leaf) && (isAnchor || isIssuedBy(anchors ?? [], leaf, nowMs));
  return isUsable ? undefined : 'x509: certificate specifies an incompatible key usage';
}

const INVALID_PURPOSE = 'INVALID_PURPOSE';
/** Extended key usages: server authentication, any. */
const SERVER_USAGES: readonly string[] = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];

/** A certificate without extended key usages is for all purposes. */
function isForServers({ keyUsage }: X509Certificate): boolean {
  return keyUsage?.some((usage) => SERVER_USAGES.includes(usage)) ?? true;
}

/**
 * Whether a certificate of the bundle issued the leaf directly. OpenSSL rejects a leaf that states anyExtendedKeyUsage
 * instead of server authentication, and hides other errors of the chain then. Path lengths concern longer chains only.
 */
function isIssuedBy(anchors: readonly X509Certificate[], leaf: X509Certificate, nowMs: number): boolean {
  return anchors.some(
    (anchor) =>
      anchor.ca &&
      isForServers(anchor) &&
      validityProblem(anchor, nowMs) === undefined &&
      leaf.checkIssued(anchor) &&
      leaf.verify(anchor.publicKey),
  );
}

function validityProblem({ validFrom, validTo }: X509Certificate, nowMs: number): string | undefined {
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  if (nowMs >= from && nowMs <= to) return undefined;
  const relation = nowMs < from ? `before ${printTime(from)}` : `after ${printTime(to)}`;
  return `x509: certificate has expired or is not yet valid: current time ${printTime(nowMs)} is ${relation}`;
}

function printTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Among the hosts of URLs, which are names or normalized addresses. */
const IP_ADDRESS = /^[\d.]+$|:/;

/** In a name with a wildcard, `*` is the whole first label. */
const NAME_CHECK = { subject: 'never', partialWildcards: false } as const;

function isValidFor(leaf: X509Certificate, host: string): boolean {
  return (IP_ADDRESS.test(host) ? leaf.checkIP(host) : leaf.checkHost(host, NAME_CHECK)) !== undefined;
}

function nameProblem(leaf: X509Certificate, host: string): string {
  const names = leaf.subjectAltName;
  if (names === undefined && subjectValues(leaf, 'CN').at(-1) === host) {
    return 'x509: certificate relies on legacy Common Name field, use SANs instead';
  }
  const isIp = IP_ADDRESS.test(host);
  const prefix = isIp ? 'IP Address:' : 'DNS:';
  const valid = (names ?? '')
    .split(', ')
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => (isIp ? canonicalIp(entry.slice(prefix.length)) : entry.slice(prefix.length)));
  if (valid.length > 0) return `x509: certificate is valid for ${valid.join(', ')}, not ${host}`;
  return isIp
    ? `x509: cannot validate certificate for ${host} because it doesn't contain any IP SANs`
    : `x509: certificate is not valid for any names, but wanted to match ${host}`;
}

/** Shortens IPv6 addresses: `0:0:0:0:0:0:0:1` becomes `::1`. */
function canonicalIp(ip: string): string {
  return ip.includes(':') ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip;
}

/** Names a certificate of the bundle that has the issuer's name but did not issue the certificate. */
function issuerHint(leaf: X509Certificate, anchors: readonly X509Certificate[], nowMs: number): string {
  const candidate = anchors.find(({ subject }) => subject === leaf.issuer);
  const why = candidate === undefined ? undefined : issuerProblem(leaf, candidate, nowMs);
  if (candidate === undefined || why === undefined) return '';
  const name =
    subjectValues(candidate, 'CN').at(-1) ??
    subjectValues(candidate, 'O')[0] ??
    `serial:${BigInt(`0x${candidate.serialNumber}`)}`;
  return ` (possibly because of ${quote(why)} while trying to verify candidate authority certificate ${quote(name)})`;
}

/** Node separates the attributes of a subject by line breaks. */
function subjectValues({ subject }: X509Certificate, attribute: string): string[] {
  const prefix = `${attribute}=`;
  return subject.split('\n').flatMap((line) => (line.startsWith(prefix) ? [line.slice(prefix.length)] : []));
}

const SIGNATURE_PROBLEMS: Readonly<Record<string, string>> = {
  rsa: 'crypto/rsa: verification error',
  ec: 'x509: ECDSA verification failure',
  ed25519: 'x509: Ed25519 verification failure',
};

function issuerProblem(leaf: X509Certificate, issuer: X509Certificate, nowMs: number): string | undefined {
  if (!issuer.ca) return 'x509: invalid signature: parent certificate cannot sign this kind of certificate';
  if (!leaf.verify(issuer.publicKey)) return SIGNATURE_PROBLEMS[issuer.publicKey.asymmetricKeyType ?? ''];
  return validityProblem(issuer, nowMs);
}
