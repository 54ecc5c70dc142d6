/**
 * Parses URLs like Go's net/url: RFC 3986 with a few extensions and without the corrections of browsers. Error messages
 * equal the reference server's.
 *
 * Internally, texts are byte strings (one character per byte), because an escape may encode a part of a character.
 * Results are decoded; invalid UTF-8 becomes U+FFFD.
 */
import { quote } from './go-text.js';
import { ipAddressProblem } from './ip-problem.js';

/** An invalid URL. */
class UrlProblem extends Error {
  override readonly name = 'UrlProblem';
}

/** Contents of a regular expression character class; the dash comes last. */
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

const NOT_ASCII = /[\u0080-\uffff]/;

/** A parsed URL. */
export interface GoUrl {
  readonly scheme: string;
  /** Includes the port, if any, and brackets around IPv6. */
  readonly host: string;
  readonly hostname: string;
  readonly port: string;
  /** `name:password`, escaped in the usual way; undefined without an `@`. */
  readonly user: string | undefined;
  readonly rawQuery: string;
  readonly fragment: string;
  readonly escapedPath: string;
  /** Query parameters in order of first occurrence. Malformed ones are omitted. */
  query(): ReadonlyMap<string, readonly string[]>;
  /** The normalized URL. */
  toString(): string;
}

/** The error of a text that must be an absolute URL or path; undefined if it is valid. */
export function requestUrlProblem(text: string): string | undefined {
  return attempt(text, () => parse(toByteText(text), { viaRequest: true })).problem;
}

/** Parses a URL that may be relative and may have a fragment. */
export function parseGoUrl(
  text: string,
): { readonly url: GoUrl; readonly problem?: undefined } | { readonly url?: undefined; readonly problem: string } {
  const [before = ''] = text.split('#', 1);
  const parsed = attempt(before, () => parse(toByteText(before), { viaRequest: false }));
  if (parsed.problem !== undefined) return parsed;
  const fragment = toByteText(text.slice(before.length + 1));
  if (fragment === '') return { url: urlOf(parsed.value) };
  const decoded = attempt(text, () => unescapeBytes(fragment, 'fragment'));
  if (decoded.problem !== undefined) return decoded;
  return { url: urlOf({ ...parsed.value, fragment: { written: fragment, decoded: decoded.value } }) };
}

function attempt<Value>(text: string, make: () => Value): { value: Value; problem?: undefined } | { problem: string } {
  try {
    return { value: make() };
  } catch (error) {
    if (error instanceof UrlProblem) return { problem: `parse ${quote(text)}: ${error.message}` };
    throw error;
  }
}

/** The parts of a URL as byte strings. */
interface Parts {
  readonly scheme: string;
  /** The text after the scheme of a URL without slashes, such as `mailto:a@b`. */
  readonly opaque: string;
  /** `name:password`, escaped in the usual way; undefined without an `@`. */
  readonly user: string | undefined;
  readonly host: string;
  /** There is no `//` after the scheme. */
  readonly omitHost: boolean;
  readonly path: EncodedText;
  readonly query: string;
  /** The URL ends with a question mark. */
  readonly emptyQuery: boolean;
  readonly fragment: EncodedText;
}

interface EncodedText {
  readonly written: string;
  readonly decoded: string;
}

const NOTHING: EncodedText = { written: '', decoded: '' };
const EMPTY: Parts = {
  scheme: '',
  opaque: '',
  user: undefined,
  host: '',
  omitHost: false,
  path: NOTHING,
  query: '',
  emptyQuery: false,
  fragment: NOTHING,
};

