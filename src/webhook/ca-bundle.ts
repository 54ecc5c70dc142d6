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
  return encoded === undefined || encoded === '' ? undefined : problemIn(encoded);
}

const problemIn = rememberBundles((encoded) => {
  const found = readBundle(encoded, readCertificate);
  return typeof found === 'string' ? found : undefined;
});

/** How many bundles are remembered; each may have a megabyte. */
const MAX_REMEMBERED = 16;

/**
 * Returns a function that remembers its results for the bundles that were used last: a bundle is used in every call.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function rememberBundles<Rest extends readonly unknown[], Result>(
  read: (encoded: string, ...rest: Rest) => Result,
): (encoded: string, ...rest: Rest) => Result {
  const remembered = new Map<string, { readonly result: Result }>();
  return (encoded, ...rest) => {
    const known = remembered.get(encoded) ?? { result: read(encoded, ...rest) };
    // Re-inserting moves the key to the end of the Map's order.
    remembered.delete(encoded);
    remembered.set(encoded, known);
    const oldest = remembered.size > MAX_REMEMBERED ? remembered.keys().next().value : undefined;
    if (oldest !== undefined) remembered.delete(oldest);
    return known.result;
  };
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
