/**
 * CA bundles: the certificates that a webhook or an aggregated API server must be signed by.
 * upstream: client-go/transport/transport.go rootCertPool
 */
import { readCertificate } from '../text/x509/certificate.js';
import { pemBlocks } from '../text/x509/pem.js';

/** A caBundle that contains no certificate; the server is not called. */
export class UnreadableBundle extends Error {
  override readonly name = 'UnreadableBundle';
}

/** Throws {@link UnreadableBundle} if a base64-encoded bundle cannot be used. */
export function checkBundle(encoded: string | undefined): void {
  const problem = caBundleProblem(encoded);
  if (problem !== undefined) throw new UnreadableBundle(problem);
}

/** Returns why a base64-encoded bundle cannot be used. An empty bundle means the system's root certificates. */
export function caBundleProblem(encoded: string | undefined): string | undefined {
  if (encoded === undefined || encoded === '') return undefined;
  const found = readBundle(encoded, readCertificate);
  return typeof found === 'string' ? found : undefined;
}

/** Reads the certificates of a base64-encoded bundle and skips invalid ones. Returns the problem if there are none. */
export function readBundle<Certificate>(
  encoded: string,
  read: (der: Uint8Array) => Certificate | undefined,
): readonly Certificate[] | string {
  const text = atob(encoded);
  const blocks = pemBlocks(text).filter(({ type, headers }) => type === 'CERTIFICATE' && headers.size === 0);
  const certificates = blocks.map(({ bytes }) => read(bytes)).filter((certificate) => certificate !== undefined);
  if (certificates.length > 0) return certificates;
  const why = blocks.length > 0 ? 'failed to parse certificate: x509: malformed certificate' : emptyReason(text);
  return `unable to load root certificates: ${why}`;
}

/** Blocks of other types are skipped. Data that is not a PEM block, white space included, ends the parsing. */
function emptyReason(text: string): string {
  const last = text.lastIndexOf('-----');
  const isAllRead = last >= 0 && pemBlocks(text).length > 0 && /^-----\n?$/.test(text.slice(last));
  return isAllRead ? 'no valid certificate authority data seen' : 'unable to parse bytes as PEM block';
}
