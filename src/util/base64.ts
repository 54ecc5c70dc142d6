/**
 * Base64 with the standard alphabet and padding, as in JSON documents of the API.
 */
import { trimRight } from './trim.js';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const WELL_FORMED = /^[A-Za-z0-9+/]*={0,2}$/;

/** Thrown for invalid base64. `position` is the index of the first invalid byte. */
export class Base64Error extends Error {
  override readonly name = 'Base64Error';

  constructor(readonly position: number) {
    super(`illegal base64 data at input byte ${position}`);
  }
}

/** The canonical encoding of the same bytes: no line breaks, unused bits zero. Throws {@link Base64Error}. */
export function canonicalBase64(text: string): string {
  if (text.length % 4 === 0 && WELL_FORMED.test(text)) return zeroUnusedBits(text);
  const { compact, positions } = withoutLineBreaks(text);
  const wrongAt = firstIllegal(compact);
  if (wrongAt !== undefined) throw new Base64Error(positions[wrongAt] ?? text.length);
  return zeroUnusedBits(compact);
}

/** The number of bytes that a canonical text encodes. */
export function base64ByteLength(canonical: string): number {
  const padding = canonical.endsWith('==') ? 2 : canonical.endsWith('=') ? 1 : 0;
  return (canonical.length / 4) * 3 - padding;
}

/** Encodes the UTF-8 bytes of a text. */
export function encodeBase64Text(text: string): string {
  return encodeBase64(new TextEncoder().encode(text));
}

export function encodeBase64(data: Uint8Array): string {
  // Bytes, because text that grows by single characters takes many times as long.
  const out = new Uint8Array(4 * Math.ceil(data.length / 3));
  for (let i = 0, at = 0; i < data.length; i += 3, at += 4) {
    const left = data.length - i;
    const word = ((data[i] ?? 0) << 16) | ((data[i + 1] ?? 0) << 8) | (data[i + 2] ?? 0);
    out[at] = symbol(word >> 18);
    out[at + 1] = symbol(word >> 12);
    out[at + 2] = left > 1 ? symbol(word >> 6) : PADDING;
    out[at + 3] = left > 2 ? symbol(word) : PADDING;
  }
  return new TextDecoder().decode(out);
}

/** Decodes text in canonical form. */
export function decodeBase64(canonical: string): Uint8Array {
  const text = atob(canonical);
  const bytes = new Uint8Array(text.length);
  // Not `Uint8Array.from`, which takes twenty times as long.
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Decodes to UTF-8 text; invalid bytes become U+FFFD. */
export function decodeBase64Text(canonical: string): string {
  return new TextDecoder().decode(decodeBase64(canonical));
}

const PADDING = 0x3d;

/** The character code of the digit in the last six bits. */
function symbol(word: number): number {
  return ALPHABET.charCodeAt(word & 63);
}

function withoutLineBreaks(text: string): { compact: string; positions: number[] } {
  let compact = '';
  const positions: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (character === '\n' || character === '\r') continue;
    compact += character;
    positions.push(i);
  }
  return { compact, positions };
}

/** The index that Go's decoder reports, in a text without line breaks; for a short last group, that of its first byte. */
function firstIllegal(compact: string): number | undefined {
  for (let i = 0; i < compact.length; i++) {
    if (ALPHABET.includes(compact.charAt(i))) continue;
    if (compact.charAt(i) !== '=') return i;
    // Padding is only valid as the last one or two characters of a group of four.
    const place = i % 4;
    if (place < 2) return i;
    // For incomplete padding the decoder reports the padding itself, or the end of the text if nothing follows.
    if (place === 2 && compact.charAt(i + 1) !== '=') return i + 1 < compact.length ? i : compact.length;
    const end = i + (place === 2 ? 2 : 1);
    return end === compact.length ? undefined : end;
  }
  const rest = compact.length % 4;
  return rest === 0 ? undefined : compact.length - rest;
}

function zeroUnusedBits(text: string): string {
  if (!text.endsWith('=')) return text;
  const at = text.indexOf('=') - 1;
  const unused = text.endsWith('==') ? 4 : 2;
  const value = ALPHABET.indexOf(text.charAt(at));
  const clean = (value >> unused) << unused;
  return clean === value ? text : text.slice(0, at) + ALPHABET.charAt(clean) + text.slice(at + 1);
}

/** Encodes with the URL alphabet and without padding. */
export function encodeBase64Url(data: Uint8Array): string {
  return trimRight(encodeBase64(data).replaceAll('+', '-').replaceAll('/', '_'), '=');
}

/** Decodes text with the URL alphabet and without padding; undefined for invalid text. Unused trailing bits are ignored, as in the reference server. */
export function decodeBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[-\w]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const data = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) data[i] = binary.charCodeAt(i);
  return data;
}
