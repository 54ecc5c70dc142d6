/**
 * Which received item each expected item of a list is: one of its own for every one, if that can be. Items that match
 * wholly are given out first, and in the way that leaves the fewest expected ones without; what is left gets the nearest.
 */

/** The received items, by their places, that an expected one may be, with what is wrong where it is taken for that. */
export type Candidates = ReadonlyMap<number, readonly string[]>;

export interface Assigned {
  /** The place of the received item; undefined: there is none left. */
  readonly received: number | undefined;
  readonly problems: readonly string[];
}

/**
 * For each expected item, in order.
 *
 * Worked example: `a` is expected twice, as any `a` and as one that is red; received are a red one and a blue one. The
 * first takes the red one, which it meets first; the second can only be that one, so the first moves on to the blue one.
 */
export function assign(expected: readonly Candidates[]): readonly Assigned[] {
  /** By received item, the expected one that has it. */
  const holders = new Map<number, number>();
  const isPlaced = (wanted: number, tried: Set<number>): boolean => {
    for (const [found, problems] of expected[wanted] ?? []) {
      if (problems.length > 0 || tried.has(found)) continue;
      tried.add(found);
      const holder = holders.get(found);
      if (holder !== undefined && !isPlaced(holder, tried)) continue;
      holders.set(found, wanted);
      return true;
    }
    return false;
  };
  const left = [...expected.keys()].filter((wanted) => !isPlaced(wanted, new Set()));
  for (const wanted of left) {
    const nearest = nearestOf(expected[wanted] ?? new Map(), holders);
    if (nearest !== undefined) holders.set(nearest, wanted);
  }
  const places = new Map(Array.from(holders, ([found, wanted]) => [wanted, found]));
  return expected.map((candidates, wanted) => {
    const received = places.get(wanted);
    return { received, problems: received === undefined ? [] : (candidates.get(received) ?? []) };
  });
}

/** The one with the fewest problems that nobody has. */
function nearestOf(candidates: Candidates, taken: ReadonlyMap<number, number>): number | undefined {
  const free = [...candidates].filter(([found]) => !taken.has(found));
  const fewest = free.reduce((least, [, { length }]) => Math.min(least, length), Number.POSITIVE_INFINITY);
  return free.find(([, { length }]) => length === fewest)?.[0];
}
