/**
 * The one door to time. Nothing else in the library calls Date or setTimeout, so a test can own time by passing its
 * own Clock to `createCluster`.
 */

/** Cancels what it was returned for; calling it again does nothing. */
export type Undo = () => void;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once after `delayMs` of this clock's time. */
  after(delayMs: number, run: () => void, options?: TimerOptions): Undo;
}

export interface TimerOptions {
  /** Nobody waits for this timer: it need not keep the process alive. */
  readonly background?: boolean;
}

/** Timers count in 32 bits; a longer one would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run, options) {
    let timer: unknown;
    const start = (leftMs: number): void => {
      const step = Math.min(leftMs, LONGEST_TIMER_MS);
      timer = setTimeout(() => (leftMs > step ? start(leftMs - step) : run()), step);
      if (options?.background === true) releaseProcess(timer);
    };
    start(delayMs);
    return () => clearTimeout(timer as number);
  },
};

/** A browser's timer is a number; Node's is an object that can be told not to hold the process. */
function releaseProcess(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref();
}

/** Settles in a later turn of the event loop: by then every promise that waits for nothing else has run. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}

// Taken when the module loads, so that a test framework that replaces timers later does not stop this one. Browsers
// have no immediates; a timer of zero is the nearest thing.
const { setImmediate: immediate, setTimeout: timeout } = globalThis as {
  setImmediate?: (run: () => void) => unknown;
  setTimeout: (run: () => void, ms: number) => unknown;
};
const soon = immediate ?? ((run: () => void) => timeout(run, 0));
