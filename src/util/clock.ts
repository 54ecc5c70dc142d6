/**
 * The only module that calls Date and setTimeout. A test controls time by passing its own Clock to `createCluster`.
 */
import type { MaybePromise } from './maybe-promise.js';

/** Cancels the operation that returned it; further calls do nothing. */
export type Undo = () => void;

/** A source of time and timers. The optional members exist only on clocks that tests control. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once after `delayMs` of this clock's time. */
  after(delayMs: number, run: () => void, options?: TimerOptions): Undo;
  /** Runs the timers that are due now. */
  runDue?(): void;
  /**
   * Registers a function that the clock awaits before time advances, so that background work completes first.
   */
  join?(rest: () => Promise<void>): Undo;
  /** Creates another controlled clock that is set to `now`. */
  standingAt?(now: number): Clock;
  /** On clocks that randomise the order of simultaneous events: a delay before a worker starts an item. */
  turn?(): Promise<void>;
  /** On the same clocks: the order in which items that are due at the same time are processed. */
  order?<Item>(due: readonly Item[]): readonly Item[];
}

export interface TimerOptions {
  /** The timer does not keep the process alive. */
  readonly background?: boolean;
  /** A controlled clock need not wait for background work after this timer. */
  readonly minor?: boolean;
}

/** setTimeout stores the delay in 32 bits; a longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The system clock. */
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

/** Milliseconds of real time with fractions, from any start; for durations that are reported. */
export function realTime(): number {
  return performance.now();
}

/** A timer is a number in browsers and an object with `unref` in Node. */
function releaseProcess(timer: unknown): void {
  if (typeof timer === 'object' && timer !== null && 'unref' in timer && typeof timer.unref === 'function')
    timer.unref();
}

/** Resolves in a later turn of the event loop, after all pending promise callbacks. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => soon(resolve));
}

// Read when the module loads, so that a test framework that replaces timers later has no effect here.
const { setImmediate: immediate, MessageChannel: Channel } = globalThis as {
  setImmediate?: (run: () => void) => unknown;
  MessageChannel: typeof MessageChannel;
};
const soon = immediate ?? messageTurns();

/** Browsers have no setImmediate and delay nested timers by milliseconds; a message on a MessageChannel takes one turn. */
function messageTurns(): (run: () => void) => void {
  const runs: (() => void)[] = [];
  let port: MessagePort | undefined;
  return (run) => {
    if (port === undefined) {
      const channel = new Channel();
      channel.port1.onmessage = () => runs.shift()?.();
      port = channel.port2;
    }
    runs.push(run);
    port.postMessage(undefined);
  };
}

const LONGEST_TURN_MS = 50;

/**
 * Runs the steps of a computation. A long one returns a promise: other work runs between its turns. `check` may throw
 * before each later turn.
 */
export function inTurns<Result>(steps: Generator<undefined, Result>, check?: () => void): MaybePromise<Result> {
  const step = runTurn(steps, waiting === 0 ? LONGEST_TURN_MS : 0);
  return step.done === true ? step.value : runLaterTurns(steps, check);
}

/** Of all long computations, one runs in each turn of the event loop. */
let lastTurn: Promise<void> = Promise.resolve();
/** The number of those that wait for their turn. */
let waiting = 0;

async function runLaterTurns<Result>(steps: Generator<undefined, Result>, check?: () => void): Promise<Result> {
  for (;;) {
    waiting++;
    lastTurn = lastTurn.then(nextTurn);
    await lastTurn;
    waiting--;
    check?.();
    const step = runTurn(steps, LONGEST_TURN_MS);
    if (step.done === true) return step.value;
  }
}

function runTurn<Result>(steps: Generator<undefined, Result>, longestMs: number): IteratorResult<undefined, Result> {
  const beganMs = realTime();
  for (;;) {
    const step = steps.next();
    if (step.done === true || realTime() - beganMs >= longestMs) return step;
  }
}

/** Runs the steps of a computation at once. */
export function resultOf<Result>(steps: Generator<undefined, Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
