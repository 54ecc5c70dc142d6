/**
 * Events about objects as the reference's controllers write them: core/v1, one object for equal events, with a count.
 * Writing them is nobody's concern but the recorder's: who records goes on at once, and what cannot be written is reported.
 */
import type { Client } from '../../client/client.js';
import { mergePatch } from '../../client/patches.js';
import { CoreEvent } from '../../kinds/core/v1/event.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { formatTime } from '../../meta/time.js';
import type { Activity } from '../../util/activity.js';
import type { Clock } from '../../util/clock.js';

export type EventType = 'Normal' | 'Warning';

export interface EventRecorder {
  /** Notes that something happened to an object. Returns at once. */
  record(about: ApiObject, type: EventType, reason: string, message: string): void;
}

export interface EventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  /** In whose name. */
  readonly component: string;
  /** Told of events that could not be written. */
  readonly report: (error: unknown, about: string) => void;
}

/** Events about cluster-scoped objects live here. */
const DEFAULT_NAMESPACE = 'default';
const NANOS_PER_MS = 1_000_000n;

interface Known {
  readonly namespace: string;
  readonly name: string;
  count: number;
}

export function createEventRecorder(options: EventRecorderOptions): EventRecorder & Activity {
  return new Recorder(options);
}

class Recorder implements EventRecorder, Activity {
  readonly #options: EventRecorderOptions;
  readonly #known = new Map<string, Known>();
  #pending = 0;
  #last: Promise<void> = Promise.resolve();
  #lastNanos = 0n;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(about: ApiObject, type: EventType, reason: string, message: string): void {
    this.#pending++;
    // One after another, so that the second of two equal events finds the first.
    this.#last = this.#last.then(async () => {
      try {
        await this.#write(about, type, reason, message);
      } catch (error) {
        this.#options.report(error, `event ${reason} about ${about.kind} ${about.metadata.name}`);
      } finally {
        this.#pending--;
      }
    });
  }

  isBusy(): boolean {
    return this.#pending > 0;
  }

  busyWith(): readonly string[] {
    return this.#pending === 0 ? [] : [`${this.#options.component} is writing ${this.#pending} events`];
  }

  async #write(about: ApiObject, type: EventType, reason: string, message: string): Promise<void> {
    const { client, clock, component } = this.#options;
    const { apiVersion, kind, metadata } = about;
    const namespace = metadata.namespace ?? DEFAULT_NAMESPACE;
    const now = formatTime(clock.now());
    const key = [namespace, kind, metadata.uid, metadata.resourceVersion, type, reason, message].join('\n');
    const known = this.#known.get(key);
    if (known !== undefined) {
      const count = known.count + 1;
      try {
        await client.api(CoreEvent, namespace).patch(known.name, mergePatch({ count, lastTimestamp: now }));
        known.count = count;
        return;
      } catch (error) {
        // It has been deleted meanwhile: the next one begins anew.
        if (!StatusError.is(error, 'NotFound')) throw error;
      }
    }
    const name = `${metadata.name}.${this.#nanos().toString(16)}`;
    await client.api(CoreEvent, namespace).create({
      metadata: { name, namespace },
      involvedObject: {
        kind,
        ...(metadata.namespace === undefined ? {} : { namespace: metadata.namespace }),
        name: metadata.name,
        uid: metadata.uid,
        apiVersion,
        resourceVersion: metadata.resourceVersion,
      },
      reason,
      message,
      source: { component },
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      type,
      reportingComponent: component,
    });
    this.#known.set(key, { namespace, name, count: 1 });
  }

  /** Names of events end in the moment they happened; two never share one. */
  #nanos(): bigint {
    const now = BigInt(Math.floor(this.#options.clock.now())) * NANOS_PER_MS;
    this.#lastNanos = now > this.#lastNanos ? now : this.#lastNanos + 1n;
    return this.#lastNanos;
  }
}
