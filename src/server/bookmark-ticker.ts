/**
 * The one timer behind the bookmarks of all watches of a cluster: hundreds of informers would otherwise each keep their
 * own. A watch gets its first bookmark within the interval, and later ones an interval apart. As long as nothing is
 * written there is nothing to tell anybody, and no timer.
 */
import type { Clock, Undo } from '../util/clock.js';

const INTERVAL_MS = 60_000;
/** Nobody waits for a bookmark. */
const OPTIONS = { background: true, minor: true };

const NOTHING: Undo = () => undefined;

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

  /** Until the next of the moments that are an interval apart. `now`: this one, if it is one of them. */
  #wait(first: 'now' | 'later' = 'later'): void {
    this.#end();
    const passed = this.#clock.now() - this.#lastTickMs;
    const isNow = first === 'now' && passed > 0 && passed % INTERVAL_MS === 0;
    const leftMs = isNow ? 0 : INTERVAL_MS - (passed % INTERVAL_MS);
    this.#stop = this.#clock.after(leftMs, () => this.#tick(), OPTIONS);
  }

  #tick(): void {
    this.#lastTickMs = this.#clock.now();
    const { revision } = this.#written;
    this.#stop = NOTHING;
    try {
      if (revision !== this.#told) this.#tell(revision);
    } finally {
      // Unless the last watch has gone, or the next tick is waited for already.
      if (this.#stop === NOTHING) {
        if (this.#told === this.#written.revision) this.#sleep();
        else this.#wait();
      }
    }
  }

  #tell(revision: number): void {
    let untold = this.#offers.size;
    this.#told = revision;
    try {
      for (const offer of [...this.#offers]) if (offer()) untold--;
    } finally {
      // One that comes meanwhile says so itself.
      if (untold > 0) this.#told = -1;
    }
  }

  /** Until something is written. */
  #sleep(): void {
    this.#isAsleep = true;
    this.#stop = this.#written.onRevision(() => this.#wait('now'));
  }
}
