/**
 * Records events.k8s.io Events with series: repeated occurrences are one object whose `series` has a count. The first and
 * the second occurrence are written at once, later ones with the heartbeat of the series (every 30 minutes) and at its end,
 * six minutes after the last occurrence. All waiting happens in a work queue on the cluster's clock.
 */

import { strategicPatch } from '../../client/patches.js';
import { Event as SeriesEvent } from '../../kinds/events/v1/event.js';
import type { EventInput } from '../../kinds/generated/events-v1.js';
import { StatusError } from '../../meta/errors.js';
import { formatMicroTime } from '../../text/time/time.js';
import { type ControllerContext, ControllerPart } from './controller.js';
import type { EventType } from './events.js';
import { EVENT_NAMESPACE, EventNames, NAME_ATTEMPTS, referenceTo } from './events.js';
import type { AnyObject } from './owners.js';
import type { ReconcileResult } from './work-queue.js';

/** Something that happened to an object. */
export interface Occurrence {
  /** The object that it happened to. */
  readonly regarding: AnyObject;
  /** A secondary object. */
  readonly related?: AnyObject | undefined;
  readonly type: EventType;
  /** The reason in CamelCase. */
  readonly reason: string;
  /** The action taken, in CamelCase. */
  readonly action: string;
  /** The human-readable message; at most 1024 bytes. Not part of the comparison of two events. */
  readonly note: string;
}

export interface SeriesRecorder {
  /** Records an occurrence and returns at once. Failed writes are retried and reported. */
  record(occurrence: Occurrence): void;
}

export interface SeriesRecorderOptions {
  /** The reporting controller; the controller's name unless given. */
  readonly controller?: string | undefined;
  /** The reporting instance; `CONTROLLER-orchplane` unless given. */
  readonly instance?: string | undefined;
}

const FINISH_MS = 6 * 60_000;
const HEARTBEAT_MS = 30 * 60_000;
/** A series is dropped after so many failed attempts. */
const MOST_ATTEMPTS = 12;
const BACKOFF = { firstMs: 10_000, longestMs: 10_000 } as const;

interface Series {
  readonly namespace: string;
  readonly event: EventInput;
  readonly regarding: AnyObject;
  name: string;
  /** The number of occurrences. */
  count: number;
  lastMs: number;
  /** The count at the last write; 0: the Event does not exist yet. */
  writtenCount: number;
  writtenMs: number;
  attempts: number;
}

/**
 * Creates a recorder of events with series. Call it in the controller's `start`.
 *
 * @example
 * runControllers(cluster, [{
 *   name: 'greeter', needs: [],
 *   start(context) { const events = eventRecorder(context, { controller: 'example.com/greeter' }); },
 * }]);
 */
export function eventRecorder(context: ControllerContext, options: SeriesRecorderOptions = {}): SeriesRecorder {
  return new SeriesEventRecorder(context, options);
}

class SeriesEventRecorder extends ControllerPart<SeriesRecorderOptions> implements SeriesRecorder {
  readonly #controller = this.options.controller ?? this.context.name;
  readonly #instance = this.options.instance ?? `${this.#controller.replaceAll('/', '-')}-orchplane`;
  readonly #names = new EventNames(this.context.clock, this.context.ids);
  readonly #series = new Map<string, Series>();
  readonly #queue = this.context.queue((key) => this.#writeDue(key), { name: 'events', backoff: BACKOFF });

  record({ regarding, related, type, reason, action, note }: Occurrence): void {
    const reference = referenceTo(regarding);
    const relation = related === undefined ? undefined : referenceTo(related);
    const key = JSON.stringify([type, action, reason, reference, relation]);
    const now = this.context.clock.now();
    const known = this.#series.get(key);
    if (known !== undefined) {
      known.count++;
      known.lastMs = now;
      // The second occurrence starts the series; later ones wait for the heartbeat.
      if (known.count === 2) this.#queue.add(key);
      return;
    }
    this.#series.set(key, {
      namespace: regarding.metadata.namespace ?? EVENT_NAMESPACE,
      regarding,
      name: this.#names.next(regarding),
      event: {
        metadata: {},
        eventTime: formatMicroTime(now),
        reportingController: this.#controller,
        reportingInstance: this.#instance,
        action,
        reason,
        regarding: reference,
        ...(relation === undefined ? {} : { related: relation }),
        note,
        type,
      },
      count: 1,
      lastMs: now,
      writtenCount: 0,
      writtenMs: now,
      attempts: 0,
    });
    this.#queue.add(key);
  }

  /** Writes what is due and returns when to run again. */
  async #writeDue(key: string): Promise<ReconcileResult | undefined> {
    const series = this.#series.get(key);
    if (series === undefined) return undefined;
    const now = this.context.clock.now();
    const isOver = now - series.lastMs >= FINISH_MS;
    const isNew = series.writtenCount < Math.min(series.count, 2);
    const isHeartbeat = series.count > 1 && now - series.writtenMs >= HEARTBEAT_MS;
    const isBehind = series.writtenCount < series.count;
    if (isNew || isHeartbeat || (isOver && isBehind)) {
      const count = series.count;
      if (!(await this.#tryToWrite(key, series))) return undefined;
      series.writtenCount = count;
      series.writtenMs = now;
    }
    if (isOver) {
      if (series.count > series.writtenCount) return { requeueAfterMs: 0 };
      this.#series.delete(key);
      return undefined;
    }
    const dueMs = Math.min(series.lastMs + FINISH_MS, series.count > 1 ? series.writtenMs + HEARTBEAT_MS : Infinity);
    return { requeueAfterMs: Math.max(1, dueMs - this.context.clock.now()) };
  }

  /** Returns false if the series was dropped. Rejects if a retry may help. */
  async #tryToWrite(key: string, series: Series): Promise<boolean> {
    try {
      await this.#write(series);
      series.attempts = 0;
      return true;
    } catch (error) {
      const isRefused = StatusError.is(error) && error.code >= 400 && error.code < 500 && error.code !== 429;
      if (!isRefused && ++series.attempts < MOST_ATTEMPTS) throw error;
      this.#series.delete(key);
      this.context.report(error, `event ${series.event.reason} about ${series.regarding.metadata.name}`);
      return false;
    }
  }

  async #write(current: Series): Promise<void> {
    const api = this.context.client.api(SeriesEvent, current.namespace);
    const { count, lastMs } = current;
    const series = count < 2 ? undefined : { count, lastObservedTime: formatMicroTime(lastMs) };
    if (series !== undefined && current.writtenCount > 0) {
      try {
        await api.patch(current.name, strategicPatch<SeriesEvent>({ series }));
        return;
      } catch (error) {
        // The event was deleted meanwhile: create it again.
        if (!StatusError.is(error, 'NotFound')) throw error;
      }
    }
    for (let attempt = 1; ; attempt++) {
      const metadata = { name: current.name, namespace: current.namespace };
      try {
        await api.create({ ...current.event, metadata, ...(series === undefined ? {} : { series }) });
        return;
      } catch (error) {
        if (attempt >= NAME_ATTEMPTS || !StatusError.is(error, 'AlreadyExists')) throw error;
        current.name = this.#names.another(current.regarding, attempt);
      }
    }
  }
}
