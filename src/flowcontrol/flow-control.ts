/**
 * Priority and fairness: tickets for requests. See `types.ts` for what is promised.
 */
import type { AccessAttributes, ResourceAttributes } from '../kinds/access.js';
import { onAbort } from '../util/abort.js';
import type { Clock } from '../util/clock.js';
import { distinguisherOf } from './classify.js';
import { Configuration, type Flow } from './configuration.js';
import { Entry } from './queue-set.js';
import { FlowRejection } from './rejection.js';
import type { FlowControl, FlowControlOptions, FlowDigest, FlowObserver, FlowTicket, RejectReason } from './types.js';
import { Watchers } from './watchers.js';
import { estimateWork } from './work.js';

/**
 * @example
 * const flow = createFlowControl({ objects, changes, clock, dialect });
 * const ticket = await flow.admit({ user, attributes }, signal);
 * try { return await answer(request); } finally { ticket.done(); }
 */
export function createFlowControl(options: FlowControlOptions): FlowControl {
  const configuration = new Configuration(options);
  const watchers = new Watchers();
  const { clock, observer } = options;
  const count = (attributes: ResourceAttributes) => options.count?.(attributes);
  const watching = (attributes: ResourceAttributes) => watchers.of(attributes);
  return {
    admit(digest, signal) {
      if (isUnlimited(digest.attributes)) return UNLIMITED;
      signal?.throwIfAborted();
      configuration.refresh();
      const { user, attributes } = digest;
      const flow = configuration.flowOf(user, attributes);
      const { place, counts } = flow;
      const work = estimateWork(digest, { maxSeats: place.maxSeats, objects: count, watchers: watching });
      const entry = new Entry(counts, distinguisherOf(flow, user, attributes), work);
      const visit: Visit = { flow, entry, digest, clock, observer, configuration, watchers };
      const outcome = place.queues.enter(entry);
      if (outcome === 'executing') return ticketFor(visit, clock.now());
      if (outcome !== 'waiting') throw reject(visit, outcome, clock.now());
      configuration.keepLending();
      return waitFor(visit, signal);
    },
    classify({ user, attributes }) {
      configuration.refresh();
      const flow = configuration.flowOf(user, attributes);
      return {
        flowSchema: flow.name,
        priorityLevel: flow.place.name,
        distinguisher: distinguisherOf(flow, user, attributes),
      };
    },
    metrics: {
      flows() {
        return configuration.counts.filter(({ dispatched, inQueue, rejected }) => {
          return dispatched > 0 || inQueue > 0 || Object.keys(rejected).length > 0;
        });
      },
      levels() {
        configuration.refresh();
        return configuration.levels.map(({ figures }) => figures);
      },
    },
  };
}

/** A request on its way. */
interface Visit {
  readonly flow: Flow;
  readonly entry: Entry;
  readonly digest: FlowDigest;
  readonly clock: Clock;
  readonly observer: FlowObserver | undefined;
  readonly configuration: Configuration;
  readonly watchers: Watchers;
}

const MS_PER_SECOND = 1000;

/** Of requests that say nothing else. */
const DEFAULT_TIMEOUT_MS = 60_000;
const LONGEST_WAIT_MS = 60_000;
/** The part of its time that a request may wait for. */
const WAITING_PART = 1 / 4;

function waitFor(visit: Visit, signal: AbortSignal | undefined): Promise<FlowTicket> {
  const { entry, digest, clock, flow } = visit;
  const cameMs = clock.now();
  const limitMs = Math.min(LONGEST_WAIT_MS, (digest.timeoutMs ?? DEFAULT_TIMEOUT_MS) * WAITING_PART);
  return new Promise((resolve, reject_) => {
    // The queue settles it, or the clock, or the client: whoever is first keeps the others from doing it again.
    const settle = () => {
      stopClock();
      stopListening();
    };
    const giveUp = (reason: () => unknown) => {
      settle();
      flow.place.queues.giveUp(entry);
      reject_(reason());
    };
    const stopClock = clock.after(limitMs, () => giveUp(() => reject(visit, 'time-out', cameMs)));
    const stopListening = onAbort(signal, () =>
      giveUp(() => {
        reject(visit, 'time-out', cameMs);
        return signal?.reason;
      }),
    );
    entry.onDispatch = () => {
      settle();
      resolve(ticketFor(visit, cameMs));
    };
  });
}

function reject({ flow, clock, observer }: Visit, reason: RejectReason, cameMs: number): FlowRejection {
  const { counts, place, headers } = flow;
  const now = clock.now();
  counts.reject(reason);
  observer?.waited(counts, (now - cameMs) / MS_PER_SECOND, false);
  return new FlowRejection(reason, { ...headers, 'Retry-After': String(place.retryAfter.drop(now)) });
}

function ticketFor(visit: Visit, cameMs: number): FlowTicket {
  const { flow, entry, digest, clock, observer, configuration, watchers } = visit;
  const { attributes } = digest;
  const isWatch = attributes.type === 'resource' && attributes.verb === 'watch';
  const startedMs = clock.now();
  if (!flow.place.isExempt) observer?.waited(flow.counts, (startedMs - cameMs) / MS_PER_SECOND, true);
  const forget = isWatch ? watchers.add(attributes) : undefined;
  const done = () => {
    if (entry.state === 'over') return;
    observer?.executed(flow.counts, (clock.now() - startedMs) / MS_PER_SECOND, isWatch ? 'watch' : 'regular');
    // In periods that are over by now, it was still there.
    configuration.refresh();
    flow.place.queues.finish(entry);
    configuration.released(flow.place);
  };
  const ended = () => {
    done();
    forget?.();
  };
  return { headers: flow.headers, done, ended };
}

/** Lines to what runs elsewhere may stay open for ever, and cost the server nothing. */
const UNLIMITED_SUBRESOURCES = new Set(['attach', 'exec', 'proxy', 'log', 'portforward']);
const PROFILES = '/debug/pprof/';

function isUnlimited(attributes: AccessAttributes): boolean {
  if (attributes.type === 'path') return attributes.path.startsWith(PROFILES);
  if (attributes.verb === 'watch') return false;
  return attributes.verb === 'proxy' || UNLIMITED_SUBRESOURCES.has(attributes.subresource);
}

const UNLIMITED: FlowTicket = Object.freeze({
  headers: Object.freeze({}),
  done: () => undefined,
  ended: () => undefined,
});
