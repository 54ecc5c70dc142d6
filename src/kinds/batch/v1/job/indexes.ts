/**
 * Parses the index lists of indexed Jobs: `0,2-4`. The numbers increase and are below the number of completions.
 */
import { quote } from '../../../../text/go/go-text.js';

/** An invalid index list; the message is the reference server's. */
export class IndexesError extends Error {
  override readonly name = 'IndexesError';
}

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** The number of indexes in the list. Throws an IndexesError. */
export function countIndexes(text: string, completions: number): number {
  if (text === '') return 0;
  let total = 0;
  let previous: number | undefined;
  for (const part of text.split(',')) {
    const { first, last } = readInterval(part, completions);
    if (previous !== undefined && previous >= first) throw notRising(previous, first);
    total += last - first + 1;
    previous = last;
  }
  return total;
}

/** The message for an invalid list; undefined for a valid one. */
export function indexesProblem(text: string, completions: number): string | undefined {
  try {
    countIndexes(text, completions);
    return undefined;
  } catch (error) {
    if (error instanceof IndexesError) return error.message;
    throw error;
  }
}

/** The first index in both lists. Skips invalid parts, which another rule reports. */
export function overlappingIndex(left: string, right: string, completions: number): number | undefined {
  const [lefts, rights] = [readable(left, completions), readable(right, completions)];
  let [l, r] = [0, 0];
  for (;;) {
    const [a, b] = [lefts[l], rights[r]];
    if (a === undefined || b === undefined) return undefined;
    if (a.first <= b.last && b.first <= a.last) return Math.max(a.first, b.first);
    if (a.first <= b.first) l++;
    else r++;
  }
}

function readable(text: string, completions: number): Interval[] {
  if (text === '') return [];
  return text.split(',').flatMap((part) => {
    try {
      return [readInterval(part, completions)];
    } catch (error) {
      if (error instanceof IndexesError) return [];
      throw error;
    }
  });
}

function readInterval(text: string, completions: number): Interval {
  const limits = text.split('-');
  if (limits.length > 2) {
    throw new IndexesError(
      `the fragment ${quote(text)} violates the requirement that an index interval can have at most two parts separated by '-'`,
    );
  }
  const [start = '', end] = limits;
  const first = readIndex(start, completions);
  if (end === undefined) return { first, last: first };
  const last = readIndex(end, completions);
  if (first >= last) throw notRising(first, last);
  return { first, last };
}

function readIndex(text: string, completions: number): number {
  if (!/^\+?[0-9]{1,18}$/.test(text)) {
    throw new IndexesError(`cannot convert string to integer for index: ${quote(text)}`);
  }
  const index = Number(text);
  if (index >= completions) throw new IndexesError(`too large index: ${quote(text)}`);
  return index;
}

function notRising(previous: number, current: number): IndexesError {
  return new IndexesError(`non-increasing order, previous: ${previous}, current: ${current}`);
}
