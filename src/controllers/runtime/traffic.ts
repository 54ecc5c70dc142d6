/**
 * The requests of controllers on their way: what is being read for an informer is work like any other, so whoever waits
 * for rest waits for it; and where answers stay away, waiting for them must not keep a clock under test from going on.
 */
import type { Transport } from '../../protocol/transport.js';
import { type Activities, type Activity, Stillness, stillBusy } from '../../util/activity.js';
import { type Clock, nextTurn, systemClock } from '../../util/clock.js';
import { isPromise } from '../../util/maybe-promise.js';

/** In-process answers come within a few turns; what takes so long waits for time or for the world outside. */
const STALLED_TURNS = 200;
const STALLED_MS = 200;
/** So long and so many, and things move without end: ten thousand pods are set up with less. */
const LONGEST_WAIT_MS = 10_000;
const MANY_ANSWERS = 100_000;
/** Many clusters may share one processor, so that each of them takes long. But nobody waits longer than this. */
const LONGEST_SHARED_WAIT_MS = 60_000;

export class Traffic implements Activity {
  readonly #underWay = new Map<string, number>();
  #answered = 0;

  /** How many requests have been answered so far. */
  get answered(): number {
    return this.#answered;
  }

  /** The transport, with its requests counted. */
  over(transport: Transport): Transport {
    return {
      dialect: transport.dialect,
      clock: transport.clock,
      origin: 'controllers',
      ...(transport.closing === undefined ? {} : { closing: transport.closing }),
      send: (request) => {
        const answered = transport.send(request);
        if (!isPromise(answered)) {
          this.#answered++;
          return answered;
        }
        const what = `${request.verb} of ${request.resource.resource}`;
        this.#underWay.set(what, (this.#underWay.get(what) ?? 0) + 1);
        return answered.finally(() => this.#arrived(what));
      },
    };
  }

  isBusy(): boolean {
    return this.#underWay.size > 0;
  }

  busyWith(): readonly string[] {
    return [...this.#underWay].map(([what, count]) => `controllers wait for the answer to ${count} × ${what}`);
  }

  /**
   * Before a clock under test goes on: resolves when the activities are at rest, or when nothing moves any more, because
   * somebody waits for that very clock. Rejects with an Error that names who is busy when things move without end.
   */
  async untilStill(activities: Activities, clock: Clock): Promise<void> {
    const beganMs = systemClock.now();
    const answeredBefore = this.#answered;
    let answered = this.#answered;
    let sinceMs = systemClock.now();
    const stillness = new Stillness(activities);
    for (let turns = 0; ; turns++) {
      // Who moves a clock has waited for a turn already.
      if (turns > 0) await nextTurn();
      clock.runDue?.();
      if (!activities.isBusy()) {
        // What a promise did in this very turn may have woken somebody.
        await nextTurn();
        clock.runDue?.();
        if (!activities.isBusy()) return;
      }
      if (stillness.look()) return;
      if (this.#answered !== answered) {
        answered = this.#answered;
        sinceMs = systemClock.now();
        turns = 0;
      } else if (turns > STALLED_TURNS && systemClock.now() - sinceMs > STALLED_MS) return;
      const waitedMs = systemClock.now() - beganMs;
      const isLate = waitedMs > LONGEST_WAIT_MS && this.#answered - answeredBefore > MANY_ANSWERS;
      if (isLate || waitedMs > LONGEST_SHARED_WAIT_MS) throw new Error(stillBusy(activities, waitedMs));
    }
  }

  #arrived(what: string): void {
    this.#answered++;
    const left = (this.#underWay.get(what) ?? 1) - 1;
    if (left === 0) this.#underWay.delete(what);
    else this.#underWay.set(what, left);
  }
}
