/**
 * Hostile CBOR input is decoded or rejected in time and memory proportional to its size.
 */
import { describe, expect, test } from 'vitest';
import { cbor } from '../../../../src/codec/cbor/index.js';
import { orchDialect } from '../../../../src/meta/dialect.js';
import { BodyError } from '../../../../src/protocol/body.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
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

describe('arbitrary CBOR bytes', () => {
  test('decodes or rejects arbitrary bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), expectAnswer), { numRuns: 2_000 });
  });

  test('decodes or rejects a document with changed bytes', () => {
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

  test('rejects a truncated document', () => {
    for (let length = 0; length < DOCUMENT.length; length++) expect(accepts(DOCUMENT.subarray(0, length))).toBe(false);
    expect(accepts(DOCUMENT)).toBe(true);
  });
});

const MEGABYTE = 2 ** 20;

describe('CBOR bodies with excessive lengths', () => {
  test.each([
    ['a string of four gigabytes', 'a141615affffffff'],
    ['a list of four billion items', 'a141619affffffff'],
    ['nested lists', '(81*300000)'],
    ['nested maps', '(a14161*100000)'],
    ['nested lists of indefinite length', '(9f*300000)'],
    ['nested tags', '(d6*300000)'],
    ['lists with more items than bytes', '(9903e8*60)'],
  ])('rejects %s', (_name, hex) => {
    const bytes = fromHex(hex);
    const spentMs = cpuTimer();
    expect(accepts(bytes)).toBe(false);
    expect(spentMs()).toBeLessThan(1_000);
  });

  test.each([
    ['three megabytes of invalid UTF-8', () => withString(3 * MEGABYTE, 0xff)],
    ['three megabytes of text', () => withString(3 * MEGABYTE, 0x61)],
    ['half a million string chunks', () => fromHex('a141615f(4161*500000)ff')],
    ['lists of a thousand items', () => fromHex(`a14161990190(9903e8${'f6'.repeat(1000)}*400)`)],
  ])('decodes %s in bounded time', (_name, make) => {
    const bytes = make();
    const spentMs = cpuTimer();
    expect(accepts(bytes)).toBe(true);
    expect(spentMs()).toBeLessThan(5_000);
  });

  test.each([
    ['base64', 0xd6],
    ['hexadecimal digits', 0xd7],
  ])('encodes three megabytes of bytes as %s without a text for each byte', (_name, tag) => {
    const bytes = withString(3 * MEGABYTE, 0xff, tag);
    const spentMs = cpuTimer();
    expect(accepts(bytes)).toBe(true);
    expect(spentMs()).toBeLessThan(200);
  });
});

function withString(length: number, byte: number, ...tags: number[]): Uint8Array {
  const head = [0xa1, 0x41, 0x61, ...tags, 0x5a];
  const bytes = new Uint8Array(head.length + 4 + length).fill(byte);
  bytes.set(head);
  new DataView(bytes.buffer).setUint32(head.length, length);
  return bytes;
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
