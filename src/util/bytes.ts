/**
 * Bytes → text as the reference server reads bytes that nobody vouched for: each byte that is part of no character
 * becomes U+FFFD by itself. The platform makes one of several at times, and drops a mark of byte order.
 */

const strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

export function decodeUtf8(bytes: Uint8Array): string {
  return decodeStrictUtf8(bytes) ?? decodePieces(bytes);
}

/** Undefined when the bytes are not UTF-8 throughout. */
export function decodeStrictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    // Not UTF-8: the decoder has no other way to say so.
    return undefined;
  }
}

/** Without the platform's decoder, which would throw once for each bad byte of a body that has nothing else. */
function decodePieces(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    text += length === 0 ? '\ufffd' : String.fromCodePoint(codePoint(bytes, at, length));
    at += Math.max(length, 1);
  }
  return text;
}

/** How many bytes the character here has; 0 when there is none. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return 1;
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  for (let more = 1; more < length; more++) if (((bytes[at + more] ?? 0) & 0xc0) !== 0x80) return 0;
  if (length < 3) return length;
  const value = codePoint(bytes, at, length);
  const isSurrogate = value >= 0xd800 && value < 0xe000;
  return value < (length === 3 ? 0x800 : 0x10000) || value > 0x10ffff || isSurrogate ? 0 : length;
}

function codePoint(bytes: Uint8Array, at: number, length: number): number {
  let value = bytes[at] ?? 0;
  if (length > 1) value &= 0x7f >> length;
  for (let more = 1; more < length; more++) value = (value << 6) | ((bytes[at + more] ?? 0) & 0x3f);
  return value;
}

/**
 * Bytes as hexadecimal digits, two for each.
 */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
