/**
 * The one timer behind the bookmarks of all watches of a cluster: hundreds of informers would otherwise each keep their
 * own. A watch gets its first bookmark within the interval, and later ones an interval apart. As long as nothing is
 * written there is nothing to tell anybody, and no timer.
 */
import type { Clock, Undo } from '../util/clock.js';

const INTERVAL_MS = 60_000;
/** Nobody waits for a bookmark. */
const OPTIONS = { background: true, minor: true };

/** Whose writes bookmarks tell of. */
export interface Written {
  readonly revision: number;
  onRevision(wake: () => void): Undo;
}

/** Gives a watch its bookmark; false when one is due that it cannot take at the moment. */
export type Offer = () => boolean;

export class BookmarkTicker {
  readonly #clock: Clock;
  readonly #written: Written;
  readonly #offers = new Set<Offer>();
  /** What ends the wait for the next tick, or for the next write. */
  #stop: Undo | undefined;
  #isAsleep = false;
  #lastTickMs = 0;
  /** What all watches know. */
  #told = -1;

  constructor(clock: Clock, written: Written) {
    this.#clock = clock;
    this.#written = written;
  }

  /** Calls `offer` at ticks until that is undone. No timer is left when nobody wants one. */
  add(offer: Offer): Undo {
    const own = () => offer();
    this.#offers.add(own);
    // It may know less than all others.
    this.#told = -1;
    if (this.#stop === undefined) {
      this.#lastTickMs = this.#clock.now();
      this.#wait();
    } else if (this.#isAsleep) this.#wait();
    return () => {
      this.#offers.delete(own);
      if (this.#offers.size > 0) return;
      this.#end();
    };
  }

  #end(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#isAsleep = false;
  }

  /** Until the next of the moments that are an interval apart. */
  #wait(): void {
    this.#end();
    const passed = this.#clock.now() - this.#lastTickMs;
    this.#stop = this.#clock.after(INTERVAL_MS - (passed % INTERVAL_MS), () => this.#tick(), OPTIONS);
  }

  #tick(): void {
    this.#lastTickMs = this.#clock.now();
    const { revision } = this.#written;
    if (revision === this.#told) {
      this.#isAsleep = true;
      this.#stop = this.#written.onRevision(() => this.#wait());
      return;
    }
    this.#wait();
    let untold = this.#offers.size;
    this.#told = revision;
    try {
      for (const offer of [...this.#offers]) if (offer()) untold--;
    } finally {
      // One that comes meanwhile says so itself.
      if (untold > 0) this.#told = -1;
    }
  }
}
