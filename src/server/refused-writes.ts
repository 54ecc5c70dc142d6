/**
 * Failures of server reconcilers. Another program may have stored an object that the server does not accept, so that each write
 * to it fails: such an object must not stop the other reconcilers, the request that made them run, or the process.
 */
import type { ApiObject } from '../meta/object.js';
import { JournalError } from '../storage/journal/types.js';
import { messageOf } from '../util/message-of.js';

const MAX_MESSAGE_LENGTH = 1_000;

export class RefusedWrites {
  readonly #warn: (warning: string) => void;
  /** Objects as they were when a write to them was refused. A changed object is another JavaScript object. */
  readonly #objects = new WeakSet<ApiObject>();
  /** The last reported failure of each reconciler. */
  readonly #reported = new WeakMap<object, string>();

  constructor(warn: (warning: string) => void) {
    this.#warn = warn;
  }

  /** Runs a write to an object, unless one was refused since the object last changed. Returns whether it was accepted. */
  write(object: ApiObject, run: () => void): boolean {
    if (this.#objects.has(object)) return false;
    try {
      run();
      return true;
    } catch (error) {
      if (error instanceof JournalError) throw error;
      this.#objects.add(object);
      const { kind, metadata } = object;
      this.#report(`the server cannot update ${kind} ${JSON.stringify(metadata.name)} until it changes`, error);
      return false;
    }
  }

  /** Runs a reconciler, and reports each failure once. It runs again after the next change. */
  reconcile(reconciler: { reconcile(): void }): void {
    try {
      reconciler.reconcile();
    } catch (error) {
      // The client's write has succeeded already. It runs again after the next write, or when the journal is opened again.
      if (error instanceof JournalError) return;
      const message = messageOf(error);
      if (this.#reported.get(reconciler) === message) return;
      this.#reported.set(reconciler, message);
      this.#report('a reconciler of the server failed', error);
    }
  }

  #report(what: string, error: unknown): void {
    this.#warn(`${what}: ${messageOf(error).slice(0, MAX_MESSAGE_LENGTH)}`);
  }
}
