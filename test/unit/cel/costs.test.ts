/** Estimated and actual costs of library functions, compared with cel-go. */
import { describe, expect, test } from 'vitest';
import { MAX_UINT64 } from '../../../src/cel/cost/range.js';
import { COSTS } from '../../../src/cel/library/costs.js';
import type { NodeToEstimate } from '../../../src/cel/library.js';
import { STRING } from '../../../src/cel/types.js';
import { readCases } from './check-fixtures.js';
import { resultOf, type ValueCase } from './values-fixtures.js';

describe('costs of library functions', () => {
  const cases = readCases<ValueCase>('./costs-cases.jsonl');

  test.each(['issues', 'error', 'value'])('returns the costs of cel-go for cases with result %s', (kind) => {
    const own = cases.filter(([, , what]) => what === kind);
    expect(own.length).toBeGreaterThan(10);
    expect(own.map(resultOf)).toEqual(own);
  });
});

describe('estimateCall', () => {
  const unknown = { estimateSize: () => undefined };
  const text = (min: number, max: number): NodeToEstimate => ({
    type: STRING,
    path: [],
    expr: undefined,
    computedSize: { min, max },
  });
  const estimate = (name: string, target: NodeToEstimate | undefined, ...args: NodeToEstimate[]) =>
    COSTS.estimateCost?.({ function: name, overload: '', target, args }, unknown);

  test('returns undefined for an unknown function', () => {
    expect(estimate('size', text(0, 1))).toBeUndefined();
    expect(COSTS.actualCost?.({ function: 'size', overload: '', args: ['a'], result: 1n })).toBeUndefined();
  });

  test('saturates at the largest number', () => {
    expect(estimate('replace', text(0, MAX_UINT64), text(0, 1), text(0, MAX_UINT64))?.resultSize).toEqual({
      min: 0,
      max: MAX_UINT64,
    });
    expect(estimate('labelSelector', undefined, text(0, MAX_UINT64))?.cost).toEqual({ min: 10, max: MAX_UINT64 });
  });

  test.each([
    ['the text may be empty and matches around every character', [5, 5], [0, 1], [3, 3], { min: 5, max: 23 }],
    ['the replacement is never longer than the text', [5, 9], [4, 4], [2, 3], { min: 4, max: 9 }],
    ['the replacement is longer than the text', [6, 12], [2, 3], [4, 5], { min: 6, max: 30 }],
    ['the text is empty', [6, 12], [0, 0], [4, 5], { min: 34, max: 77 }],
  ] as const)('estimates the size of a replacement: %s', (_, size, sought, by, result) => {
    const range = ([min, max]: readonly [number, number]) => text(min, max);
    expect(estimate('replace', range(size), range(sought), range(by))?.resultSize).toEqual(result);
  });

  test('charges a high cost for an authorization check', () => {
    expect(estimate('check', text(0, 0), text(0, 0))?.cost).toEqual({ min: 350_000, max: 350_000 });
  });
});
