/**
 * The seats and queues of one priority level: fair queuing, for requests instead of packets.
 *
 * Each queue gets the same part of the level's seats, as long as it can use it. The meter R counts what has been given
 * to every busy queue so far, in seats × time; it runs faster the more seats are used and the fewer queues are busy.
 * Every queue keeps the reading of R at which its next request would begin if all queues were served at once and evenly.
 * Of the requests at the heads of the queues, the one that would end first in that imagined world begins first in this
 * one. How long it takes is guessed (3 ms on each of its seats) and put right when it is over.
 *
 *   One seat, requests of 30 ms. A1, A2 and A3 come to queue A, and then B1 to queue B.
 *     A1 begins, and A's next is at 0 + 3.
 *     A1 is over after 30 ms: A's next is at 3 − (3 − 30) = 30. R is at 30 × 1 seat ÷ 2 busy queues = 15.
 *     B1 would end at 0 + 3, A2 at 30 + 3: B1 begins, although A2 came first.
 *
 * Nothing is kept of a queue that nobody is in: there may be millions, of which a few are in use.
 */
import type { Clock } from '../util/clock.js';
import { invariant } from '../util/invariant.js';
import type { Counts } from './counts.js';
import { Line, type Standing } from './line.js';
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

/** A request on a level. The set keeps its own notes in it. */
export class Entry implements Standing<Entry> {
  readonly counts: Counts;
  readonly distinguisher: string;
  /** Called in the moment in which a request that had to wait gets its seats. */
  onDispatch: ((now: number) => void) | undefined;
  state: 'new' | 'waiting' | 'executing' | 'over' = 'new';
  /** See {@link Work}; a level that has become smaller may have changed its shape. */
  readonly seats: number;
  finalSeats: number;
  lingerMs: number;
  /** What it takes of the meter, by estimate. */
  readonly cost: number;
  /** Undefined on levels without queues. */
  queue: Queue | undefined;
  ahead: Entry | undefined;
  behind: Entry | undefined;
  /** The reading of the meter when it came. */
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

  /** Seats are taken for both parts of the work at once. */
  get width(): number {
    return Math.max(this.seats, this.finalSeats);
  }
}

interface Queue {
  readonly index: number;
  readonly waiting: Line<Entry>;
  waitingSeats: number;
  waitingCost: number;
  executing: number;
  seatsInUse: number;
  /** The reading of the meter at which its next request begins. */
  next: number;
}

/** How long a request is taken to last before it is known. */
const GUESS_MS = 3;
/** The meter counts in whole hundred-millionths of a seat's second, so that equal things stay equal. */
const UNITS_PER_MS = 1e5;

function seatTime(seats: number, ms: number): number {
  return Math.round(seats * ms * UNITS_PER_MS);
}

/** Hands are dealt once for each flow; when there are more flows than this, all are dealt anew. */
const HANDS_KEPT = 1024;

export class QueueSet {
  readonly #clock: Clock;
  readonly #onDemand: (seats: number, now: number) => void;
  #queuing: Queuing = { type: 'reject' };
  #limit = 0;
  /** Queues that somebody is in, by their numbers. */
  readonly #queues = new Map<number, Queue>();
  #hands = new Map<string, readonly number[]>();
  /** The number of the queue that had the last turn. */
  #turn = 0;
  #enqueued = 0;
  #meter = 0;
  #meterMs: number;
  #waiting = 0;
  #waitingSeats = 0;
  #executing = 0;
  #seatsInUse = 0;

  /** `onDemand` is told how many seats are in use or waited for. All times are of the clock. */
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

  /** From now on. Whoever waits in a queue that is no more still has its turn. */
  configure(queuing: Queuing, limit: number, now: number): void {
    this.#sync(now);
    if (queuing !== this.#queuing) this.#hands = new Map();
    this.#queuing = queuing;
    this.#limit = limit;
    this.#dispatch();
  }

  /** A request has come. */
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
    // It may have had its turn.
    return (entry.state as Entry['state']) === 'executing' ? 'executing' : 'waiting';
  }

  /** A request that waits does so no longer. */
  giveUp(entry: Entry, now: number): void {
    const { queue } = entry;
    invariant(entry.state === 'waiting' && queue !== undefined, 'only who waits can give up');
    this.#sync(now);
    entry.state = 'over';
    this.#dequeue(entry, queue);
    this.#tellDemand();
    this.#bound(queue);
    this.#forgetIfUnused(queue);
  }

