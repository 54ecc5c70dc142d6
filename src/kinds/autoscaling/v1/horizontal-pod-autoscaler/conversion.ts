/**
 * Converts HorizontalPodAutoscalers between v1 and v2. v1 represents the fields it lacks as four annotations, two for
 * the spec and two for the status, which exist only in v1.
 */
import { type Dialect, orchDialect } from '../../../../meta/dialect.js';
import type { DraftObject } from '../../../../meta/object.js';
import { escapeForPages, own, printJson } from '../../../../util/json.js';
import type {
  HorizontalPodAutoscalerSpec as AutoscalerSpecV1,
  HorizontalPodAutoscalerStatus as AutoscalerStatusV1,
} from '../../../generated/autoscaling-v1.js';
import type {
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerCondition,
  HorizontalPodAutoscalerSpec as HorizontalPodAutoscalerSpecV2,
  HorizontalPodAutoscalerStatus as HorizontalPodAutoscalerStatusV2,
  HPAScalingRules,
  MetricSpec,
  MetricStatus,
} from '../../../generated/autoscaling-v2.js';
import { type AnnotationName, annotationKeys, setAnnotations } from '../../annotations.js';
import {
  completeBehavior,
  cpuMetric,
  defaultMetrics,
} from '../../v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import {
  type Fields,
  readAnnotation,
  readInteger,
  readList,
  readMetricSpec,
  readMetricStatus,
  readOptionalRecord,
  readQuantity,
  readRecord,
  readText,
  withoutUndefined,
  writeMetricSpec,
  writeMetricStatus,
} from './metrics.js';

/** The metrics of a status that was converted to v1. Their annotation cannot show that a metric has no average value. */
const convertedMetrics = new WeakMap<object, { readonly text: string; readonly metrics: MetricStatus[] }>();

/** Converts from v1 to v2, in place. */
export function toV2(draft: DraftObject): void {
  const annotation = (name: AnnotationName) => annotationOf(draft, name);
  draft['spec'] = specToV2(draft['spec'] as AutoscalerSpecV1, {
    metrics: readAnnotation(annotation('metrics'), (value) => readList(value, readMetricSpec)),
    behavior: behaviorOf(draft),
  });
  const status = draft['status'] as AutoscalerStatusV1;
  const metricsText = annotation('current-metrics');
  const converted = convertedMetrics.get(status);
  draft['status'] = statusToV2(status, {
    currentMetrics:
      converted !== undefined && converted.text === metricsText
        ? converted.metrics
        : readAnnotation(metricsText, (value) => readList(value, readMetricStatus)),
    conditions: readAnnotation(annotation('conditions'), (value) => readList(value, readCondition)),
  });
  setAnnotations(draft, {}, orchDialect);
}

function annotationOf({ metadata }: DraftObject, name: AnnotationName): string | undefined {
  return annotationKeys(name)
    .map((key) => own(metadata.annotations ?? {}, key))
    .find((value) => value !== undefined);
}

/** The behavior in the annotation, for versions that have no field for it. */
export function behaviorOf(draft: DraftObject): HorizontalPodAutoscalerBehavior | undefined {
  const behavior = readAnnotation(annotationOf(draft, 'behavior'), readBehavior);
  return behavior === undefined ? undefined : withBothDirections(behavior);
}

/** The annotation's value for a behavior. */
export function behaviorText(behavior: HorizontalPodAutoscalerBehavior): string {
  return encode(writeBehavior(behavior));
}

/** Converts from v2 to v1, in place. The annotations have the dialect's names. */
export function fromV2(draft: DraftObject, dialect: Dialect): void {
  const spec = draft['spec'] as HorizontalPodAutoscalerSpecV2;
  const status = draft['status'] as HorizontalPodAutoscalerStatusV2;
  const { metrics = [], behavior } = spec;
  const { conditions = [] } = status;
  const currentMetrics = status.currentMetrics ?? [];
  const others = metrics.filter((metric) => cpuPercent(metric) === undefined);
  const written: { [Name in AnnotationName]?: string } = {};
  if (others.length > 0) written.metrics = encode(others.map(writeMetricSpec));
  const statusInV1 = statusToV1(status);
  if (currentMetrics.length > 0) {
    const text = encode(currentMetrics.map(writeMetricStatus));
    written['current-metrics'] = text;
    convertedMetrics.set(statusInV1, { text, metrics: currentMetrics });
  }
  if (behavior !== undefined) written.behavior = behaviorText(behavior);
  if (conditions.length > 0) written.conditions = encode(conditions);
  draft['spec'] = specToV1(spec);
  draft['status'] = statusInV1;
  setAnnotations(draft, written, dialect);
}

/** Compact JSON with the server's HTML escapes. */
function encode(value: unknown): string {
  return escapeForPages(printJson(value));
}

function cpuPercent({ type, resource }: MetricSpec): number | undefined {
  return type === 'Resource' && resource?.name === 'cpu' ? resource.target.averageUtilization : undefined;
}

interface SpecAnnotations {
  readonly metrics: MetricSpec[] | undefined;
  readonly behavior: HorizontalPodAutoscalerBehavior | undefined;
}

function specToV2(spec: AutoscalerSpecV1, { metrics = [], behavior }: SpecAnnotations): HorizontalPodAutoscalerSpecV2 {
  const { targetCPUUtilizationPercentage: percent, scaleTargetRef, minReplicas, maxReplicas } = spec;
  const all = [...metrics, ...(percent === undefined ? [] : [cpuMetric(percent)])];
  return {
    scaleTargetRef,
    minReplicas,
    maxReplicas,
    metrics: all.length === 0 ? defaultMetrics() : all,
    ...(behavior === undefined ? {} : { behavior }),
  };
}

