/**
 * What other parts of the server count themselves: read when the metrics page is printed, so that keeping count costs
 * nobody anything.
 */
import type { Dialect } from '../meta/dialect.js';
import type { MetricsRegistry } from './registry.js';

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

export interface FlowSource {
  flows(): readonly FlowFigures[];
  levels(): readonly SeatFigures[];
}

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

export interface SeatFigures {
  readonly priorityLevel: string;
  readonly nominal: number;
  readonly lower: number;
  readonly upper: number;
  readonly current: number;
}

export function collectSources(registry: MetricsRegistry, dialect: Dialect, sources: MetricSources): void {
  const { startedMs, build, features, objects, audit, flow } = sources;
  if (startedMs !== undefined) collectStart(registry, startedMs);
  if (build !== undefined) collectBuild(registry, dialect, build);
  if (features !== undefined) collectFeatures(registry, dialect, features);
  if (objects !== undefined) collectObjects(registry, objects);
  if (audit !== undefined) collectAudit(registry, audit);
  if (flow !== undefined) {
    collectFlows(registry, flow);
    collectSeats(registry, flow);
  }
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

const FLOW = ['priority_level', 'flow_schema'] as const;

function collectFlows(registry: MetricsRegistry, { flows }: FlowSource): void {
  const collect = (
    about: Pick<Parameters<MetricsRegistry['collect']>[0], 'help' | 'stability' | 'type' | 'deprecatedVersion'>,
    name: string,
    valueOf: (figures: FlowFigures) => number,
  ): void =>
    registry.collect({ ...about, name: `apiserver_flowcontrol_${name}`, labels: FLOW }, () =>
      flows().map((figures) => [labelsOf(figures), valueOf(figures)] as const),
    );
  const labelsOf = ({ priorityLevel, flowSchema }: FlowFigures) => ({
    priority_level: priorityLevel,
    flow_schema: flowSchema,
  });
  collect(
    { help: 'Requests that got a seat.', stability: 'BETA', type: 'counter' },
    'dispatched_requests_total',
    ({ dispatched }) => dispatched,
  );
  registry.collect(
    {
      name: 'apiserver_flowcontrol_rejected_requests_total',
      help: 'Requests that were turned away, and why.',
      stability: 'BETA',
      labels: [...FLOW, 'reason'],
      type: 'counter',
    },
    () =>
      flows().flatMap((figures) =>
        Object.entries(figures.rejected).map(
          ([reason, count = 0]) => [{ ...labelsOf(figures), reason }, count] as const,
        ),
      ),
  );
  collect(
    { help: 'Requests that wait in queues.', stability: 'BETA', type: 'gauge' },
    'current_inqueue_requests',
    ({ inQueue }) => inQueue,
  );
  collect(
    { help: 'Seats that waiting requests need.', stability: 'ALPHA', type: 'gauge' },
    'current_inqueue_seats',
    ({ inQueueSeats }) => inQueueSeats,
  );
  collect(
    { help: 'Requests that have a seat.', stability: 'BETA', type: 'gauge' },
    'current_executing_requests',
    ({ executing }) => executing,
  );
  collect(
    { help: 'Seats that are taken.', stability: 'BETA', type: 'gauge' },
    'current_executing_seats',
    ({ executingSeats }) => executingSeats,
  );
  collect(
    {
      help: 'Seats that are taken; apiserver_flowcontrol_current_executing_seats tells the same.',
      stability: 'ALPHA',
      type: 'gauge',
      deprecatedVersion: '1.31',
    },
    'request_concurrency_in_use',
    ({ executingSeats }) => executingSeats,
  );
}

function collectSeats(registry: MetricsRegistry, { levels }: FlowSource): void {
  const collect = (
    about: Pick<Parameters<MetricsRegistry['collect']>[0], 'help' | 'stability' | 'deprecatedVersion'>,
    name: string,
    valueOf: (figures: SeatFigures) => number,
  ): void =>
    registry.collect(
      { ...about, name: `apiserver_flowcontrol_${name}`, labels: ['priority_level'], type: 'gauge' },
      () => levels().map((figures) => [{ priority_level: figures.priorityLevel }, valueOf(figures)] as const),
    );
  collect(
    { help: 'Seats that a level has by its shares.', stability: 'BETA' },
    'nominal_limit_seats',
    ({ nominal }) => nominal,
  );
  collect(
    { help: 'The least seats that lending leaves a level with.', stability: 'ALPHA' },
    'lower_limit_seats',
    ({ lower }) => lower,
  );
  collect(
    { help: 'The most seats that a level can have by borrowing.', stability: 'ALPHA' },
    'upper_limit_seats',
    ({ upper }) => upper,
  );
  collect({ help: 'Seats that a level has now.', stability: 'ALPHA' }, 'current_limit_seats', ({ current }) => current);
  collect(
    {
      help: 'Seats that a level has by its shares; apiserver_flowcontrol_nominal_limit_seats tells the same.',
      stability: 'ALPHA',
      deprecatedVersion: '1.30',
    },
    'request_concurrency_limit',
    ({ nominal }) => nominal,
  );
}
