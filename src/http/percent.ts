/**
 * Percent-decoding by the rules of the reference server: a malformed escape is an error, not text, and bytes that are
 * no UTF-8 are kept as far as text can keep them.
 */

/** The decoded text; undefined when a `%` begins no escape. Bytes that are no UTF-8 become U+FFFD. */
export function percentDecode(encoded: string): string | undefined {
  if (!encoded.includes('%')) return encoded;
  if (/%(?![0-9a-fA-F]{2})/.test(encoded)) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    // The escapes are well formed, so the bytes are not.
    return encoded.replace(/(?:%[0-9a-fA-F]{2})+/g, decodeRun);
  }
}

function decodeRun(escapes: string): string {
  const bytes = escapes.split('%').slice(1);
  return new TextDecoder().decode(Uint8Array.from(bytes, (hex) => Number.parseInt(hex, 16)));
}
