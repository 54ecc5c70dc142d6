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
type Target = DeepReadonly<MetricTarget>;

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
  const evaluated = EVALUATORS.get(spec.type)?.(spec, input);
  if (evaluated !== undefined) return evaluated;
  const detail = `unknown metric source type ${JSON.stringify(spec.type)}`;
  throw new MetricError('InvalidMetricSourceType', detail, detail);
}

type Evaluator = (spec: Spec, input: EvaluationInput) => Promise<Evaluated> | undefined;

const EVALUATORS: ReadonlyMap<string, Evaluator> = new Map<string, Evaluator>([
  ['Resource', ({ resource }, input) => resource && resourceMetric(resource, input)],
  [
    'ContainerResource',
    ({ containerResource }, input) => containerResource && containerMetric(containerResource, input),
  ],
  ['Pods', ({ pods }, input) => pods && podsMetric(pods, input)],
  ['Object', ({ object }, input) => object && objectMetric(object, input)],
  ['External', ({ external }, input) => external && externalMetric(external, input)],
]);

async function resourceMetric(spec: NonNullable<Spec['resource']>, input: EvaluationInput): Promise<Evaluated> {
  const { name, target } = spec;
  const failed = metricErrorFor('FailedGetResourceMetric', `failed to get ${name} resource metric value`);
  const { proposal, text } = await failed(() => usage(name, target, input));
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
  const { proposal, text } = await failed(() => usage(name, target, input, container));
  const status: Status = {
    type: 'ContainerResource',
    containerResource: { name, container, current: currentUsage(proposal) },
  };
  return { replicas: proposal.replicas, name: text, status };
}

async function usage(resource: string, target: Target, input: EvaluationInput, container?: string) {
  const { namespace, selector } = input;
  const query: MetricQuery = { type: 'resource', namespace, selector, resource, ...(container && { container }) };
  const measured = () => podSamples(query, input, `unable to get metrics for resource ${resource}`);
  const { averageValue, averageUtilization } = target;
  if (averageValue !== undefined) {
    const proposal = await withErrorPrefix(`failed to get ${resource} usage: `, async () =>
      forAverage(await measured(), { milli: milliOf(averageValue), resource }, input),
    );
    return { proposal, text: `${resource} resource` };
  }
  if (averageUtilization === undefined) {
    throw new Error(
      'invalid resource metric source: neither an average utilization target nor an average value (usage) target was set',
    );
  }
  const proposal = await withErrorPrefix(`failed to get ${resource} utilization: `, async () =>
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
  const step = isTotal || target.averageValue === undefined ? '' : `: failed to get ${metric.name} object metric`;
  const failed = metricErrorFor('FailedGetObjectMetric', `${prefix}${step}`);
  const selector = selectorOf(metric.selector);
  const query: MetricQuery = { type: 'object', namespace, object: describedObject, metric: metric.name, ...selector };
  const where = `unable to get metric ${metric.name}: ${describedObject.kind} on ${namespace} ${describedObject.name}/`;
  const { replicas, current } = await failed(() => totalMetric(query, input, { target, isTotal, where }));
  const name = isTotal
    ? `${describedObject.kind} metric ${metric.name}`
    : `external metric ${metric.name}(${selectorText(metric.selector)})`;
  return { replicas, name, status: { type: 'Object', object: { metric, current, describedObject } } };
}

async function externalMetric(
  { metric, target }: NonNullable<Spec['external']>,
  input: EvaluationInput,
): Promise<Evaluated> {
  const { namespace } = input;
  const isShare = target.averageValue !== undefined;
  const isTotal = !isShare && target.value !== undefined;
  const prefix = `failed to get ${metric.name} external metric value`;
  const totalStep = isTotal ? `: failed to get external metric ${metric.name}` : '';
  const step = isShare ? `: failed to get ${metric.name} external metric` : totalStep;
  const failed = metricErrorFor('FailedGetExternalMetric', `${prefix}${step}`);
  const query: MetricQuery = { type: 'external', namespace, metric: metric.name, ...selectorOf(metric.selector) };
  const selector = selectorText(metric.selector);
  const where = `unable to get external metric ${namespace}/${metric.name}/${selector}: `;
  const { replicas, current } = await failed(() => totalMetric(query, input, { target, isTotal, where }));
  const name = `external metric ${metric.name}(${selector})`;
  return { replicas, name, status: { type: 'External', external: { metric, current } } };
}

interface TotalTarget {
  readonly target: Target;
  /** Whether the target is a value, otherwise a value per replica. */
  readonly isTotal: boolean;
  /** The prefix of the message if there are no samples. */
  readonly where: string;
}

/** Evaluates the sum of all samples. */
async function totalMetric(query: MetricQuery, input: EvaluationInput, { target, isTotal, where }: TotalTarget) {
  const { value = 0, averageValue } = target;
  if (!isTotal && averageValue === undefined) {
    throw new Error(`invalid ${query.type} metric source: neither a value target nor an average value target was set`);
  }
  const sum = await withErrorPrefix(where, async () => {
    const samples = await samplesOf(input.source, query, input.dialect);
    return samples.reduce((milli, sample) => milli + milliOf(sample.value), 0);
  });
  const { replicas, milli } = isTotal
    ? forValue(sum, milliOf(value), input)
    : forShare(sum, milliOf(averageValue ?? 0), input);
  return { replicas, current: isTotal ? { value: milliText(milli) } : { averageValue: milliText(milli) } };
}

async function podSamples(query: MetricQuery, { source, dialect, nowMs }: EvaluationInput, prefix: string) {
  return withErrorPrefix(`${prefix}: `, async () => byPod(await samplesOf(source, query, dialect), nowMs));
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
    throw new Error(`${prefix}${messageOf(error)}`, { cause: error });
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
