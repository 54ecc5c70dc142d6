/**
 * CBOR encoding, byte for byte as the reference server encodes the same document.
 */
import { Decoder } from 'cbor-x/decode';
import { describe, expect, test } from 'vitest';
import { cbor } from '../../../../src/codec/cbor/index.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { deepFreeze } from '../../../../src/util/json.js';
import fc from '../../../property/seeded.js';
import { toHex } from './hex.js';

const OPTIONS = { dialect: orchDialect, pretty: false };

describe('CBOR encoding of values', () => {
  test.each<readonly [string, unknown, string]>([
    ['a string as bytes', 'a', '4161'],
    ['an empty string', '', '40'],
    ['a string beyond ASCII', 'é😀', '46c3a9f09f9880'],
    ['a lone surrogate', '\ud800', '43efbfbd'],
    ['a string of 24 bytes', 'x'.repeat(24), `5818${'78'.repeat(24)}`],
    ['a string of 256 bytes', 'x'.repeat(256), `590100${'78'.repeat(256)}`],
    ['true, false, null', [true, false, null], '83f5f4f6'],
    ['undefined as null', [undefined], '81f6'],
    ['small integers', [0, 23, 24, 255, 256, 65535, 65536], '8700171818 18ff 190100 19ffff 1a00010000'],
    ['larger integers', [2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1], '831affffffff 1b0000000100000000 1b001fffffffffffff'],
    ['negative integers', [-1, -24, -25, -256, -257], '852037 3818 38ff 390100'],
    ['large integers', [2n ** 63n - 1n, -(2n ** 63n)], '821b7fffffffffffffff 3b7fffffffffffffff'],
    ['integers beyond 64 bits', [2n ** 63n, 10n ** 30n], '82fa5f000000 fb46293e5939a08cea'],
    ['an integer that JSON rounds', 2 ** 60, '1b1000000000000018'],
    ['minus zero', -0, '00'],
    ['half floats', [1.5, -2.5, 65504.5 - 0.5, 2 ** -24, 0.5], '85f93e00 f9c100 19ffe0 f90001 f93800'],
    ['single floats', [100000.5, 2 ** -25], '82fa47c35040 fa33000000'],
    ['double floats', [1.1, 1e300], '82fb3ff199999999999a fb7e37e43c8800759c'],
    ['keys in insertion order', { b: 1, a: { c: [] } }, 'a2416201 4161a1416380'],
    ['absent keys', { a: undefined, b: 1 }, 'a1416201'],
    ['a value with a toJSON method', new Date(0), `5818${toHex(new TextEncoder().encode('1970-01-01T00:00:00.000Z'))}`],
  ])('encodes %s', (_name, value, hex) => {
    expect(encode({ v: value })).toBe(`d9d9f7a14176${hex.replaceAll(' ', '')}`);
  });

  test('encodes __proto__ as an ordinary key', () => {
    expect(encode(JSON.parse('{"__proto__":1}') as object)).toBe('d9d9f7a1495f5f70726f746f5f5f01');
  });

  test('encodes documents that an independent decoder reads', () => {
    const reader = new Decoder({ mapsAsObjects: false, useRecords: false });
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 })), (document) => {
        expect(asJson(reader.decode(bytesOf(document)))).toEqual(JSON.parse(JSON.stringify(document)));
      }),
    );
  });
});

describe('CBOR encoding of responses', () => {
  const item = deepFreeze({ metadata: { name: 'a' } });

  test('encodes a list with its items', () => {
    const list = { kind: 'ConfigMapList', apiVersion: 'v1', metadata: {}, items: [item, null] };
    expect(encode(list)).toBe(
      'd9d9f7a4446b696e644d436f6e6669674d61704c6973744a61706956657273696f6e427631486d65746164617461a0456974656d7382a1486d65746164617461a1446e616d654161f6',
    );
  });

  test('encodes an event with a self-described document', () => {
    const event = { type: 'ADDED', object: item as object };
    expect(toHex(cbor.stream?.encode(event, orchDialect) as Uint8Array)).toBe(
      'd9d9f7a24474797065454144444544466f626a656374d9d9f7a1486d65746164617461a1446e616d654161',
    );
  });

  test('caches the encoding of frozen objects only', () => {
    let reads = 0;
    const counting = (freeze: boolean): object => {
      const object = { data: {} };
      Object.defineProperty(object, 'data', { enumerable: true, get: () => String(++reads) });
      return freeze ? Object.freeze(object) : object;
    };
    const frozen = counting(true);
    encode(frozen);
    const before = reads;
    encode(frozen);
    encode({ items: [frozen] });
    cbor.stream?.encode({ type: 'ADDED', object: frozen }, orchDialect);
    expect(reads).toBe(before);
    const open = counting(false);
    expect(encode(open)).not.toBe(encode(open));
  });
});

function bytesOf(document: object): Uint8Array {
  return cbor.encode(document, OPTIONS) as Uint8Array;
}

function encode(document: object): string {
  return toHex(bytesOf(document));
}

function asJson(value: unknown): unknown {
  if (value instanceof Uint8Array) return new TextDecoder('utf-8', { ignoreBOM: true }).decode(value);
  if (Array.isArray(value)) return value.map(asJson);
  if (!(value instanceof Map)) return typeof value === 'bigint' ? Number(value) : value;
  const object = {};
  for (const [key, item] of value) {
    Object.defineProperty(object, String(asJson(key)), { value: asJson(item), enumerable: true, configurable: true });
  }
  return object;
}
