/** Quantities: the vectors of the reference implementation, literal cases of the rules, and hostile input. */

import { describe, expect, test } from 'vitest';
import { Quantity, QuantityError } from '../../../src/meta/quantity.js';
import fc from '../../property/seeded.js';
import { readVectors } from '../../vectors/read.js';

interface ParseVector {
  readonly in: string;
  readonly out?: string;
  readonly error?: string;
  readonly value: string;
  readonly milliValue: string;
  readonly sign: number;
  readonly isInteger: boolean;
  readonly approximateFloat: number;
}

interface ArithmeticVector {
  readonly A: string;
  readonly B: string;
  readonly Cmp: number;
  readonly Sum: string;
  readonly Difference: string;
}

const WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

const print = (text: string) => Quantity.parse(text).toString();

function outcome(text: string): Record<string, unknown> {
  const result = Quantity.tryParse(text);
  if (!result.ok) return { error: result.message };
  const { quantity } = result;
  return {
    out: quantity.toString(),
    value: String(quantity.value()),
    milliValue: String(quantity.milliValue()),
    sign: quantity.sign(),
    isInteger: quantity.asInt64() !== undefined,
    approximateFloat: quantity.approximateFloat(),
  };
}

describe('quantity vectors in quantity.json', () => {
  const vectors = readVectors('quantity', ['value', 'milliValue']) as {
    parse: ParseVector[];
    arithmetic: ArithmeticVector[];
  };

  test.each(vectors.parse)('parses the quantity $in', ({ in: text, error, ...expected }) => {
    expect(outcome(text)).toEqual(error === undefined ? expected : { error });
  });

  test.each(vectors.arithmetic)('computes with the quantities $A and $B', ({ A, B, Cmp, Sum, Difference }) => {
    const [left, right] = [Quantity.parse(A), Quantity.parse(B)];
    expect(left.cmp(right)).toBe(Cmp);
    expect(left.add(right).toString()).toBe(Sum);
    expect(left.sub(right).toString()).toBe(Difference);
  });
});

describe('canonical text of a quantity', () => {
  test.each([
    ['0', '0'],
    ['0.5', '500m'],
    ['1000m', '1'],
    ['12000', '12k'],
    ['1200', '1200'],
    ['1000e0', '1e3'],
    ['1.5e3', '1500'],
    ['0.1n', '1n'],
    ['-0.1n', '-1n'],
    ['0.5Ki', '512'],
    ['1.1Ki', '1126400m'],
    ['1024Mi', '1Gi'],
    ['1.5Gi', '1536Mi'],
    ['1000Mi', '1000Mi'],
    ['9Ei', '9223372036854775807'],
    ['1000E', '1'],
  ])('prints the quantity %s as %s', (text, expected) => {
    expect(print(text)).toBe(expected);
  });

  test.each(['+5', '007', '1.', '500m', '938.212m', '1E3', '1e+3', '3Ki', '007Ki'])(
    'keeps the quantity text %s',
    (text) => {
      expect(print(text)).toBe(text);
    },
  );

  test('rejects a quantity of absurd length before it computes with it', () => {
    expect(Quantity.parse('9'.repeat(20_000)).sign()).toBe(1);
    expect(() => Quantity.parse('9'.repeat(20_001))).toThrow(
      new QuantityError('unable to parse numeric part of quantity'),
    );
  });

  test('does not keep the original text in arithmetic', () => {
    expect(Quantity.parse('+5').add(Quantity.zero).toString()).toBe('5');
  });

  test('parses a printed quantity to the same value and text', () => {
    const suffix = fc.constantFrom('', 'n', 'u', 'm', 'k', 'M', 'G', 'Ki', 'Mi', 'Gi', 'e3', 'e-6');
    const number = fc.tuple(fc.integer({ min: -99999, max: 99999 }), fc.nat(999));
    fc.assert(
      fc.property(number, suffix, ([whole, part], end) => {
        const quantity = Quantity.parse(`${whole}.${part}${end}`);
        const again = Quantity.parse(quantity.sub(Quantity.zero).toString());
        expect(again.cmp(quantity)).toBe(0);
        expect(again.toString()).toBe(quantity.sub(Quantity.zero).toString());
      }),
    );
  });
});

