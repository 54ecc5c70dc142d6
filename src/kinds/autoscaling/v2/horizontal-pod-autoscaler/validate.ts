/**
 * Validates the spec of a HorizontalPodAutoscaler, in the reference server's message order.
 */

import {
  childPath,
  type FieldError,
  forbidden,
  invalid,
  keyPath,
  notSupported,
  required,
} from '../../../../meta/field-error.js';
import { dnsLabelProblems, pathSegmentProblems, qualifiedNameProblems } from '../../../../meta/names.js';
import { Quantity } from '../../../../meta/quantity.js';
import { originalQuantityText } from '../../../../schema/quantity-texts.js';
import { append } from '../../../../util/arrays.js';
import type {
  CrossVersionObjectReference,
  HorizontalPodAutoscalerBehavior,
  HorizontalPodAutoscalerSpec,
  HPAScalingPolicy,
  HPAScalingRules,
  MetricIdentifier,
  MetricSpec,
  MetricTarget,
} from '../../../generated/autoscaling-v2.js';
import type { HookContext } from '../../../kind.js';
import { optionalValueErrors } from '../../../shared/field-rules.js';
import { goSyntaxQuantity } from '../../../shared/go-syntax.js';
import { validateContainerResourceName, validateNonNegativeQuantity } from '../../../shared/resources.js';

interface SpecOptions {
  readonly context: HookContext;
  readonly live: HorizontalPodAutoscalerSpec | undefined;
}

/** Validates a spec. */
export function autoscalerSpecProblems(
  spec: HorizontalPodAutoscalerSpec,
  { context, live }: SpecOptions,
): FieldError[] {
  const { minReplicas, maxReplicas } = spec;
  const least = context.features.enabled('HPAScaleToZero') || live?.minReplicas === 0 ? 0 : 1;
  const problems: FieldError[] = [];
  if (minReplicas < least) {
    problems.push(invalid('spec.minReplicas', minReplicas, `must be greater than or equal to ${least}`));
  }
  if (maxReplicas < 1) problems.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than 0'));
  if (maxReplicas < minReplicas) {
    problems.push(invalid('spec.maxReplicas', maxReplicas, 'must be greater than or equal to `minReplicas`'));
  }
  return [
    ...problems,
    ...referenceProblems('spec.scaleTargetRef', spec.scaleTargetRef),
    ...metricsProblems('spec.metrics', spec, context),
    ...behaviorProblems('spec.behavior', spec.behavior),
  ];
}

function referenceProblems(path: string, { kind, name }: CrossVersionObjectReference): FieldError[] {
  return [...segmentProblems(childPath(path, 'kind'), kind), ...segmentProblems(childPath(path, 'name'), name)];
}

/** Requires a path segment. */
function segmentProblems(path: string, text: string, missing = ''): FieldError[] {
  if (text === '') return [required(path, missing)];
  return pathSegmentProblems(text).map((detail) => invalid(path, text, detail));
}

function metricsProblems(path: string, spec: HorizontalPodAutoscalerSpec, context: HookContext): FieldError[] {
  const { metrics = [], minReplicas } = spec;
  const problems = metrics.flatMap((metric, index) => metricProblems(keyPath(path, index), metric, context));
  // Without pods, only metrics of other objects can trigger scaling.
  if (minReplicas === 0 && !metrics.some(({ type }) => type === 'Object' || type === 'External')) {
    const detail = 'must specify at least one Object or External metric to support scaling to zero replicas';
    problems.push(forbidden(path, detail));
  }
  return problems;
}

type Source = 'object' | 'external' | 'pods' | 'resource' | 'containerResource';

const SOURCE_OF: ReadonlyMap<string, Source> = new Map([
  ['ContainerResource', 'containerResource'],
  ['External', 'external'],
  ['Object', 'object'],
  ['Pods', 'pods'],
  ['Resource', 'resource'],
]);

/** The sources in validation order; only the first one that is present is validated. */
const SOURCES: readonly Source[] = ['object', 'external', 'pods', 'resource', 'containerResource'];

