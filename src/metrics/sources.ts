/**
 * What other parts of the server count themselves: read when the metrics page is printed, so that keeping count costs
 * nobody anything.
 */

import type { Release } from '../kinds/lifecycle.js';
import type { Dialect } from '../meta/dialect.js';
import type { MetricsRegistry, Stability } from './registry.js';

const PREFIX = 'apiserver_flowcontrol_';

const OF_FLOWS: Readonly<Record<string, Shown<FlowFigures>>> = {
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
    help: `Seats that are taken; ${PREFIX}current_executing_seats tells the same.`,
    figure: ({ executingSeats }) => executingSeats,
    deprecatedVersion: '1.31',
  },
};

const OF_LEVELS: Readonly<Record<string, Shown<SeatFigures>>> = {
  nominal_limit_seats: {
    stability: 'BETA',
    help: 'Seats that a level has by its shares.',
    figure: ({ nominal }) => nominal,
  },
  lower_limit_seats: {
    stability: 'ALPHA',
    help: 'The least seats that lending leaves a level with.',
    figure: ({ lower }) => lower,
  },
  upper_limit_seats: {
    stability: 'ALPHA',
    help: 'The most seats that a level can have by borrowing.',
    figure: ({ upper }) => upper,
  },
  current_limit_seats: {
    stability: 'ALPHA',
    help: 'Seats that a level has now.',
    figure: ({ current }) => current,
  },
  request_concurrency_limit: {
    stability: 'ALPHA',
    help: `Seats that a level has by its shares; ${PREFIX}nominal_limit_seats tells the same.`,
    figure: ({ nominal }) => nominal,
    deprecatedVersion: '1.30',
  },
};

const FLOW = ['priority_level', 'flow_schema'] as const;

/** Parts that are absent are not shown. */
export interface MetricSources {
  /** When the server was started, in milliseconds since the epoch. */
  readonly startedMs?: number;
  readonly build?: BuildFigures;
  readonly features?: () => Iterable<FeatureFigures>;
  /** How many objects there are of each resource, named as messages do: `deployments.apps`. */
  readonly objects?: () => Iterable<readonly [resource: string, count: number]>;
  /** The `counts` of an audit log. */
  readonly audit?: () => AuditFigures;
  /** The `metrics` of flow control. */
  readonly flow?: FlowSource;
}

/** As `/version` tells it. */
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
      help: 'Always 1; the labels say which release this is and what it was made with.',
      stability: 'ALPHA',
      labels: Object.keys(labels) as (keyof typeof labels)[],
      type: 'gauge',
    },
    () => [[labels, 1]],
  );
}

/** As the reference server spells them; what is generally available has no stage any more. */
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
      help: 'How many objects there are, by resource.',
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
      help: 'Requests by what the audit policy wanted of them.',
      stability: 'ALPHA',
      labels: ['level'],
      type: 'counter',
    },
    () =>
      Object.entries(audit().levels).flatMap(([level, count]) => (count === 0 ? [] : [[{ level }, count] as const])),
  );
}

/** The `metrics` of flow control are one. */
interface FlowSource {
  flows(): readonly FlowFigures[];
  levels(): readonly SeatFigures[];
}

/** Of the requests of one FlowSchema on one priority level. */
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

/** Of one priority level. */
interface SeatFigures {
  readonly priorityLevel: string;
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
  readonly current: number;
}

interface Shown<Figures> {
  readonly stability: Stability;
  readonly help: string;
  readonly figure: (figures: Figures) => number;
  /** A gauge unless said otherwise. */
  readonly type?: 'counter';
  readonly deprecatedVersion?: Release;
}

function collectFlow(registry: MetricsRegistry, source: FlowSource): void {
  for (const [name, { figure, type = 'gauge', ...about }] of Object.entries(OF_FLOWS)) {
    registry.collect({ ...about, name: `${PREFIX}${name}`, type, labels: FLOW }, () =>
      source.flows().map((flow) => [flowLabels(flow), figure(flow)] as const),
    );
  }
  for (const [name, { figure, type = 'gauge', ...about }] of Object.entries(OF_LEVELS)) {
    registry.collect({ ...about, name: `${PREFIX}${name}`, type, labels: ['priority_level'] }, () =>
      source.levels().map((level) => [{ priority_level: level.priorityLevel }, figure(level)] as const),
    );
  }
  registry.collect(
    {
      name: `${PREFIX}rejected_requests_total`,
      help: 'Requests that were turned away, and why.',
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
