/**
 * Ranges of sizes and of costs, from the least to the most. The reference counts in 64 bits and stops at the top; numbers
 * here are doubles that stop at 2^64. Between 2^53 and there they are rounded, which no limit is fine enough to notice.
 */
import type { SizeEstimate } from '../library.js';

export type Range = SizeEstimate;

/** Where numbers stop. */
export const TOP = 2 ** 64;

const MOST = 2n ** 64n - 1n;
/** The number next to the top: what has started over once may do so again. */
const BELOW_TOP = TOP - 2 ** 11;

/** Any size at all. */
export const UNKNOWN: Range = Object.freeze({ min: 0, max: TOP });
/** What the first union replaces. */
export const NONE: Range = Object.freeze({ min: TOP, max: 0 });

export function fixed(value: number): Range {
  return { min: value, max: value };
}

export function add(...ranges: readonly Range[]): Range {
  return ranges.reduce((sum, range) => ({
    min: Math.min(sum.min + range.min, TOP),
    max: Math.min(sum.max + range.max, TOP),
  }));
}

export function multiply(left: Range, right: Range): Range {
  return { min: Math.min(left.min * right.min, TOP), max: Math.min(left.max * right.max, TOP) };
}

/** Rounded up to whole units. */
export function multiplyByFactor(range: Range, factor: number): Range {
  return { min: scaled(range.min, factor), max: scaled(range.max, factor) };
}

export function union(left: Range, right: Range): Range {
  return { min: Math.min(left.min, right.min), max: Math.max(left.max, right.max) };
}

/** `value * factor + more` in 64 bits that start over at the top, for the sums the reference forgets to watch. */
export function wrapping(value: number, factor: number, more = 0): number {
  const exact = BigInt.asUintN(64, (value >= TOP ? MOST : BigInt(value)) * BigInt(factor) + BigInt(more));
  return exact === MOST ? TOP : Math.min(Number(exact), BELOW_TOP);
}

function scaled(value: number, factor: number): number {
  return Math.min(Math.ceil(value * factor), TOP);
}
