/**
 * The metrics of an API server, under the names that dashboards and alerts expect. The HTTP handler reports requests as
 * they happen; values that other parts count are read when the page is printed (see `sources.ts`).
 */

import type { Release } from '../kinds/lifecycle.js';
import { type Dialect, orchDialect } from '../meta/dialect.js';
import type { AccessDecision } from '../protocol/access.js';
import { type Counter, exponentialBuckets, type Family, type Gauge, type Histogram } from './family.js';
import { MetricsRegistry, type RegistryOptions } from './registry.js';
import { collectSources, type FlowFigures, flowLabels, type MetricSources } from './sources.js';

export interface ServerMetricsOptions extends RegistryOptions {
  readonly dialect?: Dialect | undefined;
  /** Milliseconds since the epoch by the cluster's clock. */
  readonly now?: (() => number) | undefined;
  readonly sources?: MetricSources | undefined;
}

/** The target of a request. Fields that do not apply are empty. */
export interface RequestSubject {
  /** In capitals: `GET`, `LIST`, `APPLY`, `CONNECT`. */
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: '' | 'resource' | 'namespace' | 'cluster';
  /** `All`, `invalid`, or empty. */
  readonly dryRun: string;
}

export interface RequestFigures {
  readonly code: number;
  readonly seconds?: number | undefined;
  /** The size of the response; only responses to reads are recorded. */
  readonly bytes?: number | undefined;
}

export type InflightKind = 'readOnly' | 'mutating';

const LONG_BUCKETS = [1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];
const REQUEST_BUCKETS = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, ...LONG_BUCKETS];
/** From 1 kB to 1 GB. */
const SIZE_BUCKETS = exponentialBuckets(1000, 10, 7);
/** From 1 KiB to 128 KiB. */
const EVENT_BUCKETS = exponentialBuckets(1024, 2, 8);
const FLOW_BUCKETS = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30];

const SUBJECT = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'] as const;
type SubjectLabel = (typeof SUBJECT)[number];
const EVENT = ['group', 'version', 'kind'] as const;
const FLOW = ['priority_level', 'flow_schema'] as const;
const COMPONENT = 'apiserver';

export class ServerMetrics {
  readonly dialect: Dialect;
  readonly #registry: MetricsRegistry;
  readonly #requests: Family<SubjectLabel | 'dry_run' | 'code', Counter>;
  readonly #durations: Family<SubjectLabel | 'dry_run', Histogram>;
  readonly #sizes: Family<SubjectLabel, Histogram>;
  readonly #longRunning: Family<SubjectLabel, Gauge>;
  readonly #deprecated: Family<'group' | 'version' | 'resource' | 'subresource' | 'removed_release', Gauge>;
  readonly #events: Family<(typeof EVENT)[number], Counter>;
  readonly #eventSizes: Family<(typeof EVENT)[number], Histogram>;
  readonly #authentications: Family<'result', Counter>;
  readonly #authorizations: Family<'result', Counter>;
  readonly #flowWaits: Family<(typeof FLOW)[number] | 'execute', Histogram>;
  readonly #flowTimes: Family<(typeof FLOW)[number] | 'type', Histogram>;
  readonly #inflight: Readonly<Record<InflightKind, Watermark>>;

