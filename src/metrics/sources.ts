/**
 * Metrics that other parts of the server count themselves. They are read when the page is printed, so recording costs
 * nothing.
 */

import type { Release } from '../kinds/lifecycle.js';
import type { Dialect } from '../meta/dialect.js';
import type { MetricsRegistry, Stability } from './registry.js';

/** Absent sources are not printed. */
export interface MetricSources {
  /** The start time of the server in milliseconds since the epoch. */
  readonly startedMs?: number;
  readonly build?: BuildFigures;
  readonly features?: () => Iterable<FeatureFigures>;
  /** The number of objects by resource, named like `deployments.apps`. */
  readonly objects?: () => Iterable<readonly [resource: string, count: number]>;
  /** The `counts` of an audit log. */
  readonly audit?: () => AuditFigures;
  /** The `metrics` of flow control. */
  readonly flow?: FlowSource;
}

/** As in `/version`. */
export interface BuildFigures {
  readonly major: string;
  readonly minor: string;
  readonly gitVersion: string;
  readonly gitCommit: string;
  readonly gitTreeState: string;
  readonly buildDate: string;
  readonly goVersion: string;
  readonly compiler: string;
  readonly platform: string;
}

export interface FeatureFigures {
  readonly name: string;
  readonly stage: 'Alpha' | 'Beta' | 'GA' | 'Deprecated';
  readonly enabled: boolean;
}

export interface AuditFigures {
  readonly events: number;
  /** Requests by audit level. */
  readonly levels: Readonly<Record<string, number>>;
  /** Lost events by plugin. */
  readonly errors: Readonly<Record<string, number>>;
}

/** The reference server's spelling; GA features have no stage. */
const STAGES = { Alpha: 'ALPHA', Beta: 'BETA', GA: '', Deprecated: 'DEPRECATED' } as const;

export function collectSources(registry: MetricsRegistry, dialect: Dialect, sources: MetricSources): void {
  const { startedMs, build, features, objects, audit, flow } = sources;
  if (startedMs !== undefined) {
    const help = 'When the server was started, in seconds since the epoch.';
    registry.collect({ name: 'process_start_time_seconds', help, stability: 'ALPHA', type: 'gauge' }, () => [
      [{}, startedMs / 1000],
    ]);
  }
  if (build !== undefined) collectBuild(registry, dialect, build);
  if (features !== undefined) {
    const help = 'Whether a feature is on, by its name and stage.';
    const name = dialect.metric('feature_enabled');
    registry.collect({ name, help, stability: 'BETA', labels: ['name', 'stage'], type: 'gauge' }, () =>
      Array.from(features(), (each) => [{ name: each.name, stage: STAGES[each.stage] }, each.enabled ? 1 : 0] as const),
    );
  }
  if (objects !== undefined) {
    const help = 'Number of stored objects by resource.';
    const name = 'apiserver_storage_objects';
    registry.collect({ name, help, stability: 'STABLE', labels: ['resource'], type: 'gauge' }, () =>
      Array.from(objects(), ([resource, count]) => [{ resource }, count] as const),
    );
  }
  if (audit !== undefined) collectAudit(registry, audit);
  if (flow !== undefined) collectFlow(registry, flow);
}

function collectBuild(registry: MetricsRegistry, dialect: Dialect, build: BuildFigures): void {
  const labels = {
    major: build.major,
    minor: build.minor,
    git_version: build.gitVersion,
    git_commit: build.gitCommit,
    git_tree_state: build.gitTreeState,
    build_date: build.buildDate,
    go_version: build.goVersion,
    compiler: build.compiler,
    platform: build.platform,
  };
  registry.collect(
    {
      name: dialect.metric('build_info'),
      help: 'Always 1; the labels describe the release and its build.',
      stability: 'ALPHA',
      labels: Object.keys(labels) as (keyof typeof labels)[],
      type: 'gauge',
    },
    () => [[labels, 1]],
  );
}

function collectAudit(registry: MetricsRegistry, audit: () => AuditFigures): void {
  const events = { name: 'apiserver_audit_event_total', help: 'Audit events that were written.' };
  registry.collect({ ...events, stability: 'ALPHA', type: 'counter' }, () => [[{}, audit().events]]);
  const levels = { name: 'apiserver_audit_level_total', help: 'Requests by audit level of the policy.' };
  registry.collect({ ...levels, stability: 'ALPHA', labels: ['level'], type: 'counter' }, () =>
    Object.entries(audit().levels).flatMap(([level, count]) => (count === 0 ? [] : [[{ level }, count] as const])),
  );
  const errors = { name: 'apiserver_audit_error_total', help: 'Audit events that were lost, by plugin.' };
  registry.collect({ ...errors, stability: 'ALPHA', labels: ['plugin'], type: 'counter' }, () =>
    Object.entries(audit().errors).flatMap(([plugin, count]) => (count === 0 ? [] : [[{ plugin }, count] as const])),
  );
}

