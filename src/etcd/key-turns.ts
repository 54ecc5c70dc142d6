/**
 * The turns of the transactions of this process that change the same keys. One that finds a key in use would lose the race:
 * it waits, and starts again from the live object. They are woken one after another. If all of them started again at once,
 * every turn would cost as much as all requests that still wait.
 */
import { nextTurn } from '../util/clock.js';

export class KeyTurns {
  /** Those that wait for the transaction that uses a key. */
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Resolves when it is the turn of the caller; undefined: no key is in use. */
  wait(keys: readonly string[]): Promise<void> | undefined {
    for (const key of keys) {
      const waiting = this.#waiting.get(key);
      if (waiting !== undefined) return new Promise((resolve) => waiting.push(resolve));
    }
    return undefined;
  }

  /** The keys are in use until the result is called. */
  enter(keys: readonly string[]): () => void {
    for (const key of keys) this.#waiting.set(key, []);
    return () => {
      for (const key of keys) {
        const waiting = this.#waiting.get(key) ?? [];
        this.#waiting.delete(key);
        if (waiting.length > 0) void this.#wake(key, waiting);
      }
    };
  }

  async #wake(key: string, waiting: (() => void)[]): Promise<void> {
    while (waiting.length > 0) {
      // The one before, or one that has lost its race to another process, has started again by then.
      await nextTurn();
      const behind = this.#waiting.get(key);
      if (behind !== undefined) {
        this.#waiting.set(key, [...waiting, ...behind]);
        return;
      }
      waiting.shift()?.();
    }
  }
}
