/**
 * Texts ↔ bytes as the reference server's JSON shows them: it keeps whatever bytes it was sent, and where they are no
 * UTF-8 each of them shows as U+FFFD.
 */

import { decodeUtf8 as decodeWhole } from '../../util/bytes.js';

/** Below this, reading character by character takes less time than asking the platform. */
const SHORT = 24;

/** The text of bytes, or of a part of them. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  const ascii = end - start < SHORT ? decodeAscii(bytes, start, end) : undefined;
  return ascii ?? decodeWhole(bytes.subarray(start, end));
}

/** A text that has bytes in UTF-8: half a surrogate pair has none and becomes U+FFFD. */
export function wellFormed(text: string): string {
  return SURROGATES.test(text) ? text.replace(HALF_PAIRS, '\ufffd') : text;
}

const SURROGATES = /[\ud800-\udfff]/;
const HALF_PAIRS = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

function decodeAscii(bytes: Uint8Array, start: number, end: number): string | undefined {
  let text = '';
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number;
    if (byte >= 0x80) return undefined;
    text += String.fromCharCode(byte);
  }
  return text;
}
