/**
 * A clock that stands still until it is told to go on. Nothing sleeps: due timers run, in order, inside `advance`.
 */
import type { Clock, Undo } from '../util/clock.js';

export interface FakeClock extends Clock {
  /**
   * Moves time forward, running what falls due on the way, each at its own time. Between timers it lets pending
   * promises settle, so that what a timer sets in motion can set timers of its own within the same move.
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

/** More than any chain of promises in this library is long; they run without waiting for anything real. */
const TURNS = 50;

async function settle(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) await undefined;
}
