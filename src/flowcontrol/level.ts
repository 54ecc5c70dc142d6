/**
 * One priority level at work: its seats, its queues and what is known of its demand. It outlives its object for as long
 * as requests are on it.
 */
import type { PriorityLevelConfigurationSpec } from '../kinds/flowcontrol/v1/priority-level-configuration.js';
import type { Clock } from '../util/clock.js';
import { type Bounds, boundsOf, type Claim, type Shares } from './limits.js';
import { QueueSet, type Queuing } from './queue-set.js';
import type { LevelFigures } from './types.js';
import { maxSeatsOf } from './work.js';

/**
 * After how many seconds a client that was turned away should come back. One, as long as few are; while many are, it is
 * doubled, and it comes down again one by one.
 */

const MOST = 32;

/** So many in each second are many. */
const MANY = 3;

/** For one level. */
export class RetryAfter {
  #seconds = 1;
  /** How many were turned away in which second; the last entry is still growing. */
  #dropped: { readonly second: number; count: number }[] = [];
  #raisedAt = Number.NEGATIVE_INFINITY;

  /** One was turned away. Returns what to tell it. */
  drop(nowMs: number): number {
    const second = Math.floor(nowMs / MS_PER_SECOND);
    const last = this.#dropped.at(-1);
    if (last?.second === second) {
      last.count++;
      return this.#seconds;
    }
    // Judged when a second is over: the new one has told nothing yet.
    this.#judge(second);
    this.#dropped.push({ second, count: 1 });
    return this.#seconds;
  }

  #judge(second: number): void {
    const isOld = (entry: { second: number }, age: number): boolean => second - entry.second > age;
    const lately = this.#dropped.filter((entry) => !isOld(entry, this.#seconds) && entry.second < second);
    const count = lately.reduce((sum, entry) => sum + entry.count, 0);
    if (second - this.#raisedAt >= this.#seconds && count >= MANY * this.#seconds) {
      this.#seconds = Math.min(MOST, this.#seconds * 2);
      this.#raisedAt = second;
    } else if (count < this.#seconds && this.#seconds > 1) {
      this.#seconds--;
    }
    this.#dropped = this.#dropped.filter((entry) => !isOld(entry, MOST));
  }
}

/** Of what was wanted in the past, so much counts in the next period; half of it is forgotten in five minutes. */
const SMOOTHING = 0.977;

const MS_PER_SECOND = 1000;

export class Demand {
  #seats = 0;
  #since: number;
  /** Of the present period. */
  #elapsed = 0;
  #sum = 0;
  #squares = 0;
  #most = 0;
  /** The most at any moment of the last period. */
  highWatermark = 0;
  /** What may be expected: it follows the demand at once when that rises, and slowly when it falls. */
  smoothed = 0;

  constructor(now: number) {
    this.#since = now;
  }

  /** So many seats are in use or wanted from now on. */
  set(seats: number, now: number): void {
    this.#pass(now);
    this.#seats = seats;
    this.#most = Math.max(this.#most, seats);
  }

  /** Ends a period. */
  endPeriod(now: number): void {
    this.#pass(now);
    this.highWatermark = Math.round(this.#most);
    if (this.#elapsed > 0) {
      const average = this.#sum / this.#elapsed;
      const variance = this.#squares / this.#elapsed - average * average;
      const envelope = average + Math.sqrt(Math.max(0, variance));
      this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
    }
    this.#elapsed = this.#sum = this.#squares = 0;
    this.#most = this.#seats;
  }

  #pass(now: number): void {
    // A clock may be set back.
    const seconds = Math.max(0, now - this.#since) / MS_PER_SECOND;
    this.#since = now;
    this.#elapsed += seconds;
    this.#sum += this.#seats * seconds;
    this.#squares += this.#seats * this.#seats * seconds;
  }
}

export interface LevelSource {
  readonly metadata: { readonly name: string; readonly uid: string };
  readonly spec: PriorityLevelConfigurationSpec;
}

export class Level {
  readonly name: string;
  readonly demand: Demand;
  readonly queues: QueueSet;
  readonly retryAfter = new RetryAfter();
  uid = '';
  shares: Shares = NO_SHARES;
  maxSeats = 1;
  /** Its object is gone: it goes when the last of its requests is over. */
  isLeaving = false;
  #spec: PriorityLevelConfigurationSpec | undefined;
  #queuing: Queuing = { type: 'reject' };
  #bounds: Bounds = { nominal: 0, lower: 0, upper: 0 };
  #current: number | undefined;

  constructor(name: string, clock: Clock, now: number) {
    this.name = name;
    this.demand = new Demand(now);
    this.queues = new QueueSet(clock, (seats, at) => this.demand.set(seats, at));
  }

  get isExempt(): boolean {
    return this.#queuing.type === 'exempt';
  }

  get figures(): LevelFigures {
    return { priorityLevel: this.name, ...this.#bounds, current: this.#current ?? 0 };
  }

  get claim(): Claim {
    const { isExempt, demand } = this;
    const { highWatermark, smoothed } = demand;
    return { ...this.#bounds, isExempt, highWatermark, smoothed, current: this.#current ?? 0 };
  }

  describe({ metadata, spec }: LevelSource): void {
    this.isLeaving = false;
    this.uid = metadata.uid;
    // Objects are never changed in place: the same spec has the same queues.
    if (spec === this.#spec) return;
    this.#spec = spec;
    this.shares = spec.limited ?? spec.exempt ?? NO_SHARES;
    this.#queuing = queuingOf(spec);
  }

  /** Its part of the server, before anything is lent. */
  setBounds(totalSeats: number, sumOfShares: number): void {
    this.#bounds = boundsOf(this.shares, totalSeats, sumOfShares);
    const { nominal, lower } = this.#bounds;
    this.#current ??= nominal - Math.floor((nominal - lower) / 2);
    this.maxSeats = maxSeatsOf(nominal, this.#queuing.type === 'queue' ? this.#queuing.handSize : undefined);
  }

  /** How many seats it has from now on. Those who wait for one may get it in this moment. */
  setCurrent(seats: number, now: number): void {
    this.#current = seats;
    this.queues.configure(this.#queuing, seats, now);
  }
}

const NO_SHARES: Shares = { nominalConcurrencyShares: 0, lendablePercent: 0 };

function queuingOf({ type, limited }: PriorityLevelConfigurationSpec): Queuing {
  if (type === 'Exempt') return { type: 'exempt' };
  const queuing = limited?.limitResponse.queuing;
  return queuing === undefined ? { type: 'reject' } : { type: 'queue', ...queuing };
}