function parse(text: string, { viaRequest }: { readonly viaRequest: boolean }): Parts {
  if (hasControl(text)) throw new UrlProblem('net/url: invalid control character in URL');
  if (text === '' && viaRequest) throw new UrlProblem('empty url');
  if (text === '*') return { ...EMPTY, path: { written: '*', decoded: '*' } };
  if (text.startsWith(':')) throw new UrlProblem('missing protocol scheme');
  const [matched, written = ''] = /^([a-zA-Z][-+.a-zA-Z0-9]*):/.exec(text) ?? [''];
  const scheme = written.toLowerCase();
  const question = text.indexOf('?', matched.length);
  const emptyQuery = question >= 0 && question === text.length - 1;
  const query = question < 0 ? '' : text.slice(question + 1);
  const rest = text.slice(matched.length, question < 0 ? undefined : question);
  const found = { ...EMPTY, scheme, query, emptyQuery };

  if (!rest.startsWith('/')) {
    if (scheme !== '') return { ...found, opaque: rest };
    if (viaRequest) throw new UrlProblem('invalid URI for request');
    if (/^[^/]*:/.test(rest)) throw new UrlProblem('first path segment in URL cannot contain colon');
  }
  // Three slashes without a scheme start a path; a request URI has an authority only after a scheme.
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || (!viaRequest && !rest.startsWith('///')));
  if (!hasAuthority)
    return { ...found, omitHost: scheme !== '' && rest.startsWith('/'), path: decodeWritten(rest, 'path') };
  const slash = rest.indexOf('/', 2);
  const authority = rest.slice(2, slash < 0 ? undefined : slash);
  const at = authority.lastIndexOf('@');
  const host = readHost(authority.slice(at + 1));
  const user = at < 0 ? undefined : readUser(authority.slice(0, at));
  return { ...found, user, host, path: decodeWritten(slash < 0 ? '' : rest.slice(slash), 'path') };
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

function decodeWritten(written: string, part: Part): EncodedText {
  return { written, decoded: unescapeBytes(written, part) };
}

function readUser(text: string): string {
  if (/[^-A-Za-z0-9._:~!$&'()*+,;=%@]/.test(text)) throw new UrlProblem('net/url: invalid userinfo');
  const colon = text.indexOf(':');
  const words = colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)];
  return words.map((word) => escapeBytes(unescapeBytes(word, 'user'), 'user')).join(':');
}

function readHost(text: string): string {
  const open = text.lastIndexOf('[');
  if (open < 0) {
    const colon = text.lastIndexOf(':');
    if (colon >= 0) checkPort(text.slice(colon));
    return unescapeBytes(text, 'host');
  }
  const close = text.lastIndexOf(']');
  if (close < 0) throw new UrlProblem("missing ']' in host");
  const port = text.slice(close + 1);
  checkPort(port);
  const unescapedPort = unescapeBytes(port, 'host');
  const inside = text.slice(open + 1, close);
  // `%25` is the percent sign before a zone, which allows other escapes than a host.
  const zone = inside.indexOf('%25');
  const address =
    zone < 0
      ? unescapeBytes(inside, 'host')
      : unescapeBytes(inside.slice(0, zone), 'host') + unescapeBytes(inside.slice(zone), 'zone');
  const problem = ipAddressProblem(address, quoteBytes);
  if (problem !== undefined) throw new UrlProblem(`invalid host: ${problem}`);
  if (!address.includes(':')) throw new UrlProblem('invalid IP-literal');
  return `[${address}]${unescapedPort}`;
}

function checkPort(colonPort: string): void {
  if (!isPort(colonPort)) throw new UrlProblem(`invalid port ${quoteBytes(colonPort)} after host`);
}

function isPort(colonPort: string): boolean {
  return /^(:[0-9]*)?$/.test(colonPort);
}

function urlOf(parts: Parts): GoUrl {
  const colon = parts.host.lastIndexOf(':');
  const hasPort = colon >= 0 && isPort(parts.host.slice(colon));
  const name = hasPort ? parts.host.slice(0, colon) : parts.host;
  const isBracketed = name.startsWith('[') && name.endsWith(']');
  return {
    scheme: parts.scheme,
    host: decodeBytes(parts.host),
    hostname: decodeBytes(isBracketed ? name.slice(1, -1) : name),
    port: hasPort ? decodeBytes(parts.host.slice(colon + 1)) : '',
    user: parts.user === undefined ? undefined : decodeBytes(parts.user),
    rawQuery: decodeBytes(parts.query),
    fragment: decodeBytes(parts.fragment.decoded),
    escapedPath: decodeBytes(escapedPath(parts.path)),
    query: () => readQuery(parts.query),
    toString: () => decodeBytes(print(parts)),
  };
}

