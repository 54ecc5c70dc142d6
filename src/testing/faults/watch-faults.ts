/**
 * Faults of watches: streams that break off, expire, come late or at different times. They act on watches that are open
 * when the fault is put up as well as on later ones, so that informers of running controllers meet them too.
 */
import { errors } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { WireEvent } from '../../protocol/watch-event.js';
import type { MiddlewareHost } from '../../server/middleware.js';
import { onAbort } from '../../util/abort.js';
import { nextTurn, type Undo } from '../../util/clock.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { seededRandom } from '../seeded-random.js';
import { type Fault, watchFault } from './fault.js';
import { printValue, type WatchMatch, watchMatcher, usageError } from './match.js';
import { type StreamShape, type StreamControl, shapeStream } from './shaped-stream.js';

/** When a stream ends. */
export interface EndOptions {
  /** After so many events, bookmarks included; 0: at once. */
  readonly afterEvents?: number | undefined;
  /** After so many milliseconds of the cluster's clock. */
  readonly afterMs?: number | undefined;
}

/**
 * Ends watches as a broken connection does: without an error, in the middle. After each event unless said otherwise. A
 * client goes on from the last version that it has seen.
 *
 * @example
 * using _ = cluster.use(cuttingStreams({ kind: Pod }, { afterEvents: 3 }));
 */
export function cuttingStreams(match: WatchMatch = {}, options: EndOptions = {}): Fault {
  return endingWatches('cuttingStreams', { match, options, usually: 1, last: () => undefined });
}

/**
 * Ends watches with Expired (410), which makes a client list again. At once unless said otherwise.
 *
 * @example
 * using _ = cluster.use(expiringWatches({ kind: Pod, times: 1 }));
 */
export function expiringWatches(match: WatchMatch = {}, options: EndOptions = {}): Fault {
  const last = (): WireEvent => {
    const { status } = errors.expired('The resourceVersion for the provided watch is too old.');
    return { type: 'ERROR', object: status };
  };
  return endingWatches('expiringWatches', { match, options, usually: 0, last });
}

export interface ReorderOptions {
  /** Which of the possible orders; 1 unless given. */
  readonly seed?: number | undefined;
  /** An event comes so many turns of the event loop late at most; 5 unless given. */
  readonly turns?: number | undefined;
}

/**
 * Lets watches see the same changes at different times. Each sees them in the right order. `cluster.settle()` waits for
 * all of them.
 *
 * @example
 * using _ = cluster.use(reorderingDeliveries({}, { seed: 7 }));
 */
export function reorderingDeliveries(match: WatchMatch = {}, options: ReorderOptions = {}): Fault {
  const where = 'reorderingDeliveries';
  const isMeant = watchMatcher(where, match);
  refuseUnknownOptions(where, options, ['seed', 'turns'] satisfies (keyof ReorderOptions)[]);
  const { seed = 1, turns = 5 } = options;
  if (!isWhole(turns)) throw usageError(where, `turns is a whole number from 0 on, not ${printValue(turns)}`);
  const random = seededRandom(seed);
  return watchFault((strike) => (request, watch, host) => {
    if (!isMeant(request, host.dialect)) return;
    shape(watch, host, () => ({
      onEvent(_event, release) {
        const late = random.below(turns + 1);
        if (late === 0) return 'ready';
        strike();
        void inTurns(late).then(release);
        return 'coming';
      },
    }));
  });
}

export interface StaleOptions {
  /** Each event comes so many milliseconds of the cluster's clock late. Absent: when `release` is called. */
  readonly forMs?: number | undefined;
}

/** Holds deliveries back. */
export interface StaleCaches extends Fault {
  /** How many deliveries are held back now. */
  readonly held: number;
  /** Lets everything go that is held back, and holds nothing back from then on. */
  release(): void;
}

/**
 * Holds back what watches would deliver: informers answer from an old picture while the server has moved on. Reads that
 * go to the server see what is. `cluster.settle()` does not wait for what is held back, nor for those who wait for it.
 *
 * @example
 * const stale = staleCaches({ kind: Pod });
 * using _ = cluster.use(stale);
 * stale.release();
 */
