/**
 * The seats and queues of one priority level: fair queuing of requests.
 *
 * Each queue gets an equal part of the level's seats, as long as it can use it. The progress meter R counts what every busy
 * queue has been given so far, in seats × time; it runs faster the more seats are in use and the fewer queues are busy.
 * Every queue keeps the value of R at which its next request would start if all queues were served evenly and in parallel.
 * Of the requests at the heads of the queues, the one that would finish first in that virtual world is dispatched first.
 * Its duration is estimated (3 ms on each of its seats) and corrected when it finishes.
 *
 *   One seat, requests of 30 ms. A1, A2 and A3 arrive in queue A, then B1 in queue B.
 *     A1 starts, and A's next start is 0 + 3.
 *     A1 finishes after 30 ms: A's next start is 3 − (3 − 30) = 30. R is 30 × 1 seat ÷ 2 busy queues = 15.
 *     B1 would finish at 0 + 3, A2 at 30 + 3: B1 starts, although A2 arrived first.
 *
 * Empty queues are not stored: there may be millions, of which a few are in use.
 */
import type { Clock } from '../util/clock.js';
import { invariant } from '../util/invariant.js';
import type { Counts } from './counts.js';
import { LinkedList, type ListLinks } from './linked-list.js';
import { deal, flowHash } from './shuffle-shard.js';
import type { Work } from './work.js';

/** What a level does with requests that find no seat. */
export type Queuing =
  | { readonly type: 'exempt' }
  | { readonly type: 'reject' }
  | {
      readonly type: 'queue';
      readonly queues: number;
      readonly handSize: number;
      readonly queueLengthLimit: number;
    };

/** A request on a level, with the state that the queue set keeps for it. */
export class Entry implements ListLinks<Entry> {
  readonly counts: Counts;
  readonly distinguisher: string;
  /** Called when a waiting request gets its seats. */
  onDispatch: ((now: number) => void) | undefined;
  state: 'new' | 'waiting' | 'executing' | 'over' = 'new';
  /** See {@link Work}; the final seats shrink if the level has become smaller. */
  readonly seats: number;
  finalSeats: number;
  lingerMs: number;
  /** The estimated cost in units of the meter. */
  readonly cost: number;
  /** Undefined on levels without queues. */
  queue: Queue | undefined;
  previous: Entry | undefined;
  next: Entry | undefined;
  /** The value of the meter on arrival. */
  arrivedAt = 0;
  startedMs = 0;

  constructor(counts: Counts, distinguisher: string, work: Work) {
    this.counts = counts;
    this.distinguisher = distinguisher;
    this.seats = work.seats;
    this.finalSeats = work.finalSeats;
    this.lingerMs = work.lingerMs;
    this.cost = seatTime(work.seats, GUESS_MS) + seatTime(work.finalSeats, work.lingerMs);
  }

  /** The seats for both phases of the work are taken at once. */
  get width(): number {
    return Math.max(this.seats, this.finalSeats);
  }
}

interface Queue {
  readonly index: number;
  readonly waiting: LinkedList<Entry>;
  waitingSeats: number;
  waitingCost: number;
  executing: number;
  seatsInUse: number;
  /** The value of the meter at which its next request starts. */
  nextStart: number;
}

/** The estimated duration of a request. */
const GUESS_MS = 3;
/** The meter counts in integral units of 1e-8 seat-seconds, so that equal amounts compare equal. */
const UNITS_PER_MS = 1e5;

function seatTime(seats: number, ms: number): number {
  return Math.round(seats * ms * UNITS_PER_MS);
}

/** The number of cached hands; when there are more flows, the cache is cleared. */
const MAX_HANDS = 1024;
/** Flows with longer names are not cached: a client may impersonate users with names of a megabyte. */
const MAX_FLOW_LENGTH = 4096;

export class QueueSet {
  readonly #clock: Clock;
  readonly #onDemand: (seats: number, now: number) => void;
  #queuing: Queuing = { type: 'reject' };
  #limit = 0;
  /** Queues with requests, by index. */
  readonly #queues = new Map<number, Queue>();
  #hands = new Map<string, readonly number[]>();
  /** The index of the queue that was dispatched last. */
  #lastDispatched = 0;
  #enqueued = 0;
  #meter = 0;
  #meterMs: number;
  #waiting = 0;
  #waitingSeats = 0;
  #executing = 0;
  #seatsInUse = 0;

  /** `onDemand` receives the number of seats in use or waited for. All times are those of the clock. */
  constructor(clock: Clock, onDemand: (seats: number, now: number) => void) {
    this.#clock = clock;
    this.#onDemand = onDemand;
    this.#meterMs = clock.now();
  }

