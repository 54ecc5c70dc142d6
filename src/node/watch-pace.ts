/**
 * When watches write again. Each write costs system calls and encryption, so what many watches receive is collected for some
 * milliseconds. A few watches are not delayed.
 */
import { setTimeout } from 'node:timers';
import { nextTurn } from '../util/clock.js';

/** So many watches may write in a turn of the event loop without a pause. */
const FEW_WRITES = 16;
/** The pause for each write of the turn: about half the time that the writes themselves take. */
const PAUSE_PER_WRITE_MS = 0.1;
const MAX_PAUSE_MS = 10;

export class WatchPace {
  #writes = 0;
  #pause: Promise<void> | undefined;

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
    const ms = Math.min(writes * PAUSE_PER_WRITE_MS, MAX_PAUSE_MS);
    await new Promise<void>((resolve) => setTimeout(resolve, ms));
  }
}