describe('invalid quantities', () => {
  test.each([
    ['', WRONG_FORMAT],
    ['abc', WRONG_FORMAT],
    [' 1', WRONG_FORMAT],
    ['1..0', WRONG_FORMAT],
    ['1kk', "unable to parse quantity's suffix"],
    ['1K', "unable to parse quantity's suffix"],
    ['1e', "unable to parse quantity's suffix"],
    ['1e99999999999999999999', "unable to parse quantity's suffix"],
    ['Ei', 'unable to parse numeric part of quantity'],
    ['e-10', 'unable to parse numeric part of quantity'],
  ])('rejects the quantity %j', (text, message) => {
    expect(Quantity.tryParse(text)).toEqual({ ok: false, message });
    expect(() => Quantity.parse(text)).toThrow(new QuantityError(message));
  });
});

describe('quantity values', () => {
  test('compares quantities by value in any format', () => {
    expect(Quantity.parse('1Gi').equals(Quantity.parse('1073741824'))).toBe(true);
    expect(Quantity.parse('1G').cmp(Quantity.parse('1Gi'))).toBe(-1);
    expect(Quantity.parse('-1').cmp(Quantity.parse('-2'))).toBe(1);
  });

  test('uses the format of the left operand unless it is zero', () => {
    expect(Quantity.parse('1Gi').add(Quantity.parse('1024M')).format).toBe('BinarySI');
    expect(Quantity.parse('0').add(Quantity.parse('2Gi')).toString()).toBe('2Gi');
    expect(Quantity.parse('0Ki').sub(Quantity.parse('1e3')).toString()).toBe('-1e3');
  });

  test('rounds whole and milli values of a quantity up', () => {
    expect(Quantity.parse('1500m').value()).toBe(2n);
    expect(Quantity.parse('-1500m').value()).toBe(-2n);
    expect(Quantity.parse('1n').milliValue()).toBe(1n);
  });

  test('keeps the text of a quantity that needs no rounding', () => {
    expect(Quantity.parse('1n').roundUp(-3).toString()).toBe('1m');
    expect(Quantity.parse('-1u').roundUp(-3).toString()).toBe('-1m');
    expect(Quantity.parse('1.0000000001').roundUp(-3).toString()).toBe('1001m');
    expect(Quantity.parse('+5').roundUp(-3).toString()).toBe('+5');
    expect(Quantity.parse('100Pi').roundUp(-3).toString()).toBe('100Pi');
  });

  test('converts numbers to quantities', () => {
    expect(Quantity.fromNumber(1000).toString()).toBe('1k');
    expect(Quantity.fromNumber(0.25).toString()).toBe('250m');
    expect(Quantity.fromNumber(-3n).toString()).toBe('-3');
    expect(() => Quantity.fromNumber(Number.NaN)).toThrow(QuantityError);
    expect(Quantity.of(1500n, { scale: -3 }).toString()).toBe('1500m');
    expect(Quantity.of(2n ** 30n, { format: 'BinarySI' }).toString()).toBe('1Gi');
    expect(JSON.stringify({ cpu: Quantity.parse('0.5') })).toBe('{"cpu":"500m"}');
  });
});

describe('hostile quantities', () => {
  test('handles quantities with exponents beyond any integer', () => {
    const huge = Quantity.parse('1e2000000000');
    expect(huge.toString()).toBe('100e1999999998');
    expect(huge.cmp(Quantity.parse('9e1999999999'))).toBe(1);
    expect(huge.cmp(Quantity.parse('5'))).toBe(1);
    expect(huge.add(Quantity.parse('1')).cmp(huge)).toBe(0);
    expect(huge.sub(huge).isZero()).toBe(true);
    expect(huge.value()).toBe(0n);
    expect(huge.asInt64()).toBeUndefined();
    expect(Quantity.parse('0e2000000000').asInt64()).toBe(0n);
    expect(Quantity.parse('0e2000000000').add(Quantity.parse('100Pi')).toString()).toBe('100Pi');
    expect(Quantity.parse('100Pi').add(Quantity.parse('0e2000000000')).toString()).toBe('100Pi');
    expect(print('12345678901234567890e2000000000')).toBe('1234567890123456789e2000000001');
    expect(print('1e-2000000000')).toBe('1e-9');
    expect(print('-12345678901234567890e-2000000000')).toBe('-1e-9');
  });

  test('parses or rejects quantities with many digits', () => {
    const zeros = '0'.repeat(200_000);
    expect(Quantity.tryParse(`${zeros}x`).ok).toBe(false);
    expect(Quantity.tryParse(`${'1'.repeat(200_000)}x`).ok).toBe(false);
    expect(print(`1.${zeros}1`)).toBe('1000000001n');
    expect(print(`1.${zeros}1Ki`)).toBe('1024000000001n');
  });
});
