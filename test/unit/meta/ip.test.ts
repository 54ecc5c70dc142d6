/** IP addresses and CIDRs: parsing, printing, classification, and validation messages. */

import { describe, expect, test } from 'vitest';
import type { Cidr, Ip } from '../../../src/meta/ip.js';
import {
  canonicalCidrProblems,
  canonicalIpProblems,
  cidrSize,
  cidrWarnings,
  classifyIp,
  contains,
  ipAddressNameProblems,
  ipWarnings,
  isDualStack,
  parseCidr,
  parseCidrSloppy,
  parseIp,
  parseIpSloppy,
  printCidr,
  printIp,
  specialIpProblems,
  validCidrProblems,
  validIpProblems,
} from '../../../src/meta/ip.js';
import fc from '../../property/seeded.js';

const INVALID_IP = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const INVALID_CIDR = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

function ip(text: string): Ip {
  const read = parseIpSloppy(text);
  if (read === undefined) throw new Error(`not an address: ${text}`);
  return read;
}

function cidr(text: string): Cidr {
  const read = parseCidrSloppy(text);
  if (read === undefined) throw new Error(`not a range: ${text}`);
  return read;
}

describe('IP address parsing', () => {
  test.each([
    ['10.1.2.3', '10.1.2.3'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['::1.2.3.4', '::102:304'],
    ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
    ['::ffff:10.1.2.3', '10.1.2.3'],
    ['::FFFF:a01:203', '10.1.2.3'],
  ])('prints the IP address %s as %s', (text, printed) => {
    expect(parseIp(text)).toEqual(parseIpSloppy(text));
    expect(printIp(ip(text))).toBe(printed);
  });

  test.each([
    ['010.001.002.003', '10.1.2.3'],
    ['0000000000000000000000010.1.2.3', '10.1.2.3'],
    ['10.1.2.00', '10.1.2.0'],
    ['2001:00db8::1', '2001:db8::1'],
    ['::ffff:010.1.2.3', '10.1.2.3'],
  ])('parses the IP address %s as %s only in the sloppy parser', (text, printed) => {
    expect(parseIp(text)).toBeUndefined();
    expect(printIp(ip(text))).toBe(printed);
  });

  test.each([
    '',
    'x',
    '10.1',
    '10.1.2',
    '10.1.2.3.4',
    '10.1.2.256',
    '10.1.2.',
    '.1.2.3',
    '10.1.2.-1',
    '10.1.2.0x1',
    ' 10.1.2.3',
    '10.1.2.3 ',
    '10.1.2.3/24',
    ':',
    ':::',
    '1:2',
    '1::2::3',
    ':1::2',
    '1::2:',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '12345::',
    'g::',
    '1.2.3.4::',
    '::1.2.3.4:5',
    '::1.2.3',
    '1:2:3:4:5:6:7:1.2.3.4',
    'fe80::1%eth0',
    '[::1]',
  ])('rejects the IP address %j in both parsers', (text) => {
    expect([parseIp(text), parseIpSloppy(text)]).toEqual([undefined, undefined]);
  });

  test('parses a printed address to the same address', () => {
    const family = fc.constantFrom('IPv4' as const, 'IPv6' as const);
    fc.assert(
      fc.property(family, fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (kind, bits) => {
        const made: Ip = { family: kind, value: kind === 'IPv4' ? bits & 0xffffffffn : bits, mapped: false };
        fc.pre(kind === 'IPv4' || bits >> 32n !== 0xffffn);
        expect(parseIp(printIp(made))).toEqual(made);
      }),
    );
  });

  test('rejects a long hostile text quickly', () => {
    for (const piece of ['0', '0:', '::', '1.', 'f', '/']) {
      expect(parseIpSloppy(`${piece.repeat(300_000)}x`)).toBeUndefined();
      expect(parseCidrSloppy(`::/${piece.repeat(300_000)}x`)).toBeUndefined();
    }
  });
});

describe('CIDR parsing', () => {
  test.each([
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3/32', '10.1.2.3/32'],
    ['10.1.2.3/0', '0.0.0.0/0'],
    ['2001:DB8::1/64', '2001:db8::/64'],
    ['::ffff:10.1.2.3/120', '10.1.2.0/24'],
    ['::ffff:10.1.2.3/96', '0.0.0.0/0'],
    ['::ffff:10.1.2.3/64', '::/64'],
  ])('prints the CIDR %s as %s', (text, printed) => {
    expect(parseCidr(text)).toEqual(parseCidrSloppy(text));
    expect(printCidr(cidr(text))).toBe(printed);
  });

  test('accepts leading zeros of a CIDR only in the sloppy parser', () => {
    for (const text of ['10.0.0.0/08', '010.0.0.0/8', '2001:db8::/064']) {
      expect(parseCidr(text)).toBeUndefined();
      expect(parseCidrSloppy(text)).toBeDefined();
    }
  });

  test.each([
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '::/129',
    '::ffff:10.0.0.0/129',
    '10.0.0.0/8/8',
    '10.0.0.0/+8',
    '/8',
  ])('rejects the CIDR %j', (text) => {
    expect([parseCidr(text), parseCidrSloppy(text)]).toEqual([undefined, undefined]);
  });

  test('contains only addresses of the family of a CIDR', () => {
    expect(contains(cidr('10.0.0.0/8'), ip('10.255.0.1'))).toBe(true);
    expect(contains(cidr('10.0.0.0/8'), ip('::ffff:10.0.0.1'))).toBe(true);
    expect(contains(cidr('10.0.0.0/8'), ip('11.0.0.0'))).toBe(false);
    expect(contains(cidr('0.0.0.0/0'), ip('::1'))).toBe(false);
    expect(contains(cidr('2001:db8::/112'), ip('2001:db8::ffff'))).toBe(true);
  });

  test('counts the addresses of a CIDR', () => {
    expect(cidrSize(cidr('10.96.0.0/12'))).toBe(2n ** 20n);
    expect(cidrSize(cidr('2001:db8::/64'))).toBe(2n ** 64n);
  });

  test('detects dual stack by two families', () => {
    expect(isDualStack([cidr('10.0.0.0/8').network.family, cidr('fd00::/64').network.family])).toBe(true);
    expect(isDualStack(['IPv4', 'IPv4'])).toBe(false);
    expect(isDualStack([])).toBe(false);
  });
});

test.each([
  ['0.0.0.0', 'unspecified'],
  ['::', 'unspecified'],
  ['::ffff:0.0.0.0', 'unspecified'],
  ['127.255.0.1', 'loopback'],
  ['::1', 'loopback'],
  ['169.254.1.1', 'linkLocalUnicast'],
  ['febf::1', 'linkLocalUnicast'],
  ['fec0::1', 'globalUnicast'],
  ['224.0.0.255', 'linkLocalMulticast'],
  ['224.0.1.0', 'multicast'],
  ['ff12::1', 'linkLocalMulticast'],
  ['ff05::1', 'multicast'],
  ['255.255.255.255', 'broadcast'],
  ['10.0.0.1', 'globalUnicast'],
])('classifies the IP address %s as %s', (text, expected) => {
  expect(classifyIp(ip(text))).toBe(expected);
});

describe('IP validation', () => {
  test.each([
    ['10.9.8.7', []],
    ['010.9.8.7', []],
    ['::ffff:10.9.8.7', []],
    ['x', [INVALID_IP]],
    ['', [INVALID_IP]],
  ])('validates the address %j', (text, problems) => {
    expect(validIpProblems(text)).toEqual(problems);
  });

  test.each([
    ['10.9.8.7', []],
    ['2001:db8::ffff', []],
    ['x', [INVALID_IP]],
    ['10.9.8.07', ['must not have leading 0s']],
    ['::ffff:10.9.8.7', ['must not be an IPv4-mapped IPv6 address']],
    ['2001:0db8::1', ['must be in canonical form ("2001:db8::1")']],
    ['2001:DB8::1', ['must be in canonical form ("2001:db8::1")']],
  ])('validates the canonical address and IPAddress name %j', (text, problems) => {
    expect(canonicalIpProblems(text)).toEqual(problems);
    expect(ipAddressNameProblems(text)).toEqual(problems);
  });

  test('accepts leading zeros in a CIDR but requires a prefix length', () => {
    expect(validCidrProblems('10.9.8.7/024')).toEqual([]);
    expect(validCidrProblems('10.9.8.7')).toEqual([INVALID_CIDR]);
  });

  test.each([
    ['10.9.8.0/24', []],
    ['x', [INVALID_CIDR]],
    ['10.9.8.0/024', ['must not have leading 0s in IP or prefix length']],
    ['::ffff:10.9.8.0/120', ['must not have an IPv4-mapped IPv6 address']],
    ['10.9.8.7/24', ['must not have bits set beyond the prefix length']],
    ['2001:db8:0::/64', ['must be in canonical form ("2001:db8::/64")']],
  ])('validates the canonical CIDR %j', (text, problems) => {
    expect(canonicalCidrProblems(text)).toEqual(problems);
  });

  test.each([
    ['10.1.2.3', []],
    ['224.0.1.1', []],
    ['10.1', ['must be a valid IP address']],
    ['0.0.0.0', ['may not be unspecified (0.0.0.0)']],
    ['0:0::0', ['may not be unspecified (0:0::0)']],
    ['::1', ['may not be in the loopback range (127.0.0.0/8, ::1/128)']],
    ['169.254.1.1', ['may not be in the link-local range (169.254.0.0/16, fe80::/10)']],
    ['224.0.0.1', ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)']],
  ])('validates the non-special address %j', (text, problems) => {
    expect(specialIpProblems(text)).toEqual(problems);
  });
});

describe('IP warnings', () => {
  test.each([
    ['10.1.2.3', []],
    ['2001:db8::1', []],
    ['x', []],
    ['2001:0db8:0:0::1', ['f: IPv6 address "2001:0db8:0:0::1" should be in RFC 5952 canonical format ("2001:db8::1")']],
    [
      '::ffff:1.2.3.4',
      [
        'f: non-standard IP address "::ffff:1.2.3.4" will be considered invalid in a future Kubernetes release: use "1.2.3.4"',
      ],
    ],
  ])('warns about the address %j', (text, warnings) => {
    expect(ipWarnings('f', text)).toEqual(warnings);
  });

  test.each([
    ['10.0.0.0/8', []],
    [
      '10.1.2.3/8',
      ['f: CIDR value "10.1.2.3/8" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.2.3/32"?)'],
    ],
    ['2001:DB8::/64', ['f: IPv6 CIDR value "2001:DB8::/64" should be in RFC 5952 canonical format ("2001:db8::/64")']],
    [
      '::ffff:10.1.2.3/104',
      [
        'f: CIDR value "::ffff:10.1.2.3/104" is ambiguous in this context (should be "10.0.0.0/8" or "10.1.2.3/128"?)',
        'f: non-standard CIDR value "::ffff:10.1.2.3/104" will be considered invalid in a future Kubernetes release: use "10.0.0.0/8"',
      ],
    ],
    ['x', []],
  ])('warns about the CIDR %j', (text, warnings) => {
    expect(cidrWarnings('f', text)).toEqual(warnings);
  });
});
