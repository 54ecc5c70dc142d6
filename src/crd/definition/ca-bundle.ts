/**
 * Validates the CA bundle of a conversion webhook: it must contain at least one certificate.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid } from '../../meta/field-error.js';
import { verbatim } from '../../text/go/go-text.js';
import { readCertificate } from '../../text/x509/certificate.js';
import { pemBlocks } from '../../text/x509/pem.js';

/** Validates a base64-encoded CA bundle at a field path. */
export function caBundleErrors(encoded: string | undefined, path: string): FieldError[] {
  const why = caBundleProblem(encoded);
  if (encoded === undefined || why === undefined) return [];
  const bytes = Array.from(atob(encoded), (character) => `0x${character.charCodeAt(0).toString(16)}`);
  return [invalid(path, verbatim(`[]byte{${bytes.join(', ')}}`), why)];
}

/** Returns why a base64-encoded bundle cannot be used. An empty bundle means the system's root certificates. */
export function caBundleProblem(encoded: string | undefined): string | undefined {
  if (encoded === undefined || encoded === '') return undefined;
  const text = atob(encoded);
  const blocks = pemBlocks(text);
  const certificates = blocks.filter(({ type, headers }) => type === 'CERTIFICATE' && headers.size === 0);
  if (certificates.some(({ bytes }) => readCertificate(bytes) !== undefined)) return undefined;
  const why = certificates.length > 0 ? 'failed to parse certificate: x509: malformed certificate' : emptyReason(text);
  return `unable to load root certificates: ${why}`;
}

/** Blocks of other types are skipped. Data that is not a PEM block, white space included, ends the parsing. */
function emptyReason(text: string): string {
  const last = text.lastIndexOf('-----');
  const isAllRead = last >= 0 && pemBlocks(text).length > 0 && /^-----\n?$/.test(text.slice(last));
  return isAllRead ? 'no valid certificate authority data seen' : 'unable to parse bytes as PEM block';
}
