/**
 * Conversions of bytes to text: UTF-8 and hexadecimal digits.
 */

const strict = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });

/**
 * Decodes UTF-8 as Go does: each invalid byte becomes one U+FFFD. TextDecoder would merge some of them and drop a byte
 * order mark.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  return decodeStrictUtf8(bytes) ?? decodePieces(bytes);
}

/** Undefined when the bytes are not UTF-8 throughout. */
export function decodeStrictUtf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    // TextDecoder reports invalid UTF-8 only by throwing.
    return undefined;
  }
}

/** Decodes character by character; TextDecoder would throw once for each invalid byte. */
function decodePieces(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    text += length === 0 ? '\ufffd' : String.fromCodePoint(codePoint(bytes, at, length));
    at += Math.max(length, 1);
  }
  return text;
}

/** The length in bytes of the character at an index; 0 if there is no valid character. */
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

/** Two lower-case hexadecimal digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