function metricProblems(path: string, metric: MetricSpec, context: HookContext): FieldError[] {
  const typePath = childPath(path, 'type');
  const type: string = metric.type;
  const wanted = SOURCE_OF.get(type);
  const unknown = wanted === undefined ? [notSupported(typePath, type, [...SOURCE_OF.keys()])] : [];
  const present = SOURCES.filter((source) => metric[source] !== undefined);
  const problems = type === '' ? [required(typePath, 'must specify a metric source type')] : [];
  append(problems, unknown);
  const [first] = present;
  if (first !== undefined) append(problems, sourceProblems(childPath(path, first), first, { metric, context }));
  if (wanted !== undefined && metric[wanted] === undefined) {
    problems.push(required(childPath(path, wanted), 'must populate information for the given metric source'));
  }
  // The reference server reports this twice.
  append(problems, unknown);
  if (present.length === 1) return problems;
  const superfluous = present.filter((source) => source !== wanted);
  return [
    ...problems,
    ...superfluous.map((source) => forbidden(childPath(path, source), 'must populate the given metric source only')),
  ];
}

function sourceProblems(
  path: string,
  source: Source,
  { metric, context }: { readonly metric: MetricSpec; readonly context: HookContext },
): FieldError[] {
  const { object, external, pods, resource, containerResource } = metric;
  if (source === 'object' && object !== undefined) {
    return [
      ...referenceProblems(childPath(path, 'describedObject'), object.describedObject),
      ...identifierProblems(childPath(path, 'metric'), object.metric),
      ...targetProblems(childPath(path, 'target'), object.target),
      ...valueProblems(path, object.target, 'must set either a target value or averageValue'),
    ];
  }
  if (source === 'external' && external !== undefined) {
    const { value, averageValue } = external.target;
    const both = value !== undefined && averageValue !== undefined;
    const detail = 'may not set both a target value for metric and a per-pod target';
    return [
      ...identifierProblems(childPath(path, 'metric'), external.metric),
      ...targetProblems(childPath(path, 'target'), external.target),
      ...valueProblems(path, external.target, 'must set either a target value for metric or a per-pod target'),
      ...(both ? [forbidden(childPath(path, 'target.value'), detail)] : []),
    ];
  }
  if (source === 'pods' && pods !== undefined) {
    const missing = pods.target.averageValue === undefined;
    const detail = 'must specify a positive target averageValue';
    return [
      ...identifierProblems(childPath(path, 'metric'), pods.metric),
      ...targetProblems(childPath(path, 'target'), pods.target),
      ...(missing ? [required(childPath(path, 'target.averageValue'), detail)] : []),
    ];
  }
  if (source === 'resource' && resource !== undefined) {
    const unnamed = resource.name === '';
    return [
      ...(unnamed ? [required(childPath(path, 'name'), 'must specify a resource name')] : []),
      ...resourceTargetProblems(path, resource.target),
    ];
  }
  if (containerResource === undefined) return [];
  const { name, container, target } = containerResource;
  return [
    ...(name === ''
      ? [required(childPath(path, 'name'), 'must specify a resource name')]
      : resourceNameProblems(childPath(path, 'name'), name, context)),
    ...(container === ''
      ? [required(childPath(path, 'container'), 'must specify a container')]
      : dnsLabelProblems(container).map((detail) => invalid(childPath(path, 'container'), container, detail))),
    ...resourceTargetProblems(path, target),
  ];
}

/** As for containers, except that an error about the syntax quotes the name. */
function resourceNameProblems(path: string, name: string, context: HookContext): FieldError[] {
  const malformed = qualifiedNameProblems(name).map((detail) => invalid(path, name, detail));
  return [...malformed, ...validateContainerResourceName(path, name, context).slice(malformed.length)];
}

function identifierProblems(path: string, { name }: MetricIdentifier): FieldError[] {
  return segmentProblems(childPath(path, 'name'), name, 'must specify a metric name');
}

function valueProblems(path: string, { value, averageValue }: MetricTarget, detail: string): FieldError[] {
  if (value !== undefined || averageValue !== undefined) return [];
  return [required(childPath(path, 'target.averageValue'), detail)];
}

