/**
 * Delays the repairs of a server reconciler. The reference server repairs its own objects in loops that run at an
 * interval; a reconciler instead repairs an interval after it finds a difference.
 */
import { StatusError } from '../../meta/errors.js';
import type { Undo } from '../../util/clock.js';
import type { ReconcilerHost } from '../reconciler.js';

export type Repair = () => void;

export class RepairTimer {
  readonly #server: ReconcilerHost;
  readonly #delayMs: number;
  #waiting: { readonly dueMs: number; readonly undo: Undo } | undefined;

  constructor(server: ReconcilerHost, delayMs: number) {
    this.#server = server;
    this.#delayMs = delayMs;
  }

  /** Whether the delay of a difference has passed, so that the reconciler must look for it again. */
  get isDue(): boolean {
    return this.#waiting !== undefined && this.#waiting.dueMs <= this.#server.clock.now();
  }

  /**
   * Runs the repairs if they are due or `now` is set, otherwise schedules them. Without repairs, ends the delay. A rejected
   * repair is scheduled again. Returns whether no repair is left.
   */
  settle(repairs: readonly Repair[], { now = false }: { readonly now?: boolean } = {}): boolean {
    const mustRun = now || this.isDue;
    if (mustRun || repairs.length === 0) this.#cancel();
    if (repairs.length === 0 || (mustRun && isAccepted(repairs))) return true;
    this.#schedule();
    return false;
  }

  #schedule(): void {
    const { clock, wakeAfter } = this.#server;
    this.#waiting ??= { dueMs: clock.now() + this.#delayMs, undo: wakeAfter(this.#delayMs) };
  }

  #cancel(): void {
    this.#waiting?.undo();
    this.#waiting = undefined;
  }
}

/** Runs all repairs, also after one that is rejected. */
function isAccepted(repairs: readonly Repair[]): boolean {
  let rejected = 0;
  for (const repair of repairs) {
    try {
      repair();
    } catch (error) {
      // For example: a Service of another client has the cluster IP by now.
      if (!(error instanceof StatusError)) throw error;
      rejected++;
    }
  }
  return rejected === 0;
}
