/**
 * A priority level at run time: its seats, queues and demand statistics. It outlives its object until its last request
 * ends.
 */

import type { PriorityLevelConfigurationSpec } from '../kinds/generated/flowcontrol-v1.js';
import type { Clock } from '../util/clock.js';
import { type Bounds, boundsOf, type Claim, type Shares } from './limits.js';
import { QueueSet, type Queuing } from './queue-set.js';
import type { LevelFigures } from './types.js';
import { maxSeatsOf } from './work.js';

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
  /** The object is deleted: the level is removed with the end of its last request. */
  isQuiescing = false;
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

  update({ metadata, spec }: LevelSource): void {
    this.isQuiescing = false;
    this.uid = metadata.uid;
    // Stored objects are immutable, so the same spec has the same queues.
    if (this.#spec !== undefined && spec === this.#spec) return;
    this.shares = spec.limited ?? spec.exempt ?? NO_SHARES;
    this.#queuing = queuingOf(spec);
    this.#spec = spec;
  }

  /** Sets the nominal seats and their bounds before lending. */
  setBounds(totalSeats: number, sumOfShares: number): void {
    this.#bounds = boundsOf(this.shares, totalSeats, sumOfShares);
    const { nominal, lower } = this.#bounds;
    this.#current ??= nominal - Math.floor((nominal - lower) / 2);
    this.maxSeats = maxSeatsOf(nominal, this.#queuing.type === 'queue' ? this.#queuing.handSize : undefined);
  }

  /** Sets the current number of seats; waiting requests may be dispatched. */
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

/** The maximum Retry-After. */
const MAX_SECONDS = 32;

/** Rejections per second that count as overload. */
const DROPS_PER_SECOND = 3;

/** The Retry-After value of one level: starts at one second, doubles under overload, and decreases by one otherwise. */
export class RetryAfter {
  #seconds = 1;
  /** Rejections per second; the last entry is still growing. */
  #dropped: { readonly second: number; count: number }[] = [];
  #raisedAt = Number.NEGATIVE_INFINITY;

  /** Counts a rejection and returns the Retry-After seconds. */
  drop(nowMs: number): number {
    const second = Math.floor(nowMs / MS_PER_SECOND);
    const last = this.#dropped.at(-1);
    if (last?.second === second) {
      last.count++;
      return this.#seconds;
    }
    // Adjusts when a second has ended; the new one has no data yet.
    this.#adjust(second);
    this.#dropped.push({ second, count: 1 });
    return this.#seconds;
  }

  #adjust(second: number): void {
    const isOld = (entry: { second: number }, age: number): boolean => second - entry.second > age;
    const recent = this.#dropped.filter((entry) => !isOld(entry, this.#seconds) && entry.second < second);
    const count = recent.reduce((sum, entry) => sum + entry.count, 0);
    if (second - this.#raisedAt >= this.#seconds && count >= DROPS_PER_SECOND * this.#seconds) {
      this.#seconds = Math.min(MAX_SECONDS, this.#seconds * 2);
      this.#raisedAt = second;
    } else if (count < this.#seconds && this.#seconds > 1) {
      this.#seconds--;
    }
    this.#dropped = this.#dropped.filter((entry) => !isOld(entry, MAX_SECONDS));
  }
}

/** The weight of past demand in the next period; its half-life is five minutes. */
const SMOOTHING = 0.977;

const MS_PER_SECOND = 1000;

/** Demand statistics of one level. */
export class Demand {
  #seats = 0;
  #since: number;
  /** Statistics of the current period. */
  #elapsed = 0;
  #sum = 0;
  #squares = 0;
  #maximum = 0;
  /** The maximum of the last period. */
  highWatermark = 0;
  /** Expected demand: follows increases at once and decreases slowly. */
  smoothed = 0;

  constructor(now: number) {
    this.#since = now;
  }

  /** Sets the number of seats in use or waited for. */
  set(seats: number, now: number): void {
    this.#advance(now);
    this.#seats = seats;
    this.#maximum = Math.max(this.#maximum, seats);
  }

  endPeriod(now: number): void {
    this.#advance(now);
    this.highWatermark = Math.round(this.#maximum);
    if (this.#elapsed > 0) {
      const average = this.#sum / this.#elapsed;
      const variance = this.#squares / this.#elapsed - average * average;
      const envelope = average + Math.sqrt(Math.max(0, variance));
      this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
    }
    this.#elapsed = this.#sum = this.#squares = 0;
    this.#maximum = this.#seats;
  }

  #advance(now: number): void {
    // The clock may be set back.
    const seconds = Math.max(0, now - this.#since) / MS_PER_SECOND;
    this.#since = now;
    this.#elapsed += seconds;
    this.#sum += this.#seats * seconds;
    this.#squares += this.#seats * this.#seats * seconds;
  }
}
