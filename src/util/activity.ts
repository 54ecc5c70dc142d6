/**
 * Work that goes on beside requests: queues of controllers, streams on their way to a reader. A cluster comes to rest
 * when none of its activities has anything left to do.
 */
import { nextTurn, systemClock, type Undo } from './clock.js';
import { pinHiddenClass } from './hidden-class.js';

/** Something that works on its own. */
export interface Activity {
  /** Whether anything is left that needs no passing of time. Asked often, so it has to be quick. */
  isBusy(): boolean;
  /** What it is at, in a few words each, for a message. */
  busyWith(): readonly string[];
}

export class Activities implements Activity {
  readonly #all = new Set<Activity>();
  readonly #held = new Set<() => string>();
  /** Grows with everything that moves on; see {@link Stillness}. */
  #moves = 0;

  add(activity: Activity): Undo {
    this.#all.add(activity);
    return () => void this.#all.delete(activity);
  }

  isBusy(): boolean {
    for (const activity of this.#all) if (activity.isBusy()) return true;
    return false;
  }

  busyWith(): readonly string[] {
    return [...this.#all].flatMap((activity) => [...activity.busyWith()]);
  }

  /**
   * Something is held back on purpose, until a later moment or until a test lets it go. Whoever waits for it is at rest,
   * however busy it looks. The words are for a message.
   */
  hold(what: () => string): Undo {
    this.#held.add(what);
    return () => {
      if (this.#held.delete(what)) this.#moves++;
    };
  }

  get isHolding(): boolean {
    return this.#held.size > 0;
  }

  heldBack(): readonly string[] {
    return [...this.#held].map((what) => what());
  }

  /** Tells that something went on: a request, a delivery. Of use while something is held back. */
  move(): void {
    this.#moves++;
  }

  get moves(): number {
    return this.#moves;
  }
}

/** So many turns in which nothing moves, and nothing will: answers of this process come within a few. */
const STILL_TURNS = 50;

/**
 * Tells whether those who are still busy wait for nothing but what is held back. Looked at once in each turn; says no as
 * long as nothing is held back.
 */
export class Stillness {
  readonly #activities: Activities;
  #moves = -1;
  #busy = '';
  #turns = 0;

  constructor(activities: Activities) {
    this.#activities = activities;
  }

  look(): boolean {
    if (!this.#activities.isHolding) return false;
    const busy = this.#activities.busyWith().join('\n');
    if (this.#moves === this.#activities.moves && this.#busy === busy) return ++this.#turns >= STILL_TURNS;
    this.#moves = this.#activities.moves;
    this.#busy = busy;
    this.#turns = 0;
    return false;
  }
}

export interface RestOptions {
  /** How long to wait, in milliseconds of the machine's clock: time of a test may stand still. 10 s unless given. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** So many turns without an end mean that somebody waits for the world outside; looking on then has no hurry. */
const EAGER_TURNS = 2_000;
const MOST_NAMED = 10;

/**
 * Resolves when the activities are at rest, or wait for nothing but what is held back. `beforeLook` runs before each look, for clocks that have to be asked. Rejects
 * with an Error that names who is still busy when the time is over.
 */
export async function untilAtRest(
  activity: Activities,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: RestOptions = {},
  beforeLook: () => void = () => undefined,
): Promise<void> {
  // A deadline that no time reaches would be waited for without end.
  if (typeof timeoutMs !== 'number' || Number.isNaN(timeoutMs)) {
    throw new TypeError(`orchplane: timeoutMs is a number of milliseconds, not ${String(timeoutMs)}`);
  }
  const deadline = systemClock.now() + timeoutMs;
  const stillness = new Stillness(activity);
  for (let turns = 0; ; turns++) {
    // A turn ends when no promise is left to run, however long their chains.
    await (turns < EAGER_TURNS ? nextTurn() : breath());
    beforeLook();
    if (!activity.isBusy()) {
      // What a promise did in this very turn may have woken somebody.
      await nextTurn();
      beforeLook();
      if (!activity.isBusy()) return;
    }
    if (stillness.look()) return;
    if (systemClock.now() > deadline) throw new Error(stillBusy(activity, timeoutMs));
  }
}

function breath(): Promise<void> {
  return new Promise((resolve) => systemClock.after(1, resolve));
}

/** What is said of those who do not come to rest. */
export function stillBusy(activities: Activities, timeoutMs: number): string {
  const busy = activities.busyWith();
  const held = activities.heldBack();
  const heldBack = held.length === 0 ? '' : `; held back: ${listed(held)}`;
  return `orchplane: not at rest after ${timeoutMs} ms; still busy: ${listed(busy) || 'unknown'}${heldBack}`;
}

function listed(texts: readonly string[]): string {
  const rest = texts.length > MOST_NAMED ? `; and ${texts.length - MOST_NAMED} more` : '';
  return `${texts.slice(0, MOST_NAMED).join('; ')}${rest}`;
}

pinHiddenClass(new Stillness(new Activities()));
