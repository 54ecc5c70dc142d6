/**
 * Priority and fairness: tickets for requests. See `types.ts` for what is promised.
 */
import type { AccessAttributes, ResourceAttributes } from '../protocol/access.js';
import { onAbort } from '../util/abort.js';
import type { Clock, Undo } from '../util/clock.js';
import { distinguisherOf } from './classify.js';
import { Configuration, type Flow } from './configuration.js';
import { Entry } from './queue-set.js';
import type { FlowControl, FlowControlOptions, FlowDigest, FlowObserver, FlowTicket, RejectReason } from './types.js';
import { estimateWork } from './work.js';

export class FlowRejection extends Error {
  override readonly name = 'FlowRejection';
  readonly code = 429;
  readonly text = 'Too many requests, please try again later.\n';
  readonly reason: RejectReason;
  /** Beside those of every text: when to come back, and what the request was matched with. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(reason: RejectReason, headers: Readonly<Record<string, string>>) {
    super(`too many requests: ${reason}`);
    this.reason = reason;
    this.headers = headers;
  }
}

/** Watches by this field of this resource are found by it, and so do not cost those who write other objects. */
const INDEXED = { resource: 'pods', field: 'spec.nodeName' };

class Watchers {
  readonly #counts = new Map<string, number>();

  /** A watch has begun; undone when it ends. */
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

  /** Those of the whole resource, of its namespace, and of the very object. */
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

/** One for each handler: ask for a ticket before a request, and give it back after. */
export function createFlowControl(options: FlowControlOptions): FlowControl {
  const { clock, observer } = options;
  const configuration = new Configuration(options);
  const watchers = new Watchers();
  const host: Host = { clock, observer, configuration, watchers };
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
      const { place, counts } = flow;
      const work = estimateWork(digest, { maxSeats: place.maxSeats, objects, watchers: watching });
      const entry = new Entry(counts, distinguisherOf(flow, user, attributes), work);
      const visit = new Visit(host, { flow, entry, digest, now });
      const outcome = place.queues.enter(entry, now);
      if (outcome === 'executing') return visit.begin(now);
      if (outcome !== 'waiting') throw visit.reject(outcome, now);
      configuration.keepLending(now);
      return visit.wait(signal);
    },
    classify({ user, attributes }) {
      configuration.refresh(clock.now());
      const flow = configuration.flowOf(user, attributes);
      const distinguisher = distinguisherOf(flow, user, attributes);
      return { flowSchema: flow.name, priorityLevel: flow.place.name, distinguisher };
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

/** What all visits share. */
interface Host {
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

/** A request on its way: from the door to its seats, and out again. Whoever has begun has it as a ticket. */
class Visit implements FlowTicket {
  readonly #host: Host;
  readonly #flow: Flow;
  readonly #entry: Entry;
  readonly #digest: FlowDigest;
  readonly #cameMs: number;
  #beganMs = 0;
  #forgetWatch: Undo | undefined;

  constructor(host: Host, about: { flow: Flow; entry: Entry; digest: FlowDigest; now: number }) {
    this.#host = host;
    this.#flow = about.flow;
    this.#entry = about.entry;
    this.#digest = about.digest;
    this.#cameMs = about.now;
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#flow.headers;
  }

  begin(now: number): FlowTicket {
    const { observer, watchers } = this.#host;
    const { attributes } = this.#digest;
    this.#beganMs = now;
    if (!this.#flow.place.isExempt) this.#observeWaiting(observer, now, true);
    if (attributes.type === 'resource' && attributes.verb === 'watch') this.#forgetWatch = watchers.add(attributes);
    return this;
  }

  reject(reason: RejectReason, now: number): FlowRejection {
    const { counts, place, headers } = this.#flow;
    counts.reject(reason);
    this.#observeWaiting(this.#host.observer, now, false);
    return new FlowRejection(reason, { ...headers, 'Retry-After': String(place.retryAfter.drop(now)) });
  }

  /** The queue ends it, or the clock, or the client: whoever is first keeps the others from doing it again. */
  wait(signal: AbortSignal | undefined): Promise<FlowTicket> {
    const { clock } = this.#host;
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = this.#digest;
    return new Promise((resolve, reject) => {
      const end = () => {
        stopClock();
        stopListening();
      };
      const giveUp = (): FlowRejection => {
        end();
        const now = clock.now();
        this.#flow.place.queues.giveUp(this.#entry, now);
        return this.reject('time-out', now);
      };
      const stopClock = clock.after(Math.min(LONGEST_WAIT_MS, timeoutMs * WAITING_PART), () => reject(giveUp()));
      const stopListening = onAbort(signal, () => {
        giveUp();
        reject(signal?.reason);
      });
      this.#entry.onDispatch = (now) => {
        end();
        resolve(this.begin(now));
      };
    });
  }

  done(): void {
    const { clock, observer, configuration } = this.#host;
    const { place, counts } = this.#flow;
    if (this.#entry.state === 'over') return;
    const now = clock.now();
    const type = this.#forgetWatch === undefined ? 'regular' : 'watch';
    observer?.executed(counts, (now - this.#beganMs) / MS_PER_SECOND, type);
    // In periods that are over by now, it was still there.
    configuration.refresh(now);
    place.queues.finish(this.#entry, now);
    configuration.released(place);
  }

  ended(): void {
    this.done();
    this.#forgetWatch?.();
  }

  #observeWaiting(observer: FlowObserver | undefined, now: number, executed: boolean): void {
    observer?.waited(this.#flow.counts, (now - this.#cameMs) / MS_PER_SECOND, executed);
  }
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

function keyOf({ group, resource }: ResourceAttributes, namespace: string, name: string): string {
  return `${group}/${resource}/${namespace}/${name}`;
}

function isIndexed({ resource, fieldSelector = [] }: ResourceAttributes): boolean {
  if (resource !== INDEXED.resource) return false;
  return fieldSelector.some(
    ({ key, operator, values }) => key === INDEXED.field && operator === 'In' && values[0] !== '',
  );
}
