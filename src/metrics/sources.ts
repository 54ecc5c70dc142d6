/**
 * What other parts of the server count themselves: read when the metrics page is printed, so that keeping count costs
 * nobody anything.
 */
import type { Dialect } from '../meta/dialect.js';
import { collectFlow, type FlowSource } from './flow-source.js';
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
