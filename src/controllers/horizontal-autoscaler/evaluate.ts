/**
 * Evaluates one metric of an autoscaler: the replica count and the metric's status.
 */

import type { MetricSpec, MetricStatus, MetricTarget } from '../../kinds/generated/autoscaling-v2.js';
import type { Dialect } from '../../meta/dialect.js';
import type { LabelSelectorObject } from '../../meta/labels.js';
import type { DeepReadonly } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { messageOf } from '../../util/message-of.js';
import { type CalculationInput, forAverage, forShare, forUtilization, forValue, type Proposal } from './calculate.js';
import { byPod, type MetricQuery, type MetricsSource, milliOf, samplesOf } from './metrics.js';

export type Spec = DeepReadonly<MetricSpec>;
export type Status = DeepReadonly<MetricStatus>;

export interface EvaluationInput extends CalculationInput {
  readonly source: MetricsSource;
  readonly dialect: Dialect;
  readonly namespace: string;
  /** The label selector of the target's pods as text. */
  readonly selector: string;
  readonly statusReplicas: number;
}

export interface Evaluated {
  readonly replicas: number;
  /** The metric's name in conditions and events. */
  readonly name: string;
  readonly status: Status;
}

/** A metric could not be evaluated. */
export class MetricError extends Error {
  override readonly name = 'MetricError';
  /** The reason of the condition and the event. */
  readonly reason: string;
  /** Their message; the error's own message also names the source. */
  readonly detail: string;

  constructor(reason: string, detail: string, message: string) {
    super(message);
    this.reason = reason;
    this.detail = detail;
  }
}

/** Evaluates a metric. Rejects with a MetricError. */
export async function evaluate(spec: Spec, input: EvaluationInput): Promise<Evaluated> {
  switch (spec.type) {
    case 'Resource':
      if (spec.resource !== undefined) return resourceMetric(spec.resource, input);
      break;
    case 'ContainerResource':
      if (spec.containerResource !== undefined) return containerMetric(spec.containerResource, input);
      break;
    case 'Pods':
      if (spec.pods !== undefined) return podsMetric(spec.pods, input);
      break;
    case 'Object':
      if (spec.object !== undefined) return objectMetric(spec.object, input);
      break;
    case 'External':
      if (spec.external !== undefined) return externalMetric(spec.external, input);
      break;
  }
  const detail = `unknown metric source type ${JSON.stringify(spec.type)}`;
  throw new MetricError('InvalidMetricSourceType', detail, detail);
}

async function resourceMetric(spec: NonNullable<Spec['resource']>, input: EvaluationInput): Promise<Evaluated> {
  const { name, target } = spec;
  const failed = metricErrorFor('FailedGetResourceMetric', `failed to get ${name} resource metric value`);
  const { proposal, text } = await failed(() => usage(name, target, { input, container: undefined }));
  const { replicas } = proposal;
  return { replicas, name: text, status: { type: 'Resource', resource: { name, current: currentUsage(proposal) } } };
}

async function containerMetric(
  spec: NonNullable<Spec['containerResource']>,
  input: EvaluationInput,
): Promise<Evaluated> {
  const { name, container, target } = spec;
  const failed = metricErrorFor(
    'FailedGetContainerResourceMetric',
    `failed to get ${container} container metric value`,
  );
  const { proposal, text } = await failed(() => usage(name, target, { input, container }));
  const status: Status = {
    type: 'ContainerResource',
    containerResource: { name, container, current: currentUsage(proposal) },
  };
  return { replicas: proposal.replicas, name: text, status };
}

interface UsageOf {
  readonly input: EvaluationInput;
  readonly container: string | undefined;
}

async function usage(resource: string, target: DeepReadonly<MetricTarget>, { input, container }: UsageOf) {
  const { namespace, selector } = input;
  const query: MetricQuery = {
    type: 'resource',
    namespace,
    selector,
    resource,
    ...(container === undefined ? {} : { container }),
  };
  const measured = () => podSamples(query, input, `unable to get metrics for resource ${resource}`);
  const { averageValue, averageUtilization } = target;
  if (averageValue !== undefined) {
    const proposal = await withErrorPrefix(`failed to get ${resource} usage`, async () =>
      forAverage(await measured(), { milli: milliOf(averageValue), resource }, input),
    );
    return { proposal, text: `${resource} resource` };
  }
  if (averageUtilization === undefined) {
    throw new Error(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    );
  }
  const proposal = await withErrorPrefix(`failed to get ${resource} utilization`, async () =>
    forUtilization(await measured(), { percent: averageUtilization, resource, container }, input),
  );
  const kind = container === undefined ? 'resource' : 'container resource';
  return { proposal, text: `${resource} ${kind} utilization (percentage of request)` };
}

async function podsMetric({ metric, target }: NonNullable<Spec['pods']>, input: EvaluationInput): Promise<Evaluated> {
  const { namespace, selector } = input;
  const failed = metricErrorFor('FailedGetPodsMetric', 'failed to get pods metric value');
  const query: MetricQuery = { type: 'pods', namespace, selector, metric: metric.name, ...selectorOf(metric.selector) };
  const { replicas, milli } = await failed(async () => {
    const measured = await podSamples(query, input, `unable to get metric ${metric.name}`);
    return forAverage(measured, { milli: milliOf(target.averageValue ?? 0), resource: '' }, input);
  });
  const status: Status = { type: 'Pods', pods: { metric, current: { averageValue: milliText(milli) } } };
  return { replicas, name: `pods metric ${metric.name}`, status };
}