/** Satisfied by the `metrics` of flow control. */
interface FlowSource {
  flows(): readonly FlowFigures[];
  levels(): readonly SeatFigures[];
}

/** Counters of one FlowSchema on one priority level. */
export interface FlowFigures {
  readonly priorityLevel: string;
  readonly flowSchema: string;
  readonly dispatched: number;
  /** By reason. */
  readonly rejected: Readonly<Partial<Record<string, number>>>;
  readonly inQueue: number;
  readonly inQueueSeats: number;
  readonly executing: number;
  readonly executingSeats: number;
}

interface SeatFigures {
  readonly priorityLevel: string;
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
  readonly current: number;
}

/** `figure` is the member to read. Default type: gauge. */
type MetricRow<Figure> = readonly [
  name: string,
  stability: Stability,
  figure: Figure,
  help: string,
  more?: { readonly type?: 'counter'; readonly deprecatedVersion?: Release },
];

const PREFIX = 'apiserver_flowcontrol_';

const IN_USE = `Seats in use; the same as ${PREFIX}current_executing_seats.`;
const FLOW_METRICS: readonly MetricRow<Exclude<keyof FlowFigures, 'priorityLevel' | 'flowSchema' | 'rejected'>>[] = [
  ['dispatched_requests_total', 'BETA', 'dispatched', 'Requests that got a seat.', { type: 'counter' }],
  ['current_inqueue_requests', 'BETA', 'inQueue', 'Requests that wait in queues.'],
  ['current_inqueue_seats', 'ALPHA', 'inQueueSeats', 'Seats that waiting requests need.'],
  ['current_executing_requests', 'BETA', 'executing', 'Requests that have a seat.'],
  ['current_executing_seats', 'BETA', 'executingSeats', 'Seats that are taken.'],
  ['request_concurrency_in_use', 'ALPHA', 'executingSeats', IN_USE, { deprecatedVersion: '1.31' }],
];

const LIMIT = `Seats of a level by its shares; the same as ${PREFIX}nominal_limit_seats.`;
const LEVEL_METRICS: readonly MetricRow<Exclude<keyof SeatFigures, 'priorityLevel'>>[] = [
  ['nominal_limit_seats', 'BETA', 'nominal', 'Seats of a level by its shares.'],
  ['lower_limit_seats', 'ALPHA', 'lower', 'Minimum number of seats after lending.'],
  ['upper_limit_seats', 'ALPHA', 'upper', 'Maximum number of seats after borrowing.'],
  ['current_limit_seats', 'ALPHA', 'current', 'Current number of seats of a level.'],
  ['request_concurrency_limit', 'ALPHA', 'nominal', LIMIT, { deprecatedVersion: '1.30' }],
];

const FLOW = ['priority_level', 'flow_schema'] as const;

function collectFlow(registry: MetricsRegistry, source: FlowSource): void {
  for (const [name, stability, figure, help, more] of FLOW_METRICS) {
    registry.collect({ name: `${PREFIX}${name}`, stability, help, type: 'gauge', labels: FLOW, ...more }, () =>
      source.flows().map((flow) => [flowLabels(flow), flow[figure]] as const),
    );
  }
  for (const [name, stability, figure, help, more] of LEVEL_METRICS) {
    const options = { name: `${PREFIX}${name}`, stability, help, type: 'gauge', labels: ['priority_level'] } as const;
    registry.collect({ ...options, ...more }, () =>
      source.levels().map((level) => [{ priority_level: level.priorityLevel }, level[figure]] as const),
    );
  }
  registry.collect(
    {
      name: `${PREFIX}rejected_requests_total`,
      help: 'Rejected requests by reason.',
      stability: 'BETA',
      labels: [...FLOW, 'reason'],
      type: 'counter',
    },
    () =>
      source
        .flows()
        .flatMap((flow) =>
          Object.entries(flow.rejected).map(([reason, count = 0]) => [{ ...flowLabels(flow), reason }, count] as const),
        ),
  );
}

export function flowLabels({ priorityLevel, flowSchema }: Pick<FlowFigures, 'priorityLevel' | 'flowSchema'>) {
  return { priority_level: priorityLevel, flow_schema: flowSchema };
}
