/**
 * One timer for the bookmarks of all watches of a cluster, instead of one per informer. A watch gets its first bookmark
 * within the interval and then one per interval. While nothing is written, no timer runs.
 */
import type { Clock, Undo } from '../util/clock.js';

const INTERVAL_MS = 60_000;

const OPTIONS = { background: true, minor: true };

/** The part of the store that the ticker uses. */
export interface RevisionSource {
  readonly revision: number;
  onRevision(wake: () => void): Undo;
}

/** Sends a bookmark to a watch; false when the watch cannot take it now. */
export type OfferBookmark = () => boolean;

export class BookmarkTicker {
  readonly #clock: Clock;
  readonly #source: RevisionSource;
  readonly #offers = new Set<OfferBookmark>();
  /** Cancels the wait for the next tick, or for the next write. */
  #stop: Undo | undefined;
  #isPaused = false;
  #lastTickMs = 0;
  /** The revision that every watch has had a bookmark for; -1 when at least one has not. */
  #sentRevision = -1;

  constructor(clock: Clock, source: RevisionSource) {
    this.#clock = clock;
    this.#source = source;
  }

  /** Calls `offer` at every tick until it is undone. */
  add(offer: OfferBookmark): Undo {
    const entry = () => offer();
    this.#offers.add(entry);
    // The new watch may be behind the others.
    this.#sentRevision = -1;
    if (this.#stop === undefined) {
      this.#lastTickMs = this.#clock.now();
      this.#wait();
    } else if (this.#isPaused) this.#wait();
    return () => {
      this.#offers.delete(entry);
      if (this.#offers.size > 0) return;
      this.#end();
    };
  }

  #end(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#isPaused = false;
  }

  /** Waits for the next tick; ticks are an interval apart. */
  #wait(): void {
    this.#end();
    const passed = this.#clock.now() - this.#lastTickMs;
    this.#stop = this.#clock.after(INTERVAL_MS - (passed % INTERVAL_MS), () => this.#tick(), OPTIONS);
  }

  #tick(): void {
    this.#lastTickMs = this.#clock.now();
    const { revision } = this.#source;
    if (revision === this.#sentRevision) {
      this.#isPaused = true;
      this.#stop = this.#source.onRevision(() => this.#wait());
      return;
    }
    this.#wait();
    let pending = this.#offers.size;
    this.#sentRevision = revision;
    try {
      for (const offer of [...this.#offers]) if (offer()) pending--;
    } finally {
      if (pending > 0) this.#sentRevision = -1;
    }
  }
}
