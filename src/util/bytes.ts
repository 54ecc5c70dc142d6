/**
 * Conversions of bytes to text: UTF-8, hexadecimal digits, headers. Joins bytes.
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
  const digits = new Uint8Array(2 * bytes.length);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    digits[2 * at] = hexDigit(byte >> 4);
    digits[2 * at + 1] = hexDigit(byte & 15);
  }
  return strict.decode(digits);
}

/** The character code of a digit. */
function hexDigit(value: number): number {
  return value < 10 ? 0x30 + value : 0x57 + value;
}

/** A new array with the bytes of all parts. */
export function concatBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Shorter pieces are copied. */
const MIN_KEPT_BYTES = 512;
const BLOCK_BYTES = 16 * 1024;

/** Joins the pieces of a body. Short ones are copied at once: as an object, a byte would take more than a hundred bytes. */
export class JoinedBytes {
  readonly #pieces: Uint8Array[] = [];
  #length = 0;
  /** The short pieces since the last long one. */
  #block: Uint8Array | undefined;
  #used = 0;

  get length(): number {
    return this.#length;
  }

  add(piece: Uint8Array): void {
    const isKept = this.#length === 0 || piece.length >= MIN_KEPT_BYTES;
    this.#length += piece.length;
    if (isKept || this.#used + piece.length > BLOCK_BYTES) this.#endBlock();
    if (isKept) {
      this.#pieces.push(piece);
      return;
    }
    this.#blockFor(this.#used + piece.length).set(piece, this.#used);
    this.#used += piece.length;
  }

  /** The block, with room for this many bytes. It grows, because most bodies and lines are short. */
  #blockFor(length: number): Uint8Array {
    if (this.#block !== undefined && length <= this.#block.length) return this.#block;
    const larger = new Uint8Array(Math.min(2 * length, BLOCK_BYTES));
    if (this.#block !== undefined) larger.set(this.#block.subarray(0, this.#used));
    this.#block = larger;
    return larger;
  }

  /** All bytes: the piece itself if there is only one. */
  bytes(): Uint8Array {
    this.#endBlock();
    const [only] = this.#pieces;
    if (this.#pieces.length === 1 && only !== undefined) return only;
    return concatBytes(this.#pieces);
  }

  #endBlock(): void {
    if (this.#block !== undefined && this.#used > 0) this.#pieces.push(this.#block.slice(0, this.#used));
    this.#used = 0;
  }
}

/** Encodes text for a header value: each UTF-8 byte as one character, as fetch expects. */
export function toHeaderBytes(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text;
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/** Whether a header carries the text: HTTP removes outer spaces and refuses control characters; UTF-8 has no lone surrogates. */
export function isHeaderText(text: string): boolean {
  return !/^ | $|[\p{Cc}\p{Cs}]/u.test(text);
}

/** Percent-encodes characters that are invalid in a header name, `%`, and upper-case letters: names have no case. */
export function escapeHeaderName(text: string): string {
  return toHeaderBytes(text).replace(
    /[^!#$&'*+\-.^_`|~0-9a-z]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
