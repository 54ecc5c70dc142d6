/**
 * The controller of HorizontalPodAutoscalers: every 15 seconds it scales targets to the replica count that the metrics demand.
 */

import type { Scale } from '../../kinds/autoscaling/v1/scale.js';
import { HorizontalPodAutoscaler } from '../../kinds/autoscaling/v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { type LabelSelector, matchesLabels, parseLabelSelector } from '../../meta/labels.js';
import { Quantity } from '../../meta/quantity.js';
import { messageOf } from '../../util/message-of.js';
import { getOrInsertComputed } from '../../util/once.js';
import { podSelectorIndex } from '../endpoints/pod-services.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import { TurnBudget } from '../runtime/request-tracker.js';
import { splitKey } from '../runtime/shared-informer.js';
import type { StoredPod } from '../workloads/pod-state.js';
import type { Tolerances } from './calculate.js';
import { type Evaluated, evaluate, MetricError, type Status as MetricStatus } from './evaluate.js';
import { limitScaling, newHistory, recordScaling, type ScalingHistory } from './limits.js';
import { type MetricsSource, metricsApi } from './metrics.js';
import { StatusDraft, type StoredAutoscaler } from './status.js';
import { type ScaleApi, scalesOf } from './target.js';

export interface HorizontalAutoscalersOptions {
  /** The metrics source; the cluster's metrics API unless given. */
  readonly metrics?: MetricsSource | undefined;
  /** The time between two reconciles of an autoscaler; 15 s unless given. */
  readonly syncPeriodMs?: number | undefined;
  /** The tolerated deviation of usage from its target; 0.1 (10 %) unless given. */
  readonly tolerance?: number | undefined;
  /** The stabilization window for scaling down without `behavior`; 5 minutes unless given. */
  readonly downscaleStabilizationMs?: number | undefined;
  /** For how long after its start a pod's CPU usage is attributed to initialization; 5 minutes unless given. */
  readonly cpuInitializationMs?: number | undefined;
  /** For how long after its start a pod that was never ready counts as starting; 30 s unless given. */
  readonly initialReadinessDelayMs?: number | undefined;
}

/** The reference server names all autoscalers of the same pods in the status of each of them. */
const MAX_NAMED_SIBLINGS = 20;

/**
 * Scales the targets of HorizontalPodAutoscalers.
 *
 * @example
 * const busy = horizontalAutoscalers({ metrics: ({ type }) => (type === 'resource' ? [{ pod: 'web-0', value: '900m' }] : []) });
 * const cluster = createCluster({ controllers: controllers([busy]) });
 */
export function horizontalAutoscalers(options: HorizontalAutoscalersOptions = {}): Controller {
  const { syncPeriodMs = 15_000 } = options;
  return {
    name: 'horizontal-pod-autoscaler-controller',
    account: 'horizontal-pod-autoscaler',
    component: 'horizontal-pod-autoscaler',
    needs: [HorizontalPodAutoscaler, Pod],
    start(context) {
      const autoscalers = context.informer(HorizontalPodAutoscaler);
      const scaling = new Scaling(context, options);
      const queue = context.queue(
        async (key) => {
          const autoscaler = autoscalers.at(key);
          if (autoscaler === undefined) {
            scaling.forget(key);
            return undefined;
          }
          try {
            await scaling.reconcileAutoscaler(key, autoscaler);
          } catch (error) {
            // The next reconcile runs after the sync period, not with the queue's backoff.
            context.report(error, key);
          }
          return { requeueAfterMs: syncPeriodMs };
        },
        { workers: 5 },
      );
      autoscalers.onKey((key, { type }) => {
        if (type !== 'DELETED') queue.addAfter(key, syncPeriodMs);
        else {
          queue.cancelDelay(key);
          queue.add(key);
        }
      });
    },
  };
}

