/**
 * Faults of watches: streams that end early, expire, or deliver events late. They also affect watches that are already
 * open, so that they reach the informers of running controllers.
 */
import { errors } from '../../meta/errors.js';
import type { ApiRequest } from '../../protocol/request.js';
import type { ServerWatchEvent } from '../../protocol/watch-event.js';
import type { MiddlewareHost } from '../../server/middleware.js';
import { onAbort } from '../../util/abort.js';
import { nextTurn, type Undo } from '../../util/clock.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { seededRandom } from '../seeded-random.js';
import { type Fault, watchFault } from './fault.js';
import { printValue, usageError, type WatchMatch, watchMatcher } from './match.js';
import { type StreamControl, type StreamShape, shapeStream } from './shaped-stream.js';

/** When a fault ends a stream. */
export interface EndOptions {
  /** After this many events, including bookmarks; 0 ends it at once. */
  readonly afterEvents?: number | undefined;
  /** After this many milliseconds of the cluster's clock. */
  readonly afterMs?: number | undefined;
}

/**
 * Ends watches like a broken connection, without an error; by default after one event. A client resumes from the last
 * version that it received.
 *
 * @example
 * using _ = cluster.use(cuttingStreams({ kind: Pod }, { afterEvents: 3 }));
 */
export function cuttingStreams(match: WatchMatch = {}, options: EndOptions = {}): Fault {
  return endingWatches('cuttingStreams', { match, options, defaultEvents: 1, last: () => undefined });
}

/**
 * Ends watches with Expired (410), which makes a client list again; by default at once.
 *
 * @example
 * using _ = cluster.use(expiringWatches({ kind: Pod, times: 1 }));
 */
export function expiringWatches(match: WatchMatch = {}, options: EndOptions = {}): Fault {
  const last = (): ServerWatchEvent => {
    const { status } = errors.expired('The resourceVersion for the provided watch is too old.');
    return { type: 'ERROR', object: status };
  };
  return endingWatches('expiringWatches', { match, options, defaultEvents: 0, last });
}

export interface ReorderOptions {
  /** Selects one of the possible orders. Defaults to 1. */
  readonly seed?: number | undefined;
  /** The maximum delay of an event in turns of the event loop. Defaults to 5. */
  readonly turns?: number | undefined;
}

/**
 * Delivers the same changes to different watches at different times. Each watch keeps its order. `cluster.settle()` waits
 * for all deliveries.
 *
 * @example
 * using _ = cluster.use(reorderingDeliveries({}, { seed: 7 }));
 */
export function reorderingDeliveries(match: WatchMatch = {}, options: ReorderOptions = {}): Fault {
  const where = 'reorderingDeliveries';
  const matches = watchMatcher(where, match);
  refuseUnknownOptions(where, options, ['seed', 'turns'] satisfies (keyof ReorderOptions)[]);
  const { seed = 1, turns = 5 } = options;
  if (!isWhole(turns)) throw usageError(where, `turns is a whole number from 0 on, not ${printValue(turns)}`);
  const random = seededRandom(seed);
  return watchFault((strike) => (request, watch, host) => {
    if (!matches(request, host.dialect)) return;
    shape(watch, host, () => ({
      onEvent(_event, release) {
        const late = random.below(turns + 1);
        if (late === 0) return 'ready';
        strike();
        void waitTurns(late).then(release);
        return 'coming';
      },
    }));
  });
}

export interface StaleOptions {
  /** The delay of each event in milliseconds of the cluster's clock. Absent: until `release` is called. */
  readonly forMs?: number | undefined;
}

/** A fault that holds back deliveries. */
export interface StaleCaches extends Fault {
  /** The number of deliveries that are held back. */
  readonly held: number;
  /** Delivers everything that is held back, and disables the fault. */
  release(): void;
}

/**
 * Holds back watch events: informer caches become stale, while reads from the server return the current state.
 * `cluster.settle()` waits neither for held events nor for work that depends on them.
 *
 * @example
 * const stale = staleCaches({ kind: Pod });
 * using _ = cluster.use(stale);
 * stale.release();
 */
export function staleCaches(match: WatchMatch = {}, options: StaleOptions = {}): StaleCaches {
  const where = 'staleCaches';
  const matches = watchMatcher(where, match);
  refuseUnknownOptions(where, options, ['forMs'] satisfies (keyof StaleOptions)[]);
  const { forMs } = options;
  checkMs(where, 'forMs', forMs);
  const released = new AbortController();
  const held = new Set<object>();
  const more = { held: 0, release: () => released.abort(RELEASED) };
  const fault = watchFault(
    (strike) => (request, watch, host) => {
      if (released.signal.aborted || !matches(request, host.dialect)) return;
      shape(watch, host, (control) =>
        holding({ request, host, control, held, strike, forMs, released: released.signal }),
      );
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
  readonly released: AbortSignal;
}

function holding({ request, host, control, held, strike, forMs, released }: Holding): StreamShape {
  const undos = new Set<Undo>();
  const undoAll = () => {
    for (const undo of [...undos]) undo();
  };
  const offLetGo = onAbort(released, () => {
    undoAll();
    control.releaseAll();
  });
  const offRemoval = onAbort(host.removed, undoAll);
  return {
    onEvent(_event, release) {
      strike();
      // Watches share event objects, so an event cannot be the key.
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
  /** The default number of events, if the options have neither a number nor a time. */
  readonly defaultEvents: number;
  readonly last: () => ServerWatchEvent | undefined;
}

function endingWatches(where: string, { match, options, defaultEvents, last }: Ending): Fault {
  const matches = watchMatcher(where, match);
  refuseUnknownOptions(where, options, ['afterEvents', 'afterMs'] satisfies (keyof EndOptions)[]);
  const { afterMs, afterEvents = afterMs === undefined ? defaultEvents : Number.POSITIVE_INFINITY } = options;
  checkMs(where, 'afterMs', afterMs);
  if (options.afterEvents !== undefined && !isWhole(options.afterEvents))
    throw usageError(where, `afterEvents is a whole number from 0 on, not ${printValue(afterEvents)}`);
  return watchFault((strike) => (request, watch, host) => {
    if (!matches(request, host.dialect)) return;
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
            // The reader receives the event before the stream ends.
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

/** Inserts the shape into a watch; removing the fault restores the plain stream. */
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

async function waitTurns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await nextTurn();
}

function isWhole(value: number): boolean {
  return Number.isInteger(value) && value >= 0;
}

function checkMs(where: string, part: string, value: number | undefined): void {
  if (value === undefined || (value >= 0 && value < Number.POSITIVE_INFINITY)) return;
  throw usageError(where, `${part} is a number of milliseconds from 0 on, not ${printValue(value)}`);
}
