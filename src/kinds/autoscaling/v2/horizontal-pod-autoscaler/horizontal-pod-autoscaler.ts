/**
 * The HorizontalPodAutoscaler kind in v2, the storage version. v1 has fewer fields and keeps the others in annotations.
 */

import type { FieldError } from '../../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../../meta/object.js';
import type { Column } from '../../../columns.js';
import { defineBuiltIn } from '../../../define-kind.js';
import {
  type HorizontalPodAutoscalerBehavior,
  type HorizontalPodAutoscalerKind,
  type HorizontalPodAutoscalerObject,
  type HorizontalPodAutoscalerSpec,
  type HorizontalPodAutoscalerStatus,
  type HPAScalingRules,
  horizontalPodAutoscalerBase,
  type MetricSpec,
  type MetricStatus,
} from '../../../generated/autoscaling-v2.js';
import type { HookContext } from '../../../kind.js';
import { ageColumn, firstFew, NONE, nameColumn, textColumn, UNKNOWN } from '../../../shared/common-columns.js';
import { nonNegativeFields } from '../../../shared/field-rules.js';
import { statusSubresource } from '../../../shared/strategies.js';
import { setAnnotations } from '../../annotations.js';
import { autoscalerSpecProblems } from './validate.js';

const MOST_SHOWN = 2;

export interface HorizontalPodAutoscaler extends HorizontalPodAutoscalerObject {}

export const HorizontalPodAutoscaler: HorizontalPodAutoscalerKind<HorizontalPodAutoscaler> = defineBuiltIn({
  ...horizontalPodAutoscalerBase,
  lifecycle: { introducedIn: '1.23' },
  names: { shortNames: ['hpa'], categories: ['all'] },
  strategy: {
    write: { separateStatus: true },
    decode: { defaults },
    create: {
      prepare: (draft, context) => dropGatedFields(draft, undefined, context),
      validate: (object, context) => autoscalerSpecProblems(object.spec, { context, live: undefined }),
    },
    update: {
      prepare: dropGatedFields,
      validate: (next, live, context) => autoscalerSpecProblems(next.spec, { context, live: live.spec }),
    },
  },
  subresources: { status: statusSubresource({ validate: autoscalerStatusProblems }) },
  columns: autoscalerColumns((object) => object),
});

const TARGET_CPU_PERCENT = 80;

/** The metrics of an autoscaler whose spec has none. */
export function defaultMetrics(): MetricSpec[] {
  return [cpuMetric(TARGET_CPU_PERCENT)];
}

/** A metric for the average CPU utilization. */
export function cpuMetric(averageUtilization: number): MetricSpec {
  return { type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization } } };
}

function defaults(draft: DraftObject & HorizontalPodAutoscaler, { dialect }: HookContext): void {
  const { spec } = draft;
  if (draft.metadata.annotations !== undefined) setAnnotations(draft, {}, dialect);
  if (spec.metrics === undefined) spec.metrics = defaultMetrics();
  if (spec.behavior !== undefined) spec.behavior = completeBehavior(spec.behavior);
}

/** Both directions with their defaults. */
export function completeBehavior({
  scaleUp,
  scaleDown,
}: HorizontalPodAutoscalerBehavior): HorizontalPodAutoscalerBehavior {
  return {
    scaleUp: completeRules(scaleUp, {
      stabilizationWindowSeconds: 0,
      policies: [
        { type: 'Pods', value: 4, periodSeconds: 15 },
        { type: 'Percent', value: 100, periodSeconds: 15 },
      ],
    }),
    scaleDown: completeRules(scaleDown, { policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }] }),
  };
}

function completeRules(rules: HPAScalingRules = {}, fallback: HPAScalingRules): HPAScalingRules {
  const { stabilizationWindowSeconds: window = fallback.stabilizationWindowSeconds, tolerance } = rules;
  const policies = rules.policies ?? fallback.policies;
  return {
    ...(window === undefined ? {} : { stabilizationWindowSeconds: window }),
    selectPolicy: rules.selectPolicy ?? 'Max',
    ...(policies === undefined ? {} : { policies }),
    ...(tolerance === undefined ? {} : { tolerance }),
  };
}

function dropGatedFields(
  draft: HorizontalPodAutoscaler,
  live: HorizontalPodAutoscaler | undefined,
  { features }: HookContext,
): void {
  if (features.enabled('HPAConfigurableTolerance') || usesTolerance(live)) return;
  const { behavior } = draft.spec;
  delete behavior?.scaleUp?.tolerance;
  delete behavior?.scaleDown?.tolerance;
}

function usesTolerance(live: HorizontalPodAutoscaler | undefined): boolean {
  const behavior = live?.spec.behavior;
  return behavior?.scaleUp?.tolerance !== undefined || behavior?.scaleDown?.tolerance !== undefined;
}

/** Validates the status in any version. */
export function autoscalerStatusProblems({
  status,
}: {
  readonly status: { readonly currentReplicas?: number; readonly desiredReplicas: number };
}): FieldError[] {
  return nonNegativeFields('status', status, ['currentReplicas', 'desiredReplicas']);
}

interface AutoscalerV2 {
  readonly spec: HorizontalPodAutoscalerSpec;
  readonly status: HorizontalPodAutoscalerStatus;
}

/** The columns of any version; `read` converts its objects to v2. */
export function autoscalerColumns<Object = unknown>(
  read: (object: ApiObject & NoInfer<Object>) => AutoscalerV2,
): Column<Object>[] {
  return [
    nameColumn,
    textColumn('Reference', 'The workload that it scales.', (object) => {
      const { kind, name } = read(object).spec.scaleTargetRef;
      return `${kind}/${name}`;
    }),
    textColumn('Targets', 'The current and the target value of each metric.', (object) => {
      const { spec, status } = read(object);
      return metricsCell(spec.metrics ?? [], status.currentMetrics ?? []);
    }),
    textColumn('MinPods', 'The minimum number of pods.', (object) => String(read(object).spec.minReplicas)),
    textColumn('MaxPods', 'The maximum number of pods.', (object) => read(object).spec.maxReplicas),
    textColumn(
      'Replicas',
      'The number of pods at the last check.',
      (object) => read(object).status.currentReplicas ?? 0,
    ),
    ageColumn,
  ];
}

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
