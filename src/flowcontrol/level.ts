/**
 * One priority level at work: its seats, its queues and what is known of its demand. It outlives its object for as long
 * as requests are on it.
 */
import type { PriorityLevelConfigurationSpec } from '../kinds/flowcontrol/v1/priority-level-configuration.js';
import type { Clock } from '../util/clock.js';
import { Demand } from './demand.js';
import { type Bounds, boundsOf, type Claim, type Shares } from './limits.js';
import { QueueSet, type Queuing } from './queue-set.js';
import { RetryAfter } from './retry-after.js';
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
