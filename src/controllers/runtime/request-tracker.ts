/**
 * Tracks the requests of controllers that are in flight. They count as work for `settle`. A test clock waits for them too,
 * but not for requests that never get an answer.
 */
import type { Transport } from '../../protocol/transport.js';
import { type Activities, type Activity, busyMessage, StuckDetector } from '../../util/activity.js';
import { type Clock, nextTurn, realTime, systemClock } from '../../util/clock.js';
import { isPromise } from '../../util/maybe-promise.js';

/** In-process answers arrive within a few turns. A request that takes longer waits for the clock or for real I/O. */
const STALLED_TURNS = 200;
const STALLED_MS = 200;
/** More time and more answers than this indicates an endless loop; setting up ten thousand pods needs less. */
const LONGEST_WAIT_MS = 10_000;
const MANY_ANSWERS = 100_000;
/** The upper limit. It is generous because many clusters may share one processor. */
const LONGEST_SHARED_WAIT_MS = 60_000;

/** After so much time, requests of clients are answered before the next request or reconcile of a controller. */
const LONGEST_TURN_MS = 20;

/**
 * The time of one turn of the event loop. Requests of controllers to a cluster in this process follow each other without
 * a pause, and a Deployment may have hundreds of pods of a megabyte. So do reconciles that find nothing to write.
 */
export class TurnBudget {
  #beganMs: number | undefined;

  /** Undefined: there is time left in this turn. With a test clock there always is. */
  untilFree(clock: Clock): Promise<void> | undefined {
    if (clock !== systemClock) return undefined;
    const now = realTime();
    if (this.#beganMs === undefined) {
      this.#beganMs = now;
      void nextTurn().then(() => {
        this.#beganMs = undefined;
      });
    }
    return now - this.#beganMs < LONGEST_TURN_MS ? undefined : nextTurn().then(() => this.untilFree(clock));
  }
}

export class RequestTracker implements Activity {
  readonly budget = new TurnBudget();
  readonly #underWay = new Map<string, number>();
  #answered = 0;

  get answered(): number {
    return this.#answered;
  }

  wrap(transport: Transport): Transport {
    return {
      dialect: transport.dialect,
      clock: transport.clock,
      origin: 'controllers',
      ...(transport.closing === undefined ? {} : { closing: transport.closing }),
      send: (request) => {
        const wait = this.budget.untilFree(transport.clock);
        const answered = wait === undefined ? transport.send(request) : wait.then(() => transport.send(request));
        if (!isPromise(answered)) {
          this.#answered++;
          return answered;
        }
        const what = `${request.verb} of ${request.resource.resource}`;
        this.#underWay.set(what, (this.#underWay.get(what) ?? 0) + 1);
        return answered.finally(() => this.#countAnswer(what));
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
   * Called before a test clock advances. Resolves when the activities are idle, or when nothing progresses because the
   * remaining work waits for the clock itself. Rejects with an Error that names the busy activities if work never ends.
   */
  async untilIdle(activities: Activities, clock: Clock): Promise<void> {
    const beganMs = systemClock.now();
    const answeredBefore = this.#answered;
    let answered = this.#answered;
    let sinceMs = systemClock.now();
    const stillness = new StuckDetector(activities);
    for (let turns = 0; ; turns++) {
      // The clock has already waited one turn before this call.
      if (turns > 0) await nextTurn();
      clock.runDue?.();
      if (!activities.isBusy()) {
        // A promise that resolved in this turn may have started new work.
        await nextTurn();
        clock.runDue?.();
        if (!activities.isBusy()) return;
      }
      if (stillness.isStuck()) return;
      if (this.#answered !== answered) {
        answered = this.#answered;
        sinceMs = systemClock.now();
        turns = 0;
      } else if (turns > STALLED_TURNS && systemClock.now() - sinceMs > STALLED_MS) return;
      const waitedMs = systemClock.now() - beganMs;
      const isLate = waitedMs > LONGEST_WAIT_MS && this.#answered - answeredBefore > MANY_ANSWERS;
      if (isLate || waitedMs > LONGEST_SHARED_WAIT_MS) throw new Error(busyMessage(activities, waitedMs));
    }
  }

  #countAnswer(what: string): void {
    this.#answered++;
    const left = (this.#underWay.get(what) ?? 1) - 1;
    if (left === 0) this.#underWay.delete(what);
    else this.#underWay.set(what, left);
  }
}