/** The state of all autoscalers: their recommendations, scaling events and selectors. */
class Scaling extends ControllerPart<HorizontalAutoscalersOptions> {
  readonly #apiSource = metricsApi(this.context);
  readonly #budget = new TurnBudget();
  readonly #selectPods = podSelectorIndex(this.context.informer(Pod));
  readonly #histories = new Map<string, ScalingHistory>();
  /** By namespace, then by name. */
  readonly #selectors = new Map<string, Map<string, LabelSelector>>();

  forget(key: string): void {
    this.#histories.delete(key);
    const { name, namespace = '' } = splitKey(key);
    const siblings = this.#selectors.get(namespace);
    siblings?.delete(name);
    if (siblings?.size === 0) this.#selectors.delete(namespace);
  }

  async reconcileAutoscaler(key: string, autoscaler: StoredAutoscaler): Promise<void> {
    const { events } = this.context;
    const { namespace = '' } = autoscaler.metadata;
    const { scaleTargetRef: target } = autoscaler.spec;
    const draft = new StatusDraft(autoscaler, this.context.now());
    let api: ScaleApi;
    let scale: ObjectOf<typeof Scale>;
    try {
      api = scalesOf(this.context, target, namespace);
      scale = await api.get(target.name);
    } catch (error) {
      const text = messageOf(error);
      events.record(autoscaler, 'Warning', 'FailedGetScale', text);
      const message = `the HPA controller was unable to get the target's current scale: ${text}`;
      draft.condition('AbleToScale', false, { reason: 'FailedGetScale', message });
      await this.#write(autoscaler, draft);
      throw error;
    }
    draft.condition('AbleToScale', true, {
      reason: 'SucceededGetScale',
      message: "the HPA controller was able to get the target's current scale",
    });
    const current = scale.spec.replicas ?? 0;
    if (!this.#histories.has(key)) this.#histories.set(key, newHistory(current, this.context.clock.now()));

    const plan = await this.#plan(key, autoscaler, { scale, current, draft });
    if (plan.desired === undefined) {
      draft.counts({ current, metrics: plan.metrics });
      await this.#write(autoscaler, draft);
      events.record(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', messageOf(plan.problem));
      throw plan.problem;
    }
    const { desired, metrics, rescaleReason } = plan;
    const isRescaled = rescaleReason !== undefined;
    if (isRescaled) {
      try {
        await api.update(target.name, { ...scale, spec: { ...scale.spec, replicas: desired } });
      } catch (error) {
        const text = messageOf(error);
        events.record(
          autoscaler,
          'Warning',
          'FailedRescale',
          `New size: ${desired}; reason: ${rescaleReason}; error: ${text}`,
        );
        const message = `the HPA controller was unable to update the target scale: ${text}`;
        draft.condition('AbleToScale', false, { reason: 'FailedUpdateScale', message });
        draft.counts({ current, metrics });
        await this.#write(autoscaler, draft);
        throw error;
      }
      const message = `the HPA controller was able to update the target scale to ${desired}`;
      draft.condition('AbleToScale', true, { reason: 'SucceededRescale', message });
      events.record(autoscaler, 'Normal', 'SuccessfulRescale', `New size: ${desired}; reason: ${rescaleReason}`);
      const history = this.#histories.get(key);
      const nowMs = this.context.clock.now();
      if (history !== undefined)
        recordScaling(history, autoscaler.spec.behavior, { from: current, to: desired, nowMs });
    }
    draft.counts({ current, desired, metrics, isRescaled });
    await this.#write(autoscaler, draft);
    if (plan.problem !== undefined) throw plan.problem;
  }

  async #plan(key: string, autoscaler: StoredAutoscaler, input: ReconcileState): Promise<Plan> {
    const { current, draft } = input;
    const { minReplicas: min = 1, maxReplicas: max, behavior } = autoscaler.spec;
    if (current === 0 && min !== 0) {
      draft.condition('ScalingActive', false, {
        reason: 'ScalingDisabled',
        message: 'scaling is disabled since the replica count of the target is zero',
      });
      return { desired: current, metrics: [] };
    }
    if (current > max)
      return { desired: max, metrics: [], rescaleReason: 'Current number of replicas above Spec.MaxReplicas' };
    if (current < min)
      return { desired: min, metrics: [], rescaleReason: 'Current number of replicas below Spec.MinReplicas' };
    const found = await this.#recommended(key, autoscaler, input);
    if (found.replicas === undefined) return { ...found, desired: undefined };
    const history = this.#histories.get(key) ?? newHistory(current, this.context.clock.now());
    const request = {
      current,
      desired: found.replicas,
      min,
      max,
      nowMs: this.context.clock.now(),
      downscaleWindowMs: this.options.downscaleStabilizationMs ?? 300_000,
    };
    const { replicas, ableToScale, isLimited, limit } = limitScaling(request, behavior, history);
    draft.condition('AbleToScale', true, ableToScale);
    draft.condition('ScalingLimited', isLimited, limit);
    if (replicas === current) return { ...found, desired: current };
    return { ...found, desired: replicas, rescaleReason: reasonFor(found, current) };
  }

  /** The highest replica count that any metric demands. */
  async #recommended(
    key: string,
    autoscaler: StoredAutoscaler,
    { scale, current, draft }: ReconcileState,
  ): Promise<Recommendation> {
    const { events, dialect, clock } = this.context;
    const { namespace = '' } = autoscaler.metadata;
    const specs = autoscaler.spec.metrics ?? [];
    const selector = scale.status.selector ?? '';
    let pods: readonly StoredPod[];
    try {
      pods = this.#selected(key, selector);
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      events.record(autoscaler, 'Warning', error.event, error.message);
      draft.condition('ScalingActive', false, { reason: error.reason, message: error.condition });
      return { metrics: [], problem: error };
    }
    const input = {
      source: this.options.metrics ?? this.#apiSource(),
      dialect,
      namespace,
      selector,
      pods,
      currentReplicas: current,
      statusReplicas: scale.status.replicas,
      tolerances: this.#tolerances(autoscaler),
      nowMs: clock.now(),
      cpuInitializationMs: this.options.cpuInitializationMs ?? 300_000,
      initialReadinessDelayMs: this.options.initialReadinessDelayMs ?? 30_000,
    };
    const metrics: MetricStatus[] = [];
    let best: Evaluated | undefined;
    let first: MetricError | undefined;
    let failures = 0;
    // An autoscaler may have tens of thousands of metrics.
    const evaluated = new Map<string, Promise<Evaluated>>();
    for (const spec of specs) {
      try {
        const key = JSON.stringify(spec);
        if (!evaluated.has(key)) await this.#budget.untilFree(clock);
        const found = await getOrInsertComputed(evaluated, key, () => evaluate(spec, input));
        metrics.push(found.status);
        if (best === undefined || best.replicas === 0 || found.replicas > best.replicas) best = found;
      } catch (error) {
        if (!(error instanceof MetricError)) throw error;
        events.record(autoscaler, 'Warning', error.reason, error.detail);
        metrics.push(FAILED_METRIC);
        first ??= error;
        failures++;
      }
    }
    const problem =
      first === undefined
        ? undefined
        : new Error(`invalid metrics (${failures} invalid out of ${specs.length}), first error is: ${first.message}`);
    // With failed metrics the target is not scaled down.
    if (best === undefined || (first !== undefined && best.replicas < current)) {
      const reason = first?.reason ?? '';
      const message = `the HPA was unable to compute the replica count: ${first?.detail ?? ''}`;
      if (first !== undefined) draft.condition('ScalingActive', false, { reason, message });
      return { metrics, problem: problem ?? new Error('no metrics') };
    }
    draft.condition('ScalingActive', true, {
      reason: 'ValidMetricFound',
      message: `the HPA was able to successfully calculate a replica count from ${best.name}`,
    });
    return { replicas: best.replicas, name: best.name, metrics, ...(problem === undefined ? {} : { problem }) };
  }

