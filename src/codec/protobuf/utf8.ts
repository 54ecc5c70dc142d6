/**
 * Text in protobuf messages. The reference server keeps invalid UTF-8 and prints each invalid byte as U+FFFD in JSON.
 */

import { decodeUtf8 as decodeWhole } from '../../util/bytes.js';

/** Below this length, decoding character by character is faster than TextDecoder. */
const SHORT = 24;

/** Decodes a range of bytes. */
export function decodeUtf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  const ascii = end - start < SHORT ? decodeAscii(bytes, start, end) : undefined;
  return ascii ?? decodeWhole(bytes.subarray(start, end));
}

/** Replaces lone surrogates, which have no UTF-8 encoding, with U+FFFD. */
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
