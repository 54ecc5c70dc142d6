/**
 * The one door to time. Nothing else in the library calls Date or setTimeout, so a test can own time by passing its
 * own Clock to `createCluster`.
 */
import { pinHiddenClass } from './hidden-class.js';

/** Cancels what it was returned for; calling it again does nothing. */
export type Undo = () => void;

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls `run` once after `delayMs` of this clock's time. */
  after(delayMs: number, run: () => void, options?: TimerOptions): Undo;
  /** Only on clocks that have to be told to go on: runs what is due now. Others do that by themselves. */
  runDue?(): void;
  /**
   * Only on clocks that have to be told to go on: `rest` is awaited before time moves on, so that whatever works on its
   * own sees each moment to its end.
   */
  join?(rest: () => Promise<void>): Undo;
  /** Only on clocks that have to be told to go on: another one of them that stands at a time. */
  standingAt?(now: number): Clock;
  /** Only on clocks that mix up what happens in one moment: what passes before work that was found is begun. */
  turn?(): Promise<void>;
  /** Only on those too: the order in which what is due together is done. */
  order?<Item>(due: readonly Item[]): readonly Item[];
}

export interface TimerOptions {
  /** Nobody waits for this timer: it need not keep the process alive. */
  readonly background?: boolean;
  /** Nothing that matters happens at that very moment: a clock under test need not let everything come to rest after it. */
  readonly minor?: boolean;
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

// Taken when the module loads, so that a test framework that replaces timers later does not stop this one.
const { setImmediate: immediate, MessageChannel: Channel } = globalThis as {
  setImmediate?: (run: () => void) => unknown;
  MessageChannel: typeof MessageChannel;
};
const soon = immediate ?? messageTurns();
const turn = immediate?.(() => undefined);
if (typeof turn === 'object' && turn !== null) pinHiddenClass(turn);

/** Browsers have no immediates, and make nested timers wait for milliseconds; a message to oneself takes one turn. */
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