  /** A request was carried out. Its seats are free when what it left behind is done, too. */
  finish(entry: Entry, now: number): void {
    invariant(entry.state === 'executing', 'only what was begun can be over');
    this.#sync(now);
    const { queue } = entry;
    entry.state = 'over';
    this.#executing--;
    entry.counts.executing--;
    if (queue !== undefined) {
      queue.executing--;
      const tookMs = Math.max(0, this.#meterMs - entry.startedMs);
      queue.next -= seatTime(entry.seats, GUESS_MS - tookMs);
      this.#bound(queue);
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

  /** Brings the meter to the present, on the assumption that nothing has changed since it was last read. */
  #sync(now: number): void {
    // A clock may be set back.
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
    // Who needs more than there is gets its turn when nobody else is there.
    if (seats > this.#limit) return this.#executing === 0;
    return this.#seatsInUse + seats <= this.#limit;
  }

  /** Of the flow's hand, the queue with the least work waiting in it. */
  #queueFor(entry: Entry, queuing: Queuing & { type: 'queue' }): Queue {
    const hand = this.#handOf(entry, queuing);
    // Begun at another place every time, so that flows whose hands overlap do not meet more often than they must.
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
        waiting: new Line(),
        waitingSeats: 0,
        waitingCost: 0,
        executing: 0,
        seatsInUse: 0,
        next: 0,
      }
    );
  }

  #handOf({ counts, distinguisher }: Entry, { queues, handSize }: Queuing & { type: 'queue' }): readonly number[] {
    if (queues === 1) return ONLY_QUEUE;
    const key = `${counts.flowSchema}\0${distinguisher}`;
    const known = this.#hands.get(key);
    if (known !== undefined) return known;
    if (this.#hands.size >= HANDS_KEPT) this.#hands.clear();
    const hand = deal(flowHash(counts.flowSchema, distinguisher), queues, handSize);
    this.#hands.set(key, hand);
    return hand;
  }

  #enqueue(entry: Entry, queue: Queue): void {
    if (queue.waiting.length === 0 && queue.executing === 0) queue.next = this.#meter;
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
    this.#tellDemand();
    this.#bound(queue);
  }

  #dequeue(entry: Entry, queue: Queue): void {
    queue.waiting.remove(entry);
    queue.waitingSeats -= entry.width;
    queue.waitingCost -= entry.cost;
    this.#waiting--;
    this.#waitingSeats -= entry.width;
    entry.counts.wait(-1, entry.width);
  }

  /** As many as there is room for. */
  #dispatch(): void {
    while (this.#waiting > 0 && this.#seatsInUse < this.#limit) {
      const { queue, entry } = this.#next();
      // Nobody overtakes it, or the wide would wait for ever.
      if (!this.#hasRoomFor(entry.width)) return;
      this.#dequeue(entry, queue);
      this.#fit(entry);
      this.#turn = queue.index;
      queue.next += entry.cost;
      this.#start(entry);
      this.#bound(queue);
      entry.onDispatch?.(this.#meterMs);
    }
  }

  /** Whose head ends first in the imagined world; of equals, who is first after the one that had the last turn. */
  #next(): { readonly queue: Queue; readonly entry: Entry } {
    let best: Queue | undefined;
    let bestEnd = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues.values()) {
      const { first } = queue.waiting;
      if (first === undefined) continue;
      const end = queue.next + first.cost;
      if (best !== undefined && (end > bestEnd || (end === bestEnd && !this.#isSooner(queue, best)))) continue;
      best = queue;
      bestEnd = end;
    }
    const entry = best?.waiting.first;
    invariant(best !== undefined && entry !== undefined, 'somebody waits');
    return { queue: best, entry };
  }

  #isSooner(left: Queue, right: Queue): boolean {
    const leftIsPast = left.index <= this.#turn;
    const rightIsPast = right.index <= this.#turn;
    return leftIsPast === rightIsPast ? left.index < right.index : rightIsPast;
  }

  /** What is left to do after the answer is done on no more seats than there are, and so takes longer. */
  #fit(entry: Entry): void {
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
    this.#tellDemand();
  }

  #release({ queue, counts, width }: Entry): void {
    this.#seatsInUse -= width;
    counts.executingSeats -= width;
    this.#tellDemand();
    if (queue === undefined) return;
    queue.seatsInUse -= width;
    this.#forgetIfUnused(queue);
  }

  /** A queue that could not use its part has no claim to what it did not use: it cannot begin before its head came. */
  #bound(queue: Queue): void {
    const { first } = queue.waiting;
    if (first !== undefined) queue.next = Math.max(queue.next, first.arrivedAt);
  }

  #forgetIfUnused(queue: Queue): void {
    if (queue.waiting.length === 0 && queue.executing === 0 && queue.seatsInUse === 0) this.#queues.delete(queue.index);
  }

  #tellDemand(): void {
    this.#onDemand(this.#seatsInUse + this.#waitingSeats, this.#meterMs);
  }
}

const ONLY_QUEUE = [0];
