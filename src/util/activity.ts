/**
 * Work that goes on beside requests: queues of controllers, streams on their way to a reader. A cluster comes to rest
 * when none of its activities has anything left to do.
 */
import { nextTurn, systemClock, type Undo } from './clock.js';

/** Something that works on its own. */
export interface Activity {
  /** Whether anything is left that needs no passing of time. Asked often, so it has to be quick. */
  isBusy(): boolean;
  /** What it is at, in a few words each, for a message. */
  busyWith(): readonly string[];
}

export class Activities implements Activity {
  readonly #all = new Set<Activity>();

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
 * Resolves when the activity is at rest. `beforeLook` runs before each look, for clocks that have to be asked. Rejects
 * with an Error that names who is still busy when the time is over.
 */
export async function untilAtRest(
  activity: Activity,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: RestOptions = {},
  beforeLook: () => void = () => undefined,
): Promise<void> {
  const deadline = systemClock.now() + timeoutMs;
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
    if (systemClock.now() > deadline) throw new Error(stillBusy(activity.busyWith(), timeoutMs));
  }
}

function breath(): Promise<void> {
  return new Promise((resolve) => systemClock.after(1, resolve));
}

/** What is said of those who do not come to rest. */
export function stillBusy(busy: readonly string[], timeoutMs: number): string {
  const named = busy.slice(0, MOST_NAMED).join('; ');
  const rest = busy.length > MOST_NAMED ? `; and ${busy.length - MOST_NAMED} more` : '';
  return `orchplane: not at rest after ${timeoutMs} ms; still busy: ${named === '' ? 'unknown' : named}${rest}`;
}
