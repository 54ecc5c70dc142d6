/**
 * `cidr`, `isCIDR` and what a range of addresses holds. A range keeps the address it was written with, bits beyond the
 * prefix included, until it is masked.
 */

import { type Cidr, contains, type Ip, parseCidr, printIp } from '../../meta/ip.js';
import { quote } from '../../text/go/go-text.js';
import { addressProblem, zoneOf } from '../../text/go/ip-problem.js';
import type { Library } from '../library.js';
import { BOOL, INT, opaqueType, STRING, typeOf } from '../types.js';
import { CelError, CelOpaque, CelTypeValue, type CelValue } from '../values.js';
import { declare, global, member } from './declare.js';
import { CelIp, IP_TYPE, mappedProblem, toIp } from './ip.js';
import { instanceOf, noSuchOverload, textOf } from './value-arguments.js';

export const CIDR_TYPE = opaqueType('net.CIDR');

export class CelCidr extends CelOpaque {
  readonly type = CIDR_TYPE;
  override readonly referenceClass = 'cel.CIDR';
  /** In bytes, of the prefix. */
  override readonly size: number;
  constructor(readonly cidr: Cidr) {
    super();
    this.size = Math.ceil(cidr.prefix / 8);
  }
  equals(other: CelValue): boolean {
    const { address, prefix } = instanceOf(CelCidr, other).cidr;
    return prefix === this.cidr.prefix && isSame(address, this.cidr.address);
  }
}

export const CIDRS: Library = {
  name: 'net.cidr',
  variables: { 'net.CIDR': { type: typeOf(CIDR_TYPE), value: new CelTypeValue(CIDR_TYPE) } },
  functions: [
    declare(
      'cidr',
      global('string_to_cidr', [STRING], CIDR_TYPE, (text) => toCidr(textOf(text))),
    ),
    declare(
      'isCIDR',
      global('is_cidr', [STRING], BOOL, (text) => typeof readCidr(textOf(text)) !== 'string'),
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
        contains(cidrOf(value), addressOf(textOf(text))),
      ),
      member('cidr_contains_ip_ip', [CIDR_TYPE, IP_TYPE], BOOL, (value, ip) =>
        contains(cidrOf(value), instanceOf(CelIp, ip).ip),
      ),
    ),
    declare(
      'containsCIDR',
      member('cidr_contains_cidr_string', [CIDR_TYPE, STRING], BOOL, (value, text) =>
        containsRange(cidrOf(value), toCidr(textOf(text)).cidr),
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

function cidrOf(value: CelValue | undefined): Cidr {
  return instanceOf(CelCidr, value).cidr;
}

/** A text that is no address is not told apart from a value of a wrong type here. */
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
  // Said twice: by the reader of ranges and by the function.
  if (typeof cidr === 'string')
    throw new CelError(`network address parse error during conversion from string: ${cidr}`);
  return new CelCidr(cidr);
}

/** The range, or why there is none. */
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
  const problem = addressProblem(address);
  if (problem !== undefined) return problem;
  if (zoneOf(address) !== '') return 'IPv6 zones cannot be present in a prefix';
  const bits = text.slice(slash + 1);
  // More digits than any 64-bit number has need not be read to be refused.
  if (!/^(0|[1-9][0-9]{0,18})$/.test(bits) || BigInt(bits) > MAX_INT64) return `bad bits after slash: ${quote(bits)}`;
  return BigInt(bits) > (address.includes(':') ? 128n : 32n) ? 'prefix length out of range' : undefined;
}
