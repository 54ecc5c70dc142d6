import { describe, expect, test } from 'vitest';
import { estimateCost } from '../../../src/cel/cost/estimate.js';
import { Path } from '../../../src/cel/cost/path.js';
import { wrapping } from '../../../src/cel/cost/range.js';
import { createEnvironment } from '../../../src/cel/environment.js';
import type { SizeEstimator } from '../../../src/cel/library.js';
import { compile, ENVIRONMENTS, HASHED_SIZES, readCases, SCHEMA_SIZES } from './check-fixtures.js';

/**
 * Expression and its cost (`min-max`, or one number) without sizes, with the sizes of a schema, and with other sizes.
 */
type CostCase = readonly [string, string, string, string];

const server = ENVIRONMENTS['server'] ?? createEnvironment();

describe('estimateCost', () => {
  const cases = readCases<CostCase>('./cost-cases.jsonl');

  test.each([
    ['no sizes', 1, undefined],
    ['sizes of a schema', 2, SCHEMA_SIZES],
    ['sizes by path', 3, HASHED_SIZES],
  ] as const)('estimates costs with %s', (_name, column, sizes) => {
    expect(cases.length).toBeGreaterThan(500);
    const estimated = cases.map(([expression]) => [expression, estimate(expression, sizes)]);
    expect(estimated).toEqual(cases.map((one) => [one[0], rounded(one[column])]));
  });

  function estimate(expression: string, sizes: SizeEstimator | undefined): readonly number[] {
    const checked = compile(expression, server);
    if (typeof checked === 'string') return expect.fail(checked);
    const { min, max } = estimateCost(checked, server, sizes);
    return [min, max].map(digits);
  }

  function rounded(range: string): readonly number[] {
    const [min = '', max = min] = range.split('-');
    return [Number(min), Number(max)].map(digits);
  }

  /** Numbers beyond 2^53 are rounded. */
  function digits(value: number): number {
    return Number(value.toPrecision(13));
  }
});

test('overwrites paths in Path.append that share a prefix with free capacity', () => {
  const item = Path.of('self').append('items').append('@items');
  const list = item.append('list');
  expect(list.steps()).toEqual(['self', 'items', '@items', 'list']);
  const name = item.append('name');
  expect([list.steps(), name.steps()].map((steps) => steps.join('.'))).toEqual([
    'self.items.@items.name',
    'self.items.@items.name',
  ]);
  expect(item.steps()).toEqual(['self', 'items', '@items']);
});

test('wraps costs at 64 bits', () => {
  expect(wrapping(2 ** 64, 2, 2)).toBe(0);
  expect(wrapping(2 ** 64, 4)).toBeGreaterThan(2 ** 63);
  expect(wrapping(10, 4)).toBe(40);
});

test('uses the estimate of a library for its calls', () => {
  const environment = createEnvironment({
    libraries: [
      {
        name: 'priced',
        estimateCost: ({ overload, args }) =>
          overload === 'add_int64' ? { cost: { min: args.length, max: 100 } } : undefined,
      },
    ],
  });
  const checked = compile('1 + 2 == 3', environment);
  if (typeof checked === 'string') expect.fail(checked);
  expect(estimateCost(checked, environment)).toEqual({ min: 3, max: 101 });
});
