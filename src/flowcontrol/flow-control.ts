/**
 * API priority and fairness: issues tickets for requests. See `types.ts` for the contract.
 */
import type { AccessAttributes, ResourceAttributes } from '../protocol/access.js';
import { onAbort } from '../util/abort.js';
import type { Clock, Undo } from '../util/clock.js';
import { distinguisherOf } from './classify.js';
import { Configuration, type Flow } from './configuration.js';
import { Entry } from './queue-set.js';
import type { FlowControl, FlowControlOptions, FlowObserver, FlowRequest, FlowTicket, RejectReason } from './types.js';
import { estimateWork } from './work.js';

/** The 429 response of a rejected request; its body is plain text, whatever the client accepts. */
export class FlowRejection extends Error {
  override readonly name = 'FlowRejection';
  readonly code = 429;
  readonly text = 'Too many requests, please try again later.\n';
  readonly reason: RejectReason;
  /** Additional response headers: Retry-After and the matched uids. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: RejectReason, headers: Readonly<Record<string, string>>) {
    super(`too many requests: ${reason}`);
    this.reason = reason;
    this.headers = headers;
  }
}

/** Creates the flow control of one handler: call `admit` before each request, and `done` on the ticket after it. */
export function createFlowControl(options: FlowControlOptions): FlowControl {
  const { clock, observer } = options;
  const configuration = new Configuration(options);
  const watchers = new Watchers();
  const shared: SharedState = { clock, observer, configuration, watchers };
  const objects = (attributes: ResourceAttributes) => options.count?.(attributes);
  const watching = (attributes: ResourceAttributes) => watchers.of(attributes);
  return {
    admit(digest, signal) {
      const { user, attributes } = digest;
      if (isUnlimited(attributes)) return UNLIMITED;
      signal?.throwIfAborted();
      const now = clock.now();
      configuration.refresh(now);
      const flow = configuration.flowOf(user, attributes);
      const { priorityLevel: place, counts } = flow;
      const work = estimateWork(digest, { maxSeats: place.maxSeats, objects, watchers: watching });
      const entry = new Entry(counts, distinguisherOf(flow, user, attributes), work);
      const ticket = new RequestTicket(shared, { flow, entry, digest, now });
      const outcome = place.queues.enter(entry, now);
      if (outcome === 'executing') return ticket.start(now);
      if (outcome !== 'waiting') throw ticket.reject(outcome, now);
      configuration.scheduleLending(now);
      return ticket.wait(signal);
    },
    classify({ user, attributes }) {
      configuration.refresh(clock.now());
      const flow = configuration.flowOf(user, attributes);
      const distinguisher = distinguisherOf(flow, user, attributes);
      return { flowSchema: flow.name, priorityLevel: flow.priorityLevel.name, distinguisher };
    },
    metrics: {
      flows() {
        return configuration.counts.filter(({ dispatched, inQueue, rejected }) => {
          return dispatched > 0 || inQueue > 0 || Object.keys(rejected).length > 0;
        });
      },
      levels() {
        configuration.refresh(clock.now());
        return configuration.levels.map(({ figures }) => figures);
      },
    },
  };
}

/** The state shared by all requests. */
interface SharedState {
  readonly clock: Clock;
  readonly observer: FlowObserver | undefined;
  readonly configuration: Configuration;
  readonly watchers: Watchers;
}

const MS_PER_SECOND = 1000;

/** For requests without a timeout. */
const DEFAULT_TIMEOUT_MS = 60_000;
const MAX_WAIT_MS = 60_000;
/** The fraction of its timeout that a request may wait. */
const WAITING_FRACTION = 1 / 4;

/** One request, from arrival to completion. It becomes the ticket when it starts. */
class RequestTicket implements FlowTicket {
  readonly #shared: SharedState;
  readonly #flow: Flow;
  readonly #entry: Entry;
  readonly #request: FlowRequest;
  readonly #arrivedMs: number;
  #startedMs = 0;
  #uncountWatch: Undo | undefined;

  constructor(shared: SharedState, parts: { flow: Flow; entry: Entry; digest: FlowRequest; now: number }) {
    this.#shared = shared;
    this.#flow = parts.flow;
    this.#entry = parts.entry;
    this.#request = parts.digest;
    this.#arrivedMs = parts.now;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#flow.headers;
  }

