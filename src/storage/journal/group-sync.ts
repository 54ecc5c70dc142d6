/**
 * Group commit: while one sync runs, further writes accumulate and share the next one.
 */
import type { JournalError } from './types.js';

/** A promise that several callers share. */
interface SharedPromise {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: JournalError) => void;
}

export interface GroupSyncParts {
  /** Makes everything durable that was written before this call. */
  readonly sync: () => Promise<void>;
  /** Calls `run` after the current batch of writes. */
  readonly later: (run: () => void) => void;
  /** Called once on failure. Nothing is retried, because the state of the disk is unknown. */
  readonly fail: (error: unknown) => JournalError;
}

interface RunningSync {
  readonly upTo: number;
  /** Undefined after a restore during the sync, because revisions start again. */
  revision: number | undefined;
  readonly wait: SharedPromise;
}

export class GroupSync {
  readonly #parts: GroupSyncParts;
  /** The number of writes; unlike revisions it never goes back. */
  #written = 0;
  #durable = 0;
  #revision = 0;
  #durableRevision = 0;
  /** A rejected promise after a failure. */
  #failed: Promise<never> | undefined;
  #running: RunningSync | undefined;
  #next: SharedPromise | undefined;
  /** Set while a sync is scheduled or running. */
  #work: Promise<void> | undefined;

  constructor(parts: GroupSyncParts) {
    this.#parts = parts;
  }

  get durableRevision(): number {
    return this.#durableRevision;
  }

  /** Whether a sync is running. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Schedules a sync for a write. */
  noteWritten(revision: number): void {
    // After a restore, revisions up to the old one occur again.
    if (revision <= this.#revision) this.#startOver();
    this.#written++;
    this.#revision = revision;
    this.#schedule();
  }

  /** Schedules a sync for a state that replaced everything. */
  noteReset(revision: number): void {
    this.#startOver();
    this.noteWritten(revision);
  }

  /**
   * Records that another call has synced everything. Ignored while a sync runs, because a disk error is reported only once
   * and may be reported to that sync.
   */
  noteDurable(revision = this.#revision): void {
    if (this.#failed !== undefined || this.#running !== undefined) return;
    this.#durable = this.#written;
    this.#revision = revision;
    this.#durableRevision = revision;
  }

  /** Rejects all current and later waits. */
  break(failure: JournalError): void {
    if (this.#failed !== undefined) return;
    this.#failed = Promise.reject(failure);
    // Waiters handle the rejection; without a waiter it must not be reported as unhandled.
    this.#failed.catch(() => undefined);
    this.#running?.wait.reject(failure);
    this.#next?.reject(failure);
    this.#next = undefined;
  }

  /** Undefined if everything is durable. */
  wait(): Promise<void> | undefined {
    if (this.#durable === this.#written) return undefined;
    if (this.#failed !== undefined) return this.#failed;
    if (this.#running?.upTo === this.#written) return this.#running.wait.promise;
    this.#next ??= newWait();
    return this.#next.promise;
  }

  /** Resolves when no sync is scheduled or running. */
  async idle(): Promise<void> {
    while (this.#work !== undefined) await this.#work;
  }

  #startOver(): void {
    this.#revision = 0;
    this.#durableRevision = 0;
    if (this.#running !== undefined) this.#running.revision = undefined;
  }

  #schedule(): void {
    if (this.#work !== undefined || this.#failed !== undefined) return;
    this.#work = new Promise<void>((resolve) => {
      this.#parts.later(() => resolve(this.#run()));
    });
  }

  async #run(): Promise<void> {
    if (this.#failed === undefined && this.#durable < this.#written) await this.#sync();
    this.#work = undefined;
    if (this.#failed !== undefined) return;
    if (this.#durable < this.#written) this.#schedule();
    else this.#release();
  }

  async #sync(): Promise<void> {
    const running: RunningSync = { upTo: this.#written, revision: this.#revision, wait: this.#next ?? newWait() };
    this.#next = undefined;
    this.#running = running;
    try {
      await this.#parts.sync();
    } catch (error) {
      this.break(this.#parts.fail(error));
    }
    this.#running = undefined;
    // `break` may have been called meanwhile.
    if (this.#failed !== undefined) return;
    this.#durable = running.upTo;
    if (running.revision !== undefined) this.#durableRevision = running.revision;
    running.wait.resolve();
  }

  #release(): void {
    this.#next?.resolve();
    this.#next = undefined;
  }
}

function newWait(): SharedPromise {
  let resolve: SharedPromise['resolve'] = () => undefined;
  let reject: SharedPromise['reject'] = () => undefined;
  const promise = new Promise<void>((onDone, onFailed) => {
    resolve = onDone;
    reject = onFailed;
  });
  // Without a waiter the rejection must not be reported as unhandled.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
