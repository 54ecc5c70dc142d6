/**
 * Estimates of sizes and costs: ranges. cel-go counts with saturating 64-bit integers; these are doubles that saturate at 2^64.
 * Between 2^53 and 2^64 they are rounded, which no limit is fine enough to notice.
 */
import type { SizeEstimate } from '../library.js';

export type Estimate = SizeEstimate;

/** The saturation value. */
export const MAX_UINT64 = 2 ** 64;

const MAX_UINT64_BIGINT = 2n ** 64n - 1n;
/** The largest double below 2^64: an overflowed number may overflow again. */
const LARGEST_DOUBLE_BELOW_MAX = MAX_UINT64 - 2 ** 11;

/** Cost per character of a string traversal. */
export const TRAVERSAL = 0.1;
/** Cost per character of a regular expression; one operation is about four characters long. */
export const REGEX = 0.25;

/** An unbounded size. */
export const UNKNOWN: Estimate = Object.freeze({ min: 0, max: MAX_UINT64 });
/** The neutral element of {@link union}. */
export const EMPTY: Estimate = Object.freeze({ min: MAX_UINT64, max: 0 });

export function fixed(value: number): Estimate {
  return { min: value, max: value };
}

export function add(...ranges: readonly Estimate[]): Estimate {
  return ranges.reduce((sum, range) => ({
    min: Math.min(sum.min + range.min, MAX_UINT64),
    max: Math.min(sum.max + range.max, MAX_UINT64),
  }));
}

export function multiply(left: Estimate, right: Estimate): Estimate {
  return { min: Math.min(left.min * right.min, MAX_UINT64), max: Math.min(left.max * right.max, MAX_UINT64) };
}

/** Multiplies by a factor and rounds up. */
export function multiplyByFactor(range: Estimate, factor: number): Estimate {
  return { min: scaled(range.min, factor), max: scaled(range.max, factor) };
}

export function union(left: Estimate, right: Estimate): Estimate {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}

/** `value * factor + more` with 64-bit overflow, for additions where cel-go does not saturate. */
export function wrapping(value: number, factor: number, more = 0): number {
  const exact = BigInt.asUintN(
    64,
    (value >= MAX_UINT64 ? MAX_UINT64_BIGINT : BigInt(value)) * BigInt(factor) + BigInt(more),
  );
  return exact === MAX_UINT64_BIGINT ? MAX_UINT64 : Math.min(Number(exact), LARGEST_DOUBLE_BELOW_MAX);
}

function scaled(value: number, factor: number): number {
  return Math.min(Math.ceil(value * factor), MAX_UINT64);
}
