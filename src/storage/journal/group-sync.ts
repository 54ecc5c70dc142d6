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

interface Running {
  readonly upTo: number;
  /** Undefined: a restore has come between, and versions count anew. */
  revision: number | undefined;
  readonly wait: Wait;
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
  #running: Running | undefined;
  #next: Wait | undefined;
  /** From when a sync is planned until it has come back. */
  #work: Promise<void> | undefined;

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
    // After a restore, versions up to the old one are to come again.
    if (revision <= this.#revision) this.#startOver();
    this.#written++;
    this.#revision = revision;
    this.#schedule();
  }

  /** Another state was written in place of everything; it will be durable soon. */
  noteReset(revision: number): void {
    this.#startOver();
    this.noteWritten(revision);
  }

  /**
   * All that was written is durable, by somebody else's doing. While the disk is at work this is not believed: an error of
   * the disk is told once, and may be what the other call comes back with.
   */
  noteDurable(revision = this.#revision): void {
    if (this.#failed !== undefined || this.#running !== undefined) return;
    this.#durable = this.#written;
    this.#revision = revision;
    this.#durableRevision = revision;
  }

  /** From now on nothing becomes durable; whoever waits is told so. */
  break(failure: JournalError): void {
    if (this.#failed !== undefined) return;
    this.#failed = Promise.reject(failure);
    // Whoever asks is told; nobody has to.
    this.#failed.catch(() => undefined);
    this.#running?.wait.reject(failure);
    this.#next?.reject(failure);
    this.#next = undefined;
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
    const running: Running = { upTo: this.#written, revision: this.#revision, wait: this.#next ?? newWait() };
    this.#next = undefined;
    this.#running = running;
    try {
      await this.#parts.sync();
    } catch (error) {
      this.break(this.#parts.fail(error));
    }
    this.#running = undefined;
    // Somebody else may have found the disk failing meanwhile.
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
