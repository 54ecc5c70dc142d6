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
import { asInstance, asString, declare, global, member, noSuchOverload } from './declare.js';

export const IP_TYPE = opaqueType('net.IP');

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
    const { ip } = asInstance(CelIp, other);
    return ip.family === this.ip.family && ip.value === this.ip.value;
  }
}

export const IPS: Library = {
  name: 'net.ip',
  variables: { 'net.IP': { type: typeOf(IP_TYPE), value: new CelTypeValue(IP_TYPE) } },
  functions: [
    declare(
      'ip',
      global('string_to_ip', [STRING], IP_TYPE, (text) => toIp(asString(text))),
    ),
    declare(
      'isIP',
      global('is_ip', [STRING], BOOL, (text) => typeof readIp(asString(text)) !== 'string'),
    ),
    declare(
      'ip.isCanonical',
      global('ip_is_canonical', [STRING], BOOL, (text) => printIp(toIp(asString(text)).ip) === text),
    ),
    declare(
      'string',
      global('ip_to_string', [IP_TYPE], STRING, (value) => printIp(ipOf(value))),
    ),
    declare(
      'family',
      member('ip_family', [IP_TYPE], INT, (value) => (ipOf(value).family === 'IPv4' ? 4n : 6n)),
    ),
    isOfClass('isUnspecified', 'ip_is_unspecified', 'unspecified'),
    isOfClass('isLoopback', 'ip_is_loopback', 'loopback'),
    isOfClass('isLinkLocalMulticast', 'ip_is_link_local_multicast', 'linkLocalMulticast'),
    isOfClass('isLinkLocalUnicast', 'ip_is_link_local_unicast', 'linkLocalUnicast'),
    isOfClass('isGlobalUnicast', 'ip_is_global_unicast', 'globalUnicast'),
  ],
};

export const CIDR_TYPE = opaqueType('net.CIDR');

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
    declare(
      'cidr',
      global('string_to_cidr', [STRING], CIDR_TYPE, (text) => toCidr(asString(text))),
    ),
    declare(
      'isCIDR',
      global('is_cidr', [STRING], BOOL, (text) => typeof readCidr(asString(text)) !== 'string'),
    ),
    declare(
      'string',
      global(
        'cidr_to_string',
        [CIDR_TYPE],
        STRING,
        (value) => `${printIp(cidrOf(value).address)}/${cidrOf(value).prefix}`,
      ),
    ),
    declare(
      'containsIP',
      member('cidr_contains_ip_string', [CIDR_TYPE, STRING], BOOL, (value, text) =>
        contains(cidrOf(value), addressOf(asString(text))),
      ),
      member('cidr_contains_ip_ip', [CIDR_TYPE, IP_TYPE], BOOL, (value, ip) =>
        contains(cidrOf(value), asInstance(CelIp, ip).ip),
      ),
    ),
    declare(
      'containsCIDR',
      member('cidr_contains_cidr_string', [CIDR_TYPE, STRING], BOOL, (value, text) =>
        containsRange(cidrOf(value), toCidr(asString(text)).cidr),
      ),
      member('cidr_contains_cidr', [CIDR_TYPE, CIDR_TYPE], BOOL, (value, other) =>
        containsRange(cidrOf(value), cidrOf(other)),
      ),
    ),
    declare(
      'ip',
      member('cidr_ip', [CIDR_TYPE], IP_TYPE, (value) => new CelIp(cidrOf(value).address)),
    ),
    declare(
      'prefixLength',
      member('cidr_prefix_length', [CIDR_TYPE], INT, (value) => BigInt(cidrOf(value).prefix)),
    ),
    declare(
      'masked',
      member(
        'cidr_masked',
        [CIDR_TYPE],
        CIDR_TYPE,
        (value) => new CelCidr({ ...cidrOf(value), address: cidrOf(value).network }),
      ),
    ),
  ],
};

function ipOf(value: CelValue | undefined): Ip {
  return asInstance(CelIp, value).ip;
}

function isOfClass(name: string, id: string, wanted: IpClass): FunctionDeclaration {
  const call = (value?: CelValue) => classifyIp(ipOf(value)) === wanted;
  return declare(name, member(id, [IP_TYPE], BOOL, call));
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

function cidrOf(value: CelValue | undefined): Cidr {
  return asInstance(CelCidr, value).cidr;
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
