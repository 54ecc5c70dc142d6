/**
 * Limits on scaling: bounds, stabilization windows and policies on the rate of change. Keeps the history of recommendations and
 * scaling events of each autoscaler.
 */

import type { HorizontalPodAutoscalerBehavior, HPAScalingRules } from '../../kinds/generated/autoscaling-v2.js';
import type { DeepReadonly } from '../../meta/object.js';

export type Behavior = DeepReadonly<HorizontalPodAutoscalerBehavior>;
type Rules = DeepReadonly<HPAScalingRules>;

/** The recommendations and scaling events of one autoscaler. */
export interface ScalingHistory {
  readonly recommendations: Stamped[];
  readonly ups: Stamped[];
  readonly downs: Stamped[];
}

interface Stamped {
  count: number;
  atMs: number;
}

export interface ScalingRequest {
  readonly current: number;
  readonly desired: number;
  readonly min: number;
  readonly max: number;
  readonly nowMs: number;
  /** The stabilization window for scaling down without `behavior`. */
  readonly downscaleWindowMs: number;
}

export interface Reason {
  readonly reason: string;
  readonly message: string;
}

export interface LimitedScaling {
  readonly replicas: number;
  readonly ableToScale: Reason;
  readonly isLimited: boolean;
  readonly limit: Reason;
}

const READY: Reason = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' };
const DOWN_STABILIZED: Reason = {
  reason: 'ScaleDownStabilized',
  message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
};
const UP_STABILIZED: Reason = {
  reason: 'ScaleUpStabilized',
  message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
};
const WITHIN: Reason = {
  reason: 'DesiredWithinRange',
  message: 'the desired count is within the acceptable range',
};
const TOO_MANY: Reason = {
  reason: 'TooManyReplicas',
  message: 'the desired replica count is more than the maximum replica count',
};
const TOO_FEW: Reason = {
  reason: 'TooFewReplicas',
  message: 'the desired replica count is less than the minimum replica count',
};
const UP_TOO_FAST: Reason = {
  reason: 'ScaleUpLimit',
  message: 'the desired replica count is increasing faster than the maximum scale rate',
};
const DOWN_TOO_FAST: Reason = {
  reason: 'ScaleDownLimit',
  message: 'the desired replica count is decreasing faster than the maximum scale rate',
};

export function newHistory(current: number, nowMs: number): ScalingHistory {
  return { recommendations: [{ count: current, atMs: nowMs }], ups: [], downs: [] };
}

/** The permitted replica count and the reason for any limit. */
export function limitScaling(
  request: ScalingRequest,
  behavior: Behavior | undefined,
  history: ScalingHistory,
): LimitedScaling {
  return behavior === undefined ? withoutBehavior(request, history) : withBehavior(request, behavior, history);
}

/** Records a scaling event for the policies on the rate of change. */
export function recordScaling(
  history: ScalingHistory,
  behavior: Behavior | undefined,
  { from, to, nowMs }: { readonly from: number; readonly to: number; readonly nowMs: number },
): void {
  if (behavior === undefined) return;
  const isUp = to > from;
  const rules = isUp ? behavior.scaleUp : behavior.scaleDown;
  const longest = Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds }) => periodSeconds * 1000));
  replaceOld(isUp ? history.ups : history.downs, { count: Math.abs(to - from), atMs: nowMs }, nowMs - longest);
}

function withoutBehavior(request: ScalingRequest, history: ScalingHistory): LimitedScaling {
  const { current, desired, min, max, nowMs, downscaleWindowMs } = request;
  const cutoff = nowMs - downscaleWindowMs;
  const recent = history.recommendations.filter(({ atMs }) => atMs >= cutoff);
  const stable = Math.max(desired, ...recent.map(({ count }) => count));
  replaceOld(history.recommendations, { count: desired, atMs: nowMs }, cutoff);
  const ableToScale = stable === desired ? READY : DOWN_STABILIZED;
  // At most twice the current count or four, whichever is greater.
  const rateLimit = Math.max(2 * current, 4);
  const top = Math.min(max, rateLimit);
  if (stable < min) return { replicas: min, ableToScale, isLimited: true, limit: TOO_FEW };
  if (stable > top) {
    return { replicas: top, ableToScale, isLimited: true, limit: max > rateLimit ? UP_TOO_FAST : TOO_MANY };
  }
  return { replicas: stable, ableToScale, isLimited: false, limit: WITHIN };
}

