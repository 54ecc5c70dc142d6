/**
 * Encodes certificate usages as X.509 extensions.
 */
import type { KeyUsage } from '../../kinds/certificates/v1/certificate-signing-request/schema.js';
import { type Bytes, bitString, oid, sequence } from './write-der.js';

/** The bit of each key usage. */
const BITS: Partial<Record<KeyUsage, number>> = {
  signing: 0,
  'digital signature': 0,
  'content commitment': 1,
  'key encipherment': 2,
  'data encipherment': 3,
  'key agreement': 4,
  'cert sign': 5,
  'crl sign': 6,
  'encipher only': 7,
  'decipher only': 8,
};

/** The OIDs of extended usages, in the order of certificates. */
const EXTENDED: Partial<Record<KeyUsage, string>> = {
  any: '551d2500',
  'server auth': '2b06010505070301',
  'client auth': '2b06010505070302',
  'code signing': '2b06010505070303',
  'email protection': '2b06010505070304',
  's/mime': '2b06010505070304',
  'ipsec end system': '2b06010505070305',
  'ipsec tunnel': '2b06010505070306',
  'ipsec user': '2b06010505070307',
  timestamping: '2b06010505070308',
  'ocsp signing': '2b06010505070309',
  'microsoft sgc': '2b0601040182370a0303',
  'netscape sgc': '6086480186f8420401',
};

export interface UsageExtensions {
  /** Absent: no usage of that extension. */
  readonly keyUsage?: Bytes;
  readonly extendedKeyUsage?: Bytes;
}

export function usageExtensions(usages: readonly string[]): UsageExtensions {
  const bits = new Set<number>();
  const wanted = new Set<string>();
  for (const usage of usages as readonly KeyUsage[]) {
    const [bit, extended] = [BITS[usage], EXTENDED[usage]];
    if (bit !== undefined) bits.add(bit);
    if (extended !== undefined) wanted.add(extended);
  }
  const sorted = [...new Set(Object.values(EXTENDED))].filter((identifier) => wanted.has(identifier));
  return {
    ...(bits.size === 0 ? {} : { keyUsage: bitList(bits) }),
    ...(sorted.length === 0 ? {} : { extendedKeyUsage: sequence(...sorted.map(oid)) }),
  };
}

/** A DER bit string without trailing zero bits. */
export function bitList(bits: ReadonlySet<number>): Bytes {
  const last = Math.max(...bits);
  const bytes = new Uint8Array(Math.floor(last / 8) + 1);
  for (const bit of bits) {
    const at = Math.floor(bit / 8);
    bytes[at] = (bytes[at] ?? 0) | (0x80 >> (bit % 8));
  }
  return bitString(bytes, 7 - (last % 8));
}
