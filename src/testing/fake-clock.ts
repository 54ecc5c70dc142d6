/**
 * A clock that stands still until it is told to go on. Nothing sleeps: due timers run, in order, inside `advance`.
 */
import { type Clock, nextTurn, type Undo } from '../util/clock.js';
import { Heap } from '../util/heap.js';
import { lazyMembers, SOURCE } from '../util/hidden-class.js';
import { seededRandom } from './seeded-random.js';

export interface FakeClock extends Clock {
  /**
   * Moves time forward, running what falls due on the way, each at its own time. Before the first timer and after each
   * it lets everything come to rest that waits for nothing but promises; `advance(0)` does just that.
   */
  advance(ms: number): Promise<void>;
  /** How many timers are set. */
  readonly pending: number;
  /** What mixes things up in one moment, if anything; see {@link FakeClockOptions}. */
  readonly seed?: number | undefined;
}

export interface FakeClockOptions {
  /** The time at which it starts, in milliseconds since the epoch; the first moment of 2030 unless given. */
  readonly now?: number | undefined;
  /**
   * Mixes up what happens in one moment, as this number decides: timers that are due together, and the work of controllers.
   * Absent: everything comes in the order in which it was asked for.
   */
  readonly seed?: number | undefined;
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
  readonly isMinor: boolean;
  isOff: boolean;
}

/** The first moment of 2030, so that times in tests are recognisable and never today's. */
const START = Date.UTC(2030, 0, 1);

/**
 * @example
 * const clock = fakeClock();
 * const cluster = createCluster({ clock });
 * await clock.advance(5 * 60_000);
 */
export function fakeClock(options: FakeClockOptions = {}): FakeClock {
  let now = startOf(options);
  let pending = 0;
  const mixing = options.seed === undefined ? undefined : mixUp(options.seed);
  const timers = new Heap<Timer>((timer) => timer.due);
  /** Whoever works on this clock's time and is waited for. */
  const joined = new Set<() => Promise<void>>();

  function takeDue(until: number): Timer | undefined {
    for (let timer = timers.peek(); timer !== undefined && timer.due <= until; timer = timers.peek()) {
      timers.pop();
      if (timer.isOff) continue;
      const chosen = mixing === undefined ? timer : oneOf(timer, mixing.order);
      chosen.isOff = true;
      pending--;
      return chosen;
    }
    return undefined;
  }

  /** Any of those that are due at the same moment; the others stay. */
  function oneOf(first: Timer, order: (due: readonly Timer[]) => readonly Timer[]): Timer {
    const together = [first];
    for (let next = timers.peek(); next?.due === first.due; next = timers.peek()) {
      timers.pop();
      if (!next.isOff) together.push(next);
    }
    const [chosen = first, ...others] = order(together);
    for (const other of others) timers.push(other);
    return chosen;
  }

  /** One after another: time that is moved twice moves by both, and never back. */
  let moving: Promise<void> = Promise.resolve();

  async function moveBy(ms: number): Promise<void> {
    const until = now + ms;
    await rest();
    let isAtRest = true;
    for (let timer = takeDue(until); timer !== undefined; timer = takeDue(until)) {
      now = Math.max(now, timer.due);
      timer.run();
      if (!timer.isMinor) await rest();
      isAtRest = !timer.isMinor;
    }
    now = until;
    if (!isAtRest) await rest();
  }

  async function rest(): Promise<void> {
    await turns();
    for (const each of [...joined]) await each();
  }

  const clock: Omit<FakeClock, 'pending'> = {
    now: () => now,
    after(delayMs, run, timerOptions): Undo {
      // A timer that is due at no time would keep all others waiting.
      if (Number.isNaN(delayMs))
        throw new RangeError('orchplane: a timer is set for a number of milliseconds, not NaN');
      const timer: Timer = {
        due: now + Math.max(0, delayMs),
        run,
        isMinor: timerOptions?.minor === true,
        isOff: false,
      };
      timers.push(timer);
      pending++;
      return () => {
        if (timer.isOff) return;
        timer.isOff = true;
        pending--;
      };
    },
    runDue() {
      for (let timer = takeDue(now); timer !== undefined; timer = takeDue(now)) timer.run();
    },
    standingAt: (time) => fakeClock({ now: time, seed: options.seed }),
    join(each) {
      joined.add(each);
      return () => void joined.delete(each);
    },
    ...(mixing === undefined ? {} : { turn: mixing.turn, order: mixing.order }),
    async advance(ms) {
      if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) {
        throw new RangeError(`orchplane: a clock is advanced by zero or more milliseconds, not by ${ms}`);
      }
      const moved = moving.then(() => moveBy(ms));
      // Whoever asked hears of a timer that throws; the next who moves time does not.
      moving = moved.catch(() => undefined);
      await moved;
    },
    seed: options.seed,
  };
  return withPending(clock, () => pending);
}

/** For who has no compiler to say so: a clock that shows no number shows nonsense much later. */
function startOf(options: FakeClockOptions): number {
  if (typeof options !== 'object' || options instanceof Date)
    throw new TypeError('orchplane: fakeClock takes options: fakeClock({ now: Date.UTC(2030, 0, 1) })');
  const { now = START } = options;
  if (!Number.isFinite(now)) {
    throw new TypeError(`orchplane: now is a number of milliseconds, as Date.parse gives it, not ${String(now)}`);
  }
  return now;
}

const withPending = lazyMembers<() => number, Pick<FakeClock, 'pending'>>({
  pending() {
    return this[SOURCE]();
  },
});

/** Late by so many turns of the event loop at most. */
const MOST_TURNS = 4;

/** Chance in what happens at one moment; whatever a seed decides it decides again on the next run. */
function mixUp(seed: number) {
  const random = seededRandom(seed);
  return {
    async turn(): Promise<void> {
      for (let left = random.below(MOST_TURNS) + 1; left > 0; left--) await nextTurn();
    },
    order: <Item>(due: readonly Item[]): readonly Item[] => random.shuffle(due),
  };
}

/**
 * A turn of the event loop ends when no promise is left to run, however long their chains; the second is for what asks
 * the platform for something in between.
 */
async function turns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
