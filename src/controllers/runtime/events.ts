/**
 * Records core/v1 Events as kube-controller-manager does: equal events are one object with a count. Recording never blocks;
 * failures are reported. `event-correlation.ts` decides which events are counted, combined or dropped. Events with series
 * are in `event-series.ts`.
 */
import type { Client } from '../../client/client.js';
import { strategicPatch } from '../../client/patches.js';
import { CoreEvent } from '../../kinds/core/v1/event.js';
import { StatusError } from '../../meta/errors.js';
import { dnsSubdomainProblems } from '../../meta/names.js';
import { formatMicroTime, formatTime } from '../../text/time/time.js';
import type { Activity } from '../../util/activity.js';
import type { Clock } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import { type Correlated, EventCorrelator } from './event-correlation.js';
import { isNamespaceTerminating } from './expected-errors.js';
import type { AnyObject, HasMetadata } from './owners.js';

export type EventType = 'Normal' | 'Warning';

export interface EventRecorder {
  /**
   * Records an Event about an object and returns at once. Equal events are counted on one object. Of many events about one
   * object some are combined and the rest is dropped, as in the reference server's recorder.
   * upstream: client-go/tools/record/events_cache.go EventCorrelator
   */
  record(object: AnyObject, type: EventType, reason: string, message: string, details?: EventDetails): void;
}

/** The attributes of an Event that simulates another component. */
export interface EventDetails {
  /** The reporting component; that of the recorder unless given. */
  readonly component?: string | undefined;
  /** The node of the component. */
  readonly host?: string | undefined;
  /** The part of the object, for example `spec.containers{web}`. */
  readonly fieldPath?: string | undefined;
  /**
   * The action taken. The Event then has the form of events.k8s.io: a time with microseconds and an instance instead of a
   * source, and a series instead of a count.
   */
  readonly action?: string | undefined;
  /** Another object that the Event concerns, with an action only. */
  readonly related?: AnyObject | undefined;
  /** The field manager of the write; that of the recorder unless given. */
  readonly fieldManager?: string | undefined;
}

export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The source component. */
  readonly component: string;
  /** Whether the cluster serves Events. Absent: yes. */
  readonly served?: (() => boolean) | undefined;
  /** Receives errors of events that could not be written. */
  readonly report: (error: unknown, context: string) => void;
}

interface Occurrence {
  readonly about: AnyObject;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  readonly details: EventDetails;
  /** The time of the occurrence, not of the write, in milliseconds. */
  readonly timeMs: number;
}