async function objectMetric(spec: NonNullable<Spec['object']>, input: EvaluationInput): Promise<Evaluated> {
  const { describedObject, metric, target } = spec;
  const { namespace } = input;
  const isTotal = target.type === 'Value' && target.value !== undefined;
  const prefix = 'failed to get object metric value';
  const failed = metricErrorFor(
    'FailedGetObjectMetric',
    isTotal || target.averageValue === undefined ? prefix : `${prefix}: failed to get ${metric.name} object metric`,
  );
  const query: MetricQuery = {
    type: 'object',
    namespace,
    object: describedObject,
    metric: metric.name,
    ...selectorOf(metric.selector),
  };
  const proposal = await failed(async () => {
    if (!isTotal && target.averageValue === undefined) {
      throw new Error('invalid object metric source: neither a value target nor an average value target was set');
    }
    const where = `unable to get metric ${metric.name}: ${describedObject.kind} on ${namespace} ${describedObject.name}/`;
    const milli = await total(query, input, where);
    return isTotal
      ? forValue(milli, milliOf(target.value ?? 0), input)
      : forShare(milli, milliOf(target.averageValue ?? 0), input);
  });
  const current = isTotal ? { value: milliText(proposal.milli) } : { averageValue: milliText(proposal.milli) };
  const name = isTotal
    ? `${describedObject.kind} metric ${metric.name}`
    : `external metric ${metric.name}(${selectorText(metric.selector)})`;
  return {
    replicas: proposal.replicas,
    name,
    status: { type: 'Object', object: { metric, current, describedObject } },
  };
}

async function externalMetric(
  { metric, target }: NonNullable<Spec['external']>,
  input: EvaluationInput,
): Promise<Evaluated> {
  const { namespace } = input;
  const isShare = target.averageValue !== undefined;
  const prefix = `failed to get ${metric.name} external metric value`;
  const step = isShare
    ? `failed to get ${metric.name} external metric`
    : `failed to get external metric ${metric.name}`;
  const isAny = isShare || target.value !== undefined;
  const failed = metricErrorFor('FailedGetExternalMetric', isAny ? `${prefix}: ${step}` : prefix);
  const query: MetricQuery = { type: 'external', namespace, metric: metric.name, ...selectorOf(metric.selector) };
  const proposal = await failed(async () => {
    if (!isAny) {
      throw new Error('invalid external metric source: neither a value target nor an average value target was set');
    }
    const where = `unable to get external metric ${namespace}/${metric.name}/${selectorText(metric.selector)}: `;
    const milli = await total(query, input, where);
    return isShare
      ? forShare(milli, milliOf(target.averageValue ?? 0), input)
      : forValue(milli, milliOf(target.value ?? 0), input);
  });
  const current = isShare ? { averageValue: milliText(proposal.milli) } : { value: milliText(proposal.milli) };
  return {
    replicas: proposal.replicas,
    name: `external metric ${metric.name}(${selectorText(metric.selector)})`,
    status: { type: 'External', external: { metric, current } },
  };
}

async function podSamples(query: MetricQuery, { source, dialect, nowMs }: EvaluationInput, prefix: string) {
  return withErrorPrefix(prefix, async () => byPod(await samplesOf(source, query, dialect), nowMs));
}

/** The sum of all samples; `where` is the prefix of the error message. */
async function total(query: MetricQuery, { source, dialect }: EvaluationInput, where: string): Promise<number> {
  try {
    const samples = await samplesOf(source, query, dialect);
    return samples.reduce((sum, { value }) => sum + milliOf(value), 0);
  } catch (error) {
    throw new Error(`${where}${messageOf(error)}`, { cause: error });
  }
}

function metricErrorFor(reason: string, prefix: string) {
  return async <Value>(run: () => Promise<Value>): Promise<Value> => {
    try {
      return await run();
    } catch (error) {
      throw new MetricError(reason, messageOf(error), `${prefix}: ${messageOf(error)}`);
    }
  };
}

async function withErrorPrefix<Value>(prefix: string, run: () => Promise<Value>): Promise<Value> {
  try {
    return await run();
  } catch (error) {
    throw new Error(`${prefix}: ${messageOf(error)}`, { cause: error });
  }
}

function currentUsage({ milli, utilization }: Proposal) {
  return {
    averageValue: milliText(milli),
    ...(utilization === undefined ? {} : { averageUtilization: utilization }),
  };
}

function milliText(milli: number): string {
  return Quantity.of(BigInt(milli), { scale: -3 }).toString();
}

function selectorOf(selector: DeepReadonly<LabelSelectorObject> | undefined) {
  return selector === undefined ? {} : { metricSelector: selector };
}

/** A selector as the reference server prints it in messages. */
function selectorText(selector: DeepReadonly<LabelSelectorObject> | undefined): string {
  if (selector === undefined) return 'nil';
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const labels = Object.keys(matchLabels)
    .sort()
    .map((key) => `${key}: ${matchLabels[key] ?? ''},`);
  const expressions = matchExpressions.map(
    ({ key, operator, values = [] }) =>
      `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
  );
  return `&LabelSelector{MatchLabels:map[string]string{${labels.join('')}},MatchExpressions:[]LabelSelectorRequirement{${expressions.join('')}},}`;
}
