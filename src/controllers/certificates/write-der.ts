/**
 * DER, written: the counterpart of what `meta/der.ts` reads, as far as certificates need it.
 */
import { TAG } from '../../text/x509/der.js';

/** Bytes that the platform's cryptography takes. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** One element of the given contents. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Bytes {
  const content = concat(contents);
  return concat([Uint8Array.of(tag), lengthOf(content.length), content]);
}

export function sequence(...contents: readonly Uint8Array[]): Bytes {
  return element(TAG.sequence, ...contents);
}

/** A whole number that is not negative, the most significant byte first. */
export function integer(bytes: Uint8Array): Bytes {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Uint8Array.of(0) : bytes.subarray(first);
  // A first bit that is set would be a sign.
  return element(TAG.integer, (digits[0] ?? 0) >= 0x80 ? concat([Uint8Array.of(0), digits]) : digits);
}

export function bitString(bytes: Uint8Array, unused = 0): Bytes {
  return element(TAG.bitString, Uint8Array.of(unused), bytes);
}

export function octetString(...contents: readonly Uint8Array[]): Bytes {
  return element(TAG.octetString, ...contents);
}

/** An identifier by its bytes in hexadecimal. */
export function oid(hex: string): Bytes {
  return element(TAG.oid, fromHex(hex));
}

export function text(tag: number, value: string): Bytes {
  return element(tag, new TextEncoder().encode(value));
}

/** A moment in whole seconds. Years that two digits cannot say have four. */
export function time(ms: number): Bytes {
  const digits = new Date(ms)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(/[-:T]/g, '');
  const year = Number(digits.slice(0, 4));
  return year < 1950 || year >= 2050 ? text(TAG.generalizedTime, digits) : text(TAG.utcTime, digits.slice(2));
}

export function concat(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
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
