/**
 * The one timer behind the bookmarks of all watches of a cluster: hundreds of informers would otherwise each keep their
 * own. A watch gets its first bookmark within the interval, and later ones an interval apart.
 */
import type { Clock, Undo } from '../util/clock.js';

const INTERVAL_MS = 60_000;
/** Nobody waits for a bookmark. */
const OPTIONS = { background: true, minor: true };

export class BookmarkTicker {
  readonly #clock: Clock;
  readonly #offers = new Set<() => void>();
  #stop: Undo | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Calls `offer` at every tick until that is undone. No timer is left when nobody wants one. */
  add(offer: () => void): Undo {
    const own = () => offer();
    this.#offers.add(own);
    if (this.#stop === undefined) this.#start();
    return () => {
      this.#offers.delete(own);
      if (this.#offers.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  #start(): void {
    this.#stop = this.#clock.after(
      INTERVAL_MS,
      () => {
        this.#start();
        for (const offer of [...this.#offers]) offer();
      },
      OPTIONS,
    );
  }
}
