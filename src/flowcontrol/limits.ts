/**
 * How the seats of a server are shared out: by shares to begin with, and from then on by demand, within what each level
 * may lend and borrow.
 */

/** What a level says about its seats. */
export interface Shares {
  readonly nominalConcurrencyShares: number;
  readonly lendablePercent: number;
  /** Absent: as much as the whole server has. */
  readonly borrowingLimitPercent?: number;
}

export interface Bounds {
  readonly nominal: number;
  /** What is left when everything is lent that may be. */
  readonly lower: number;
  /** What it comes to when everything is borrowed that may be. */
  readonly upper: number;
}

/** Rounded up, so that every level with shares has a seat: together they may have a few more than there are. */
export function boundsOf(shares: Shares, totalSeats: number, sumOfShares: number): Bounds {
  const { nominalConcurrencyShares, lendablePercent, borrowingLimitPercent } = shares;
  const nominal = sumOfShares === 0 ? 0 : Math.ceil((totalSeats * nominalConcurrencyShares) / sumOfShares);
  const lendable = Math.round((nominal * lendablePercent) / 100);
  const borrowed =
    borrowingLimitPercent === undefined ? totalSeats : Math.round((nominal * borrowingLimitPercent) / 100);
  return { nominal, lower: nominal - lendable, upper: nominal + borrowed };
}

/** What is known of a level when seats are shared out anew. */
export interface Claim extends Bounds {
  /** Nobody waits on it: it takes what it needs, and the others have what is left. */
  readonly isExempt: boolean;
  /** See `demand.ts`. */
  readonly highWatermark: number;
  readonly smoothed: number;
  /** What it has up to now. */
  readonly current: number;
}

/** How many seats each level has from now on, in the order of the claims. */
export function shareOut(claims: readonly Claim[]): number[] {
  const total = sum(claims, ({ nominal }) => nominal);
  const limited = claims.filter(({ isExempt }) => !isExempt);
  const exempt = sum(claims, (claim) => (claim.isExempt ? needOf(claim) : 0));
  const left = total - exempt;
  const leastOfAll = sum(limited, ({ lower }) => lower);
  const needOfAll = sum(limited, needOf);
  if (left <= leastOfAll) return claims.map((claim) => (claim.isExempt ? needOf(claim) : claim.lower));
  if (left <= needOfAll) {
    // Not enough for what was used lately: all give up the same part of what is above their least.
    const part = (left - leastOfAll) / (needOfAll - leastOfAll);
    return claims.map((claim) =>
      claim.isExempt ? needOf(claim) : claim.lower + Math.round((needOf(claim) - claim.lower) * part),
    );
  }
  // More than they may have together: seats of the exempt level that nobody may borrow. Everybody keeps what there is.
  if (sum(limited, ({ upper }) => upper) < total) {
    return claims.map((claim) => (claim.isExempt ? needOf(claim) : claim.current));
  }
  const targets = limited.map((claim) => Math.max(needOf(claim), claim.smoothed));
  // As the reference server does, the sum of all is shared out, although exempt requests have taken some of it.
  const level = waterLevel(limited, targets, total);
  let next = 0;
  return claims.map((claim) => {
    if (claim.isExempt) return needOf(claim);
    const target = targets[next++] ?? 0;
    return Math.round(held(claim, target, level));
  });
}

/** What a level may not be left without: what it used lately, but no more than is its own, unless nothing limits it. */
function needOf({ isExempt, nominal, lower, highWatermark }: Claim): number {
  return Math.max(lower, isExempt ? highWatermark : Math.min(nominal, highWatermark));
}

/** Who wants nothing still gets something of what nobody wants. */
const LEAST_TARGET = 0.001;

function held(claim: Claim, target: number, level: number): number {
  return Math.max(needOf(claim), Math.min(claim.upper, level * Math.max(LEAST_TARGET, target)));
}

/**
 * The factor by which every target is multiplied, so that the results, each held between what its level needs and the
 * most that it may have, come to `total`. The sum grows with the factor in straight lines, with a bend where a level
 * comes to one of its bounds: the last bend below `total` is looked for, and the rest is one division.
 */
function waterLevel(claims: readonly Claim[], targets: readonly number[], total: number): number {
  const scaled = targets.map((target) => Math.max(LEAST_TARGET, target));
  const at = (level: number): number => sum(claims, (claim, index) => held(claim, targets[index] ?? 0, level));
  const bends = claims
    .flatMap((claim, index) => [needOf(claim), claim.upper].map((bound) => bound / (scaled[index] ?? 1)))
    .sort((left, right) => left - right);
  let from = 0;
  for (const bend of bends) {
    if (at(bend) >= total) break;
    from = bend;
  }
  // Those that grow from here on: no longer at the lower bound, not yet at the upper one.
  const growing = sum(claims, (claim, index) => {
    const target = scaled[index] ?? 1;
    return needOf(claim) / target <= from && from < claim.upper / target ? target : 0;
  });
  return growing === 0 ? from : from + (total - at(from)) / growing;
}

function sum<Item>(items: readonly Item[], amount: (item: Item, index: number) => number): number {
  return items.reduce((total, item, index) => total + amount(item, index), 0);
}