  get waiting(): number {
    return this.#waiting;
  }

  get isIdle(): boolean {
    return this.#waiting === 0 && this.#executing === 0;
  }

  /** Applies a new configuration. Requests in queues that no longer exist are still dispatched. */
  configure(queuing: Queuing, limit: number, now: number): void {
    this.#sync(now);
    if (queuing !== this.#queuing) this.#hands = new Map();
    this.#queuing = queuing;
    this.#limit = limit;
    this.#dispatch();
  }

  /** Adds a request. */
  enter(entry: Entry, now: number): 'executing' | 'waiting' | 'queue-full' | 'concurrency-limit' {
    this.#sync(now);
    if (this.#queuing.type !== 'queue') {
      if (!this.#hasRoomFor(entry.width)) return 'concurrency-limit';
      this.#start(entry);
      return 'executing';
    }
    const queue = this.#queueFor(entry, this.#queuing);
    if (this.#seatsInUse >= this.#limit && queue.waiting.length >= this.#queuing.queueLengthLimit) return 'queue-full';
    this.#enqueue(entry, queue);
    this.#dispatch();
    // It may have been dispatched.
    return (entry.state as Entry['state']) === 'executing' ? 'executing' : 'waiting';
  }

  /** Removes a waiting request. */
  cancel(entry: Entry, now: number): void {
    const { queue } = entry;
    invariant(entry.state === 'waiting' && queue !== undefined, 'only a waiting request can be cancelled');
    this.#sync(now);
    entry.state = 'over';
    this.#dequeue(entry, queue);
    this.#reportDemand();
    this.#clampNextStart(queue);
    this.#removeIfEmpty(queue);
  }

  /** Finishes a request. Its seats are released after its additional latency. */
  finish(entry: Entry, now: number): void {
    invariant(entry.state === 'executing', 'only an executing request can finish');
    this.#sync(now);
    const { queue } = entry;
    entry.state = 'over';
    this.#executing--;
    entry.counts.executing--;
    if (queue !== undefined) {
      queue.executing--;
      const tookMs = Math.max(0, this.#meterMs - entry.startedMs);
      queue.nextStart -= seatTime(entry.seats, GUESS_MS - tookMs);
      this.#clampNextStart(queue);
    }
    if (entry.lingerMs > 0) {
      this.#clock.after(
        entry.lingerMs,
        () => {
          this.#sync(this.#clock.now());
          this.#release(entry);
          this.#dispatch();
        },
        { background: true },
      );
    } else {
      this.#release(entry);
    }
    this.#dispatch();
  }

  /** Advances the meter to the present; nothing has changed since the last call. */
  #sync(now: number): void {
    // The clock may be set back.
    const passed = Math.max(0, now - this.#meterMs);
    this.#meterMs = now;
    if (passed === 0 || this.#queues.size === 0) return;
    let busy = 0;
    let seats = 0;
    for (const queue of this.#queues.values()) {
      seats += queue.seatsInUse + queue.waitingSeats;
      if (queue.waiting.length > 0 || queue.executing > 0) busy++;
    }
    if (busy > 0) this.#meter += seatTime(Math.min(seats, this.#limit) / busy, passed);
  }

  #hasRoomFor(seats: number): boolean {
    if (this.#queuing.type === 'exempt') return true;
    // A request wider than the limit runs alone.
    if (seats > this.#limit) return this.#executing === 0;
    return this.#seatsInUse + seats <= this.#limit;
  }

  /** The queue of the flow's hand with the least waiting work. */
  #queueFor(entry: Entry, queuing: Queuing & { type: 'queue' }): Queue {
    const hand = this.#handOf(entry, queuing);
    // A rotating start avoids extra collisions between flows with overlapping hands.
    const offset = this.#enqueued++ % hand.length;
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let step = 0; step < hand.length; step++) {
      const index = hand[(offset + step) % hand.length] ?? 0;
      const cost = this.#queues.get(index)?.waitingCost ?? 0;
      if (cost >= least) continue;
      least = cost;
      best = index;
    }
    return (
      this.#queues.get(best) ?? {
        index: best,
        waiting: new LinkedList(),
        waitingSeats: 0,
        waitingCost: 0,
        executing: 0,
        seatsInUse: 0,
        nextStart: 0,
      }
    );
  }

  #handOf({ counts, distinguisher }: Entry, { queues, handSize }: Queuing & { type: 'queue' }): readonly number[] {
    if (queues === 1) return ONLY_QUEUE;
    const key = `${counts.flowSchema}\0${distinguisher}`;
    const cached = this.#hands.get(key);
    if (cached !== undefined) return cached;
    const hand = deal(flowHash(counts.flowSchema, distinguisher), queues, handSize);
    if (key.length > MAX_FLOW_LENGTH) return hand;
    if (this.#hands.size >= MAX_HANDS) this.#hands.clear();
    this.#hands.set(key, hand);
    return hand;
  }

  #enqueue(entry: Entry, queue: Queue): void {
    if (queue.waiting.length === 0 && queue.executing === 0) queue.nextStart = this.#meter;
    this.#queues.set(queue.index, queue);
    entry.state = 'waiting';
    entry.queue = queue;
    entry.arrivedAt = this.#meter;
    queue.waiting.add(entry);
    queue.waitingSeats += entry.width;
    queue.waitingCost += entry.cost;
    this.#waiting++;
    this.#waitingSeats += entry.width;
    entry.counts.wait(1, entry.width);
    this.#reportDemand();
    this.#clampNextStart(queue);
  }

  #dequeue(entry: Entry, queue: Queue): void {
    queue.waiting.remove(entry);
    queue.waitingSeats -= entry.width;
    queue.waitingCost -= entry.cost;
    this.#waiting--;
    this.#waitingSeats -= entry.width;
    entry.counts.wait(-1, entry.width);
  }

