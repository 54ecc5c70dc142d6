/**
 * Makes writes durable, all of a moment at once: while the disk is at work for some, the next gather.
 */
import type { JournalError } from './types.js';

/** A wait that many share. */
interface Wait {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: JournalError) => void;
}

export interface GroupSyncParts {
  /** Makes durable what has been written up to this call. */
  readonly sync: () => Promise<void>;
  /** Calls back when whatever came in together has been dealt with. */
  readonly later: (run: () => void) => void;
  /** Told once: nothing is tried again, because nobody knows what the disk has done. */
  readonly fail: (error: unknown) => JournalError;
}

export class GroupSync {
  readonly #parts: GroupSyncParts;
  /** Writes, counted: versions go back with a restore. */
  #written = 0;
  #durable = 0;
  #revision = 0;
  #durableRevision = 0;
  /** Rejected, once something has failed. */
  #failed: Promise<never> | undefined;
  #running: { readonly upTo: number; readonly revision: number; readonly wait: Wait } | undefined;
  #next: Wait | undefined;
  #isScheduled = false;

  constructor(parts: GroupSyncParts) {
    this.#parts = parts;
  }

  get durableRevision(): number {
    return this.#durableRevision;
  }

  /** Whether the disk is at work. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Something was written; it will be durable soon. */
  noteWritten(revision: number): void {
    this.#written++;
    this.#revision = revision;
    // After a restore, versions up to the old one are to come again.
    if (revision <= this.#durableRevision) this.#durableRevision = 0;
    this.#schedule();
  }

  /** All that was written is durable, by somebody else's doing. */
  noteDurable(revision = this.#revision): void {
    this.#durable = this.#written;
    this.#revision = revision;
    this.#durableRevision = revision;
  }

  /** Undefined when there is nothing to wait for. */
  wait(): Promise<void> | undefined {
    if (this.#durable === this.#written) return undefined;
    if (this.#failed !== undefined) return this.#failed;
    if (this.#running?.upTo === this.#written) return this.#running.wait.promise;
    this.#next ??= newWait();
    return this.#next.promise;
  }

  /** Nothing is at work any more, successfully or not. */
  async idle(): Promise<void> {
    while (this.#running !== undefined || this.#isScheduled) {
      this.#next ??= newWait();
      // Whoever has to know of a failure is told by it.
      await (this.#running?.wait ?? this.#next).promise.catch(() => undefined);
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#running !== undefined || this.#failed !== undefined) return;
    this.#isScheduled = true;
    this.#parts.later(() => {
      this.#isScheduled = false;
      void this.#run();
    });
  }

  async #run(): Promise<void> {
    if (this.#durable === this.#written) return this.#release();
    const running = { upTo: this.#written, revision: this.#revision, wait: this.#next ?? newWait() };
    this.#next = undefined;
    this.#running = running;
    try {
      await this.#parts.sync();
    } catch (error) {
      const failure = this.#parts.fail(error);
      this.#failed = Promise.reject(failure);
      // Whoever asks is told; nobody has to.
      this.#failed.catch(() => undefined);
      this.#running = undefined;
      running.wait.reject(failure);
      this.#rejectNext(failure);
      return;
    }
    this.#running = undefined;
    if (running.upTo > this.#durable) {
      this.#durable = running.upTo;
      this.#durableRevision = running.revision;
    }
    running.wait.resolve();
    if (this.#durable === this.#written) this.#release();
    else this.#schedule();
  }

  #rejectNext(failure: JournalError): void {
    this.#next?.reject(failure);
    this.#next = undefined;
  }

  #release(): void {
    this.#next?.resolve();
    this.#next = undefined;
  }
}

function newWait(): Wait {
  let resolve: Wait['resolve'] = () => undefined;
  let reject: Wait['reject'] = () => undefined;
  const promise = new Promise<void>((onDone, onFailed) => {
    resolve = onDone;
    reject = onFailed;
  });
  // There may be nobody who waits; who does learns of a failure all the same.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}