export function staleCaches(match: WatchMatch = {}, options: StaleOptions = {}): StaleCaches {
  const where = 'staleCaches';
  const isMeant = watchMatcher(where, match);
  refuseUnknownOptions(where, options, ['forMs'] satisfies (keyof StaleOptions)[]);
  const { forMs } = options;
  checkMs(where, 'forMs', forMs);
  const letGo = new AbortController();
  const held = new Set<object>();
  const more = { held: 0, release: () => letGo.abort(RELEASED) };
  const fault = watchFault(
    (strike) => (request, watch, host) => {
      if (letGo.signal.aborted || !isMeant(request, host.dialect)) return;
      shape(watch, host, (control) => holding({ request, host, control, held, strike, forMs, letGo: letGo.signal }));
    },
    more,
  );
  return Object.defineProperty(fault, 'held', { get: () => held.size, enumerable: true });
}

interface Holding {
  readonly request: ApiRequest;
  readonly host: MiddlewareHost;
  readonly control: StreamControl;
  readonly held: Set<object>;
  readonly strike: () => void;
  readonly forMs: number | undefined;
  readonly letGo: AbortSignal;
}

function holding({ request, host, control, held, strike, forMs, letGo }: Holding): StreamShape {
  const undos = new Set<Undo>();
  const undoAll = () => {
    for (const undo of [...undos]) undo();
  };
  const offLetGo = onAbort(letGo, () => {
    undoAll();
    control.releaseAll();
  });
  const offRemoval = onAbort(host.removed, undoAll);
  return {
    onEvent(_event, release) {
      strike();
      // Watches share their events, so those are no keys.
      const token = {};
      held.add(token);
      const unhold = host.activities.hold(() => `an event of ${request.resource.resource} for a watch`);
      const undo = () => {
        undos.delete(undo);
        stopTimer();
        held.delete(token);
        unhold();
      };
      const stopTimer =
        forMs === undefined
          ? () => undefined
          : host.clock.after(forMs, () => {
              undo();
              release();
            });
      undos.add(undo);
      return 'held';
    },
    closed() {
      offLetGo();
      offRemoval();
      undoAll();
    },
  };
}

interface Ending {
  readonly match: WatchMatch;
  readonly options: EndOptions;
  /** After how many events, where the options name neither a number nor a time. */
  readonly usually: number;
  readonly last: () => WireEvent | undefined;
}

function endingWatches(where: string, { match, options, usually, last }: Ending): Fault {
  const isMeant = watchMatcher(where, match);
  refuseUnknownOptions(where, options, ['afterEvents', 'afterMs'] satisfies (keyof EndOptions)[]);
  const { afterMs, afterEvents = afterMs === undefined ? usually : Number.POSITIVE_INFINITY } = options;
  checkMs(where, 'afterMs', afterMs);
  if (options.afterEvents !== undefined && !isWhole(options.afterEvents))
    throw usageError(where, `afterEvents is a whole number from 0 on, not ${printValue(afterEvents)}`);
  return watchFault((strike) => (request, watch, host) => {
    if (!isMeant(request, host.dialect)) return;
    shape(watch, host, (control) => {
      let handed = 0;
      let isOver = false;
      const end = () => {
        if (isOver || host.removed.aborted) return;
        isOver = true;
        strike();
        control.end(last());
      };
      const stopTimer = afterMs === undefined ? undefined : host.clock.after(afterMs, end, { background: true });
      if (afterEvents === 0) queueMicrotask(end);
      return {
        handing() {
          if (++handed <= afterEvents) {
            // Whoever reads the event has it before the stream ends.
            if (handed === afterEvents) queueMicrotask(end);
            return 'pass';
          }
          end();
          return 'cut';
        },
        closed() {
          isOver = true;
          stopTimer?.();
        },
      };
    });
  });
}

/** A fault that is taken away leaves streams as they would be without it. */
function shape(
  watch: Parameters<typeof shapeStream>[0],
  host: MiddlewareHost,
  shapeOf: (control: StreamControl) => StreamShape,
): void {
  shapeStream(watch, host, (control) => {
    const off = onAbort(host.removed, () => control.releaseAll());
    const made = shapeOf(control);
    return {
      ...made,
      closed() {
        off();
        made.closed?.();
      },
    };
  });
}

const RELEASED = 'the fault lets everything go';

async function inTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

function isWhole(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

function checkMs(where: string, part: string, value: number | undefined): void {
  if (value === undefined || (value >= 0 && value < Number.POSITIVE_INFINITY)) return;
  throw usageError(where, `${part} is a number of milliseconds from 0 on, not ${printValue(value)}`);
}