  constructor(options: ServerMetricsOptions = {}) {
    const { dialect = orchDialect, now = () => 0, sources = {}, ...rest } = options;
    const registry = new MetricsRegistry(rest);
    this.dialect = dialect;
    this.#registry = registry;
    this.#inflight = { readOnly: new Watermark(now), mutating: new Watermark(now) };
    this.#requests = registry.counter({
      name: 'apiserver_request_total',
      help: 'Requests that were answered, by target and response code.',
      stability: 'STABLE',
      labels: [...SUBJECT, 'dry_run', 'code'],
    });
    this.#durations = registry.histogram({
      name: 'apiserver_request_duration_seconds',
      help: 'Duration of requests in seconds.',
      stability: 'STABLE',
      labels: [...SUBJECT, 'dry_run'],
      buckets: REQUEST_BUCKETS,
    });
    this.#sizes = registry.histogram({
      name: 'apiserver_response_sizes',
      help: 'Size of responses to reads in bytes.',
      stability: 'STABLE',
      labels: SUBJECT,
      buckets: SIZE_BUCKETS,
    });
    this.#longRunning = registry.gauge({
      name: 'apiserver_longrunning_requests',
      help: 'Open long-running requests: watches and connect subresources.',
      stability: 'STABLE',
      labels: SUBJECT,
    });
    this.#deprecated = registry.gauge({
      name: 'apiserver_requested_deprecated_apis',
      help: 'Deprecated API versions that were requested; 1 for each.',
      stability: 'STABLE',
      labels: ['group', 'version', 'resource', 'subresource', 'removed_release'],
    });
    this.#events = registry.counter({
      name: 'apiserver_watch_events_total',
      help: 'Events that were sent to watches.',
      stability: 'ALPHA',
      labels: EVENT,
    });
    this.#eventSizes = registry.histogram({
      name: 'apiserver_watch_events_sizes',
      help: 'Size of watch events in bytes.',
      stability: 'ALPHA',
      labels: EVENT,
      buckets: EVENT_BUCKETS,
    });
    this.#authentications = registry.counter({
      name: 'authentication_attempts',
      help: 'Authentication attempts by result.',
      stability: 'ALPHA',
      labels: ['result'],
    });
    this.#authorizations = registry.counter({
      name: 'authorization_attempts_total',
      help: 'Authorization decisions: allowed, denied, no-opinion or error.',
      stability: 'ALPHA',
      labels: ['result'],
    });
    this.#flowWaits = registry.histogram({
      name: 'apiserver_flowcontrol_request_wait_duration_seconds',
      help: 'Time that requests waited for a seat in seconds, and whether they got one.',
      stability: 'BETA',
      labels: [...FLOW, 'execute'],
      buckets: FLOW_BUCKETS,
    });
    this.#flowTimes = registry.histogram({
      name: 'apiserver_flowcontrol_request_execution_seconds',
      help: 'Time that requests kept their seats in seconds.',
      stability: 'ALPHA',
      labels: [...FLOW, 'type'],
      buckets: FLOW_BUCKETS,
    });
    registry.collect(
      {
        name: 'apiserver_current_inflight_requests',
        help: 'Maximum number of concurrent requests during the last second, except long-running ones.',
        stability: 'STABLE',
        labels: ['request_kind'],
        type: 'gauge',
      },
      () => Object.entries(this.#inflight).map(([kind, { value }]) => [{ request_kind: kind }, value] as const),
    );
    collectSources(registry, dialect, sources);
  }

  get release(): Release {
    return this.#registry.release;
  }

  /** A recorder for requests with one target and code; callers may keep it. */
  requestsOf(subject: RequestSubject, code: number): (figures: Omit<RequestFigures, 'code'>) => void {
    const labels = labelsOf(subject);
    const dryRun = { ...labels, dry_run: subject.dryRun };
    const total = this.#requests.with({ ...dryRun, code: String(code) });
    const isRead = subject.verb === 'GET' || subject.verb === 'LIST' || subject.verb === 'WATCH';
    // Series are created with their first value.
    let durations: Histogram | undefined;
    let sizes: Histogram | undefined;
    return ({ seconds, bytes }) => {
      total.add();
      if (seconds !== undefined) {
        durations ??= this.#durations.with(dryRun);
        durations.observe(seconds);
      }
      if (bytes !== undefined && isRead) {
        sizes ??= this.#sizes.with(labels);
        sizes.observe(bytes);
      }
    };
  }

  request(subject: RequestSubject, { code, ...figures }: RequestFigures): void {
    this.requestsOf(subject, code)(figures);
  }

  /** Records a request to a deprecated version; `removedRelease` is empty if its removal is not scheduled. */
  deprecatedRequest(
    subject: Pick<RequestSubject, 'group' | 'version' | 'resource' | 'subresource'>,
    removedRelease: string,
  ): void {
    const { group, version, resource, subresource } = subject;
    this.#deprecated.with({ group, version, resource, subresource, removed_release: removedRelease }).set(1);
  }

  /** Counts a short request. Returns a function to call at its end. */
  inflight(kind: InflightKind): () => void {
    return this.#inflight[kind].add();
  }

  /** Counts a long-running request. Returns a function to call at its end; idempotent. */
  longRunning(subject: Omit<RequestSubject, 'dryRun'>): () => void {
    const gauge = this.#longRunning.with(labelsOf(subject));
    gauge.add(1);
    let isOpen = true;
    return () => {
      if (isOpen) gauge.add(-1);
      isOpen = false;
    };
  }

  /** A recorder for the events of one watch; called with the size of each event in bytes. */
  watchEvents(subject: { readonly group: string; readonly version: string; readonly kind: string }) {
    const { group, version, kind } = subject;
    const count = this.#events.with({ group, version, kind });
    const sizes = this.#eventSizes.with({ group, version, kind });
    return (bytes: number): void => {
      count.add();
      sizes.observe(bytes);
    };
  }

  /** `failure`: the credentials are missing, unknown or invalid. */
  authentication(result: 'success' | 'failure'): void {
    this.#authentications.with({ result }).add();
  }

  authorization(decision: AccessDecision): void {
    this.#authorizations.with({ result: resultOf(decision) }).add();
  }

  /** The observer for flow control. */
  readonly flowObserver = {
    waited: (flow: FlowNames, seconds: number, executed: boolean): void =>
      this.#flowWaits.with({ ...flowLabels(flow), execute: String(executed) }).observe(seconds),
    executed: (flow: FlowNames, seconds: number, type: 'regular' | 'watch'): void =>
      this.#flowTimes.with({ ...flowLabels(flow), type }).observe(seconds),
  };

  print(): string {
    return this.#registry.print();
  }
}

type FlowNames = Pick<FlowFigures, 'priorityLevel' | 'flowSchema'>;

function labelsOf({ verb, group, version, resource, subresource, scope }: Omit<RequestSubject, 'dryRun'>) {
  return { verb, group, version, resource, subresource, scope, component: COMPONENT };
}

function resultOf({ allowed, denied, error }: AccessDecision): 'allowed' | 'denied' | 'no-opinion' | 'error' {
  if (allowed) return 'allowed';
  if (error !== undefined) return 'error';
  return denied === true ? 'denied' : 'no-opinion';
}
/** The maximum over the last second is kept, so that short peaks are visible. */
const PERIOD_MS = 1000;

/** The maximum number of concurrent items during the last one to two seconds. */
export class Watermark {
  readonly #now: () => number;
  #current = 0;
  #highest = 0;
  /** The maximum of the previous second. */
  #previous = 0;
  #period = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns a function that removes the item; idempotent. */
  add(): () => void {
    this.#rollOver();
    this.#current++;
    if (this.#current > this.#highest) this.#highest = this.#current;
    let isThere = true;
    return () => {
      if (!isThere) return;
      isThere = false;
      this.#rollOver();
      this.#current--;
    };
  }

  get value(): number {
    this.#rollOver();
    return Math.max(this.#previous, this.#highest);
  }

  #rollOver(): void {
    const period = Math.floor(this.#now() / PERIOD_MS);
    if (period === this.#period) return;
    this.#previous = period === this.#period + 1 ? this.#highest : this.#current;
    this.#highest = this.#current;
    this.#period = period;
  }
}