/** A recorder that can be closed. Events not written by then are dropped. */
export class CoreEventRecorder implements EventRecorder, Activity {
  readonly #options: EventRecorderOptions;
  readonly #correlator: EventCorrelator;
  readonly #names: EventNames;
  #pending = 0;
  #last: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
    this.#correlator = new EventCorrelator(options.clock);
    this.#names = new EventNames(options.clock, options.ids);
  }

  record(about: AnyObject, type: EventType, reason: string, message: string, details = NO_DETAILS): void {
    if (this.#isClosed || this.#options.served?.() === false) return;
    const occurrence: Occurrence = { about, type, reason, message, details, timeMs: this.#options.clock.now() };
    this.#pending++;
    // Sequential writes, so that the second of two equal events finds the first.
    this.#last = this.#last.then(() => this.#next(occurrence));
  }

  isBusy(): boolean {
    return this.#pending > 0 && !this.#isClosed;
  }

  busyWith(): readonly string[] {
    return this.isBusy() ? [`${this.#options.component} is writing ${this.#pending} events`] : [];
  }

  close(): void {
    this.#isClosed = true;
  }

  async #next(occurrence: Occurrence): Promise<void> {
    try {
      if (!this.#isClosed) await this.#write(occurrence);
    } catch (error) {
      const { reason, about } = occurrence;
      // A terminating namespace accepts no events, which is expected.
      if (isNamespaceTerminating(error)) return;
      this.#options.report(error, `event ${reason} about ${about.kind} ${about.metadata.name}`);
    } finally {
      this.#pending--;
    }
  }

  async #write(occurrence: Occurrence): Promise<void> {
    const { client } = this.#options;
    const { about, type, reason, details, timeMs } = occurrence;
    const { component = this.#options.component, host = '', fieldPath = '', action, fieldManager } = details;
    const { apiVersion, kind, metadata } = about;
    const namespace = metadata.namespace ?? EVENT_NAMESPACE;
    const correlated = this.#correlator.correlate({
      source: host === '' ? component : `${component} ${host}`,
      fieldPath,
      kind,
      apiVersion,
      namespace,
      name: metadata.name,
      uid: metadata.uid,
      type,
      reason,
      message: occurrence.message,
    });
    if (correlated === undefined) return;
    const { key, message, isCombined, known } = correlated;
    const count = (known?.count ?? 0) + 1;
    if (known !== undefined) {
      const patch = strategicPatch<CoreEvent>(
        action === undefined
          ? { count, lastTimestamp: formatTime(timeMs), message }
          : { series: { count, lastObservedTime: formatMicroTime(timeMs) } },
      );
      try {
        await client.api(CoreEvent, namespace).patch(known.name, patch, writeOptions(fieldManager));
        this.#correlator.written(key, { name: known.name, count });
        return;
      } catch (error) {
        // The event was deleted meanwhile: create it again and continue the count.
        if (!StatusError.is(error, 'NotFound')) throw error;
      }
    }
    const name = await this.#create(occurrence, { namespace, message, isCombined, count });
    this.#correlator.written(key, { name, count });
  }

  async #create(
    { about, type, reason, details, timeMs }: Occurrence,
    { namespace, message, isCombined, count }: CreatedEvent,
  ): Promise<string> {
    const { client } = this.#options;
    const { component = this.#options.component, host, fieldPath, action, related, fieldManager } = details;
    const time = formatTime(timeMs);
    const occurrence =
      action === undefined
        ? {
            source: { component, ...(host === undefined ? {} : { host }) },
            firstTimestamp: time,
            lastTimestamp: time,
            count,
            type,
            // upstream: client-go tools/record/events_cache.go EventAggregate copies the source only
            ...(isCombined ? {} : { reportingComponent: component }),
            ...(isCombined || host === undefined ? {} : { reportingInstance: host }),
          }
        : {
            type,
            eventTime: formatMicroTime(timeMs),
            action,
            ...(related === undefined ? {} : { related: referenceTo(related) }),
            ...(count === 1 ? {} : { series: { count, lastObservedTime: formatMicroTime(timeMs) } }),
            reportingComponent: component,
            reportingInstance: `${component}-${host ?? 'orchplane'}`,
          };
    const reference = referenceTo(about);
    const involvedObject = fieldPath === undefined ? reference : { ...reference, fieldPath };
    for (let attempt = 1; ; attempt++) {
      const name = attempt === 1 ? this.#names.next(about) : this.#names.another(about, attempt);
      try {
        const event = { metadata: { name, namespace }, involvedObject, reason, message, ...occurrence };
        await client.api(CoreEvent, namespace).create(event, writeOptions(fieldManager));
        return name;
      } catch (error) {
        if (attempt >= NAME_ATTEMPTS || !StatusError.is(error, 'AlreadyExists')) throw error;
      }
    }
  }
}

interface CreatedEvent extends Pick<Correlated, 'message' | 'isCombined'> {
  readonly namespace: string;
  readonly count: number;
}

const NO_DETAILS: EventDetails = Object.freeze({});

function writeOptions(fieldManager: string | undefined): { readonly fieldManager?: string } {
  return fieldManager === undefined ? {} : { fieldManager };
}

/** The namespace of events about cluster-scoped objects. */
export const EVENT_NAMESPACE = 'default';

/** The number of names to try. The distance to the last name doubles each time, so this is more than enough. */
export const NAME_ATTEMPTS = 10;

const NANOS_PER_MS = 1_000_000n;

/** Generates event names without repetition. */
export class EventNames {
  readonly #clock: Pick<Clock, 'now'>;
  readonly #ids: Pick<Ids, 'uid'>;
  #last = 0n;
  /** The distance of the next name from the last one; larger after collisions. */
  #step = 1n;

  constructor(clock: Pick<Clock, 'now'>, ids: Pick<Ids, 'uid'>) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /**
   * Returns another name after a collision: another recorder wrote about the same object at the same time, or a fork shares
   * the history. The distance doubles with each attempt because many names may be taken.
   */
  another(object: HasMetadata, attempt: number): string {
    this.#step = 2n ** BigInt(attempt);
    return this.next(object);
  }

  next({ metadata }: HasMetadata): string {
    const now = BigInt(Math.floor(this.#clock.now())) * NANOS_PER_MS;
    this.#last = now > this.#last ? now : this.#last + this.#step;
    this.#step = 1n;
    const name = `${metadata.name}.${this.#last.toString(16)}`;
    // Some kinds allow names that Events do not, for example ClusterRoles with a colon.
    return dnsSubdomainProblems(name).length === 0 ? name : this.#ids.uid();
  }
}

export function referenceTo({ apiVersion, kind, metadata }: AnyObject): {
  kind: string;
  namespace?: string;
  name: string;
  uid: string;
  apiVersion: string;
  resourceVersion: string;
} {
  return {
    kind,
    ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
    name: metadata.name,
    uid: metadata.uid,
    apiVersion,
    resourceVersion: metadata.resourceVersion,
  };
}
