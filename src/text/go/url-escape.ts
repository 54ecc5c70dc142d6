/**
 * Percent escapes in the parts of a URL, over bytes (one character each); see `go-url.ts`.
 */
import { quote } from './go-text.js';

/** What is wrong with a URL. */
export class UrlProblem extends Error {
  override readonly name = 'UrlProblem';
}

/** Where in a URL: each part has its own characters that need no escape. */
export type Part = 'path' | 'user' | 'host' | 'zone' | 'query' | 'fragment';

/** In the words of a character class; the dash is last in each. */
const UNRESERVED = 'A-Za-z0-9_.~';
const HOST = `${UNRESERVED}!$&'()*+,;=:[\\]<>"-`;
const KEPT: Readonly<Record<Part, string>> = {
  path: `${UNRESERVED}$&+,/:;=@-`,
  user: `${UNRESERVED}$&+,;=-`,
  host: HOST,
  zone: HOST,
  query: `${UNRESERVED}-`,
  fragment: `${UNRESERVED}$&+,/:;=?@!()*-`,
};

/** Throws a UrlProblem for an escape that is none or not allowed in this part. */
export function unescapeBytes(text: string, part: Part): string {
  const isHost = part === 'host' || part === 'zone';
  if (isHost) checkHost(text, part);
  else {
    const bad = /%(?![0-9a-fA-F]{2})/.exec(text);
    if (bad !== null) throw badEscape(text, bad.index);
  }
  const spaced = part === 'query' ? text.replaceAll('+', ' ') : text;
  return spaced.replace(/%([0-9a-fA-F]{2})/g, (_, digits: string) => byteOf(digits));
}

/** Hosts may have escapes for bytes beyond ASCII only, zones for what they could have written without, and spaces. */
function checkHost(text: string, part: 'host' | 'zone'): void {
  const kept = new RegExp(`[${HOST}]`);
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character !== '%') {
      if (character < '\x80' && !kept.test(character)) {
        throw new UrlProblem(`invalid character ${quote(character)} in host name`);
      }
      continue;
    }
    const digits = text.slice(at + 1, at + 3);
    if (!/^[0-9a-fA-F]{2}$/.test(digits)) throw badEscape(text, at);
    const byte = byteOf(digits);
    const isAllowed = part === 'host' ? byte >= '\x80' : byte === ' ' || kept.test(byte);
    if (digits !== '25' && !isAllowed) throw badEscape(text, at);
    at += 2;
  }
}

function badEscape(text: string, at: number): UrlProblem {
  return new UrlProblem(`invalid URL escape ${quoteBytes(text.slice(at, at + 3))}`);
}

function byteOf(digits: string): string {
  return String.fromCharCode(Number.parseInt(digits, 16));
}

export function escapeBytes(text: string, part: Part): string {
  return text.replace(new RegExp(`[^${KEPT[part]}]`, 'g'), (character) => {
    const digits = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    return `%${digits}`;
  });
}

const NOT_ASCII = /[\u0080-\uffff]/;

/** The UTF-8 bytes of a text, one character each. */
export function toByteText(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}

export function decodeBytes(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
}

/** Quoted, with `\xff` for bytes that are no UTF-8. */
export function quoteBytes(bytes: string): string {
  const whole = decodeBytes(bytes);
  if (!whole.includes('\ufffd')) return quote(whole);
  let out = '';
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    const character = bytes.slice(at, at + Math.max(length, 1));
    out += length === 0 ? `\\x${character.charCodeAt(0).toString(16)}` : quote(decodeBytes(character)).slice(1, -1);
    at += character.length;
  }
  return `"${out}"`;
}

/** How many bytes the UTF-8 character at a place has; 0 where there is none. */
function characterLength(bytes: string, at: number): number {
  for (let length = 1; length <= 4; length++) {
    const decoded = decodeBytes(bytes.slice(at, at + length));
    if ([...decoded].length === 1 && decoded !== '\ufffd') return length;
  }
  return bytes.startsWith('\xef\xbf\xbd', at) ? 3 : 0;
}
