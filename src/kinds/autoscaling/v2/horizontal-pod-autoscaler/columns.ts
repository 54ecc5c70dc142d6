/**
 * The table columns of HorizontalPodAutoscalers.
 */
import type { ApiObject } from '../../../../meta/object.js';
import type { Column } from '../../../columns.js';
import type {
  HorizontalPodAutoscalerSpec,
  HorizontalPodAutoscalerStatus,
  MetricSpec,
  MetricStatus,
} from '../../../generated/autoscaling-v2.js';
import { ageColumn, firstFew, NONE, nameColumn, textColumn, UNKNOWN } from '../../../shared/common-columns.js';

interface Shown {
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status: HorizontalPodAutoscalerStatus;
}

/** The columns of any version; `read` converts its objects to v2. */
export function autoscalerColumns<Object = unknown>(
  read: (object: ApiObject & NoInfer<Object>) => Shown,
): Column<Object>[] {
  return [
    nameColumn,
    textColumn('Reference', 'What it makes larger or smaller.', (object) => {
      const { kind, name } = read(object).spec.scaleTargetRef;
      return `${kind}/${name}`;
    }),
    textColumn('Targets', 'Each metric as it is and as it should be.', (object) => {
      const { spec, status } = read(object);
      return metricsCell(spec.metrics ?? [], status.currentMetrics ?? []);
    }),
    textColumn('MinPods', 'How few pods there may be.', (object) => String(read(object).spec.minReplicas)),
    textColumn('MaxPods', 'How many pods there may be.', (object) => read(object).spec.maxReplicas),
    textColumn('Replicas', 'How many pods it saw last.', (object) => read(object).status.currentReplicas ?? 0),
    ageColumn,
  ];
}

const MOST_SHOWN = 2;

function metricsCell(specs: readonly MetricSpec[], statuses: readonly MetricStatus[]): string {
  if (specs.length === 0) return NONE;
  const texts = specs.map((spec, index) => metricText(spec, statuses[index]));
  return firstFew(texts, MOST_SHOWN, ', ');
}

/** A status that has no quantity says so in another way than a metric without a status. */
function quantityText<Status>(status: Status | undefined, quantity: (status: Status) => string | undefined): string {
  return status === undefined ? UNKNOWN : (quantity(status) ?? '<nil>');
}

function metricText(spec: MetricSpec, status: MetricStatus | undefined): string {
  const { object, external, pods, resource, containerResource } = spec;
  const plain = object ?? external;
  if (plain !== undefined) {
    const current = (object === undefined ? status?.external : status?.object)?.current;
    const { value, averageValue } = plain.target;
    return averageValue === undefined
      ? `${quantityText(current, (it) => it.value)}/${value}`
      : `${current?.averageValue ?? UNKNOWN}/${averageValue} (avg)`;
  }
  if (pods !== undefined) {
    return `${quantityText(status?.pods?.current, (it) => it.averageValue)}/${pods.target.averageValue}`;
  }
  const named = resource ?? containerResource;
  if (named === undefined) return UNKNOWN;
  const current = (resource === undefined ? status?.containerResource : status?.resource)?.current;
  const { averageValue, averageUtilization } = named.target;
  if (averageValue !== undefined) {
    return `${named.name}: ${quantityText(current, (it) => it.averageValue)}/${averageValue}`;
  }
  const percent = (value: number | undefined, none: string) => (value === undefined ? none : `${value}%`);
  return `${named.name}: ${percent(current?.averageUtilization, UNKNOWN)}/${percent(averageUtilization, '<auto>')}`;
}
