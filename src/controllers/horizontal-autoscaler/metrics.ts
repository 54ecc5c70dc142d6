/**
 * Sources of metrics: a function of the program, or the metrics API if the cluster serves it.
 */
import type { Client } from '../../client/client.js';
import type { Kind } from '../../kinds/kind.js';
import { type Dialect, serviceGroup } from '../../meta/dialect.js';
import { type LabelSelectorObject, matchesLabels, parseLabelSelector } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import type { PodUsage } from '../../protocol/connection.js';
import { timeToMs } from '../../text/time/time.js';
import { isRecord } from '../../util/json.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import { messageOf } from '../../util/message-of.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { ControllerContext } from '../runtime/controller.js';

/** A query for metrics. Pod selectors are label selector texts. */
export type MetricQuery =
  | {
      readonly type: 'resource';
      readonly namespace: string;
      readonly selector: string;
      /** `cpu`, `memory`, … */
      readonly resource: string;
      /** Only the container with this name; absent: the whole pod. */
      readonly container?: string;
    }
  | {
      readonly type: 'pods';
      readonly namespace: string;
      readonly selector: string;
      readonly metric: string;
      readonly metricSelector?: LabelSelectorObject;
    }
  | {
      readonly type: 'object';
      readonly namespace: string;
      readonly object: { readonly apiVersion?: string; readonly kind: string; readonly name: string };
      readonly metric: string;
      readonly metricSelector?: LabelSelectorObject;
    }
  | {
      readonly type: 'external';
      readonly namespace: string;
      readonly metric: string;
      readonly metricSelector?: LabelSelectorObject;
    };

export interface MetricSample {
  /** The name of the measured pod, for pod and resource metrics. */
  readonly pod?: string;
  /** A number, or a quantity such as `250m` or `1Gi`. */
  readonly value: number | string;
  /** The time of the measurement; now unless given. */
  readonly atMs?: number;
  /** The measurement window; 60 s unless given. */
  readonly windowMs?: number;
}

/** Answers a query. Undefined: such metrics are not served. A thrown error becomes the reason in the autoscaler's condition. */
export type MetricsSource = (query: MetricQuery) => MaybePromise<readonly MetricSample[] | undefined>;

/** A sample in thousandths, the unit of comparison with targets. */
export interface Measured {
  readonly milli: number;
  readonly atMs: number;
  readonly windowMs: number;
}

const DEFAULT_WINDOW_MS = 60_000;

/** Returns at least one sample. Rejects with the reference server's message if there is none. */
export async function samplesOf(
  source: MetricsSource,
  query: MetricQuery,
  dialect: Dialect,
): Promise<readonly MetricSample[]> {
  const api = API_OF[query.type];
  let samples: readonly MetricSample[] | undefined;
  try {
    samples = await source(query);
  } catch (error) {
    const text = messageOf(error);
    throw new Error(`unable to fetch metrics from ${api} metrics API: ${text}`, { cause: error });
  }
  if (samples === undefined)
    throw new Error(`unable to fetch metrics from ${api} metrics API: ${missing(query, dialect)}`);
  if (samples.length === 0) throw new Error(`no metrics returned from ${api} metrics API`);
  return samples;
}

/** Samples by pod name. Throws if a sample names no pod. */
export function byPod(samples: readonly MetricSample[], nowMs: number): Map<string, Measured> {
  const found = new Map<string, Measured>();
  for (const sample of samples) {
    if (sample.pod === undefined) throw new Error('a sample does not say which pod it is about');
    found.set(sample.pod, {
      milli: milliOf(sample.value),
      atMs: sample.atMs ?? nowMs,
      windowMs: sample.windowMs ?? DEFAULT_WINDOW_MS,
    });
  }
  return found;
}

export function milliOf(value: number | string): number {
  return Number((typeof value === 'number' ? Quantity.fromNumber(value) : Quantity.parse(value)).milliValue());
}

const API_OF = { resource: 'resource', pods: 'custom', object: 'custom', external: 'external' } as const;

