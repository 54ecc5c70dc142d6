/**
 * Formats of strings that schemas may ask for. Names are looked up without their dashes; one that is not here asks
 * for nothing.
 */
import { parseIp } from '../../../../meta/ip.js';

type FormatTest = (text: string) => boolean;

/** Whether a text has a format, or undefined when nobody knows it. */
export function hasFormat(format: string, text: string): boolean | undefined {
  return FORMATS.get(format.replaceAll('-', ''))?.(text);
}

const UUID = (version: string, variant: string) =>
  new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}-?${variant}-?[0-9a-f]{12}$`, 'i');
const STRICT_UUID = (version: string, variant: string) =>
  new RegExp(`^[0-9a-f]{8}-[0-9a-f]{4}-${version}-${variant}-[0-9a-f]{12}$`, 'i');
const BYTE = '(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
const matches =
  (pattern: RegExp): FormatTest =>
  (text) =>
    pattern.test(text);

const FORMATS: ReadonlyMap<string, FormatTest> = new Map<string, FormatTest>([
  ['bsonobjectid', matches(/^[0-9a-fA-F]{24}$/)],
  ['uri', matches(/^([a-zA-Z][-a-zA-Z0-9+.]*:[^\s]+|\/[^\s]*)$/)],
  ['email', matches(/^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/)],
  ['hostname', isHostname],
  ['ipv4', (text) => text.includes('.') && !text.includes(':') && parseIp(text) !== undefined],
  ['ipv6', (text) => text.includes(':') && parseIp(text) !== undefined],
  ['cidr', isCidr],
  [
    'mac',
    matches(/^([0-9a-fA-F]{2}([:-])([0-9a-fA-F]{2}\2){4,6}[0-9a-fA-F]{2}|([0-9a-fA-F]{4}\.){2,3}[0-9a-fA-F]{4})$/),
  ],
  ['uuid', matches(UUID('[0-9a-f]{4}', '[0-9a-f]{4}'))],
  ['uuid3', matches(STRICT_UUID('3[0-9a-f]{3}', '[0-9a-f]{4}'))],
  ['uuid4', matches(STRICT_UUID('4[0-9a-f]{3}', '[89ab][0-9a-f]{3}'))],
  ['uuid5', matches(STRICT_UUID('5[0-9a-f]{3}', '[89ab][0-9a-f]{3}'))],
  ['isbn', (text) => isIsbn10(text) || isIsbn13(text)],
  ['isbn10', isIsbn10],
  ['isbn13', isIsbn13],
  ['creditcard', isCreditCard],
  ['ssn', matches(/^\d{3}[- ]\d{2}[- ]\d{4}$/)],
  ['hexcolor', matches(/^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/)],
  ['rgbcolor', matches(new RegExp(`^rgb\\(\\s*${BYTE}\\s*,\\s*${BYTE}\\s*,\\s*${BYTE}\\s*\\)$`))],
  ['byte', (text) => text !== '' && /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)],
  ['password', () => true],
  ['date', (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && isDate(text)],
  ['duration', isDuration],
  ['datetime', isDateTime],
]);

function isHostname(text: string): boolean {
  if (text === '' || text.length > 255) return false;
  return text.split('.').every((label) => /^[a-zA-Z0-9_]([-a-zA-Z0-9_]{0,61}[a-zA-Z0-9_])?$/.test(label));
}

function isCidr(text: string): boolean {
  const [address = '', bits = '', more] = text.split('/');
  if (more !== undefined || !/^(0|[1-9][0-9]{0,2})$/.test(bits) || parseIp(address) === undefined) return false;
  return Number(bits) <= (address.includes(':') ? 128 : 32);
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^[0-9]{9}[0-9X]$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, at) => sum + (10 - at) * (digit === 'X' ? 10 : Number(digit)), 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, at) => sum + (at % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

/** Digits of a known length whose last one is the check digit of the others. */
function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]/g, '');
  if (
    !/^(4\d{12}(\d{3})?|5[1-5]\d{14}|6(011|5\d\d)\d{12}|3[47]\d{13}|3(0[0-5]|[68]\d)\d{11}|(2131|1800|35\d{3})\d{11})$/.test(
      digits,
    )
  ) {
    return false;
  }
  const sum = [...digits].reverse().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

function isDate(text: string): boolean {
  const [year = 0, month = 0, day = 0] = text.slice(0, 10).split('-').map(Number);
  return month >= 1 && month <= 12 && day >= 1 && day <= daysOf(year, month);
}

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (month === 2) return isLeap ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isDateTime(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}[tT ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?([zZ]|[-+]\d{2}:?\d{2})?$/;
  return time.test(text) && isDate(text);
}

/** `1h30m`, `1h 30m`, `P1D`, `3 days`. */
function isDuration(text: string): boolean {
  if (/^[-+]?((\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h))+$/.test(text) || text === '0') return true;
  return /((\d+)\s*([A-Za-zµ]+))/.test(text);
}
