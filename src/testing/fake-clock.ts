/**
 * A clock whose time changes only through `advance`, which runs the timers that become due, in order.
 */
import { type Clock, nextTurn, type Undo } from '../util/clock.js';
import { Heap } from '../util/heap.js';
import { lazyMembers, SOURCE } from '../util/hidden-class.js';
import { seededRandom } from './seeded-random.js';

export interface FakeClock extends Clock {
  /**
   * Advances time and runs each timer at its due time. Before the first timer and after each one it waits until background
   * work that depends only on promises is done; `advance(0)` only does that.
   */
  advance(ms: number): Promise<void>;
  /** The number of pending timers. */
  readonly pending: number;
  /** The seed that randomises the order of simultaneous events; see {@link FakeClockOptions}. */
  readonly seed?: number | undefined;
}

export interface FakeClockOptions {
  /** The start time in milliseconds since the epoch. Defaults to 2030-01-01T00:00:00Z. */
  readonly now?: number | undefined;
  /**
   * Randomises the order of timers that are due at the same time and of controller work; the same seed gives the same
   * order. Without a seed the order is that of scheduling.
   */
  readonly seed?: number | undefined;
}

interface Timer {
  readonly due: number;
  readonly run: () => void;
  readonly isMinor: boolean;
  isOff: boolean;
}

/** A fixed date, so that times in tests are recognisable and differ from the current date. */
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
  const randomizer = options.seed === undefined ? undefined : randomOrder(options.seed);
  const timers = new Heap<Timer>((timer) => timer.due);
  /** The functions that are awaited before time advances. */
  const joined = new Set<() => Promise<void>>();

  function takeDue(until: number): Timer | undefined {
    for (let timer = timers.peek(); timer !== undefined && timer.due <= until; timer = timers.peek()) {
      timers.pop();
      if (timer.isOff) continue;
      const chosen = randomizer === undefined ? timer : pickSimultaneous(timer, randomizer.order);
      chosen.isOff = true;
      pending--;
      return chosen;
    }
    return undefined;
  }

  /** One of the timers that are due at the same time; the others stay in the queue. */
  function pickSimultaneous(first: Timer, order: (due: readonly Timer[]) => readonly Timer[]): Timer {
    const together = [first];
    for (let next = timers.peek(); next?.due === first.due; next = timers.peek()) {
      timers.pop();
      if (!next.isOff) together.push(next);
    }
    const [chosen = first, ...others] = order(together);
    for (const other of others) timers.push(other);
    return chosen;
  }

  /** Concurrent calls of `advance` run one after another. */
  let moving: Promise<void> = Promise.resolve();

  async function moveBy(ms: number): Promise<void> {
    const until = now + ms;
    await waitUntilIdle();
    let isAtRest = true;
    for (let timer = takeDue(until); timer !== undefined; timer = takeDue(until)) {
      now = Math.max(now, timer.due);
      timer.run();
      if (!timer.isMinor) await waitUntilIdle();
      isAtRest = !timer.isMinor;
    }
    now = until;
    if (!isAtRest) await waitUntilIdle();
  }

  async function waitUntilIdle(): Promise<void> {
    await waitTwoTurns();
    for (const each of [...joined]) await each();
  }

  const clock: Omit<FakeClock, 'pending'> = {
    now: () => now,
    after(delayMs, run, timerOptions): Undo {
      // A timer that never becomes due would block all others.
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
    ...(randomizer === undefined ? {} : { turn: randomizer.turn, order: randomizer.order }),
    async advance(ms) {
      // Of JavaScript callers: a text would be appended to the time.
      if (!(Number.isFinite(ms) && ms >= 0)) {
        throw new RangeError(`orchplane: a clock is advanced by zero or more milliseconds, not by ${ms}`);
      }
      const moved = moving.then(() => moveBy(ms));
      // Only the call during which a timer throws rejects, not later calls.
      moving = moved.catch(() => undefined);
      await moved;
    },
    seed: options.seed,
  };
  return withPending(clock, () => pending);
}

/** Checks the options for JavaScript callers: an invalid time would cause errors only much later. */
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

/** The maximum random delay in waitTwoTurns of the event loop. */
const MAX_TURNS = 4;

/** Randomises the order of simultaneous events, reproducibly for a seed. */
function randomOrder(seed: number) {
  const random = seededRandom(seed);
  return {
    async turn(): Promise<void> {
      for (let left = random.below(MAX_TURNS) + 1; left > 0; left--) await nextTurn();
    },
    order: <Item>(due: readonly Item[]): readonly Item[] => random.shuffle(due),
  };
}

/**
 * A turn of the event loop ends when all pending promise callbacks have run. The second turn is for work that uses an
 * asynchronous platform API in between.
 */
async function waitTwoTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
}
