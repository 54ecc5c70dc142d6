/**
 * HorizontalPodAutoscalers: every quarter of a minute, as many replicas as the metrics ask for.
 */

import type { Scale } from '../../kinds/autoscaling/v1/scale.js';
import { HorizontalPodAutoscaler } from '../../kinds/autoscaling/v2/horizontal-pod-autoscaler/horizontal-pod-autoscaler.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ObjectOf } from '../../kinds/kind.js';
import { type LabelSelector, matchesLabels, parseLabelSelector } from '../../meta/labels.js';
import { Quantity } from '../../meta/quantity.js';
import { messageOf } from '../../util/message-of.js';
import { type PickPods, podsPickedBy } from '../endpoints/pod-services.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { splitKey } from '../runtime/shared-informer.js';
import type { StoredPod } from '../workloads/pod-state.js';
import type { Tolerances } from './calculate.js';
import { type Evaluated, evaluate, MetricError, type Status as MetricStatus } from './evaluate.js';
import { limited, newHistory, noteScaling, type ScalingHistory } from './limits.js';
import { type MetricsSource, metricsApi } from './metrics.js';
import { StatusDraft, type StoredAutoscaler } from './status.js';
import { type ScaleApi, scalesOf } from './target.js';

export interface HorizontalAutoscalersOptions {
  /** Where numbers come from; the cluster's metrics API unless given. */
  readonly metrics?: MetricsSource | undefined;
  /** Between two looks at an autoscaler; 15 s unless given. */
  readonly syncPeriodMs?: number | undefined;
  /** How far usage may be from its target before anything is done; 0.1, a tenth, unless given. */
  readonly tolerance?: number | undefined;
  /** How long a lower recommendation has to last where no behavior says so; 5 minutes unless given. */
  readonly downscaleStabilizationMs?: number | undefined;
  /** How long after its start the cpu usage of a pod may be that of starting; 5 minutes unless given. */
  readonly cpuInitializationMs?: number | undefined;
  /** How long after its start a pod that was never ready counts as starting; 30 s unless given. */
  readonly initialReadinessDelayMs?: number | undefined;
}

/**
 * Scales what HorizontalPodAutoscalers point at.
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
      const scaling = new Scaling(context, options, podsPickedBy(context.informer(Pod)));
      const queue = context.queue(
        async (key) => {
          const autoscaler = autoscalers.at(key);
          if (autoscaler === undefined) {
            scaling.forget(key);
            return undefined;
          }
          try {
            await scaling.look(key, autoscaler);
          } catch (error) {
            // The next look comes at its time, whatever became of this one.
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

/** The state of all autoscalers: what they recommended and did, and which pods they select. */
class Scaling {
  readonly #context: ControllerContext;
  readonly #options: HorizontalAutoscalersOptions;
  readonly #source: MetricsSource;
  readonly #pick: PickPods;
  readonly #histories = new Map<string, ScalingHistory>();
  /** By namespace, then by name. */
  readonly #selectors = new Map<string, Map<string, LabelSelector>>();

  constructor(context: ControllerContext, options: HorizontalAutoscalersOptions, pick: PickPods) {
    this.#context = context;
    this.#options = options;
    this.#source = options.metrics ?? metricsApi(context);
    this.#pick = pick;
  }

  forget(key: string): void {
    this.#histories.delete(key);
    const { name, namespace = '' } = splitKey(key);
    const siblings = this.#selectors.get(namespace);
    siblings?.delete(name);
    if (siblings?.size === 0) this.#selectors.delete(namespace);
  }

