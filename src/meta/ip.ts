/**
 * IP addresses and CIDRs: parsing, printing, classification and validation messages.
 *
 * There are two parsers. The sloppy parser, which older fields use, accepts leading zeros in decimal numbers and hex
 * groups; the strict parser rejects them. Both treat an IPv4-mapped IPv6 address (`::ffff:10.1.2.3`) as the IPv4 address
 * and set `mapped`. Both reject zones (`fe80::1%eth0`).
 */

import { quote } from '../text/go/go-text.js';
import { SERVICE_NAME } from './dialect.js';

export type IpFamily = 'IPv4' | 'IPv6';

export interface Ip {
  readonly family: IpFamily;
  /** 32 or 128 bits, depending on the family. */
  readonly value: bigint;
  /** An IPv4 address that was written as `::ffff:…`. */
  readonly mapped: boolean;
}

export interface Cidr {
  /** The address before the slash; it may have bits beyond the prefix. */
  readonly address: Ip;
  /** The same without those bits: the first address of the range. */
  readonly network: Ip;
  /** The number of leading bits, counted in the family of `network`. */
  readonly prefix: number;
}

/** The class of an address; every address has exactly one. */
export type IpClass =
  | 'unspecified'
  | 'loopback'
  | 'linkLocalUnicast'
  | 'linkLocalMulticast'
  | 'multicast'
  | 'broadcast'
  | 'globalUnicast';

const NONE: readonly string[] = Object.freeze([]);
const INVALID_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const INVALID_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

const MAPPED_PREFIX = 0xffffn;
/** The number of bits before the IPv4 address in a mapped address. */
const MAPPED_BITS = 96;

/** Strict parser; undefined for an invalid address. */
export function parseIp(text: string): Ip | undefined {
  return readIp(text, STRICT);
}

/** Like {@link parseIp}, but accepts leading zeros. They do not make a number octal. */
export function parseIpSloppy(text: string): Ip | undefined {
  return readIp(text, SLOPPY);
}

/**
 * The canonical text (RFC 5952); a mapped address is printed as IPv4 address.
 *
 * @example
 * const ip = parseIp('2001:DB8:0:0::1');
 * if (ip !== undefined) console.log(printIp(ip)); // 2001:db8::1
 */
export function printIp(ip: Ip): string {
  return ip.family === 'IPv4' ? printV4(ip.value) : printV6(ip.value);
}

/** Strict parser; undefined for an invalid CIDR. Bits beyond the prefix are allowed. */
export function parseCidr(text: string): Cidr | undefined {
  return readCidr(text, STRICT);
}

/** Like {@link parseCidr}, but accepts leading zeros in address and prefix. */
export function parseCidrSloppy(text: string): Cidr | undefined {
  return readCidr(text, SLOPPY);
}

/** The range in canonical text: no bits beyond the prefix, `::ffff:10.0.0.0/104` as `10.0.0.0/8`. */
export function printCidr(cidr: Cidr): string {
  return `${printIp(cidr.network)}/${cidr.prefix}`;
}

/** True when the address lies in the range. Never across families; a mapped address is IPv4. */
export function contains(cidr: Cidr, ip: Ip): boolean {
  if (ip.family !== cidr.network.family) return false;
  const shift = BigInt(bitsOf(ip.family) - cidr.prefix);
  return ip.value >> shift === cidr.network.value >> shift;
}

/** The text of an address with a port: `127.0.0.1:443`, `[::1]:443`. */
export function joinHostPort({ host, port }: { readonly host: string; readonly port: number }): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The number of addresses in the range, including the first and the last. */
export function cidrSize(cidr: Cidr): bigint {
  return 1n << BigInt(bitsOf(cidr.network.family) - cidr.prefix);
}

/** True when the list contains both families. */
export function isDualStack(families: Iterable<IpFamily>): boolean {
  return new Set(families).size === 2;
}

export function classifyIp(ip: Ip): IpClass {
  if (ip.value === 0n) return 'unspecified';
  return ip.family === 'IPv4' ? classifyV4(ip.value) : classifyV6(ip.value);
}

/** Validates most address fields, which accept leading zeros and mapped addresses for compatibility. */
export function validIpProblems(text: string): readonly string[] {
  return parseIpSloppy(text) === undefined ? [INVALID_IP] : NONE;
}

/** Validates newer address fields: only the canonical text is valid. */
export function canonicalIpProblems(text: string): readonly string[] {
  const ip = parseIpSloppy(text);
  if (ip === undefined) return [INVALID_IP];
  if (parseIp(text) === undefined) return ['must not have leading 0s'];
  if (ip.mapped) return ['must not be an IPv4-mapped IPv6 address'];
  return canonicalProblems(text, printIp(ip));
}

/** Validates most CIDR fields; bits beyond the prefix are allowed. */
export function validCidrProblems(text: string): readonly string[] {
  return parseCidrSloppy(text) === undefined ? [INVALID_CIDR] : NONE;
}

