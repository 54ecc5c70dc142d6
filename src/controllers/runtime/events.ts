/**
 * Events about objects as the reference's controllers write them: core/v1, one object for equal events, with a count.
 * Writing them is nobody's concern but the recorder's: who records goes on at once, and what cannot be written is reported.
 * What becomes of many events is decided in `event-correlation.ts`; events with series are `event-series.ts`.
 */
import type { Client } from '../../client/client.js';
import { strategicPatch } from '../../client/patches.js';
import { CoreEvent } from '../../kinds/core/v1/event.js';
import { StatusError } from '../../meta/errors.js';
import { formatTime } from '../../text/time/time.js';
import type { Activity } from '../../util/activity.js';
import type { Clock } from '../../util/clock.js';
import type { Ids } from '../../util/ids.js';
import { EventCorrelator } from './event-correlation.js';
import { EVENT_NAMESPACE, EventNames, NAME_ATTEMPTS, referenceTo } from './event-name.js';
import type { AnyObject } from './owners.js';
import { isNamespaceTerminating } from './refusals.js';

export type EventType = 'Normal' | 'Warning';

export interface EventRecorder {
  /**
   * Notes that something happened to an object. Returns at once. Equal events are counted on one object; of many about
   * one object some are combined, and the rest is dropped, as the reference does.
   */
  record(about: AnyObject, type: EventType, reason: string, message: string): void;
}

export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly ids: Ids;
  /** In whose name. */
  readonly component: string;
  /** Whether there are events at all: a cluster may serve a few kinds only. Absent: there are. */
  readonly served?: (() => boolean) | undefined;
  /** Told of events that could not be written. */
  readonly report: (error: unknown, about: string) => void;
}

/** A recorder with an end: what was not written by then is dropped. */
export interface ClosableRecorder extends EventRecorder, Activity {
  close(): void;
}

interface Occurrence {
  readonly about: AnyObject;
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
  /** When it happened, however long the writing takes. */
  readonly time: string;
}

export function createEventRecorder(options: EventRecorderOptions): ClosableRecorder {
  return new Recorder(options);
}

class Recorder implements ClosableRecorder {
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

  record(about: AnyObject, type: EventType, reason: string, message: string): void {
    if (this.#isClosed || this.#options.served?.() === false) return;
    const occurrence: Occurrence = { about, type, reason, message, time: formatTime(this.#options.clock.now()) };
    this.#pending++;
    // One after another, so that the second of two equal events finds the first.
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
      // Nothing is told any more where everything goes.
      if (isNamespaceTerminating(error)) return;
      this.#options.report(error, `event ${reason} about ${about.kind} ${about.metadata.name}`);
    } finally {
      this.#pending--;
    }
  }

  async #write(occurrence: Occurrence): Promise<void> {
    const { client, component } = this.#options;
    const { about, type, reason, time } = occurrence;
    const { apiVersion, kind, metadata } = about;
    const namespace = metadata.namespace ?? EVENT_NAMESPACE;
    const correlated = this.#correlator.correlate({
      source: component,
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
    const { key, message, known } = correlated;
    const count = (known?.count ?? 0) + 1;
    if (known !== undefined) {
      const patch = strategicPatch<CoreEvent>({ count, lastTimestamp: time, message });
      try {
        await client.api(CoreEvent, namespace).patch(known.name, patch);
        this.#correlator.written(key, { name: known.name, count });
        return;
      } catch (error) {
        // It has been deleted meanwhile: it is written once more, and the count goes on.
        if (!StatusError.is(error, 'NotFound')) throw error;
      }
    }
    const name = await this.#create(occurrence, { namespace, message, count });
    this.#correlator.written(key, { name, count });
  }

  /** The name under which it was written. */
  async #create(
    { about, type, reason, time }: Occurrence,
    { namespace, message, count }: { readonly namespace: string; readonly message: string; readonly count: number },
  ): Promise<string> {
    const { client, component } = this.#options;
    for (let attempt = 1; ; attempt++) {
      const name = attempt === 1 ? this.#names.next(about) : this.#names.another(about, attempt);
      try {
        await client.api(CoreEvent, namespace).create({
          metadata: { name, namespace },
          involvedObject: referenceTo(about),
          reason,
          message,
          source: { component },
          firstTimestamp: time,
          lastTimestamp: time,
          count,
          type,
          reportingComponent: component,
        });
        return name;
      } catch (error) {
        if (attempt >= NAME_ATTEMPTS || !StatusError.is(error, 'AlreadyExists')) throw error;
      }
    }
  }
}
