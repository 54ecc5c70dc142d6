/**
 * The contract of flow control (API priority and fairness). A handler requests a ticket before each request and returns it
 * afterwards. A request matches a FlowSchema, which names its priority level; a level has seats, and a request that finds
 * none free waits in one of its queues or is rejected.
 *
 * Everything is synchronous except the waiting.
 */

import type { ObjectReader } from '../kinds/objects.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource } from '../meta/gvk.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { RequestOptions, User } from '../protocol/request.js';
import type { Clock } from '../util/clock.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** The parts of a request that flow control uses. */
export interface FlowRequest {
  readonly user: User;
  /** The access attributes, as for authorization. */
  readonly attributes: AccessAttributes;
  /** The options of lists and watches, which determine their cost. */
  readonly options?: RequestOptions;
  /** The timeout of the request; absent: that of the server. A request waits at most a quarter of it. */
  readonly timeoutMs?: number;
}

/** The permission to process a request. */
export interface FlowTicket {
  /** Response headers with the matched uids. Empty where no limits apply (exec, log, proxy). */
  readonly headers: Readonly<Record<string, string>>;
  /** The request is answered, or the watch is established: releases the seats. Idempotent. */
  done(): void;
  /** The watch has ended: writes no longer count it. Implies `done`. */
  ended(): void;
}

export interface FlowControl {
  /**
   * Returns a ticket, or a promise of one if the request must wait. Throws or rejects with a FlowRejection if there is no
   * room, and with the signal's reason if it aborts first.
   */
  admit(digest: FlowRequest, signal?: AbortSignal): MaybePromise<FlowTicket>;
  /** The classification of a request; has no effect. */
  classify(digest: Pick<FlowRequest, 'user' | 'attributes'>): Classification;
  readonly metrics: FlowMetrics;
}

export interface FlowControlOptions {
  readonly objects: ObjectReader;
  /** The number of writes to a resource so far; an unchanged number means an unchanged state. */
  lastChange(resource: GroupResource): number;
  readonly clock: Clock;
  readonly dialect: Dialect;
  /** The seats of the whole server. Default: 600. */
  readonly totalSeats?: number;
  /**
   * The number of objects of a resource, named as clients see it; undefined if unknown. Long lists take more seats; without
   * this function every list takes one.
   */
  count?(resource: GroupResource): number | undefined;
  /** Receives durations. */
  readonly observer?: FlowObserver;
}

/** The classification of a request. */
export interface Classification {
  readonly flowSchema: string;
  readonly priorityLevel: string;
  /** The flow distinguisher: a user, a namespace, or empty. */
  readonly distinguisher: string;
}

/**
 * Why a request was rejected, as in the metrics: its queue is full, there is no free seat on a level without queues, or it
 * waited too long (or was aborted).
 */
export type RejectReason = 'queue-full' | 'concurrency-limit' | 'time-out';

/** Counters and gauges; values are current at the time of the call. */
export interface FlowMetrics {
  /** One for each pair of level and schema with requests. */
  flows(): readonly FlowCounts[];
  levels(): readonly LevelFigures[];
}

export interface FlowCounts {
  readonly priorityLevel: string;
  readonly flowSchema: string;
  /** Totals. */
  readonly dispatched: number;
  readonly rejected: Readonly<Partial<Record<RejectReason, number>>>;
  /** Current values. */
  readonly inQueue: number;
  readonly inQueueSeats: number;
  readonly executing: number;
  readonly executingSeats: number;
}

/** The seats of a level: nominal by shares, the bounds of lending and borrowing, and the current number. */
export interface LevelFigures {
  readonly priorityLevel: string;
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
  readonly current: number;
}

export interface FlowObserver {
  /** Seconds before a request was dispatched or rejected; not called for exempt levels. */
  waited(flow: FlowCounts, seconds: number, executed: boolean): void;
  /** Seconds that a request, or the start of a watch, took. */
  executed(flow: FlowCounts, seconds: number, type: 'regular' | 'watch'): void;
}
