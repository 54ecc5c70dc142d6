/**
 * String formats. Names are looked up without dashes; an unknown format accepts every string.
 */

import { parseCidrSloppy, parseIp, parseIpSloppy } from '../../meta/ip.js';
import { byteLength } from '../../meta/names.js';
import { DurationError, parseDuration } from '../../text/time/duration.js';
import { isDate, isDateTime } from '../../text/time/time.js';
import { once } from '../../util/once.js';
import { isEmailAddress } from './email.js';

/** Reports whether a string has a format. */
export type FormatTest = (text: string) => boolean;

/** Returns the test for a format; undefined if the format is unknown. */
export function formatTest(format: string): FormatTest | undefined {
  return format === '' ? undefined : FORMATS.get(format.replaceAll('-', ''));
}

const matches =
  (pattern: RegExp): FormatTest =>
  (text) =>
    pattern.test(text);

const uuid = (version: string, variant: string) =>
  matches(new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?${variant}-?[0-9a-f]{12}$`, 'i'));

const HEX4 = '[0-9a-f]{4}';
const CHANNEL = '(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])';

/** White space as matched by the reference server's expressions. */
const SPACE = '[\\t\\n\\f\\r ]*';

const FORMATS: ReadonlyMap<string, FormatTest> = new Map<string, FormatTest>([
  ['bsonobjectid', matches(/^[0-9a-fA-F]{24}$/)],
  ['uri', isRequestUri],
  ['email', isEmailAddress],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && parseIpSloppy(text) !== undefined],
  ['ipv6', (text) => text.includes(':') && parseIp(text) !== undefined],
  ['cidr', (text) => parseCidrSloppy(text) !== undefined],
  ['mac', isMac],
  ['uuid', uuid(HEX4, HEX4)],
  ['uuid3', uuid('3[0-9a-f]{3}', HEX4)],
  ['uuid4', uuid('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}')],
  ['uuid5', uuid('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}')],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^[0-9]{3}[- ][0-9]{2}[- ][0-9]{4}$/)],
  ['hexcolor', matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matches(new RegExp(`^rgb\\(${[1, 2, 3].map(() => SPACE + CHANNEL + SPACE).join(',')}\\)$`))],
  ['byte', (text) => text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)],
  ['password', () => true],
  ['date', isDate],
  ['duration', (text) => typeof parseFormatDuration(text) !== 'string'],
  ['datetime', isDateTime],
]);

const LETTER = '[a-zA-Z0-9\\p{S}\\p{L}]';
const LABEL = `${LETTER}([a-zA-Z0-9\\-\\p{S}\\p{L}]{0,61}${LETTER})?`;

/** One label with a dash at its second position only, or several labels of which the last has only letters. */
const hostname = once(() => new RegExp(`^(${LETTER}(-?${LETTER}{0,62})?|(${LABEL}\\.)+[a-zA-Z\\p{L}]{2,63})$`, 'u'));

function isHostname(text: string): boolean {
  if (text.length > 255 || byteLength(text) > 255 || !hostname().test(text)) return false;
  return text.split('.').every((label) => byteLength(label) <= 63);
}

/** 6, 8 or 20 bytes, with the same separator between all bytes or between all pairs. */
function isMac(text: string): boolean {
  const byPairs = /^([0-9a-fA-F]{2})(?:([:-])[0-9a-fA-F]{2})(?:\2[0-9a-fA-F]{2})*$/.test(text);
  const byFours = !byPairs && /^[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4})+$/.test(text);
  const count = byPairs ? (text.length + 1) / 3 : byFours ? ((text.length + 1) / 5) * 2 : 0;
  return count === 6 || count === 8 || count === 20;
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, '');
  if (!/^[0-9]{9}[0-9X]$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, at) => sum + (at + 1) * (digit === 'X' ? 10 : Number(digit)), 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\t\n\f\r -]+/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, at) => sum + (at % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

const CARD =
  /^(4[0-9]{12}([0-9]{3})?|5[1-5][0-9]{14}|6(011|5[0-9]{2})[0-9]{12}|3[47][0-9]{13}|3(0[0-5]|[68][0-9])[0-9]{11}|(2131|1800|35[0-9]{3})[0-9]{11})$/;

/** Checks the length and the check digit (Luhn). */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!CARD.test(digits)) return false;
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Unit names. The last name of each row is a prefix (`mins`, `hours`). */
const UNITS: readonly (readonly [nanos: bigint, ...names: string[]])[] = [
  [1n, 'ns', 'nano'],
  [1_000n, 'us', '\u00b5s', 'micro'],
  [1_000_000n, 'ms', 'milli'],
  [1_000_000_000n, 's', 'sec'],
  [60_000_000_000n, 'm', 'min'],
  [3_600_000_000_000n, 'h', 'hr', 'hour'],
  [86_400_000_000_000n, 'd', 'day'],
  [604_800_000_000_000n, 'w', 'wk', 'week'],
];

const MAX_DIGITS = 19;

/**
 * The nanoseconds of a Go duration (`1h30m`), otherwise the sum of all amounts with a unit in the text: `3 days`, `P1D`.
 * Returns the reason if the text is not a duration. upstream: kube-openapi/pkg/validation/strfmt/duration.go ParseDuration
 */
export function parseFormatDuration(text: string): bigint | string {
  try {
    return parseDuration(text);
  } catch (error) {
    if (!(error instanceof DurationError)) throw error;
  }
  let total: bigint | undefined;
  // The unit is optional in the pattern, so that every amount is scanned only once (linear time).
  for (const [, digits = '', name = ''] of text.matchAll(/([0-9]+)[\t\n\f\r ]*([A-Za-z\u00b5]*)/g)) {
    if (name === '') continue;
    const significant = digits.replace(/^0+/, '');
    if (significant.length > MAX_DIGITS || BigInt(significant) >= 2n ** 63n) {
      return `strconv.Atoi: parsing "${digits}": value out of range`;
    }
    const unit = name.toLowerCase();
    const [nanos] = UNITS.find(([, ...names]) => names.includes(unit) || unit.startsWith(names.at(-1) ?? unit)) ?? [];
    if (nanos !== undefined) total = BigInt.asIntN(64, (total ?? 0n) + BigInt(significant) * nanos);
  }
  return total ?? `unable to parse ${text} as duration`;
}

/**
 * Checks for a request URI: an absolute URI, or a path from the root. Only the host and the escapes are checked; a
 * fragment counts as part of the path. (As Go's url.ParseRequestURI.)
 */

const SCHEME = /^[a-zA-Z][-a-zA-Z0-9+.]*:/;

/** Everything but control characters. */
const VISIBLE = /^[ -~\u0080-\uffff]+$/;

const BAD_ESCAPE = /%(?![0-9a-fA-F]{2})/;

function isRequestUri(text: string): boolean {
  if (!VISIBLE.test(text) || text.startsWith(':')) return false;
  if (text === '*') return true;
  const [scheme = ''] = SCHEME.exec(text) ?? [];
  const [rest = ''] = text.slice(scheme.length).split('?', 1);
  if (!rest.startsWith('/')) return scheme !== '';
  if (scheme === '' || !rest.startsWith('//')) return !BAD_ESCAPE.test(rest);
  const end = rest.indexOf('/', 2);
  const authority = end < 0 ? rest.slice(2) : rest.slice(2, end);
  const path = end < 0 ? '' : rest.slice(end);
  return isAuthority(authority) && !BAD_ESCAPE.test(path);
}

const USER = /^[-A-Za-z0-9._:~!$&'()*+,;=%@]*$/;

const PORT = /^(:[0-9]*)?$/;

/** Characters allowed in a host, including all beyond ASCII. */
const HOST = /^[-A-Za-z0-9._~!$&'()*+,;=:[\]<>"%\u0080-\uffff]*$/;

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@');
  const user = at < 0 ? '' : authority.slice(0, at);
  return isHost(authority.slice(at + 1)) && USER.test(user) && !BAD_ESCAPE.test(user);
}

function isHost(host: string): boolean {
  if (!host.startsWith('[')) {
    const colon = host.lastIndexOf(':');
    return (colon < 0 || PORT.test(host.slice(colon))) && isHostText(host);
  }
  const close = host.lastIndexOf(']');
  if (close < 0 || !PORT.test(host.slice(close + 1))) return false;
  const zone = host.slice(0, close).indexOf('%25');
  if (zone < 0) return isHostText(host);
  return isHostText(host.slice(0, zone)) && isZone(host.slice(zone, close)) && isHostText(host.slice(close));
}

/** In a host only the percent sign and characters beyond ASCII may be escaped. */
function isHostText(text: string): boolean {
  return HOST.test(text) && !BAD_ESCAPE.test(text) && !/%(?!25)[0-7]/.test(text);
}

/** In a zone (`%25eth0`) spaces and characters that need no escape may be escaped too. */
function isZone(text: string): boolean {
  if (!HOST.test(text) || BAD_ESCAPE.test(text)) return false;
  return [...text.matchAll(/%(..)/g)].every(([, hex = '']) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return hex === '25' || character === ' ' || /^[-A-Za-z0-9._~!$&'()*+,;=:[\]<>"]$/.test(character);
  });
}