/** The path as written, if it contains only valid characters. */
function escapedPath({ written, decoded }: EncodedText): string {
  if (decoded === '*') return '*';
  return isValid(written, 'path') ? written : escapeBytes(decoded, 'path');
}

/** Characters that are kept if the text contains them unescaped, although escaping would encode them. */
const VALID: Readonly<Record<'path' | 'fragment', RegExp>> = {
  path: /^[-A-Za-z0-9_.~!$&'()*+,;=:@[\]%/]*$/,
  fragment: /^[-A-Za-z0-9_.~!$&'()*+,;=:@[\]%/?]*$/,
};

function isValid(written: string, part: 'path' | 'fragment'): boolean {
  return VALID[part].test(written);
}

const MAX_PARAMETERS = 10_000;

function readQuery(query: string): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  const parameters = query.split('&', MAX_PARAMETERS + 1);
  if (parameters.length > MAX_PARAMETERS) return found;
  for (const parameter of parameters) {
    if (parameter === '' || parameter.includes(';')) continue;
    const equals = parameter.indexOf('=');
    const pair = equals < 0 ? [parameter, ''] : [parameter.slice(0, equals), parameter.slice(equals + 1)];
    const decoded = attempt('', () => pair.map((word) => decodeBytes(unescapeBytes(word, 'query'))));
    if (decoded.problem !== undefined) continue;
    const [key = '', value = ''] = decoded.value;
    const values = found.get(key);
    if (values === undefined) found.set(key, [value]);
    else values.push(value);
  }
  return found;
}

function print(parts: Parts): string {
  const { scheme, opaque, query, emptyQuery, fragment } = parts;
  const start = scheme === '' ? '' : `${scheme}:`;
  const middle = opaque === '' ? printHierarchy(parts) : opaque;
  const questions = emptyQuery || query !== '' ? `?${query}` : '';
  const escaped = isValid(fragment.written, 'fragment') ? fragment.written : escapeBytes(fragment.decoded, 'fragment');
  return `${start}${middle}${questions}${fragment.decoded === '' ? '' : `#${escaped}`}`;
}

function printHierarchy({ scheme, user, host, omitHost, path }: Parts): string {
  const written = escapedPath(path);
  const hasAuthority = (scheme !== '' || host !== '' || user !== undefined) && !omitHost;
  if (!hasAuthority) {
    const looksLikeScheme = scheme === '' && /^[^/]*:/.test(written);
    return `${looksLikeScheme ? './' : ''}${written}`;
  }
  const slashes = host !== '' || path.decoded !== '' || user !== undefined ? '//' : '';
  const separator = written !== '' && !written.startsWith('/') && host !== '' ? '/' : '';
  return `${slashes}${user === undefined ? '' : `${user}@`}${escapeBytes(host, 'host')}${separator}${written}`;
}

/** A part of a URL; each has its own set of characters that need no escape. */
type Part = 'path' | 'user' | 'host' | 'zone' | 'query' | 'fragment';

/** Decodes percent escapes. Throws a UrlProblem for an invalid escape or one that is not allowed in this part. */
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

/** Hosts allow escapes only for non-ASCII bytes; zones for host characters and spaces. */
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

function escapeBytes(text: string, part: Part): string {
  return text.replace(new RegExp(`[^${KEPT[part]}]`, 'g'), (character) => {
    const digits = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    return `%${digits}`;
  });
}

/** Encodes a text as a UTF-8 byte string. */
function toByteText(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  let bytes = '';
  for (const byte of new TextEncoder().encode(text)) bytes += String.fromCharCode(byte);
  return bytes;
}

export function decodeBytes(bytes: string): string {
  if (!NOT_ASCII.test(bytes)) return bytes;
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(bytes, (one) => one.charCodeAt(0)));
}

/** Quotes a byte string, with `\xff` for invalid UTF-8. */
function quoteBytes(bytes: string): string {
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

/** The length of the UTF-8 character at an index; 0 if there is none. */
function characterLength(bytes: string, at: number): number {
  for (let length = 1; length <= 4; length++) {
    const decoded = decodeBytes(bytes.slice(at, at + length));
    if ([...decoded].length === 1 && decoded !== '\ufffd') return length;
  }
  return bytes.startsWith('\xef\xbf\xbd', at) ? 3 : 0;
}
