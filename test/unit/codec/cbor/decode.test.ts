/**
 * CBOR bodies: decoded values and error messages. The cases contain the reference server's results for the same bytes,
 * decoded as a map (`value` or `fault`) and decoded only for the type (`typeFault`; `true` for the same message).
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { cbor } from '../../../../src/codec/cbor/index.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { BodyError, type RequestBody } from '../../../../src/protocol/body.js';
import { fromHex } from './hex.js';

interface Case {
  readonly name: string;
  readonly hex: string;
  readonly value?: unknown;
  readonly fault?: string;
  readonly typeFault?: string | true;
}

const cases = JSON.parse(readFileSync(new URL('./cases.json', import.meta.url), 'utf8')) as readonly Case[];

describe('CBOR documents', () => {
  test.each(cases)('decodes or rejects $name like the reference server', (given) => {
    const { hex, value, fault } = given;
    const read = () => bodyOf(hex).read().value;
    if (fault !== undefined) expect(rejectionMessage(read)).toBe(fault);
    else if ('value' in given) expect(JSON.stringify(sorted(read()))).toBe(JSON.stringify(sorted(value)));
    else expect(rejectionMessage(read)).toBe('accepted');
  });
});

describe('CBOR type metadata', () => {
  test.each(cases)('reads or rejects the type of $name like the reference server', ({ hex, fault, typeFault }) => {
    const expected = typeFault === true ? fault : (typeFault ?? 'accepted');
    expect(rejectionMessage(() => bodyOf(hex).typeMeta?.())).toBe(expected);
  });

  test('reads apiVersion and kind, and empty strings where they are missing', () => {
    expect(bodyOf('a24a61706956657273696f6e427631446b696e6449436f6e6669674d6170').typeMeta?.()).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
    });
    expect(bodyOf('a0').typeMeta?.()).toEqual({ apiVersion: '', kind: '' });
    expect(bodyOf('f6').typeMeta?.()).toEqual({ apiVersion: '', kind: '' });
  });
});

describe('CBOR values', () => {
  test('decodes integers exactly', () => {
    const { value } = bodyOf(
      'a1416186 17 1a00010000 1b0000000100000000 1b7fffffffffffffff 3903e7 3b7fffffffffffffff',
    ).read();
    expect(value).toEqual({ a: [23, 65536, 4294967296, 9223372036854775807n, -1000, -9223372036854775808n] });
  });

  test('keeps the distinction between a whole float and an integer', () => {
    const { value } = bodyOf('a14161f93c00').read();
    expect(String((value as { a: unknown }).a)).toBe('1.0');
    expect(JSON.stringify(value)).toBe('{"a":1}');
  });

  test('decodes __proto__ and constructor as ordinary keys', () => {
    const { value } = bodyOf('a2495f5f70726f746f5f5fa14178014b636f6e7374727563746f7202').read();
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('replaces each byte that is not UTF-8', () => {
    expect(bodyOf('a14161 46 e282 41 ff c3 a9').read().value).toEqual({ a: '\ufffd\ufffdA\ufffdé' });
  });
});

describe('summary of a CBOR body', () => {
  test.each([
    ['', '<empty>'],
    ['d9d9f7a0', 'd9d9f7a0'],
    ['00'.repeat(31), `${'00'.repeat(30)} ...`],
    [hexOf('{"apiVersion":"v1","kind":"ConfigMap"}'), '{"apiVersion":"v1","kind":"Con ...'],
    [hexOf('{}'), '{}'],
    [`${hexOf('{"a":"')}ffff`, '{"a":"\ufffd\ufffd'],
  ])('summarizes the body %j as %j', (hex, summary) => {
    expect(bodyOf(hex).summary()).toBe(summary);
  });
});

function bodyOf(hex: string): RequestBody {
  return cbor.body(fromHex(hex), orchDialect);
}

function hexOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function rejectionMessage(read: () => unknown): string {
  try {
    read();
    return 'accepted';
  } catch (error) {
    if (error instanceof BodyError) return error.message;
    throw error;
  }
}

/** Sorts maps, because the reference results have no order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