  #selected(key: string, text: string): readonly StoredPod[] {
    if (text === '') {
      const missing = "the HPA target's scale is missing a selector";
      throw new SelectorError('selector is required', {
        event: 'SelectorRequired',
        reason: 'InvalidSelector',
        condition: missing,
      });
    }
    const { name, namespace = '' } = splitKey(key);
    const selector = parsedSelector(text);
    const siblings = this.#selectors.get(namespace) ?? new Map<string, LabelSelector>();
    this.#selectors.set(namespace, siblings.set(name, selector));
    const selects = (by: LabelSelector) => (pod: StoredPod) => matchesLabels(by, pod.metadata.labels);
    const pods = this.#selectPods(namespace, selector);
    const conflicting: string[] = [];
    for (const [sibling, other] of siblings) {
      if (conflicting.length > MAX_NAMED_SIBLINGS) break;
      if (pods.some(selects(other))) conflicting.push(sibling);
    }
    if (conflicting.length > 1) {
      const named = conflicting.slice(0, MAX_NAMED_SIBLINGS).sort();
      const list = named.map((sibling) => `{${sibling} ${namespace}}`).join(' ');
      const more = conflicting.length > named.length ? ' and more' : '';
      throw new SelectorError(`pods by selector ${text} are controlled by multiple HPAs: [${list}]${more}`, {
        event: 'AmbiguousSelector',
        reason: 'AmbiguousSelector',
      });
    }
    return pods;
  }

  #tolerances({ spec }: StoredAutoscaler): Tolerances {
    const { tolerance = 0.1 } = this.options;
    const isConfigurable = this.context.features?.enabled('HPAConfigurableTolerance') === true;
    const own = (value: string | undefined) =>
      value === undefined || !isConfigurable ? tolerance : Quantity.parse(value).approximateFloat();
    return { up: own(spec.behavior?.scaleUp?.tolerance), down: own(spec.behavior?.scaleDown?.tolerance) };
  }

  async #write(autoscaler: StoredAutoscaler, draft: StatusDraft): Promise<void> {
    const status = draft.changed();
    if (status === undefined) return;
    const { name, namespace } = autoscaler.metadata;
    try {
      await this.context.client.api(HorizontalPodAutoscaler, namespace).status.update(name, { ...autoscaler, status });
    } catch (error) {
      this.context.events.record(autoscaler, 'Warning', 'FailedUpdateStatus', messageOf(error));
      this.context.report(error, `status of ${namespace}/${name}`);
    }
  }
}