function missing(query: MetricQuery, dialect: Dialect): string {
  if (query.type === 'pods' || query.type === 'object') {
    return `no custom metrics API (${dialect.group(serviceGroup('custom.metrics'))}) registered`;
  }
  const what =
    query.type === 'resource'
      ? `pods.${dialect.group(serviceGroup('metrics'))}`
      : `${query.metric}.${dialect.group(serviceGroup('external.metrics'))}`;
  return `the server could not find the requested resource (get ${what})`;
}

/**
 * The cluster's metrics API as a source of pod usage, if it is served. Each call returns the source for one reconcile, whose
 * queries are about the same pods: their usage is read once, because an autoscaler may have tens of thousands of metrics.
 */
export function metricsApi({ client, dialect, host }: ControllerContext): () => MetricsSource {
  const group = dialect.group(serviceGroup('metrics'));
  const read = async (query: PodQuery): Promise<Usages | undefined> => {
    const served = host
      ?.kinds()
      .find(({ gvr, namespaced }) => gvr.group === group && gvr.resource === 'pods' && namespaced);
    if (served !== undefined) return { items: await listed(client, served.kind, query), isApi: true };
    const items = usedInRuntime(host?.runtimeSlot.runtime?.usage?.(query.namespace), query);
    return items && { items, isApi: false };
  };
  return () => {
    let usages: Promise<Usages | undefined> | undefined;
    const known = new Map<string, readonly MetricSample[]>();
    return async (query) => {
      if (query.type !== 'resource') return undefined;
      usages ??= read(query);
      const found = await usages;
      const key = `${query.resource} ${query.container ?? ''}`;
      return found && getOrInsertComputed(known, key, () => samplesIn(found, query));
    };
  };
}

type ResourceQuery = MetricQuery & { readonly type: 'resource' };

interface PodQuery {
  readonly namespace: string;
  readonly selector: string;
}

interface Usages {
  readonly items: readonly UsageItem[];
  /** They are from the metrics API, not from a node runtime. */
  readonly isApi: boolean;
}

function samplesIn({ items, isApi }: Usages, query: ResourceQuery): readonly MetricSample[] {
  const samples = items.flatMap((item) => usageIn(item, query) ?? []);
  // Items without the resource mean missing usage, not a missing API.
  return isApi && items.length > 0 && samples.length === 0 ? NOTHING_USED : samples;
}

/** What the selected pods that a node runtime runs use; undefined if it does not measure them. */
function usedInRuntime(usages: readonly PodUsage[] | undefined, query: PodQuery): readonly UsageItem[] | undefined {
  const selector = parseLabelSelector(query.selector);
  return usages
    ?.filter(({ labels }) => matchesLabels(selector, labels))
    .map(({ name, containers }) => ({ metadata: { name }, containers }));
}

/** A sample of a pod that does not exist. */
const NOTHING_USED: readonly MetricSample[] = [{ pod: '', value: 0 }];

async function listed(client: Client, kind: Kind, { namespace, selector }: PodQuery): Promise<readonly ApiObject[]> {
  // The type of a generic kind says nothing about its objects.
  const api = client.api(kind as Kind<ApiObject, ApiObject, 'Namespaced'>, namespace);
  return (await api.list({ labels: selector })).items;
}

interface UsageItem extends Readonly<Record<string, unknown>> {
  readonly metadata: { readonly name: string };
}

function usageIn(item: UsageItem, query: ResourceQuery): MetricSample | undefined {
  const containers = Array.isArray(item['containers']) ? item['containers'].filter(isRecord) : [];
  const counted =
    query.container === undefined ? containers : containers.filter(({ name }) => name === query.container).slice(0, 1);
  let milli = 0;
  for (const { usage } of counted) {
    const value = isRecord(usage) ? usage[query.resource] : undefined;
    if (typeof value !== 'string' && typeof value !== 'number') return undefined;
    milli += milliOf(value);
  }
  if (counted.length === 0) return undefined;
  const { timestamp } = item as { timestamp?: unknown };
  return {
    pod: item.metadata.name,
    value: `${milli}m`,
    ...(typeof timestamp === 'string' ? { atMs: timeToMs(timestamp) } : {}),
  };
}
