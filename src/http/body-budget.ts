/**
 * Limits the size of the large bodies that are processed at the same time. A request that waits for a webhook or for etcd
 * keeps its decoded body, which needs up to fifty times the memory of its encoding; without a limit, some tens of such
 * requests would exhaust the memory of the server. Requests that never wait are processed one after another anyway.
 */

/** Smaller bodies do not count. */
const LARGE_BYTES = 256 * 1024;
/** All large bodies together: two of the largest. */
const MAX_BYTES = 6 * 1024 * 1024;

/** The part of the budget that one request uses. */
export interface BodyShare {
  /** Resolves when the body may be processed; absent: at once. */
  readonly granted?: Promise<void>;
  /** Whether the body has to wait now. */
  isWaiting(): boolean;
  /** Returns the share, or stops waiting for it. May be called once. */
  release(): void;
}

interface Waiting {
  readonly bytes: number;
  readonly grant: () => void;
}

export class BodyBudget {
  #usedBytes = 0;
  /** In order of arrival, so that a large body is not overtaken forever. */
  readonly #waiting = new Set<Waiting>();

  /** Requests a share; undefined for a small body. */
  share(bytes: number): BodyShare | undefined {
    if (bytes < LARGE_BYTES) return undefined;
    if (this.#waiting.size === 0 && this.#fits(bytes)) {
      this.#usedBytes += bytes;
      return { isWaiting: () => false, release: () => this.#return(bytes) };
    }
    let grant = (): void => undefined;
    const granted = new Promise<void>((resolve) => {
      grant = resolve;
    });
    const waiting = { bytes, grant };
    this.#waiting.add(waiting);
    return {
      granted,
      isWaiting: () => this.#waiting.has(waiting),
      release: () => (this.#waiting.delete(waiting) ? this.#grantNext() : this.#return(bytes)),
    };
  }

  #fits(bytes: number): boolean {
    return this.#usedBytes === 0 || this.#usedBytes + bytes <= MAX_BYTES;
  }

  #return(bytes: number): void {
    this.#usedBytes -= bytes;
    this.#grantNext();
  }

  #grantNext(): void {
    for (const waiting of this.#waiting) {
      if (!this.#fits(waiting.bytes)) return;
      this.#waiting.delete(waiting);
      this.#usedBytes += waiting.bytes;
      waiting.grant();
    }
  }
}