function withBehavior(request: ScalingRequest, behavior: Behavior, history: ScalingHistory): LimitedScaling {
  const { current, desired, min, max, nowMs } = request;
  const { scaleUp = {}, scaleDown = {} } = behavior;
  const stable = stabilized(request, behavior, history);
  const stabilizedBy = desired >= current ? UP_STABILIZED : DOWN_STABILIZED;
  const ableToScale = stable === desired ? READY : stabilizedBy;
  if (stable > current) {
    const rateLimit = Math.max(current, changeLimit(current, scaleUp, { isUp: true, history, nowMs }));
    const top = Math.min(max, rateLimit);
    if (stable > top) {
      return { replicas: top, ableToScale, isLimited: true, limit: max > rateLimit ? UP_TOO_FAST : TOO_MANY };
    }
  }
  if (stable < current) {
    const rateLimit = Math.min(current, changeLimit(current, scaleDown, { isUp: false, history, nowMs }));
    const bottom = Math.max(min, rateLimit);
    if (stable < bottom) {
      return { replicas: bottom, ableToScale, isLimited: true, limit: min < rateLimit ? DOWN_TOO_FAST : TOO_FEW };
    }
  }
  return { replicas: stable, ableToScale, isLimited: false, limit: WITHIN };
}

/** The recommendation limited by all recommendations within the stabilization window of its direction. */
function stabilized(
  request: ScalingRequest,
  { scaleUp, scaleDown }: Behavior,
  { recommendations }: ScalingHistory,
): number {
  const { current, desired, nowMs, downscaleWindowMs } = request;
  const upCutoff = nowMs - (scaleUp?.stabilizationWindowSeconds ?? 0) * 1000;
  const downSeconds = scaleDown?.stabilizationWindowSeconds;
  const downCutoff = nowMs - (downSeconds === undefined ? downscaleWindowMs : downSeconds * 1000);
  const since = (cutoff: number) => recommendations.filter(({ atMs }) => atMs > cutoff).map(({ count }) => count);
  const lowest = Math.min(desired, ...since(upCutoff));
  const highest = Math.max(desired, ...since(downCutoff));
  replaceOld(recommendations, { count: desired, atMs: nowMs }, Math.min(upCutoff, downCutoff));
  return Math.min(Math.max(current, lowest), highest);
}

interface Past {
  readonly isUp: boolean;
  readonly history: ScalingHistory;
  readonly nowMs: number;
}

/** The count up to which, or down to which, the policies allow to scale now. */
function changeLimit(current: number, { selectPolicy, policies = [] }: Rules, past: Past): number {
  if (selectPolicy === 'Disabled') return current;
  const { isUp } = past;
  const limits = policies.map(({ type, value, periodSeconds }) => {
    const start = periodStart(current, periodSeconds, past);
    if (type === 'Pods') return isUp ? start + value : start - value;
    // Rounded up, so that a percentage of few pods is at least one.
    return isUp ? Math.ceil(start * (1 + value / 100)) : Math.trunc(start * (1 - value / 100));
  });
  // `Min` is the smallest change.
  return (selectPolicy === 'Min') === isUp ? Math.min(...limits) : Math.max(...limits);
}

function periodStart(current: number, periodSeconds: number, { history, nowMs }: Past): number {
  const cutoff = nowMs - periodSeconds * 1000;
  const changed = (list: readonly Stamped[]) =>
    list.reduce((sum, { count, atMs }) => (atMs > cutoff ? sum + count : sum), 0);
  return current - changed(history.ups) + changed(history.downs);
}

/** Replaces the last entry before the cutoff, so that lists stay short; otherwise appends. */
function replaceOld(list: Stamped[], entry: Stamped, cutoff: number): void {
  const old = list.findLastIndex(({ atMs }) => atMs < cutoff);
  if (old < 0) list.push(entry);
  else list[old] = entry;
}
