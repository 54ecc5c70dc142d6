/**
 * IP addresses (`ip`, `isIP`, `ip.isCanonical`) and ranges (`cidr`, `isCIDR`). Zones and IPv4-mapped IPv6 addresses are
 * rejected. A range keeps the address it was written with, including bits beyond the prefix, until it is masked.
 */

import { type Cidr, classifyIp, contains, type Ip, type IpClass, parseCidr, parseIp, printIp } from '../../meta/ip.js';
import { quote } from '../../text/go/go-text.js';
import { ipAddressProblem, ipZoneOf } from '../../text/go/ip-problem.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, INT, opaqueType, STRING, typeOf } from '../types.js';
import { CelError, CelOpaque, CelTypeValue, type CelValue } from '../values.js';
import { asInstance, declare, globalFunction, member, memberFunction, noSuchOverload } from './declare.js';

export const IP_TYPE = opaqueType<CelIp>('net.IP');

export class CelIp extends CelOpaque {
  readonly type = IP_TYPE;
  override readonly goTypeName = 'cel.IP';
  /** The size in bytes. */
  override readonly size: number;
  constructor(readonly ip: Ip) {
    super();
    this.size = ip.family === 'IPv4' ? 4 : 16;
  }
  equals(other: CelValue): boolean {
    return isSame(asInstance(CelIp, other).ip, this.ip);
  }
}

export const IPS: Library = {
  name: 'net.ip',
  variables: { 'net.IP': { type: typeOf(IP_TYPE), value: new CelTypeValue(IP_TYPE) } },
  functions: [
    globalFunction('ip', 'string_to_ip', [STRING], IP_TYPE, toIp),
    globalFunction('isIP', 'is_ip', [STRING], BOOL, (text) => typeof readIp(text) !== 'string'),
    globalFunction('ip.isCanonical', 'ip_is_canonical', [STRING], BOOL, (text) => printIp(toIp(text).ip) === text),
    globalFunction('string', 'ip_to_string', [IP_TYPE], STRING, ({ ip }) => printIp(ip)),
    memberFunction('family', 'ip_family', [IP_TYPE], INT, ({ ip }) => (ip.family === 'IPv4' ? 4n : 6n)),
    isOfClass('isUnspecified', 'ip_is_unspecified', 'unspecified'),
    isOfClass('isLoopback', 'ip_is_loopback', 'loopback'),
    isOfClass('isLinkLocalMulticast', 'ip_is_link_local_multicast', 'linkLocalMulticast'),
    isOfClass('isLinkLocalUnicast', 'ip_is_link_local_unicast', 'linkLocalUnicast'),
    isOfClass('isGlobalUnicast', 'ip_is_global_unicast', 'globalUnicast'),
  ],
};

export const CIDR_TYPE = opaqueType<CelCidr>('net.CIDR');

export class CelCidr extends CelOpaque {
  readonly type = CIDR_TYPE;
  override readonly goTypeName = 'cel.CIDR';
  /** The size of the prefix in bytes. */
  override readonly size: number;
  constructor(readonly cidr: Cidr) {
    super();
    this.size = Math.ceil(cidr.prefix / 8);
  }
  equals(other: CelValue): boolean {
    const { address, prefix } = asInstance(CelCidr, other).cidr;
    return prefix === this.cidr.prefix && isSame(address, this.cidr.address);
  }
}

