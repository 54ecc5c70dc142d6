/**
 * CBOR bodies: what is read, what is refused and in which words. The cases hold what the reference server made of the
 * same bytes, once as a map (`value` or `fault`) and once when it looked only for the type (`typeFault`; `true` for the
 * same words).
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

describe('documents', () => {
  test.each(cases)('$name', (given) => {
    const { hex, value, fault } = given;
    const read = () => bodyOf(hex).read().value;
    if (fault !== undefined) expect(refusal(read)).toBe(fault);
    else if ('value' in given) expect(JSON.stringify(sorted(read()))).toBe(JSON.stringify(sorted(value)));
    else expect(refusal(read)).toBe('accepted');
  });
});

describe('types', () => {
  test.each(cases)('$name', ({ hex, fault, typeFault }) => {
    const expected = typeFault === true ? fault : (typeFault ?? 'accepted');
    expect(refusal(() => bodyOf(hex).typeMeta?.())).toBe(expected);
  });

  test('are what the document says, and empty where it says nothing', () => {
    expect(bodyOf('a24a61706956657273696f6e427631446b696e6449436f6e6669674d6170').typeMeta?.()).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
    });
    expect(bodyOf('a0').typeMeta?.()).toEqual({ apiVersion: '', kind: '' });
    expect(bodyOf('f6').typeMeta?.()).toEqual({ apiVersion: '', kind: '' });
  });
});

describe('values', () => {
  test('integers are exact', () => {
    const { value } = bodyOf(
      'a1416186 17 1a00010000 1b0000000100000000 1b7fffffffffffffff 3903e7 3b7fffffffffffffff',
    ).read();
    expect(value).toEqual({ a: [23, 65536, 4294967296, 9223372036854775807n, -1000, -9223372036854775808n] });
  });

  test('a whole number that was written as a fraction is no integer', () => {
    const { value } = bodyOf('a14161f93c00').read();
    expect(String((value as { a: unknown }).a)).toBe('1.0');
    expect(JSON.stringify(value)).toBe('{"a":1}');
  });

  test('__proto__ and constructor are keys like any other', () => {
    const { value } = bodyOf('a2495f5f70726f746f5f5fa14178014b636f6e7374727563746f7202').read();
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  test('each byte that is no text shows by itself', () => {
    expect(bodyOf('a14161 46 e282 41 ff c3 a9').read().value).toEqual({ a: '\ufffd\ufffdA\ufffdé' });
  });
});

describe('the look at a body for messages', () => {
  test.each([
    ['', '<empty>'],
    ['d9d9f7a0', 'd9d9f7a0'],
    ['00'.repeat(31), `${'00'.repeat(30)} ...`],
    [hexOf('{"apiVersion":"v1","kind":"ConfigMap"}'), '{"apiVersion":"v1","kind":"Con ...'],
    [hexOf('{}'), '{}'],
    [`${hexOf('{"a":"')}ffff`, '{"a":"\ufffd\ufffd'],
  ])('%s', (hex, summary) => {
    expect(bodyOf(hex).summary()).toBe(summary);
  });
});

function bodyOf(hex: string): RequestBody {
  return cbor.body(fromHex(hex), orchDialect);
}

function hexOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function refusal(read: () => unknown): string {
  try {
    read();
    return 'accepted';
  } catch (error) {
    if (error instanceof BodyError) return error.message;
    throw error;
  }
}

/** Maps have no order in the reference server's answers. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return value;
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}
