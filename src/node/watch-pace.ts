/**
 * When watches write again. Each write costs system calls and encryption, so what many watches receive is collected for some
 * milliseconds. A few watches are not delayed.
 */
import { nextTurn, systemClock } from '../util/clock.js';

/** So many watches may write in a turn of the event loop without a pause. */
const FEW_WRITES = 16;
/** The pause for each write of the turn: about half the time that the writes themselves take. */
const PAUSE_PER_WRITE_MS = 0.1;
const MAX_PAUSE_MS = 10;

type Wait = (ms: number) => Promise<void>;

const wait: Wait = (ms) => new Promise((resolve) => systemClock.after(ms, resolve));

export class WatchPace {
  readonly #wait: Wait;
  #writes = 0;
  #pause: Promise<void> | undefined;

  constructor(waitFor: Wait = wait) {
    this.#wait = waitFor;
  }

  /** Called after a write of a watch. All watches that wrote in the same turn continue together. */
  next(): Promise<void> {
    this.#writes++;
    this.#pause ??= this.#end();
    return this.#pause;
  }

  async #end(): Promise<void> {
    await nextTurn();
    const writes = this.#writes;
    this.#writes = 0;
    this.#pause = undefined;
    if (writes <= FEW_WRITES) return;
    await this.#wait(Math.min(writes * PAUSE_PER_WRITE_MS, MAX_PAUSE_MS));
  }
}