/** Validates newer CIDR fields, such as those of ServiceCIDR: only the canonical text is valid. */
export function canonicalCidrProblems(text: string): readonly string[] {
  const cidr = parseCidrSloppy(text);
  if (cidr === undefined) return [INVALID_CIDR];
  if (parseCidr(text) === undefined) return ['must not have leading 0s in IP or prefix length'];
  if (cidr.address.mapped) return ['must not have an IPv4-mapped IPv6 address'];
  if (cidr.address.value !== cidr.network.value) return ['must not have bits set beyond the prefix length'];
  return canonicalProblems(text, printCidr(cidr));
}

/** Validates the name of an IPAddress, which is the address. */
export function ipAddressNameProblems(name: string): readonly string[] {
  return canonicalIpProblems(name);
}

/**
 * Rejects addresses that are not allowed for endpoints and external IPs. Callers also call {@link validIpProblems}; an
 * invalid address is reported by both, with a shorter message here.
 */
export function specialIpProblems(text: string): readonly string[] {
  const ip = parseIpSloppy(text);
  if (ip === undefined) return ['must be a valid IP address'];
  switch (classifyIp(ip)) {
    case 'unspecified':
      return [`may not be unspecified (${text})`];
    case 'loopback':
      return ['may not be in the loopback range (127.0.0.0/8, ::1/128)'];
    case 'linkLocalUnicast':
      return ['may not be in the link-local range (169.254.0.0/16, fe80::/10)'];
    case 'linkLocalMulticast':
      return ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'];
    default:
      return NONE;
  }
}

/** The warnings about an address that {@link validIpProblems} accepts; none for an invalid address. */
export function ipWarnings(path: string, text: string): readonly string[] {
  const ip = parseIpSloppy(text);
  if (ip === undefined) return NONE;
  const canonical = printIp(ip);
  if (ip.mapped || parseIp(text) === undefined) return [nonStandard(path, `IP address ${quote(text)}`, canonical)];
  if (ip.family === 'IPv4' || canonical === text) return NONE;
  return [`${path}: IPv6 address ${quote(text)} should be in RFC 5952 canonical format (${quote(canonical)})`];
}

/** The warnings about a CIDR that {@link validCidrProblems} accepts. */
export function cidrWarnings(path: string, text: string): readonly string[] {
  const cidr = parseCidrSloppy(text);
  if (cidr === undefined) return NONE;
  const canonical = printCidr(cidr);
  const found: string[] = [];
  if (!isSameAddress(cidr.address, cidr.network)) {
    // The prefix length of the single address is that of the text's family: a mapped address is IPv4 with /128.
    const width = text.includes(':') ? 128 : 32;
    const choice = `${quote(canonical)} or ${quote(`${printIp(cidr.address)}/${width}`)}`;
    found.push(`${path}: CIDR value ${quote(text)} is ambiguous in this context (should be ${choice}?)`);
  }
  if (cidr.address.mapped || parseCidr(text) === undefined) {
    found.push(nonStandard(path, `CIDR value ${quote(text)}`, canonical));
  }
  if (found.length === 0 && cidr.network.family === 'IPv6' && canonical !== text) {
    found.push(`${path}: IPv6 CIDR value ${quote(text)} should be in RFC 5952 canonical format (${quote(canonical)})`);
  }
  return found;
}

/** The accepted spelling of numbers. */
interface Spelling {
  readonly decimal: RegExp;
  readonly group: RegExp;
  readonly prefix: RegExp;
}

// The patterns are unambiguous, so that they match in linear time.
const STRICT: Spelling = {
  decimal: /^(?:0|[1-9][0-9]{0,2})$/,
  group: /^[0-9a-fA-F]{1,4}$/,
  prefix: /^(?:0|[1-9][0-9]{0,2})$/,
};
const SLOPPY: Spelling = {
  decimal: /^(?:0+|0*[1-9][0-9]{0,2})$/,
  group: /^(?:0+|0*[1-9a-fA-F][0-9a-fA-F]{0,3})$/,
  prefix: /^(?:0+|0*[1-9][0-9]{0,2})$/,
};

function readIp(text: string, spelling: Spelling): Ip | undefined {
  if (!text.includes(':')) {
    const value = readV4(text, spelling);
    return value === undefined ? undefined : { family: 'IPv4', value, mapped: false };
  }
  const value = readV6(text, spelling);
  if (value === undefined) return undefined;
  const mapped = value >> 32n === MAPPED_PREFIX;
  return mapped ? { family: 'IPv4', value: value & 0xffffffffn, mapped } : { family: 'IPv6', value, mapped };
}

function readV4(text: string, { decimal }: Spelling): bigint | undefined {
  const fields = text.split('.', 5);
  if (fields.length !== 4 || !fields.every((field) => decimal.test(field) && Number(field) <= 255)) return undefined;
  return fields.reduce((value, field) => (value << 8n) | BigInt(field), 0n);
}