/** Adds the default of an absent direction; a present one is kept as it is. */
function withBothDirections(behavior: HorizontalPodAutoscalerBehavior): HorizontalPodAutoscalerBehavior {
  return { ...completeBehavior({}), ...behavior };
}

function specToV1({ scaleTargetRef, minReplicas, maxReplicas, metrics = [] }: HorizontalPodAutoscalerSpecV2) {
  const percent = metrics.map(cpuPercent).find((value) => value !== undefined);
  const spec: AutoscalerSpecV1 = { scaleTargetRef, minReplicas, maxReplicas };
  return percent === undefined ? spec : { ...spec, targetCPUUtilizationPercentage: percent };
}

interface StatusAnnotations {
  readonly currentMetrics: MetricStatus[] | undefined;
  readonly conditions: HorizontalPodAutoscalerCondition[] | undefined;
}

function statusToV2(status: AutoscalerStatusV1, annotations: StatusAnnotations): HorizontalPodAutoscalerStatusV2 {
  const { observedGeneration, lastScaleTime, currentReplicas, desiredReplicas } = status;
  const percent = status.currentCPUUtilizationPercentage;
  const cpu: MetricStatus[] | undefined =
    percent === undefined
      ? undefined
      : [{ type: 'Resource', resource: { name: 'cpu', current: { averageUtilization: percent } } }];
  const { conditions = [] } = annotations;
  return {
    ...withoutUndefined({ observedGeneration, lastScaleTime }),
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    desiredReplicas,
    currentMetrics: annotations.currentMetrics ?? cpu ?? null,
    ...(conditions.length === 0 ? {} : { conditions }),
  } as HorizontalPodAutoscalerStatusV2;
}

function statusToV1(status: HorizontalPodAutoscalerStatusV2): AutoscalerStatusV1 {
  const { observedGeneration, lastScaleTime, currentReplicas = 0, desiredReplicas, currentMetrics } = status;
  // The last CPU metric counts.
  const percent = (currentMetrics ?? [])
    .map(({ type, resource }) =>
      type === 'Resource' && resource?.name === 'cpu' ? resource.current.averageUtilization : undefined,
    )
    .findLast((value) => value !== undefined);
  return {
    ...withoutUndefined({ observedGeneration, lastScaleTime }),
    currentReplicas,
    desiredReplicas,
    ...(percent === undefined ? {} : { currentCPUUtilizationPercentage: percent }),
  } as AutoscalerStatusV1;
}

function readCondition(fields: Fields): HorizontalPodAutoscalerCondition {
  const time = readText(fields, 'lastTransitionTime');
  const [reason, message] = [readText(fields, 'reason'), readText(fields, 'message')];
  return {
    type: readText(fields, 'type'),
    status: readText(fields, 'status') as HorizontalPodAutoscalerCondition['status'],
    lastTransitionTime: time === '' ? null : time,
    ...(reason === '' ? {} : { reason }),
    ...(message === '' ? {} : { message }),
  };
}

// The reference server encodes the behavior with Go field names, and null for absent fields.

function writeBehavior({ scaleUp, scaleDown }: HorizontalPodAutoscalerBehavior): object {
  return { ScaleUp: writeRules(scaleUp), ScaleDown: writeRules(scaleDown) };
}

function writeRules(rules: HPAScalingRules | undefined): object | null {
  if (rules === undefined) return null;
  const policies = rules.policies?.map(({ type, value, periodSeconds }) => ({
    Type: type,
    Value: value,
    PeriodSeconds: periodSeconds,
  }));
  return {
    StabilizationWindowSeconds: rules.stabilizationWindowSeconds ?? null,
    SelectPolicy: rules.selectPolicy ?? null,
    Policies: policies ?? null,
    Tolerance: rules.tolerance ?? null,
  };
}

/** The behavior; undefined if it is empty. */
function readBehavior(value: unknown): HorizontalPodAutoscalerBehavior | undefined {
  const fields = anyCase(readRecord(value));
  const behavior = withoutUndefined({
    scaleUp: readOptionalRecord(own(fields, 'scaleup'), readRules),
    scaleDown: readOptionalRecord(own(fields, 'scaledown'), readRules),
  });
  return Object.keys(behavior).length === 0 ? undefined : (behavior as HorizontalPodAutoscalerBehavior);
}

function readRules(given: Fields): HPAScalingRules {
  const fields = anyCase(given);
  const selectPolicy = readText(fields, 'selectpolicy');
  const policies = own(fields, 'policies') ?? undefined;
  return withoutUndefined({
    stabilizationWindowSeconds: readInteger(fields, 'stabilizationwindowseconds'),
    selectPolicy: selectPolicy === '' ? undefined : selectPolicy,
    policies: policies === undefined ? undefined : readList(policies, readPolicy),
    tolerance: readQuantity(fields, 'tolerance'),
  }) as HPAScalingRules;
}

function readPolicy(given: Fields) {
  const fields = anyCase(given);
  const [value = 0, periodSeconds = 0] = [readInteger(fields, 'value'), readInteger(fields, 'periodseconds')];
  return { type: readText(fields, 'type') as 'Pods' | 'Percent', value, periodSeconds };
}

/** Go decodes field names case-insensitively. */
function anyCase(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}
