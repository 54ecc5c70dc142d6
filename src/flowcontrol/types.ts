/**
 * The contract of this folder: how requests share a server. Whoever serves requests asks for a ticket before each, and
 * gives it back after. A request is matched with a FlowSchema, which names its priority level; a level has seats, and
 * who finds none free waits in one of its queues or is turned away.
 *
 * Everything here happens at once, except the waiting itself.
 */

import type { ObjectReader } from '../kinds/objects.js';
import type { Dialect } from '../meta/dialect.js';
import type { GroupResource } from '../meta/gvk.js';
import type { AccessAttributes } from '../protocol/access.js';
import type { RequestOptions, User } from '../protocol/request.js';
import type { Clock } from '../util/clock.js';
import type { MaybePromise } from '../util/maybe-promise.js';

/** What is looked at of a request. */
export interface FlowDigest {
  readonly user: User;
  /** As an authorizer sees it: a namespace is in itself, and a list of one name is about that name. */
  readonly attributes: AccessAttributes;
  /** Of lists and watches: how much work they are. */
  readonly options?: RequestOptions;
  /** How long the request may take in all; absent: as long as the server gives. It waits for a quarter of that. */
  readonly timeoutMs?: number;
}

/** A request that may be carried out. */
export interface FlowTicket {
  /** For the answer: the uids of what the request was matched with. None where no limits apply (exec, log, proxy). */
  readonly headers: Readonly<Record<string, string>>;
  /** The request was answered, or the watch has begun: its seats are free again. More than once is once. */
  done(): void;
  /** The watch is over: writes no longer count it among those who have to be told. Implies `done`. */
  ended(): void;
}

export interface FlowControl {
  /**
   * Returns a ticket, or a promise of one for a request that has to wait. Throws, or rejects with, a FlowRejection when
   * there is no room, and the signal's reason when it aborts before there is.
   */
  admit(digest: FlowDigest, signal?: AbortSignal): MaybePromise<FlowTicket>;
  /** What a request would be matched with; changes nothing. */
  classify(digest: Pick<FlowDigest, 'user' | 'attributes'>): Classification;
  readonly metrics: FlowMetrics;
}

export interface FlowControlOptions {
  readonly objects: ObjectReader;
  /** How often objects of a resource have been written: another number, another state. */
  changes(resource: GroupResource): number;
  readonly clock: Clock;
  readonly dialect: Dialect;
  /** Seats of the whole server, which levels share out among themselves; absent: 600. */
  readonly totalSeats?: number;
  /**
   * How many objects there are of a resource, named as clients do; undefined: not known. By it long lists take more
   * seats than short ones; without it every list takes one.
   */
  count?(resource: GroupResource): number | undefined;
  /** Told how long things took. */
  readonly observer?: FlowObserver;
}

/** Where a request belongs. */
export interface Classification {
  readonly flowSchema: string;
  readonly priorityLevel: string;
  /** What tells the flow from others of the same schema: a user, a namespace, or nothing. */
  readonly distinguisher: string;
}

/**
 * Why a request was turned away, in the words of the metrics: no free queue, no free seat on a level without queues, or
 * it waited too long (or was given up).
 */
export type RejectReason = 'queue-full' | 'concurrency-limit' | 'time-out';

/** What can be counted. Both answer for the moment they are called in. */
export interface FlowMetrics {
  /** One for each pair of level and schema that a request was matched with. */
  flows(): readonly FlowCounts[];
  levels(): readonly LevelFigures[];
}

export interface FlowCounts {
  readonly priorityLevel: string;
  readonly flowSchema: string;
  /** Since the beginning. */
  readonly dispatched: number;
  readonly rejected: Readonly<Partial<Record<RejectReason, number>>>;
  /** At the moment. */
  readonly inQueue: number;
  readonly inQueueSeats: number;
  readonly executing: number;
  readonly executingSeats: number;
}

/** Seats of a level: what its shares come to, the least and the most that lending leaves it with, and what it has now. */
export interface LevelFigures {
  readonly priorityLevel: string;
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
  readonly current: number;
}

export interface FlowObserver {
  /** Seconds before a request was carried out, or turned away; levels that limit nothing are not told of. */
  waited(flow: FlowCounts, seconds: number, executed: boolean): void;
  /** Seconds that a request, or the beginning of a watch, has taken. */
  executed(flow: FlowCounts, seconds: number, type: 'regular' | 'watch'): void;
}
