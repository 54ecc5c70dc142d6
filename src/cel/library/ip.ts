/**
 * `ip`, `isIP`, `ip.isCanonical` and what an address is good for. Zones and IPv4 inside IPv6 are refused.
 */

import { classifyIp, type Ip, type IpClass, parseIp, printIp } from '../../meta/ip.js';
import { quote } from '../../text/go/go-text.js';
import { addressProblem, zoneOf } from '../../text/go/ip-problem.js';
import type { FunctionDeclaration, Library } from '../library.js';
import { BOOL, INT, opaqueType, STRING, typeOf } from '../types.js';
import { CelError, CelOpaque, CelTypeValue, type CelValue } from '../values.js';
import { declare, global, member } from './declare.js';
import { instanceOf, textOf } from './value-arguments.js';

export const IP_TYPE = opaqueType('net.IP');

export class CelIp extends CelOpaque {
  readonly type = IP_TYPE;
  override readonly referenceClass = 'cel.IP';
  /** In bytes. */
  override readonly size: number;
  constructor(readonly ip: Ip) {
    super();
    this.size = ip.family === 'IPv4' ? 4 : 16;
  }
  equals(other: CelValue): boolean {
    const { ip } = instanceOf(CelIp, other);
    return ip.family === this.ip.family && ip.value === this.ip.value;
  }
}

export const IPS: Library = {
  name: 'net.ip',
  variables: { 'net.IP': { type: typeOf(IP_TYPE), value: new CelTypeValue(IP_TYPE) } },
  functions: [
    declare(
      'ip',
      global('string_to_ip', [STRING], IP_TYPE, (text) => toIp(textOf(text))),
    ),
    declare(
      'isIP',
      global('is_ip', [STRING], BOOL, (text) => typeof readIp(textOf(text)) !== 'string'),
    ),
    declare(
      'ip.isCanonical',
      global('ip_is_canonical', [STRING], BOOL, (text) => printIp(toIp(textOf(text)).ip) === text),
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

export function toIp(text: string): CelIp {
  const ip = readIp(text);
  if (typeof ip === 'string') throw new CelError(ip);
  return new CelIp(ip);
}

/** The address, or why there is none. */
function readIp(text: string): Ip | string {
  const problem = addressProblem(text);
  if (problem !== undefined) return `IP Address ${quote(text)} parse error during conversion from string: ${problem}`;
  if (zoneOf(text) !== '') return `IP address ${quote(text)} with zone value is not allowed`;
  const ip = parseIp(text);
  // Whoever has no problem is an address; one that is mapped is one all the same.
  if (ip === undefined || ip.mapped) return mappedProblem(text);
  return ip;
}

export function mappedProblem(text: string): string {
  return `IPv4-mapped IPv6 address ${quote(text)} is not allowed`;
}

function ipOf(value: CelValue | undefined): Ip {
  return instanceOf(CelIp, value).ip;
}

function isOfClass(name: string, id: string, wanted: IpClass): FunctionDeclaration {
  const call = (value?: CelValue) => classifyIp(ipOf(value)) === wanted;
  return declare(name, member(id, [IP_TYPE], BOOL, call));
}
