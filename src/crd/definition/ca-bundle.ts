/**
 * Validates the CA bundle of a conversion webhook: it must contain at least one certificate.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid } from '../../meta/field-error.js';
import { verbatim } from '../../text/go/go-text.js';
import { caBundleProblem } from '../../webhook/ca-bundle.js';

/** Validates a base64-encoded CA bundle at a field path. */
export function caBundleErrors(encoded: string | undefined, path: string): FieldError[] {
  const why = caBundleProblem(encoded);
  if (encoded === undefined || why === undefined) return [];
  const bytes = Array.from(atob(encoded), (character) => `0x${character.charCodeAt(0).toString(16)}`);
  return [invalid(path, verbatim(`[]byte{${bytes.join(', ')}}`), why)];
}