/** The 128 bits. `::` represents at least one group of zeros. */
function readV6(text: string, spelling: Spelling): bigint | undefined {
  const halves = text.split('::', 3);
  const groups = halves.map((half) => readGroups(half, spelling));
  const [head, tail] = groups;
  if (head === undefined || groups.length > 2) return undefined;
  // A dotted address is only allowed at the end of the text, so not before `::`.
  if (groups.length === 1) return head.length === 8 ? joinGroups(head) : undefined;
  const isDotted = (halves[0] ?? '').includes('.');
  if (tail === undefined || isDotted || head.length + tail.length > 7) return undefined;
  return joinGroups([...head, ...new Array<bigint>(8 - head.length - tail.length).fill(0n), ...tail]);
}

/** The 16-bit groups between colons; a dotted address at the end counts as two. */
function readGroups(text: string, spelling: Spelling): bigint[] | undefined {
  if (text === '') return [];
  // One more than an address can have, to detect too many groups.
  const parts = text.split(':', 9);
  const last = parts.at(-1) ?? '';
  const dotted = last.includes('.') ? readV4(last, spelling) : undefined;
  if (dotted !== undefined) parts.pop();
  if (!parts.every((part) => spelling.group.test(part))) return undefined;
  const groups = parts.map((part) => BigInt(`0x${part}`));
  return dotted === undefined ? groups : [...groups, dotted >> 16n, dotted & 0xffffn];
}

function joinGroups(groups: readonly bigint[]): bigint {
  return groups.reduce((value, group) => (value << 16n) | group, 0n);
}

function readCidr(text: string, spelling: Spelling): Cidr | undefined {
  const slash = text.indexOf('/');
  const length = text.slice(slash + 1);
  if (slash < 0 || !spelling.prefix.test(length)) return undefined;
  const address = readIp(text.slice(0, slash), spelling);
  if (address === undefined) return undefined;
  const prefix = Number(length);
  if (address.mapped) return mappedCidr(address, prefix);
  if (prefix > bitsOf(address.family)) return undefined;
  return { address, network: maskIp(address, prefix), prefix };
}

/** A mapped range is an IPv4 range while its prefix covers all of `::ffff:`, and an IPv6 range with a shorter one. */
function mappedCidr(address: Ip, prefix: number): Cidr | undefined {
  if (prefix > 128) return undefined;
  if (prefix >= MAPPED_BITS) {
    return {
      address,
      network: maskIp({ ...address, mapped: false }, prefix - MAPPED_BITS),
      prefix: prefix - MAPPED_BITS,
    };
  }
  const wide: Ip = { family: 'IPv6', value: (MAPPED_PREFIX << 32n) | address.value, mapped: false };
  return { address, network: maskIp(wide, prefix), prefix };
}

function maskIp(ip: Ip, prefix: number): Ip {
  const shift = BigInt(bitsOf(ip.family) - prefix);
  return { ...ip, value: (ip.value >> shift) << shift };
}

function bitsOf(family: IpFamily): number {
  return family === 'IPv4' ? 32 : 128;
}

function printV4(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join('.');
}

function printV6(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
  const run = longestZeros(groups);
  if (run === undefined) return groups.join(':');
  return `${groups.slice(0, run.start).join(':')}::${groups.slice(run.end).join(':')}`;
}

/** The run that `::` replaces: the longest run of at least two zero groups, the first if there are several. */
function longestZeros(groups: readonly string[]): { readonly start: number; readonly end: number } | undefined {
  let longest = { start: 0, end: 0 };
  let start = 0;
  for (const [index, group] of groups.entries()) {
    if (group !== '0') start = index + 1;
    else if (index + 1 - start > longest.end - longest.start) longest = { start, end: index + 1 };
  }
  return longest.end - longest.start >= 2 ? longest : undefined;
}

function classifyV4(value: bigint): IpClass {
  if (value >> 24n === 127n) return 'loopback';
  if (value >> 16n === 0xa9fen) return 'linkLocalUnicast';
  if (value >> 8n === 0xe00000n) return 'linkLocalMulticast';
  if (value === 0xffffffffn) return 'broadcast';
  return value >> 28n === 0xen ? 'multicast' : 'globalUnicast';
}

function classifyV6(value: bigint): IpClass {
  if (value === 1n) return 'loopback';
  if (value >> 118n === 0xfe80n >> 6n) return 'linkLocalUnicast';
  if (value >> 120n !== 0xffn) return 'globalUnicast';
  // The low half of the second byte is the scope; 2 is the link.
  return ((value >> 112n) & 0xfn) === 2n ? 'linkLocalMulticast' : 'multicast';
}

function canonicalProblems(text: string, canonical: string): readonly string[] {
  return text === canonical ? NONE : [`must be in canonical form (${quote(canonical)})`];
}

function isSameAddress(left: Ip, right: Ip): boolean {
  return left.family === right.family && left.value === right.value;
}

function nonStandard(path: string, what: string, canonical: string): string {
  const verdict = `will be considered invalid in a future ${SERVICE_NAME} release`;
  return `${path}: non-standard ${what} ${verdict}: use ${quote(canonical)}`;
}
