/**
 * Tracks background work: work queues of controllers, watch streams with undelivered events. A cluster is idle when none
 * of its activities is busy.
 */
import { nextTurn, systemClock, type Undo } from './clock.js';

/** A source of background work. */
export interface Activity {
  /** Whether work is left that does not wait for time to pass. Called often, so it must be fast. */
  isBusy(): boolean;
  /** Short descriptions of the current work, for error messages. */
  busyWith(): readonly string[];
}

/** The activities of one cluster. */
export class Activities implements Activity {
  readonly #all = new Set<Activity>();
  readonly #held = new Set<() => string>();
  /** Counts progress; see {@link StuckDetector}. */
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
   * Registers work that a test delays on purpose. Activities that wait for it count as idle. `what` describes the work for
   * error messages. The returned function releases it.
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

  /** Records progress: a request, a delivery. Needed only while work is held back. */
  move(): void {
    this.#moves++;
  }

  get moves(): number {
    return this.#moves;
  }
}

/** Turns of the event loop without progress after which none is expected: in-process responses need only a few. */
const STUCK_TURNS = 50;

/**
 * Detects that all busy activities wait for work that is held back. Call `isStuck` once in each turn of the event loop; it
 * returns false while nothing is held back.
 */
export class StuckDetector {
  readonly #activities: Activities;
  #moves = -1;
  #busy = '';
  #turns = 0;

  constructor(activities: Activities) {
    this.#activities = activities;
  }

  isStuck(): boolean {
    if (!this.#activities.isHolding) return false;
    const busy = this.#activities.busyWith().join('\n');
    if (this.#moves === this.#activities.moves && this.#busy === busy) return ++this.#turns >= STUCK_TURNS;
    this.#moves = this.#activities.moves;
    this.#busy = busy;
    this.#turns = 0;
    return false;
  }
}

export interface RestOptions {
  /** The timeout in milliseconds of the system clock, because a fake clock may not advance. Defaults to 10 s. */
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** After this many turns an activity probably waits for real I/O; polling then slows down to once per millisecond. */
const EAGER_TURNS = 2_000;
const MAX_LISTED = 10;

/**
 * Resolves when the activities are idle or wait only for work that is held back. `beforeCheck` runs before each check, for
 * clocks whose due timers must be run explicitly. Rejects on timeout with an Error that names the busy activities.
 */
export async function untilAtRest(
  activity: Activities,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: RestOptions = {},
  beforeCheck: () => void = () => undefined,
): Promise<void> {
  // A NaN deadline would never be reached.
  if (typeof timeoutMs !== 'number' || Number.isNaN(timeoutMs)) {
    throw new TypeError(`orchplane: timeoutMs is a number of milliseconds, not ${String(timeoutMs)}`);
  }
  const deadline = systemClock.now() + timeoutMs;
  const stuckDetector = new StuckDetector(activity);
  for (let turns = 0; ; turns++) {
    // A turn ends when all pending promise callbacks have run.
    await (turns < EAGER_TURNS ? nextTurn() : oneMillisecond());
    beforeCheck();
    if (!activity.isBusy()) {
      // A promise callback of this turn may have started new work.
      await nextTurn();
      beforeCheck();
      if (!activity.isBusy()) return;
    }
    if (stuckDetector.isStuck()) return;
    if (systemClock.now() > deadline) throw new Error(busyMessage(activity, timeoutMs));
  }
}

function oneMillisecond(): Promise<void> {
  return new Promise((resolve) => systemClock.after(1, resolve));
}

/** The message of the timeout error. */
export function busyMessage(activities: Activities, timeoutMs: number): string {
  const busy = activities.busyWith();
  const held = activities.heldBack();
  const heldBack = held.length === 0 ? '' : `; held back: ${joinLimited(held)}`;
  return `orchplane: not at rest after ${timeoutMs} ms; still busy: ${joinLimited(busy) || 'unknown'}${heldBack}`;
}

function joinLimited(texts: readonly string[]): string {
  const rest = texts.length > MAX_LISTED ? `; and ${texts.length - MAX_LISTED} more` : '';
  return `${texts.slice(0, MAX_LISTED).join('; ')}${rest}`;
}