interface ReconcileState {
  readonly scale: ObjectOf<typeof Scale>;
  readonly current: number;
  readonly draft: StatusDraft;
}

interface Recommendation {
  /** Absent: no metric could be evaluated. */
  readonly replicas?: number;
  readonly name?: string;
  readonly metrics: readonly MetricStatus[];
  /** The first failure, even if other metrics succeeded. */
  readonly problem?: Error;
}

interface Plan {
  /** Undefined: the replica count could not be computed. */
  readonly desired: number | undefined;
  readonly metrics: readonly MetricStatus[];
  /** Absent: no rescale is needed. */
  readonly rescaleReason?: string;
  readonly problem?: Error;
}

/**
 * The status entry of a metric that could not be evaluated: an empty type, as in the reference server.
 * upstream: pkg/controller/podautoscaler/horizontal.go HorizontalController.computeReplicasForMetrics
 */
const FAILED_METRIC = { type: '' } as unknown as MetricStatus;

class SelectorError extends Error {
  readonly event: string;
  readonly reason: string;
  readonly condition: string;

  constructor(
    message: string,
    input: { readonly event: string; readonly reason: string; readonly condition?: string },
  ) {
    super(message);
    this.event = input.event;
    this.reason = input.reason;
    this.condition = input.condition ?? message;
  }
}

function parsedSelector(text: string): LabelSelector {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    const message = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
    throw new SelectorError(message, { event: 'InvalidSelector', reason: 'InvalidSelector' });
  }
}

function reasonFor({ replicas = 0, name = '' }: Recommendation, current: number): string {
  if (replicas > current) return `${name} above target`;
  return replicas < current ? 'All metrics below target' : '';
}