  start(now: number): FlowTicket {
    const { observer, watchers } = this.#shared;
    const { attributes } = this.#request;
    this.#startedMs = now;
    if (!this.#flow.priorityLevel.isExempt) this.#observeWaiting(observer, now, true);
    if (attributes.type === 'resource' && attributes.verb === 'watch') this.#uncountWatch = watchers.add(attributes);
    return this;
  }

  reject(reason: RejectReason, now: number): FlowRejection {
    const { counts, priorityLevel: place, headers } = this.#flow;
    counts.reject(reason);
    this.#observeWaiting(this.#shared.observer, now, false);
    return new FlowRejection(reason, { ...headers, 'Retry-After': String(place.retryAfter.drop(now)) });
  }

  /** Ends with a seat, the time limit or an abort, whichever comes first; it cancels the others. */
  wait(signal: AbortSignal | undefined): Promise<FlowTicket> {
    const { clock } = this.#shared;
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#request;
    return new Promise((resolve, reject) => {
      const end = () => {
        stopClock();
        stopListening();
      };
      const giveUp = (): FlowRejection => {
        end();
        const now = clock.now();
        this.#flow.priorityLevel.queues.cancel(this.#entry, now);
        return this.reject('time-out', now);
      };
      const stopClock = clock.after(Math.min(MAX_WAIT_MS, timeoutMs * WAITING_FRACTION), () => reject(giveUp()));
      const stopListening = onAbort(signal, () => {
        giveUp();
        reject(signal?.reason);
      });
      this.#entry.onDispatch = (now) => {
        end();
        resolve(this.start(now));
      };
    });
  }

  done(): void {
    const { clock, observer, configuration } = this.#shared;
    const { priorityLevel: place, counts } = this.#flow;
    if (this.#entry.state === 'over') return;
    const now = clock.now();
    const type = this.#uncountWatch === undefined ? 'regular' : 'watch';
    observer?.executed(counts, (now - this.#startedMs) / MS_PER_SECOND, type);
    // The request still counts in the periods that have elapsed.
    configuration.refresh(now);
    place.queues.finish(this.#entry, now);
    configuration.onRelease(place);
  }

  ended(): void {
    this.done();
    this.#uncountWatch?.();
  }

  #observeWaiting(observer: FlowObserver | undefined, now: number, executed: boolean): void {
    observer?.waited(this.#flow.counts, (now - this.#arrivedMs) / MS_PER_SECOND, executed);
  }
}
/** Watches with this field selector are indexed, so they do not add cost to other writes. */
const INDEXED = { resource: 'pods', field: 'spec.nodeName' };

/** Counts active watches, because each write must notify them. */
class Watchers {
  readonly #counts = new Map<string, number>();

  /** Counts a watch; the returned function removes it. */
  add(attributes: ResourceAttributes): Undo {
    if (isIndexed(attributes)) return () => undefined;
    const key = keyOf(attributes, attributes.namespace, attributes.name);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = (this.#counts.get(key) ?? 0) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }

  /** The watches that a write notifies: of the whole resource, its namespace, and the object. */
  of(attributes: ResourceAttributes): number {
    if (this.#counts.size === 0) return 0;
    const { namespace, name } = attributes;
    let count = this.#count(attributes, '', '');
    if (namespace !== '') count += this.#count(attributes, namespace, '');
    if (name !== '') count += this.#count(attributes, namespace, name);
    return count;
  }

  #count(attributes: ResourceAttributes, namespace: string, name: string): number {
    return this.#counts.get(keyOf(attributes, namespace, name)) ?? 0;
  }
}

/** Connect subresources may stay open indefinitely and cost the server nothing. */
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

function keyOf({ group, resource }: ResourceAttributes, namespace: string, name: string): string {
  return `${group}/${resource}/${namespace}/${name}`;
}

function isIndexed({ resource, fieldSelector = [] }: ResourceAttributes): boolean {
  if (resource !== INDEXED.resource) return false;
  return fieldSelector.some(
    ({ key, operator, values }) => key === INDEXED.field && operator === 'In' && values[0] !== '',
  );
}
