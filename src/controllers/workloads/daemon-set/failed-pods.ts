/**
 * A pod that failed on a node is replaced; one that fails there again and again is replaced later and later.
 */

interface Setback {
  delayMs: number;
  atMs: number;
}

const FIRST_MS = 1_000;
const LONGEST_MS = 15 * 60_000;
/** What went well for so long is forgiven. */
const FORGIVEN_MS = 2 * LONGEST_MS;

export class FailedPods {
  /** By the set's uid, then by its generation and the node. */
  readonly #setbacks = new Map<string, Map<string, Setback>>();

  /** How long the next replacement has to wait; 0: not at all, and the one after it waits longer. */
  waitMs({ uid, generation, node }: { uid: string; generation: number; node: string }, nowMs: number): number {
    let ofSet = this.#setbacks.get(uid);
    if (ofSet === undefined) {
      ofSet = new Map();
      this.#setbacks.set(uid, ofSet);
    }
    for (const [key, { atMs }] of ofSet) if (nowMs - atMs > FORGIVEN_MS) ofSet.delete(key);
    const key = `${generation}/${node}`;
    const known = ofSet.get(key);
    if (known !== undefined && nowMs - known.atMs < known.delayMs) return known.atMs + known.delayMs - nowMs;
    const delayMs = known === undefined ? FIRST_MS : Math.min(2 * known.delayMs, LONGEST_MS);
    ofSet.set(key, { delayMs, atMs: nowMs });
    return 0;
  }

  /** The set is gone. */
  forget(uid: string): void {
    this.#setbacks.delete(uid);
  }
}
