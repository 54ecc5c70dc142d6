/**
 * v1 ⇄ v2. What v1 has no fields for stands in four annotations: two belong to the spec, two to the status. They are
 * seen in v1 only.
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
import { readMetricSpec, readMetricStatus, writeMetricSpec, writeMetricStatus } from './metrics.js';
import { amount, type Fields, list, optionalRecord, present, readAnnotation, record, text, whole } from './reader.js';

/** From v1 to v2, in place. */
export function toV2(draft: DraftObject): void {
  const annotation = (name: AnnotationName) => annotationOf(draft, name);
  const v1 = draft as unknown as { readonly spec: AutoscalerSpecV1; readonly status: AutoscalerStatusV1 };
  draft['spec'] = specToV2(v1.spec, {
    metrics: readAnnotation(annotation('metrics'), (value) => list(value, readMetricSpec)),
    behavior: behaviorOf(draft),
  });
  draft['status'] = statusToV2(v1.status, {
    currentMetrics: readAnnotation(annotation('current-metrics'), (value) => list(value, readMetricStatus)),
    conditions: readAnnotation(annotation('conditions'), (value) => list(value, readCondition)),
  });
  setAnnotations(draft, {}, orchDialect);
}

function annotationOf({ metadata }: DraftObject, name: AnnotationName): string | undefined {
  return annotationKeys(name)
    .map((key) => own(metadata.annotations ?? {}, key))
    .find((value) => value !== undefined);
}

/** What the annotation says of the behavior, for versions that have no field for it. */
export function behaviorOf(draft: DraftObject): HorizontalPodAutoscalerBehavior | undefined {
  const behavior = readAnnotation(annotationOf(draft, 'behavior'), readBehavior);
  return behavior === undefined ? undefined : withBothDirections(behavior);
}

/** The text of that annotation. */
export function behaviorText(behavior: HorizontalPodAutoscalerBehavior): string {
  return encode(writeBehavior(behavior));
}

/** From v2 to v1, in place, with annotations in the names of the dialect. */
export function fromV2(draft: DraftObject, dialect: Dialect): void {
  const v2 = draft as unknown as {
    readonly spec: HorizontalPodAutoscalerSpecV2;
    readonly status: HorizontalPodAutoscalerStatusV2;
  };
  const { metrics = [], behavior } = v2.spec;
  const { conditions = [] } = v2.status;
  const currentMetrics = v2.status.currentMetrics ?? [];
  const others = metrics.filter((metric) => cpuPercent(metric) === undefined);
  const written: { [Name in AnnotationName]?: string } = {};
  if (others.length > 0) written.metrics = encode(others.map(writeMetricSpec));
  if (currentMetrics.length > 0) written['current-metrics'] = encode(currentMetrics.map(writeMetricStatus));
  if (behavior !== undefined) written.behavior = behaviorText(behavior);
  if (conditions.length > 0) written.conditions = encode(conditions);
  draft['spec'] = specToV1(v2.spec);
  draft['status'] = statusToV1(v2.status);
  setAnnotations(draft, written, dialect);
}

/** Compact, with the escapes of everything that the server writes. */
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

/** A direction that is there is taken as it is. */
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
    ...present({ observedGeneration, lastScaleTime }),
    ...(currentReplicas === 0 ? {} : { currentReplicas }),
    desiredReplicas,
    currentMetrics: annotations.currentMetrics ?? cpu ?? null,
    ...(conditions.length === 0 ? {} : { conditions }),
  } as HorizontalPodAutoscalerStatusV2;
}

function statusToV1(status: HorizontalPodAutoscalerStatusV2): AutoscalerStatusV1 {
  const { observedGeneration, lastScaleTime, currentReplicas = 0, desiredReplicas, currentMetrics } = status;
  // The last one that says it.
  const percent = (currentMetrics ?? [])
    .map(({ type, resource }) =>
      type === 'Resource' && resource?.name === 'cpu' ? resource.current.averageUtilization : undefined,
    )
    .findLast((value) => value !== undefined);
  return {
    ...present({ observedGeneration, lastScaleTime }),
    currentReplicas,
    desiredReplicas,
    ...(percent === undefined ? {} : { currentCPUUtilizationPercentage: percent }),
  } as AutoscalerStatusV1;
}

function readCondition(fields: Fields): HorizontalPodAutoscalerCondition {
  const time = text(fields, 'lastTransitionTime');
  const [reason, message] = [text(fields, 'reason'), text(fields, 'message')];
  return {
    type: text(fields, 'type'),
    status: text(fields, 'status') as HorizontalPodAutoscalerCondition['status'],
    lastTransitionTime: time === '' ? null : time,
    ...(reason === '' ? {} : { reason }),
    ...(message === '' ? {} : { message }),
  };
}

// The reference server writes the behavior in the names of its own code, and null for what is not there.

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

/** Undefined when it says nothing. */
function readBehavior(value: unknown): HorizontalPodAutoscalerBehavior | undefined {
  const fields = anyCase(record(value));
  const behavior = present({
    scaleUp: optionalRecord(own(fields, 'scaleup'), readRules),
    scaleDown: optionalRecord(own(fields, 'scaledown'), readRules),
  });
  return Object.keys(behavior).length === 0 ? undefined : (behavior as HorizontalPodAutoscalerBehavior);
}

function readRules(given: Fields): HPAScalingRules {
  const fields = anyCase(given);
  const selectPolicy = text(fields, 'selectpolicy');
  const policies = own(fields, 'policies') ?? undefined;
  return present({
    stabilizationWindowSeconds: whole(fields, 'stabilizationwindowseconds'),
    selectPolicy: selectPolicy === '' ? undefined : selectPolicy,
    policies: policies === undefined ? undefined : list(policies, readPolicy),
    tolerance: amount(fields, 'tolerance'),
  }) as HPAScalingRules;
}

function readPolicy(given: Fields) {
  const fields = anyCase(given);
  const [value = 0, periodSeconds = 0] = [whole(fields, 'value'), whole(fields, 'periodseconds')];
  return { type: text(fields, 'type') as 'Pods' | 'Percent', value, periodSeconds };
}

/** These names are read in whatever case they were written. */
function anyCase(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));
}
