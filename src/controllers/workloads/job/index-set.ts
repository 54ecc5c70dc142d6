/**
 * Sets of completion indexes in the format of a Job's status: `1,3-5,7`. Stored as intervals, because a Job may have a hundred
 * thousand indexes and usually few gaps.
 */

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** An immutable set of indexes. */
export class IndexSet {
  static readonly empty = new IndexSet([]);

  /** Sorted, with at least one missing index between two intervals. */
  readonly intervals: readonly Interval[];
  readonly size: number;

  private constructor(intervals: readonly Interval[]) {
    this.intervals = intervals;
    this.size = intervals.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  }

  /** Parses a status field. Invalid parts and indexes outside the range are ignored. */
  static parse(text: string | undefined, completions: number): IndexSet {
    if (text === undefined || text === '') return IndexSet.empty;
    const intervals: Interval[] = [];
    for (const part of text.split(',')) {
      const [start = '', end = start] = part.split('-');
      if (!NUMBER.test(start) || !NUMBER.test(end)) continue;
      const first = Number(start);
      if (first >= completions) break;
      intervals.push({ first, last: Math.min(Number(end), completions - 1) });
    }
    return new IndexSet(joined(intervals));
  }

  static of(indexes: Iterable<number>): IndexSet {
    const sorted = [...new Set(indexes)].sort((a, b) => a - b);
    return new IndexSet(joined(sorted.map((index) => ({ first: index, last: index }))));
  }

  has(index: number): boolean {
    let [low, high] = [0, this.intervals.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.intervals[middle]?.last ?? Infinity) >= index) high = middle;
      else low = middle + 1;
    }
    const found = this.intervals[low];
    return found !== undefined && found.first <= index;
  }

  union(other: IndexSet): IndexSet {
    if (other.size === 0) return this;
    if (this.size === 0) return other;
    const both = [...this.intervals, ...other.intervals].sort((a, b) => a.first - b.first);
    return new IndexSet(joined(both));
  }

  /** The number of common indexes. */
  overlap(other: IndexSet): number {
    let [count, mine, theirs] = [0, 0, 0];
    for (;;) {
      const [a, b] = [this.intervals[mine], other.intervals[theirs]];
      if (a === undefined || b === undefined) return count;
      count += Math.max(0, Math.min(a.last, b.last) - Math.max(a.first, b.first) + 1);
      if (a.last < b.last) mine++;
      else theirs++;
    }
  }

  /** The first `count` indexes below `completions` that are not in the set. */
  firstMissing(count: number, completions: number): number[] {
    const missing: number[] = [];
    let next = 0;
    for (const { first, last } of [...this.intervals, { first: completions, last: completions }]) {
      for (; next < first && next < completions && missing.length < count; next++) missing.push(next);
      next = Math.max(next, last + 1);
    }
    return missing;
  }

  /** Formats two adjacent indexes as `1,2` and three or more as a range. */
  toString(): string {
    return this.intervals
      .map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`))
      .join(',');
  }
}

const NUMBER = /^[0-9]+$/;

/** Joins overlapping and adjacent intervals, which are sorted by first index. */
function joined(intervals: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  for (const interval of intervals) {
    const previous = result.at(-1);
    if (previous === undefined || interval.first > previous.last + 1) result.push(interval);
    else if (interval.last > previous.last) result[result.length - 1] = { first: previous.first, last: interval.last };
  }
  return result;
}