  /** Dispatches as many requests as fit. */
  #dispatch(): void {
    while (this.#waiting > 0 && this.#seatsInUse < this.#limit) {
      const { queue, entry } = this.#next();
      // No overtaking, or wide requests would starve.
      if (!this.#hasRoomFor(entry.width)) return;
      this.#dequeue(entry, queue);
      this.#limitFinalSeats(entry);
      this.#lastDispatched = queue.index;
      queue.nextStart += entry.cost;
      this.#start(entry);
      this.#clampNextStart(queue);
      entry.onDispatch?.(this.#meterMs);
    }
  }

  /** The queue whose head finishes first in virtual time; of equals, the next one in round-robin order. */
  #next(): { readonly queue: Queue; readonly entry: Entry } {
    let best: Queue | undefined;
    let bestEnd = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) {
      const { first } = queue.waiting;
      if (first === undefined) continue;
      const end = queue.nextStart + first.cost;
      if (best !== undefined && (end > bestEnd || (end === bestEnd && !this.#isSooner(queue, best)))) continue;
      best = queue;
      bestEnd = end;
    }
    const entry = best?.waiting.first;
    invariant(best !== undefined && entry !== undefined, 'a request waits');
    return { queue: best, entry };
  }

  #isSooner(left: Queue, right: Queue): boolean {
    const leftIsPast = left.index <= this.#lastDispatched;
    const rightIsPast = right.index <= this.#lastDispatched;
    return leftIsPast === rightIsPast ? left.index < right.index : rightIsPast;
  }

  /** The final phase uses at most the limit, and takes longer accordingly. */
  #limitFinalSeats(entry: Entry): void {
    if (entry.finalSeats <= this.#limit) return;
    entry.lingerMs = (entry.finalSeats * entry.lingerMs) / this.#limit;
    entry.finalSeats = this.#limit;
  }

  #start(entry: Entry): void {
    const { queue, counts, width } = entry;
    entry.state = 'executing';
    entry.startedMs = this.#meterMs;
    this.#executing++;
    this.#seatsInUse += width;
    counts.dispatched++;
    counts.executing++;
    counts.executingSeats += width;
    if (queue !== undefined) {
      queue.executing++;
      queue.seatsInUse += width;
    }
    this.#reportDemand();
  }

  #release({ queue, counts, width }: Entry): void {
    this.#seatsInUse -= width;
    counts.executingSeats -= width;
    this.#reportDemand();
    if (queue === undefined) return;
    queue.seatsInUse -= width;
    this.#removeIfEmpty(queue);
  }

  /** An idle queue accumulates no credit: its next start is not before the arrival of its head. */
  #clampNextStart(queue: Queue): void {
    const { first } = queue.waiting;
    if (first !== undefined) queue.nextStart = Math.max(queue.nextStart, first.arrivedAt);
  }

  #removeIfEmpty(queue: Queue): void {
    if (queue.waiting.length === 0 && queue.executing === 0 && queue.seatsInUse === 0) this.#queues.delete(queue.index);
  }

  #reportDemand(): void {
    this.#onDemand(this.#seatsInUse + this.#waitingSeats, this.#meterMs);
  }
}

const ONLY_QUEUE = [0];
