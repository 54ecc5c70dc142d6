/**
 * Allocates the seats of a server: initially by shares, then by demand within each level's lending and borrowing limits.
 */

/** The shares of a level's spec. */
export interface Shares {
  readonly nominalConcurrencyShares: number;
  readonly lendablePercent: number;
  /** Absent: limited by the whole server only. */
  readonly borrowingLimitPercent?: number;
}

export interface Bounds {
  readonly nominal: number;
  /** The minimum when everything lendable is lent. */
  readonly lower: number;
  /** The maximum when everything possible is borrowed. */
  readonly upper: number;
}

/** Rounds up, so that every level with shares gets a seat; the sum may slightly exceed the total. */
export function boundsOf(shares: Shares, totalSeats: number, sumOfShares: number): Bounds {
  const { nominalConcurrencyShares, lendablePercent, borrowingLimitPercent } = shares;
  const nominal = sumOfShares === 0 ? 0 : Math.ceil((totalSeats * nominalConcurrencyShares) / sumOfShares);
  const lendable = Math.round((nominal * lendablePercent) / 100);
  const borrowed =
    borrowingLimitPercent === undefined ? totalSeats : Math.round((nominal * borrowingLimitPercent) / 100);
  return { nominal, lower: nominal - lendable, upper: nominal + borrowed };
}

/** The input of one level for the allocation. */
export interface Claim extends Bounds {
  /** An exempt level takes what it needs; the others share the rest. */
  readonly isExempt: boolean;
  /** See `Demand`. */
  readonly highWatermark: number;
  readonly smoothed: number;
  /** The seats so far. */
  readonly current: number;
}

/** The new number of seats of each level, in the order of the claims. */
export function allocateSeats(claims: readonly Claim[]): number[] {
  const total = sum(claims, ({ nominal }) => nominal);
  const limited = claims.filter(({ isExempt }) => !isExempt);
  const exempt = sum(claims, (claim) => (claim.isExempt ? needOf(claim) : 0));
  const left = total - exempt;
  const minimumSum = sum(limited, ({ lower }) => lower);
  const needSum = sum(limited, needOf);
  if (left <= minimumSum) return claims.map((claim) => (claim.isExempt ? needOf(claim) : claim.lower));
  if (left <= needSum) {
    // Not enough for recent use: all give up the same fraction of what exceeds their minimum.
    const part = (left - minimumSum) / (needSum - minimumSum);
    return claims.map((claim) =>
      claim.isExempt ? needOf(claim) : claim.lower + Math.round((needOf(claim) - claim.lower) * part),
    );
  }
  // More than their upper bounds together, because seats of the exempt level cannot be borrowed: no change.
  if (sum(limited, ({ upper }) => upper) < total) {
    return claims.map((claim) => (claim.isExempt ? needOf(claim) : claim.current));
  }
  const targets = limited.map((claim) => Math.max(needOf(claim), claim.smoothed));
  // As in the reference server, the total includes the seats that exempt requests have taken.
  const level = findFactor(limited, targets, total);
  let next = 0;
  return claims.map((claim) => {
    if (claim.isExempt) return needOf(claim);
    const target = targets[next++] ?? 0;
    return Math.round(clampedSeats(claim, target, level));
  });
}

/** The guaranteed seats: recent use up to the nominal limit; unlimited for exempt levels. */
function needOf({ isExempt, nominal, lower, highWatermark }: Claim): number {
  return Math.max(lower, isExempt ? highWatermark : Math.min(nominal, highWatermark));
}

/** A level without demand still gets a part of unwanted seats. */
const MIN_TARGET = 0.001;

function clampedSeats(claim: Claim, target: number, level: number): number {
  return Math.max(needOf(claim), Math.min(claim.upper, level * Math.max(MIN_TARGET, target)));
}

/**
 * The factor by which targets are multiplied so that the results, each clamped between its level's need and upper bound,
 * sum up to `total`. The sum is piecewise linear in the factor, with a bend where a level reaches a bound: find the last
 * bend below `total`, then solve the linear remainder.
 */
function findFactor(claims: readonly Claim[], targets: readonly number[], total: number): number {
  const scaled = targets.map((target) => Math.max(MIN_TARGET, target));
  const at = (level: number): number => sum(claims, (claim, index) => clampedSeats(claim, targets[index] ?? 0, level));
  const bends = claims
    .flatMap((claim, index) => [needOf(claim), claim.upper].map((bound) => bound / (scaled[index] ?? 1)))
    .sort((left, right) => left - right);
  let from = 0;
  for (const bend of bends) {
    if (at(bend) >= total) break;
    from = bend;
  }
  // The levels that grow from here: above the lower bound, below the upper one.
  const growing = sum(claims, (claim, index) => {
    const target = scaled[index] ?? 1;
    return needOf(claim) / target <= from && from < claim.upper / target ? target : 0;
  });
  return growing === 0 ? from : from + (total - at(from)) / growing;
}

function sum<Item>(items: readonly Item[], amount: (item: Item, index: number) => number): number {
  return items.reduce((total, item, index) => total + amount(item, index), 0);
}
