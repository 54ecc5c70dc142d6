/**
 * A DER encoder, as far as certificates need it. The decoder is `text/x509/der.ts`.
 */
import { TAG } from '../../text/x509/der.js';
import { concatBytes } from '../../util/bytes.js';

/** Bytes that Web Crypto accepts. */
export type Bytes = Uint8Array<ArrayBuffer>;

export function element(tag: number, ...contents: readonly Uint8Array[]): Bytes {
  const content = concatBytes(contents);
  return concatBytes([Uint8Array.of(tag), lengthOf(content.length), content]);
}

export function sequence(...contents: readonly Uint8Array[]): Bytes {
  return element(TAG.sequence, ...contents);
}

/** A non-negative integer, most significant byte first. */
export function integer(bytes: Uint8Array): Bytes {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Uint8Array.of(0) : bytes.subarray(first);
  // A set first bit would make the number negative.
  return element(TAG.integer, (digits[0] ?? 0) >= 0x80 ? concatBytes([Uint8Array.of(0), digits]) : digits);
}

export function bitString(bytes: Uint8Array, unused = 0): Bytes {
  return element(TAG.bitString, Uint8Array.of(unused), bytes);
}

export function octetString(...contents: readonly Uint8Array[]): Bytes {
  return element(TAG.octetString, ...contents);
}

/** An OID, given as its content bytes in hexadecimal. */
export function oid(hex: string): Bytes {
  return element(TAG.oid, fromHex(hex));
}

export function text(tag: number, value: string): Bytes {
  return element(tag, new TextEncoder().encode(value));
}

/** A time in whole seconds: UTCTime, or GeneralizedTime for years outside 1950-2049. */
export function time(ms: number): Bytes {
  const digits = new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '');
  const year = Number(digits.slice(0, 4));
  return year < 1950 || year >= 2050 ? text(TAG.generalizedTime, digits) : text(TAG.utcTime, digits.slice(2));
}

export function fromHex(hex: string): Bytes {
  return Uint8Array.from({ length: hex.length / 2 }, (_, index) =>
    Number.parseInt(hex.slice(2 * index, 2 * index + 2), 16),
  );
}

function lengthOf(length: number): Uint8Array {
  if (length < 0x80) return Uint8Array.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return Uint8Array.of(0x80 + bytes.length, ...bytes);
}