export const CIDRS: Library = {
  name: 'net.cidr',
  variables: { 'net.CIDR': { type: typeOf(CIDR_TYPE), value: new CelTypeValue(CIDR_TYPE) } },
  functions: [
    globalFunction('cidr', 'string_to_cidr', [STRING], CIDR_TYPE, toCidr),
    globalFunction('isCIDR', 'is_cidr', [STRING], BOOL, (text) => typeof readCidr(text) !== 'string'),
    globalFunction(
      'string',
      'cidr_to_string',
      [CIDR_TYPE],
      STRING,
      ({ cidr }) => `${printIp(cidr.address)}/${cidr.prefix}`,
    ),
    declare(
      'containsIP',
      member('cidr_contains_ip_string', [CIDR_TYPE, STRING], BOOL, ({ cidr }, text) => contains(cidr, addressOf(text))),
      member('cidr_contains_ip_ip', [CIDR_TYPE, IP_TYPE], BOOL, ({ cidr }, { ip }) => contains(cidr, ip)),
    ),
    declare(
      'containsCIDR',
      member('cidr_contains_cidr_string', [CIDR_TYPE, STRING], BOOL, ({ cidr }, text) =>
        containsRange(cidr, toCidr(text).cidr),
      ),
      member('cidr_contains_cidr', [CIDR_TYPE, CIDR_TYPE], BOOL, (outer, inner) =>
        containsRange(outer.cidr, inner.cidr),
      ),
    ),
    memberFunction('ip', 'cidr_ip', [CIDR_TYPE], IP_TYPE, ({ cidr }) => new CelIp(cidr.address)),
    memberFunction('prefixLength', 'cidr_prefix_length', [CIDR_TYPE], INT, ({ cidr }) => BigInt(cidr.prefix)),
    memberFunction(
      'masked',
      'cidr_masked',
      [CIDR_TYPE],
      CIDR_TYPE,
      ({ cidr }) => new CelCidr({ ...cidr, address: cidr.network }),
    ),
  ],
};

function isOfClass(name: string, id: string, wanted: IpClass): FunctionDeclaration {
  return memberFunction(name, id, [IP_TYPE], BOOL, ({ ip }) => classifyIp(ip) === wanted);
}

function toIp(text: string): CelIp {
  const ip = readIp(text);
  if (typeof ip === 'string') throw new CelError(ip);
  return new CelIp(ip);
}

/** Returns the address or an error message. */
function readIp(text: string): Ip | string {
  const problem = ipAddressProblem(text);
  if (problem !== undefined) return `IP Address ${quote(text)} parse error during conversion from string: ${problem}`;
  if (ipZoneOf(text) !== '') return `IP address ${quote(text)} with zone value is not allowed`;
  const ip = parseIp(text);
  // The text is a valid address here; only mapped ones are rejected.
  if (ip === undefined || ip.mapped) return mappedProblem(text);
  return ip;
}

function mappedProblem(text: string): string {
  return `IPv4-mapped IPv6 address ${quote(text)} is not allowed`;
}

/** An invalid address fails like a value of the wrong type here. */
function addressOf(text: string): Ip {
  try {
    return toIp(text).ip;
  } catch (error) {
    if (error instanceof CelError) throw noSuchOverload();
    throw error;
  }
}

function containsRange(outer: Cidr, inner: Cidr): boolean {
  return outer.prefix <= inner.prefix && contains(outer, inner.address);
}

function isSame(left: Ip, right: Ip): boolean {
  return left.family === right.family && left.value === right.value;
}

function toCidr(text: string): CelCidr {
  const cidr = readCidr(text);
  // The reference server repeats this prefix.
  if (typeof cidr === 'string')
    throw new CelError(`network address parse error during conversion from string: ${cidr}`);
  return new CelCidr(cidr);
}

/** Returns the range or an error message. */
function readCidr(text: string): Cidr | string {
  const problem = prefixProblem(text);
  if (problem !== undefined) {
    return `network address parse error during conversion from string: netip.ParsePrefix(${quote(text)}): ${problem}`;
  }
  const cidr = parseCidr(text);
  if (cidr === undefined || cidr.address.mapped) return mappedProblem(text);
  return cidr;
}

const MAX_INT64 = 2n ** 63n - 1n;

function prefixProblem(text: string): string | undefined {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return "no '/'";
  const address = text.slice(0, slash);
  const problem = ipAddressProblem(address);
  if (problem !== undefined) return problem;
  if (ipZoneOf(address) !== '') return 'IPv6 zones cannot be present in a prefix';
  const bits = text.slice(slash + 1);
  // The digit limit rejects numbers beyond 64 bits without parsing them.
  if (!/^(0|[1-9][0-9]{0,18})$/.test(bits) || BigInt(bits) > MAX_INT64) return `bad bits after slash: ${quote(bits)}`;
  return BigInt(bits) > (address.includes(':') ? 128n : 32n) ? 'prefix length out of range' : undefined;
}
