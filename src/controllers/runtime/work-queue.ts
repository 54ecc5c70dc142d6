/**
 * The work queue of a controller. Keys are deduplicated, and each key is handled by one worker at a time. A reconcile that
 * fails is retried with exponential backoff.
 *
 * Keys that are added in one turn of the event loop are handled in the next one. A hundred changes that happen together
 * cause one reconcile, which makes controllers in tests fast and deterministic.
 */
import { StatusError } from '../../meta/errors.js';
import type { Activity } from '../../util/activity.js';
import { type Clock, nextTurn, type Undo } from '../../util/clock.js';
import { Heap } from '../../util/heap.js';
import type { TurnBudget } from './request-tracker.js';

/** The result of a reconcile. Nothing: the key is reconciled again with its next change. */
export interface ReconcileResult {
  /** Reconcile again after this many milliseconds, even without a change. */
  readonly requeueAfterMs?: number | undefined;
}

// biome-ignore lint/suspicious/noConfusingVoidType: most reconcile functions return nothing.
export type Reconcile = (key: string) => Promise<ReconcileResult | void>;

export interface WorkQueueOptions {
  /** The controller's name, for messages. */
  readonly name: string;
  readonly clock: Clock;
  readonly reconcile: Reconcile;
  /** The number of keys handled concurrently; 1 unless given. */
  readonly workers?: number | undefined;
  readonly backoff?: Backoff | undefined;
  /** Awaited between an addition and its reconcile; one turn of the event loop unless given. */
  readonly pace?: (() => Promise<void>) | undefined;
  /** Shared by all queues and requests of a cluster. */
  readonly budget?: TurnBudget | undefined;
  /** Receives the error of each failed reconcile. Must not throw. */
  readonly onError: (error: unknown, key: string) => void;
}

/** The delay after a failure: `firstMs`, doubled with each further failure, `longestMs` at most. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

const DEFAULT_BACKOFF: Backoff = { firstMs: 5, longestMs: 1_000_000 };
/** Immediate retries after a Conflict. The informer has the newer object by the next turn, so no delay is needed. */
const MAX_IMMEDIATE_RETRIES = 5;
/** How many superseded or cancelled entries the heap of delayed keys may hold beyond its size. */
const MAX_STALE_DELAYS = 100;
/** Timers may be early by a millisecond, and clocks are adjusted by some. */
const MAX_EARLY_MS = 100;
/** From this count on, messages include the number of reconciles: the controller is probably in a loop. */
const MANY_RECONCILES = 1_000;

function describeValue(value: unknown): string {
  return typeof value === 'number' || value === undefined || value === null ? String(value) : `a ${typeof value}`;
}

/** Throws TypeError for a delay that is not a number. Otherwise the mistake would surface only with the first failure. */
export function checkedBackoff(name: string, backoff: Backoff): Backoff {
  for (const part of ['firstMs', 'longestMs'] as const) {
    const value: unknown = (backoff as Partial<Backoff> | null)?.[part];
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new TypeError(
        `orchplane: ${name}: backoff has ${part}, a number of milliseconds, not ${describeValue(value)}`,
      );
    }
  }
  return backoff;
}

/** A deduplicating work queue with delays, backoff and a limited number of workers. */
export class WorkQueue implements Activity {
  readonly #options: WorkQueueOptions;
  readonly #backoff: Backoff;
  /** The state of every key that waits or is being handled. */
  readonly #states = new Map<string, State>();
  /** Keys for the next turn, in order. */
  #waiting: string[] = [];
  /** Keys of the current turn; the next one is last. */
  #turn: string[] = [];
  #running = 0;
  readonly #failures = new Map<string, number>();
  readonly #conflicts = new Map<string, number>();
  #delayed = new Heap<Delayed>(dueOf);
  /** The due time of each delayed key. Heap entries with another due time are stale. */
  readonly #dueOf = new Map<string, number>();
  #timer: { readonly due: number; readonly undo: Undo } | undefined;
  #isOpen = false;
  #isClosed = false;
  #isScheduled = false;
  #reconciles = 0;