function resourceTargetProblems(path: string, target: MetricTarget): FieldError[] {
  const { averageUtilization, averageValue } = target;
  const problems = targetProblems(childPath(path, 'target'), target);
  if (averageUtilization === undefined && averageValue === undefined) {
    const detail = 'must set either a target raw value or a target utilization';
    problems.push(required(childPath(path, 'target.averageUtilization'), detail));
  }
  if (averageUtilization !== undefined && averageValue !== undefined) {
    const detail = 'may not set both a target raw value and a target utilization';
    problems.push(forbidden(childPath(path, 'target.averageValue'), detail));
  }
  return problems;
}

const TARGET_TYPES = ['Utilization', 'Value', 'AverageValue'];

function targetProblems(path: string, target: MetricTarget): FieldError[] {
  const { averageUtilization } = target;
  const type: string = target.type;
  const problems: FieldError[] = [];
  if (type === '') problems.push(required(childPath(path, 'type'), 'must specify a metric target type'));
  if (!TARGET_TYPES.includes(type)) {
    problems.push(invalid(childPath(path, 'type'), type, 'must be either Utilization, Value, or AverageValue'));
  }
  for (const field of ['value', 'averageValue'] as const) {
    const amount = target[field];
    if (amount === undefined || Quantity.parse(amount).sign() > 0) continue;
    problems.push(
      invalid(
        childPath(path, field),
        goSyntaxQuantity(originalQuantityText(target, field) ?? amount),
        'must be positive',
      ),
    );
  }
  if (averageUtilization !== undefined && averageUtilization < 1) {
    problems.push(invalid(childPath(path, 'averageUtilization'), averageUtilization, 'must be greater than 0'));
  }
  return problems;
}

const MAX_WINDOW_SECONDS = 3600;
const MAX_PERIOD_SECONDS = 1800;

function behaviorProblems(path: string, behavior: HorizontalPodAutoscalerBehavior | undefined): FieldError[] {
  return (['scaleUp', 'scaleDown'] as const).flatMap((direction) => {
    const rules = behavior?.[direction];
    return rules === undefined ? [] : rulesProblems(childPath(path, direction), rules);
  });
}

function rulesProblems(path: string, rules: HPAScalingRules): FieldError[] {
  const { stabilizationWindowSeconds: window, policies = [], tolerance } = rules;
  const selectPolicy: string | undefined = rules.selectPolicy;
  const windowPath = childPath(path, 'stabilizationWindowSeconds');
  const policiesPath = childPath(path, 'policies');
  const problems: FieldError[] = [];
  if (window !== undefined && window < 0) {
    problems.push(invalid(windowPath, window, 'must be greater than or equal to zero'));
  }
  if (window !== undefined && window > MAX_WINDOW_SECONDS) {
    problems.push(invalid(windowPath, window, `must be less than or equal to ${MAX_WINDOW_SECONDS}`));
  }
  const selections = ['Disabled', 'Max', 'Min'];
  append(problems, optionalValueErrors(childPath(path, 'selectPolicy'), selectPolicy, selections));
  if (policies.length === 0) problems.push(required(policiesPath, 'must specify at least one Policy'));
  return [
    ...problems,
    ...policies.flatMap((policy, index) => policyProblems(keyPath(policiesPath, index), policy)),
    ...(tolerance === undefined ? [] : validateNonNegativeQuantity(childPath(path, 'tolerance'), tolerance)),
  ];
}

function policyProblems(path: string, policy: HPAScalingPolicy): FieldError[] {
  const { value, periodSeconds } = policy;
  const type: string = policy.type;
  const periodPath = childPath(path, 'periodSeconds');
  const problems: FieldError[] = [];
  if (type !== 'Pods' && type !== 'Percent') {
    problems.push(notSupported(childPath(path, 'type'), type, ['Percent', 'Pods']));
  }
  if (value <= 0) problems.push(invalid(childPath(path, 'value'), value, 'must be greater than zero'));
  if (periodSeconds <= 0) problems.push(invalid(periodPath, periodSeconds, 'must be greater than zero'));
  if (periodSeconds > MAX_PERIOD_SECONDS) {
    problems.push(invalid(periodPath, periodSeconds, `must be less than or equal to ${MAX_PERIOD_SECONDS}`));
  }
  return problems;
}
