/**
 * A clock that stands still until it is told to go on. Nothing sleeps: due timers run, in order, inside `advance`.
 */
import { type Clock, nextTurn, type Undo } from '../util/clock.js';

export interface FakeClock extends Clock {
  /**
   * Moves time forward, running what falls due on the way, each at its own time. Before the first timer and after each
   * it lets everything come to rest that waits for nothing but promises; `advance(0)` does just that.
   */
  advance(ms: number): Promise<void>;
  /** How many timers are set. */
  readonly pending: number;
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
}

/** The first moment of 2030, so that times in tests are recognisable and never today's. */
const START = Date.UTC(2030, 0, 1);

/**
 * @example
 * const clock = fakeClock();
 * const cluster = createCluster({ clock });
 * await clock.advance(5 * 60_000);
 */
export function fakeClock(options: { readonly now?: number } = {}): FakeClock {
  let now = options.now ?? START;
  const timers = new Set<Timer>();

  function nextDue(until: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of timers) if (timer.due <= until && (next === undefined || timer.due < next.due)) next = timer;
    return next;
  }

  return {
    now: () => now,
    after(delayMs, run): Undo {
      const timer: Timer = { due: now + Math.max(0, delayMs), run };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    async advance(ms) {
      if (!(ms >= 0)) throw new RangeError(`orchplane: a clock is advanced by zero or more milliseconds, not by ${ms}`);
      const until = now + ms;
      await settle();
      for (let timer = nextDue(until); timer !== undefined; timer = nextDue(until)) {
        timers.delete(timer);
        now = Math.max(now, timer.due);
        timer.run();
        await settle();
      }
      now = until;
    },
    get pending() {
      return timers.size;
    },
  };
}

/**
 * A turn of the event loop ends when no promise is left to run, however long their chains; the second is for what asks
 * the platform for something in between.
 */
async function settle(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
