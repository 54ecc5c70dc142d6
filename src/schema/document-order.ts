/**
 * Which of several mistakes in a document is reported.
 */
import { DecodeError } from './decode-scalar.js';

/**
 * Of several parts that are wrong, the one that stands first in the document is reported, in whatever order they are
 * read. `isThere` says of a key whether it is the one that has failed, and reads those that nobody has read yet.
 */
export function firstInDocument(error: unknown, keys: readonly string[], isThere: (key: string) => boolean): unknown {
  if (!(error instanceof DecodeError)) return error;
  try {
    keys.some(isThere);
    return error;
  } catch (earlier) {
    return earlier instanceof DecodeError ? earlier : error;
  }
}
