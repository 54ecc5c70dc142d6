/**
 * Whatever arrives is read or refused, in time and memory that the bytes themselves account for.
 */
import { describe, expect, test } from 'vitest';
import { cbor } from '../../../../src/codec/cbor/index.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { BodyError } from '../../../../src/protocol/body.js';
import fc from '../../../property/seeded.js';
import { fromHex } from './hex.js';

const DOCUMENT = cbor.encode(
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', labels: { app: 'é', tier: '' } },
    data: { numbers: [1, -1, 1.5, 2n ** 60n], nested: { list: [[], {}, null, true] } },
  } as object,
  { dialect: orchDialect, pretty: false },
) as Uint8Array;

describe('bytes', () => {
  test('of any kind are read or refused', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), expectAnswer), { numRuns: 2_000 });
  });

  test('of a document with some changed are read or refused', () => {
    const change = fc.tuple(fc.nat(DOCUMENT.length - 1), fc.nat(255));
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const bytes = DOCUMENT.slice();
        for (const [at, byte] of changes) bytes[at] = byte;
        expectAnswer(bytes);
      }),
      { numRuns: 2_000 },
    );
  });

  test('of a document that ends too early are refused', () => {
    for (let length = 0; length < DOCUMENT.length; length++) expect(accepts(DOCUMENT.subarray(0, length))).toBe(false);
    expect(accepts(DOCUMENT)).toBe(true);
  });
});

const MEGABYTE = 2 ** 20;

describe('bodies that are larger than they look', () => {
  test.each([
    ['a text of four gigabytes', 'a141615affffffff'],
    ['a list of four billion', 'a141619affffffff'],
    ['lists within lists', '(81*300000)'],
    ['maps within maps', '(a14161*100000)'],
    ['lists without lengths', '(9f*300000)'],
    ['tags around tags', '(d6*300000)'],
    ['a thousand lists of a thousand lists', '(9903e8*60)'],
  ])('%s', (_name, hex) => {
    const bytes = fromHex(hex);
    const took = measured(() => expect(accepts(bytes)).toBe(false));
    expect(took.ms).toBeLessThan(1_000);
  });

  test.each([
    ['three megabytes that are no text', () => withString(3 * MEGABYTE, 0xff)],
    ['three megabytes of text', () => withString(3 * MEGABYTE, 0x61)],
    ['half a million pieces', () => fromHex('a141615f(4161*500000)ff')],
    ['lists of a thousand', () => fromHex(`a14161990190(9903e8${'f6'.repeat(1000)}*400)`)],
  ])('%s are read in bounded time', (_name, make) => {
    const bytes = make();
    const took = measured(() => expect(accepts(bytes)).toBe(true));
    expect(took.ms).toBeLessThan(5_000);
  });
});

function withString(length: number, byte: number): Uint8Array {
  const bytes = new Uint8Array(8 + length).fill(byte);
  bytes.set([0xa1, 0x41, 0x61, 0x5a]);
  new DataView(bytes.buffer).setUint32(4, length);
  return bytes;
}

function measured(run: () => void): { readonly ms: number } {
  const before = performance.now();
  run();
  return { ms: performance.now() - before };
}

function accepts(bytes: Uint8Array): boolean {
  const body = cbor.body(bytes, orchDialect);
  try {
    body.typeMeta?.();
    body.read();
    return true;
  } catch (error) {
    if (error instanceof BodyError) return false;
    throw error;
  }
}

function expectAnswer(bytes: Uint8Array): void {
  expect(accepts(bytes)).toBeTypeOf('boolean');
}
