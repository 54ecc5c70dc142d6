/**
 * The queue of a controller: keys of objects that want a look, each handled by one worker at a time and only once
 * however often it was added meanwhile. A look that fails is taken again, later and later.
 *
 * Keys that are added in one turn of the event loop are handled in the next. So a hundred changes that happen together
 * become one look at what they are about, which is what makes a controller in a test both quick and predictable.
 */
import { StatusError } from '../../meta/errors.js';
import type { Activity } from '../../util/activity.js';
import { type Clock, nextTurn, type Undo } from '../../util/clock.js';
import { Heap } from '../../util/heap.js';

/** What a look at a key asks for. Nothing: the next look comes with the next change. */
export interface Again {
  /** Another look after so many milliseconds, even if nothing changes. */
  readonly requeueAfterMs?: number | undefined;
}

// biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is the ordinary case.
export type Reconcile = (key: string) => Promise<Again | void>;

export interface WorkQueueOptions {
  /** For messages: the controller's name. */
  readonly name: string;
  readonly clock: Clock;
  readonly reconcile: Reconcile;
  /** Keys handled at once; 1 unless given. */
  readonly workers?: number | undefined;
  readonly backoff?: Backoff | undefined;
  /** What passes between an addition and the look at it; a turn of the event loop unless given. */
  readonly pace?: (() => Promise<void>) | undefined;
  /** Told of each look that failed. Must not throw. */
  readonly onError: (error: unknown, key: string) => void;
}

/** How long a key waits after it has failed: `firstMs`, then twice as long each time, `longestMs` at most. */
export interface Backoff {
  readonly firstMs: number;
  readonly longestMs: number;
}

const DEFAULT_BACKOFF: Backoff = { firstMs: 5, longestMs: 1_000_000 };
/** Somebody else was faster. By the next turn that is known here, so there is nothing to wait for; but not for ever. */
const PROMPT_RETRIES = 5;
/** Moments that were overtaken or taken back and may lie about beside those that count. */
const MOST_STALE = 100;
const MANY_LOOKS = 1_000;

function inWords(value: unknown): string {
  return typeof value === 'number' || value === undefined || value === null ? String(value) : `a ${typeof value}`;
}

/** Throws TypeError: a wait that is no number would be noticed with the first failure only, where nobody looks for it. */
export function checkedBackoff(name: string, backoff: Backoff): Backoff {
  for (const part of ['firstMs', 'longestMs'] as const) {
    const value: unknown = (backoff as Partial<Backoff> | null)?.[part];
    if (typeof value !== 'number' || !(value >= 0)) {
      throw new TypeError(`orchplane: ${name}: backoff has ${part}, a number of milliseconds, not ${inWords(value)}`);
    }
  }
  return backoff;
}

export class WorkQueue implements Activity {
  readonly #options: WorkQueueOptions;
  readonly #backoff: Backoff;
  /** Of every key that waits or is being handled. */
  readonly #states = new Map<string, State>();
  /** In the order in which they will be handled. */
  #waiting: string[] = [];
  /** Those of them whose turn has come, the next one last. */
  #turn: string[] = [];
  #running = 0;
  readonly #failures = new Map<string, number>();
  readonly #conflicts = new Map<string, number>();
  #delayed = new Heap<Delayed>(dueOf);
  /** When each delayed key is due; what the heap holds besides has been overtaken. */
  readonly #dueOf = new Map<string, number>();
  #timer: { readonly due: number; readonly undo: Undo } | undefined;
  #isOpen = false;
  #isClosed = false;
  #isScheduled = false;
  #looks = 0;

  constructor(options: WorkQueueOptions) {
    const { name, workers = 1 } = options;
    // Without any, keys would wait for ever, and whoever waits for rest with them.
    if (!(workers >= 1)) throw new TypeError(`orchplane: ${name}: a queue needs 1 worker at least, not ${workers}`);
    this.#options = options;
    this.#backoff = checkedBackoff(name, options.backoff ?? DEFAULT_BACKOFF);
  }

