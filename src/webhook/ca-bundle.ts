/**
 * CA bundles: the certificates that a webhook or an aggregated API server must be signed by.
 * upstream: client-go/transport/transport.go rootCertPool
 */
import { readCertificate } from '../text/x509/certificate.js';
import { type PemBlock, pemBlocks } from '../text/x509/pem.js';

/** A caBundle that contains no certificate; the server is not called. */
export class UnreadableBundle extends Error {
  override readonly name = 'UnreadableBundle';
}

/** Returns why a base64-encoded bundle cannot be used. An empty bundle means the system's root certificates. */
export function caBundleProblem(encoded: string | undefined): string | undefined {
  if (encoded === undefined || encoded === '') return undefined;
  const text = atob(encoded);
  const blocks = certificateBlocks(text);
  if (blocks.some(isReadable)) return undefined;
  const why = blocks.length > 0 ? 'failed to parse certificate: x509: malformed certificate' : emptyReason(text);
  return `unable to load root certificates: ${why}`;
}

/** The certificates of a base64-encoded bundle, in DER. Undefined: an empty bundle. Throws {@link UnreadableBundle}. */
export function bundleCertificates(encoded: string | undefined): readonly Uint8Array[] | undefined {
  const problem = caBundleProblem(encoded);
  if (problem !== undefined) throw new UnreadableBundle(problem);
  if (encoded === undefined || encoded === '') return undefined;
  return certificateBlocks(atob(encoded))
    .filter(isReadable)
    .map(({ bytes }) => bytes);
}

function certificateBlocks(text: string): PemBlock[] {
  return pemBlocks(text).filter(({ type, headers }) => type === 'CERTIFICATE' && headers.size === 0);
}

function isReadable({ bytes }: PemBlock): boolean {
  return readCertificate(bytes) !== undefined;
}

/** Blocks of other types are skipped. Data that is not a PEM block, white space included, ends the parsing. */
function emptyReason(text: string): string {
  const last = text.lastIndexOf('-----');
  const isAllRead = last >= 0 && pemBlocks(text).length > 0 && /^-----\n?$/.test(text.slice(last));
  return isAllRead ? 'no valid certificate authority data seen' : 'unable to parse bytes as PEM block';
}
