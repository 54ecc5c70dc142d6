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
}

export function collectSources(registry: MetricsRegistry, dialect: Dialect, sources: MetricSources): void {
  const { startedMs, build, features, objects, audit, flow } = sources;
  if (startedMs !== undefined) collectStart(registry, startedMs);
  if (build !== undefined) collectBuild(registry, dialect, build);
  if (features !== undefined) collectFeatures(registry, dialect, features);
  if (objects !== undefined) collectObjects(registry, objects);
  if (audit !== undefined) collectAudit(registry, audit);
  if (flow !== undefined) collectFlow(registry, flow);
}

function collectStart(registry: MetricsRegistry, startedMs: number): void {
  const help = 'When the server was started, in seconds since the epoch.';
  registry.collect({ name: 'process_start_time_seconds', help, stability: 'ALPHA', type: 'gauge' }, () => [
    [{}, startedMs / 1000],
  ]);
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

/** The reference server's spelling; GA features have no stage. */
const STAGES = { Alpha: 'ALPHA', Beta: 'BETA', GA: '', Deprecated: 'DEPRECATED' } as const;

function collectFeatures(
  registry: MetricsRegistry,
  dialect: Dialect,
  features: NonNullable<MetricSources['features']>,
): void {
  registry.collect(
    {
      name: dialect.metric('feature_enabled'),
      help: 'Whether a feature is on, by its name and stage.',
      stability: 'BETA',
      labels: ['name', 'stage'],
      type: 'gauge',
    },
    () =>
      Array.from(features(), ({ name, stage, enabled }) => [{ name, stage: STAGES[stage] }, enabled ? 1 : 0] as const),
  );
}

function collectObjects(registry: MetricsRegistry, objects: NonNullable<MetricSources['objects']>): void {
  registry.collect(
    {
      name: 'apiserver_storage_objects',
      help: 'Number of stored objects by resource.',
      stability: 'STABLE',
      labels: ['resource'],
      type: 'gauge',
    },
    () => Array.from(objects(), ([resource, count]) => [{ resource }, count] as const),
  );
}

function collectAudit(registry: MetricsRegistry, audit: () => AuditFigures): void {
  registry.collect(
    {
      name: 'apiserver_audit_event_total',
      help: 'Audit events that were written.',
      stability: 'ALPHA',
      type: 'counter',
    },
    () => [[{}, audit().events]],
  );
  registry.collect(
    {
      name: 'apiserver_audit_level_total',
      help: 'Requests by audit level of the policy.',
      stability: 'ALPHA',
      labels: ['level'],
      type: 'counter',
    },
    () =>
      Object.entries(audit().levels).flatMap(([level, count]) => (count === 0 ? [] : [[{ level }, count] as const])),
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

/** Seats of one priority level. */
interface SeatFigures {
  readonly priorityLevel: string;
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
  readonly current: number;
}

interface MetricDefinition<Figures> {
  readonly stability: Stability;
  readonly help: string;
  readonly figure: (figures: Figures) => number;
  /** Default: gauge. */
  readonly type?: 'counter';
  readonly deprecatedVersion?: Release;
}

const PREFIX = 'apiserver_flowcontrol_';

const FLOW_METRICS: Readonly<Record<string, MetricDefinition<FlowFigures>>> = {
  dispatched_requests_total: {
    stability: 'BETA',
    help: 'Requests that got a seat.',
    figure: ({ dispatched }) => dispatched,
    type: 'counter',
  },
  current_inqueue_requests: {
    stability: 'BETA',
    help: 'Requests that wait in queues.',
    figure: ({ inQueue }) => inQueue,
  },
  current_inqueue_seats: {
    stability: 'ALPHA',
    help: 'Seats that waiting requests need.',
    figure: ({ inQueueSeats }) => inQueueSeats,
  },
  current_executing_requests: {
    stability: 'BETA',
    help: 'Requests that have a seat.',
    figure: ({ executing }) => executing,
  },
  current_executing_seats: {
    stability: 'BETA',
    help: 'Seats that are taken.',
    figure: ({ executingSeats }) => executingSeats,
  },
  request_concurrency_in_use: {
    stability: 'ALPHA',
    help: `Seats in use; the same as ${PREFIX}current_executing_seats.`,
    figure: ({ executingSeats }) => executingSeats,
    deprecatedVersion: '1.31',
  },
};

const LEVEL_METRICS: Readonly<Record<string, MetricDefinition<SeatFigures>>> = {
  nominal_limit_seats: {
    stability: 'BETA',
    help: 'Seats of a level by its shares.',
    figure: ({ nominal }) => nominal,
  },
  lower_limit_seats: {
    stability: 'ALPHA',
    help: 'Minimum number of seats after lending.',
    figure: ({ lower }) => lower,
  },
  upper_limit_seats: {
    stability: 'ALPHA',
    help: 'Maximum number of seats after borrowing.',
    figure: ({ upper }) => upper,
  },
  current_limit_seats: {
    stability: 'ALPHA',
    help: 'Current number of seats of a level.',
    figure: ({ current }) => current,
  },
  request_concurrency_limit: {
    stability: 'ALPHA',
    help: `Seats of a level by its shares; the same as ${PREFIX}nominal_limit_seats.`,
    figure: ({ nominal }) => nominal,
    deprecatedVersion: '1.30',
  },
};

const FLOW = ['priority_level', 'flow_schema'] as const;

function collectFlow(registry: MetricsRegistry, source: FlowSource): void {
  for (const [name, { figure, type = 'gauge', ...definition }] of Object.entries(FLOW_METRICS)) {
    registry.collect({ ...definition, name: `${PREFIX}${name}`, type, labels: FLOW }, () =>
      source.flows().map((flow) => [flowLabels(flow), figure(flow)] as const),
    );
  }
  for (const [name, { figure, type = 'gauge', ...definition }] of Object.entries(LEVEL_METRICS)) {
    registry.collect({ ...definition, name: `${PREFIX}${name}`, type, labels: ['priority_level'] }, () =>
      source.levels().map((level) => [{ priority_level: level.priorityLevel }, figure(level)] as const),
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