  constructor(options: WorkQueueOptions) {
    const { name, workers = 1 } = options;
    // Without workers keys would wait forever, and `settle` with them.
    if (!(workers >= 1)) throw new TypeError(`orchplane: ${name}: a queue needs 1 worker at least, not ${workers}`);
    this.#options = options;
    this.#backoff = checkedBackoff(name, options.backoff ?? DEFAULT_BACKOFF);
  }

  /** Starts the workers. Keys added before have waited. */
  open(): void {
    this.#isOpen = true;
    this.#schedule();
  }

  add(key: string): void {
    if (typeof key !== 'string')
      throw new TypeError(`orchplane: ${this.#options.name}: a key is a text, not of type ${typeof key}`);
    if (this.#isClosed) return;
    const state = this.#states.get(key);
    if (state === 'running') this.#states.set(key, 'dirty');
    else if (state === undefined) {
      this.#states.set(key, 'waiting');
      this.#waiting.push(key);
    }
    this.#schedule();
  }

  /**
   * For the reconcile of this key, after it has compared the informers' current state with its result: drops a repetition
   * that was requested meanwhile, because it would find nothing new. Calling it without that comparison loses changes.
   * Returns whether a repetition was requested.
   */
  dropRepeat(key: string): boolean {
    if (this.#states.get(key) !== 'dirty') return false;
    this.#states.set(key, 'running');
    return true;
  }

  /** Whether the last reconcile of the key failed and a retry is pending. */
  hasPendingRetry(key: string): boolean {
    return this.#failures.has(key) && this.#dueOf.has(key);
  }

  /**
   * Adds the key after a delay. Of two calls the earlier due time counts; `Infinity` means never. Throws TypeError if the
   * delay is not a number.
   */
  addAfter(key: string, delayMs: number): void {
    if (typeof delayMs !== 'number' || Number.isNaN(delayMs)) {
      throw new TypeError(`orchplane: ${this.#options.name}: ${key} cannot wait for ${describeValue(delayMs)} ms`);
    }
    if (this.#isClosed || delayMs === Infinity) return;
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    const due = this.#options.clock.now() + delayMs;
    const known = this.#dueOf.get(key);
    if (known !== undefined && known <= due) return;
    this.#dueOf.set(key, due);
    this.#delayed.push({ key, due });
    if (this.#delayed.size > 2 * this.#dueOf.size + MAX_STALE_DELAYS) this.#dropStale();
    this.#setTimer();
  }

  /** Cancels the delay of a key, if it has one. */
  cancelDelay(key: string): void {
    this.#dueOf.delete(key);
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.undo();
    this.#timer = undefined;
    this.#waiting = [];
    this.#turn = [];
    this.#states.clear();
    this.#dueOf.clear();
  }

  isBusy(): boolean {
    if (this.#isClosed) return false;
    if (this.#states.size > 0) return true;
    if (this.#timer === undefined || this.#timer.due > this.#options.clock.now()) return false;
    // Also covers a wall clock that jumped ahead of the timers: the key is due and counts as work.
    this.#timer.undo();
    this.#onTimer();
    return this.#waiting.length > 0;
  }

  busyWith(): readonly string[] {
    if (!this.isBusy()) return [];
    const { name } = this.#options;
    const running = [...this.#states].flatMap(([key, state]) => (state === 'waiting' ? [] : [key]));
    // A high count usually means that the controller changes what it watches and never finishes.
    const often = this.#reconciles < MANY_RECONCILES ? '' : ` (after ${this.#reconciles} reconciles)`;
    return [
      ...running.map((key) => `${name} is working on ${key}${often}`),
      ...[...this.#turn.toReversed(), ...this.#waiting].map((key) => `${name} will reconcile ${key}${often}`),
    ];
  }

  #schedule(): void {
    if (this.#isScheduled || !this.#isOpen || this.#isClosed || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    const { pace, clock } = this.#options;
    void (pace?.() ?? clock.turn?.() ?? nextTurn()).then(() => {
      this.#isScheduled = false;
      this.#startWorkers();
    });
  }

  /** Moves the waiting keys into the current turn. Keys added from now on wait for the next one. */
  #startWorkers(): void {
    const free = (this.#options.workers ?? 1) - this.#running;
    if (free <= 0 || this.#isClosed) return;
    const { clock } = this.#options;
    const waiting = clock.order?.(this.#waiting) ?? this.#waiting;
    this.#turn = this.#turn.length === 0 ? waiting.toReversed() : [...waiting.toReversed(), ...this.#turn];
    this.#waiting = [];
    // Each worker pops its first key synchronously, so compute the count before the loop.
    const count = Math.min(free, this.#turn.length);
    for (let each = 0; each < count; each++) void this.#work();
  }

  /** One worker; runs until the turn has no keys left. */
  async #work(): Promise<void> {
    for (let key = this.#turn.pop(); key !== undefined; key = this.#turn.pop()) {
      this.#running++;
      // Re-insert, so that the map lists running keys in start order.
      this.#states.delete(key);
      this.#states.set(key, 'running');
      this.#reconciles++;
      const wait = this.#options.budget?.untilFree(this.#options.clock);
      if (wait !== undefined) await wait;
      await this.#handle(key);
      this.#running--;
      const isDirty = this.#states.get(key) === 'dirty';
      this.#states.delete(key);
      if (isDirty) this.add(key);
    }
    this.#schedule();
  }

  async #handle(key: string): Promise<void> {
    const { reconcile, onError } = this.#options;
    try {
      const again = await reconcile(key);
      // First, because an invalid delay throws and counts as a failure.
      if (again?.requeueAfterMs !== undefined) this.addAfter(key, again.requeueAfterMs);
      this.#failures.delete(key);
      this.#conflicts.delete(key);
    } catch (error) {
      if (this.#isClosed) return;
      if (this.#retriesAtOnce(key, error)) return;
      onError(error, key);
      const failures = this.#failures.get(key) ?? 0;
      this.#failures.set(key, failures + 1);
      const { firstMs, longestMs } = this.#backoff;
      this.addAfter(key, Math.min(firstMs * 2 ** failures, longestMs));
    }
  }

  #retriesAtOnce(key: string, error: unknown): boolean {
    if (!StatusError.is(error, 'Conflict')) return false;
    const conflicts = this.#conflicts.get(key) ?? 0;
    if (conflicts >= MAX_IMMEDIATE_RETRIES) return false;
    this.#conflicts.set(key, conflicts + 1);
    this.#states.set(key, 'dirty');
    return true;
  }

  #setTimer(): void {
    const next = this.#nextDelayed();
    if (next === undefined || this.#isClosed) return;
    if (this.#timer !== undefined) {
      if (this.#timer.due <= next.due) return;
      this.#timer.undo();
    }
    const { clock } = this.#options;
    const undo = clock.after(Math.max(0, next.due - clock.now()), () => this.#onTimer(), { background: true });
    this.#timer = { due: next.due, undo };
  }

  #onTimer(): void {
    const now = this.#options.clock.now();
    const leftMs = (this.#timer?.due ?? now) - now;
    this.#timer = undefined;
    // The timer has measured the delay: a time before it means that the clock was set back.
    if (leftMs > MAX_EARLY_MS) this.#hasten(leftMs);
    for (let next = this.#nextDelayed(); next !== undefined && next.due <= now; next = this.#nextDelayed()) {
      this.#delayed.pop();
      this.#dueOf.delete(next.key);
      this.add(next.key);
    }
    this.#setTimer();
  }

  #hasten(byMs: number): void {
    for (const [key, due] of this.#dueOf) this.#dueOf.set(key, due - byMs);
    this.#dropStale();
  }

  /** Rebuilds the heap. Otherwise a key that is delayed again and again would accumulate stale entries. */
  #dropStale(): void {
    this.#delayed = new Heap<Delayed>(dueOf);
    for (const [key, due] of this.#dueOf) this.#delayed.push({ key, due });
  }

  /** The earliest delayed key, after removing stale entries. */
  #nextDelayed(): Delayed | undefined {
    for (let next = this.#delayed.peek(); next !== undefined; next = this.#delayed.peek()) {
      if (this.#dueOf.get(next.key) === next.due) return next;
      this.#delayed.pop();
    }
    return undefined;
  }
}

/** `dirty`: added again while it is being handled. */
type State = 'waiting' | 'running' | 'dirty';

interface Delayed {
  readonly key: string;
  readonly due: number;
}

function dueOf({ due }: Delayed): number {
  return due;
}