  async look(key: string, autoscaler: StoredAutoscaler): Promise<void> {
    const { events } = this.#context;
    const { namespace = '' } = autoscaler.metadata;
    const { scaleTargetRef: target } = autoscaler.spec;
    const draft = new StatusDraft(autoscaler, this.#context.now());
    let api: ScaleApi;
    let scale: ObjectOf<typeof Scale>;
    try {
      api = scalesOf(this.#context, target, namespace);
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
    if (!this.#histories.has(key)) this.#histories.set(key, newHistory(current, this.#context.clock.now()));

    const plan = await this.#plan(key, autoscaler, { scale, current, draft });
    if (plan.desired === undefined) {
      draft.counts({ current, metrics: plan.metrics });
      await this.#write(autoscaler, draft);
      events.record(autoscaler, 'Warning', 'FailedComputeMetricsReplicas', messageOf(plan.problem));
      throw plan.problem;
    }
    const { desired, metrics, why } = plan;
    const isRescaled = why !== undefined;
    if (isRescaled) {
      try {
        await api.update(target.name, { ...scale, spec: { ...scale.spec, replicas: desired } });
      } catch (error) {
        const text = messageOf(error);
        events.record(autoscaler, 'Warning', 'FailedRescale', `New size: ${desired}; reason: ${why}; error: ${text}`);
        const message = `the HPA controller was unable to update the target scale: ${text}`;
        draft.condition('AbleToScale', false, { reason: 'FailedUpdateScale', message });
        draft.counts({ current, metrics });
        await this.#write(autoscaler, draft);
        throw error;
      }
      const message = `the HPA controller was able to update the target scale to ${desired}`;
      draft.condition('AbleToScale', true, { reason: 'SucceededRescale', message });
      events.record(autoscaler, 'Normal', 'SuccessfulRescale', `New size: ${desired}; reason: ${why}`);
      const history = this.#histories.get(key);
      const nowMs = this.#context.clock.now();
      if (history !== undefined) noteScaling(history, autoscaler.spec.behavior, { from: current, to: desired, nowMs });
    }
    draft.counts({ current, desired, metrics, isRescaled });
    await this.#write(autoscaler, draft);
    if (plan.problem !== undefined) throw plan.problem;
  }

  async #plan(key: string, autoscaler: StoredAutoscaler, about: Looked): Promise<Plan> {
    const { current, draft } = about;
    const { minReplicas: min = 1, maxReplicas: max, behavior } = autoscaler.spec;
    if (current === 0 && min !== 0) {
      draft.condition('ScalingActive', false, {
        reason: 'ScalingDisabled',
        message: 'scaling is disabled since the replica count of the target is zero',
      });
      return { desired: current, metrics: [] };
    }
    if (current > max) return { desired: max, metrics: [], why: 'Current number of replicas above Spec.MaxReplicas' };
    if (current < min) return { desired: min, metrics: [], why: 'Current number of replicas below Spec.MinReplicas' };
    const found = await this.#recommended(key, autoscaler, about);
    if (found.replicas === undefined) return { ...found, desired: undefined };
    const history = this.#histories.get(key) ?? newHistory(current, this.#context.clock.now());
    const wish = {
      current,
      desired: found.replicas,
      min,
      max,
      nowMs: this.#context.clock.now(),
      downscaleWindowMs: this.#options.downscaleStabilizationMs ?? 300_000,
    };
    const { replicas, ableToScale, isLimited, limit } = limited(wish, behavior, history);
    draft.condition('AbleToScale', true, ableToScale);
    draft.condition('ScalingLimited', isLimited, limit);
    if (replicas === current) return { ...found, desired: current };
    return { ...found, desired: replicas, why: reasonFor(found, current) };
  }

  /** What the metrics ask for: the most that any of them does. */
  async #recommended(
    key: string,
    autoscaler: StoredAutoscaler,
    { scale, current, draft }: Looked,
  ): Promise<Recommended> {
    const { events, dialect, clock } = this.#context;
    const { namespace = '' } = autoscaler.metadata;
    const specs = autoscaler.spec.metrics ?? [];
    const selector = scale.status.selector ?? '';
    let pods: readonly StoredPod[];
    try {
      pods = this.#selected(key, selector);
    } catch (error) {
      if (!(error instanceof SelectorProblem)) throw error;
      events.record(autoscaler, 'Warning', error.event, error.message);
      draft.condition('ScalingActive', false, { reason: error.reason, message: error.condition });
      return { metrics: [], problem: error };
    }
    const about = {
      source: this.#source,
      dialect,
      namespace,
      selector,
      pods,
      currentReplicas: current,
      statusReplicas: scale.status.replicas,
      tolerances: this.#tolerances(autoscaler),
      nowMs: clock.now(),
      cpuInitializationMs: this.#options.cpuInitializationMs ?? 300_000,
      initialReadinessDelayMs: this.#options.initialReadinessDelayMs ?? 30_000,
    };
    const metrics: MetricStatus[] = [];
    let best: Evaluated | undefined;
    let first: MetricError | undefined;
    let failures = 0;
    for (const spec of specs) {
      try {
        const found = await evaluate(spec, about);
        metrics.push(found.status);
        if (best === undefined || best.replicas === 0 || found.replicas > best.replicas) best = found;
      } catch (error) {
        if (!(error instanceof MetricError)) throw error;
        events.record(autoscaler, 'Warning', error.reason, error.detail);
        metrics.push(NOTHING_FOUND);
        first ??= error;
        failures++;
      }
    }
    const problem =
      first === undefined
        ? undefined
        : new Error(`invalid metrics (${failures} invalid out of ${specs.length}), first error is: ${first.message}`);
    // Nobody scales down on half of the picture.
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
      throw new SelectorProblem('selector is required', {
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
    const pods = this.#pick(namespace, selector);
    const rivals = [...siblings].filter(([, other]) => pods.some(selects(other))).map(([sibling]) => sibling);
    if (rivals.length > 1) {
      const list = rivals.sort().map((rival) => `{${rival} ${namespace}}`);
      throw new SelectorProblem(`pods by selector ${text} are controlled by multiple HPAs: [${list.join(' ')}]`, {
        event: 'AmbiguousSelector',
        reason: 'AmbiguousSelector',
      });
    }
    return pods;
  }

  #tolerances({ spec }: StoredAutoscaler): Tolerances {
    const { tolerance = 0.1 } = this.#options;
    const isOwnAllowed = this.#context.features?.enabled('HPAConfigurableTolerance') === true;
    const own = (value: string | undefined) =>
      value === undefined || !isOwnAllowed ? tolerance : Quantity.parse(value).approximateFloat();
    return { up: own(spec.behavior?.scaleUp?.tolerance), down: own(spec.behavior?.scaleDown?.tolerance) };
  }

  async #write(autoscaler: StoredAutoscaler, draft: StatusDraft): Promise<void> {
    const status = draft.changed();
    if (status === undefined) return;
    const { name, namespace } = autoscaler.metadata;
    try {
      await this.#context.client.api(HorizontalPodAutoscaler, namespace).status.update(name, { ...autoscaler, status });
    } catch (error) {
      this.#context.events.record(autoscaler, 'Warning', 'FailedUpdateStatus', messageOf(error));
      this.#context.report(error, `status of ${namespace}/${name}`);
    }
  }
}

interface Looked {
  readonly scale: ObjectOf<typeof Scale>;
  readonly current: number;
  readonly draft: StatusDraft;
}

interface Recommended {
  /** Absent: there is nothing to go by. */
  readonly replicas?: number;
  readonly name?: string;
  readonly metrics: readonly MetricStatus[];
  /** What went wrong, even if there is something to go by. */
  readonly problem?: Error;
}

interface Plan {
  /** Absent: nothing can be done. */
  readonly desired: number | undefined;
  readonly metrics: readonly MetricStatus[];
  /** Absent: nothing is to be done. */
  readonly why?: string;
  readonly problem?: Error;
}

/** The place of a metric that says nothing. */
const NOTHING_FOUND = { type: '' } as unknown as MetricStatus;

class SelectorProblem extends Error {
  readonly event: string;
  readonly reason: string;
  readonly condition: string;

  constructor(
    message: string,
    about: { readonly event: string; readonly reason: string; readonly condition?: string },
  ) {
    super(message);
    this.event = about.event;
    this.reason = about.reason;
    this.condition = about.condition ?? message;
  }
}

function parsedSelector(text: string): LabelSelector {
  try {
    return parseLabelSelector(text);
  } catch (error) {
    const message = `couldn't convert selector into a corresponding internal selector object: ${messageOf(error)}`;
    throw new SelectorProblem(message, { event: 'InvalidSelector', reason: 'InvalidSelector' });
  }
}

function reasonFor({ replicas = 0, name = '' }: Recommended, current: number): string {
  if (replicas > current) return `${name} above target`;
  return replicas < current ? 'All metrics below target' : '';
}