  /** Begins to work; what was added before has waited. */
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
   * For whoever handles the key, and has just compared what the informers show with what it left behind: all that the key
   * was added for by now has been looked at, so it need not be handled again for that. Said without looking, it loses
   * changes of others. Nothing happens where the key was not added meanwhile; the answer says whether it was.
   */
  seen(key: string): boolean {
    if (this.#states.get(key) !== 'dirty') return false;
    this.#states.set(key, 'running');
    return true;
  }

  /** Whether the last attempt at the key has failed, and the next one is waited for. */
  isPutOff(key: string): boolean {
    return this.#failures.has(key) && this.#dueOf.has(key);
  }

  /**
   * Adds the key when so much time has passed; of two such calls the earlier moment counts. `Infinity`: never. Throws
   * TypeError for what is no number.
   */
  addAfter(key: string, delayMs: number): void {
    if (typeof delayMs !== 'number' || Number.isNaN(delayMs)) {
      throw new TypeError(`orchplane: ${this.#options.name}: ${key} cannot wait for ${inWords(delayMs)} ms`);
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
    if (this.#delayed.size > 2 * this.#dueOf.size + MOST_STALE) this.#dropStale();
    this.#setTimer();
  }

  /** Takes back a delay, if the key has one. */
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
    // Its time has come, also where the time of day has jumped ahead of the timers: nobody should wait for those.
    this.#timer.undo();
    this.#onTimer();
    return this.#waiting.length > 0;
  }

  busyWith(): readonly string[] {
    if (!this.isBusy()) return [];
    const { name } = this.#options;
    const running = [...this.#states].flatMap(([key, state]) => (state === 'waiting' ? [] : [key]));
    // Who has looked so often mostly changes what it looks at, and is never done.
    const often = this.#looks < MANY_LOOKS ? '' : ` (after ${this.#looks} looks)`;
    return [
      ...running.map((key) => `${name} is working on ${key}${often}`),
      ...[...this.#turn.toReversed(), ...this.#waiting].map((key) => `${name} will look at ${key}${often}`),
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

  /** What waits now is this turn's work; what is added from here on is the next one's. */
  #startWorkers(): void {
    const free = (this.#options.workers ?? 1) - this.#running;
    if (free <= 0 || this.#isClosed) return;
    const { clock } = this.#options;
    const waiting = clock.order?.(this.#waiting) ?? this.#waiting;
    this.#turn = this.#turn.length === 0 ? waiting.toReversed() : [...waiting.toReversed(), ...this.#turn];
    this.#waiting = [];
    // Each takes its first key within the call, so the size is asked once.
    const count = Math.min(free, this.#turn.length);
    for (let each = 0; each < count; each++) void this.#work();
  }

  /** One worker: goes on until the turn's work is done. */
  async #work(): Promise<void> {
    for (let key = this.#turn.pop(); key !== undefined; key = this.#turn.pop()) {
      this.#running++;
      // In the order in which they are begun, which need not be that in which they came.
      this.#states.delete(key);
      this.#states.set(key, 'running');
      this.#looks++;
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
      // First, for a delay that is no number is a failure like others.
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
    if (conflicts >= PROMPT_RETRIES) return false;
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
    this.#timer = undefined;
    const now = this.#options.clock.now();
    for (let next = this.#nextDelayed(); next !== undefined && next.due <= now; next = this.#nextDelayed()) {
      this.#delayed.pop();
      this.#dueOf.delete(next.key);
      this.add(next.key);
    }
    this.#setTimer();
  }

  /** A key that is put off again and again, each time for years, would leave all those moments behind. */
  #dropStale(): void {
    this.#delayed = new Heap<Delayed>(dueOf);
    for (const [key, due] of this.#dueOf) this.#delayed.push({ key, due });
  }

  /** The first delayed key that has not been overtaken by an earlier moment or taken back. */
  #nextDelayed(): Delayed | undefined {
    for (let next = this.#delayed.peek(); next !== undefined; next = this.#delayed.peek()) {
      if (this.#dueOf.get(next.key) === next.due) return next;
      this.#delayed.pop();
    }
    return undefined;
  }
}

/** `dirty`: added while it was being handled. */
type State = 'waiting' | 'running' | 'dirty';

interface Delayed {
  readonly key: string;
  readonly due: number;
}

function dueOf({ due }: Delayed): number {
  return due;
}
