/**
 * Computes replica counts from metric samples. Pods that are not ready, or have no sample, count with the value that makes the
 * change smaller.
 */
import { Quantity } from '../../meta/quantity.js';
import { timeToMs } from '../../text/time/time.js';
import { isPodReady, isTerminating, podCondition, type StoredPod } from '../workloads/pod-state.js';
import type { Measured } from './metrics.js';

/** How far the usage ratio may differ from 1 without scaling. */
export interface Tolerances {
  readonly up: number;
  readonly down: number;
}

export interface CalculationInput {
  readonly pods: readonly StoredPod[];
  readonly currentReplicas: number;
  readonly tolerances: Tolerances;
  readonly nowMs: number;
  /** For how long after its start a pod's CPU usage is attributed to initialization. */
  readonly cpuInitializationMs: number;
  /** For how long after its start a pod that was never ready counts as starting. */
  readonly initialReadinessDelayMs: number;
}

export interface Proposal {
  readonly replicas: number;
  /** The measured value in thousandths: the average or the sum. */
  readonly milli: number;
  /** The utilization in percent of the requests. */
  readonly utilization?: number;
}

/** The replica count for a target utilization, in percent of the requests. */
export function forUtilization(
  metrics: Map<string, Measured>,
  target: { readonly percent: number; readonly resource: string; readonly container: string | undefined },
  input: CalculationInput,
): Proposal {
  const groups = groupPods(metrics, input, target.resource);
  const requests = requestsOf(input.pods, target);
  const values = milliValues(metrics);
  const { ratio, utilization, average } = utilizationOf(values, requests, target.percent);
  const fallback = Math.max(100, target.percent);
  const replicas = replicasFor(input, groups, {
    ratio,
    values,
    assumed: (pod) => Math.trunc(((requests.get(pod) ?? 0) * fallback) / 100),
    ratioOf: () => utilizationOf(values, requests, target.percent).ratio,
  });
  return { replicas, milli: average, utilization };
}

/** The replica count for a target average of a pod metric. */
export function forAverage(
  metrics: Map<string, Measured>,
  target: { readonly milli: number; readonly resource: string },
  input: CalculationInput,
): Proposal {
  const groups = groupPods(metrics, input, target.resource);
  const values = milliValues(metrics);
  const average = averageOf(values);
  const replicas = replicasFor(input, groups, {
    ratio: average / target.milli,
    values,
    assumed: () => target.milli,
    ratioOf: () => averageOf(values) / target.milli,
  });
  return { replicas, milli: average };
}

/** The replica count for a target value of an object or external metric. */
export function forValue(milli: number, target: number, input: CalculationInput): Proposal {
  const { currentReplicas, pods, tolerances } = input;
  const ratio = milli / target;
  if (currentReplicas === 0) return { replicas: Math.ceil(ratio), milli };
  if (isWithin(ratio, tolerances)) return { replicas: currentReplicas, milli };
  if (pods.length === 0) {
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count');
  }
  const ready = pods.filter((pod) => pod.status.phase === 'Running' && isPodReady(pod)).length;
  return { replicas: Math.ceil(ratio * ready), milli };
}

/** The replica count for a target value per replica of an object or external metric. */
export function forShare(
  milli: number,
  target: number,
  { statusReplicas, tolerances }: { readonly statusReplicas: number; readonly tolerances: Tolerances },
): Proposal {
  const ratio = milli / (target * statusReplicas);
  const replicas = isWithin(ratio, tolerances) ? statusReplicas : Math.ceil(milli / target);
  return { replicas, milli: statusReplicas === 0 ? 0 : Math.ceil(milli / statusReplicas) };
}

interface PodGroups {
  readonly readyCount: number;
  readonly unready: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
}

/** Classifies the pods and removes samples of pods that are ignored or not ready. */
function groupPods(metrics: Map<string, Measured>, input: CalculationInput, resource: string): PodGroups {
  if (input.pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const unready = new Set<string>();
  const missing = new Set<string>();
  const ignored: string[] = [];
  let readyCount = 0;
  for (const pod of input.pods) {
    const { name } = pod.metadata;
    const measured = metrics.get(name);
    if (isTerminating(pod) || pod.status.phase === 'Failed') ignored.push(name);
    else if (pod.status.phase === 'Pending') unready.add(name);
    else if (measured === undefined) missing.add(name);
    else if (resource === 'cpu' && isStarting(pod, measured, input)) unready.add(name);
    else readyCount++;
  }
  for (const name of [...ignored, ...unready]) metrics.delete(name);
  if (metrics.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  return { readyCount, unready, missing };
}

function isStarting(pod: StoredPod, measured: Measured, input: CalculationInput): boolean {
  const ready = podCondition(pod, 'Ready');
  const { startTime } = pod.status;
  if (ready === undefined || startTime === undefined || startTime === null) return true;
  const started = timeToMs(startTime);
  const { lastTransitionTime } = ready;
  const since = lastTransitionTime === undefined || lastTransitionTime === null ? 0 : timeToMs(lastTransitionTime);
  if (started + input.cpuInitializationMs > input.nowMs) {
    // The sample's window must lie entirely in the time in which the pod was ready.
    return ready.status === 'False' || measured.atMs < since + measured.windowMs;
  }
  return ready.status === 'False' && started + input.initialReadinessDelayMs > since;
}

interface Load {
  readonly ratio: number;
  /** Completed with assumed values. */
  readonly values: Map<string, number>;
  /** The assumed value of a pod without sample when scaling down. */
  readonly assumed: (pod: string) => number;
  readonly ratioOf: () => number;
}

function replicasFor(input: CalculationInput, groups: PodGroups, { ratio, values, assumed, ratioOf }: Load): number {
  const { currentReplicas, tolerances } = input;
  const { readyCount, unready, missing } = groups;
  const isRising = unready.size > 0 && ratio > 1;
  if (!isRising && missing.size === 0) {
    return isWithin(ratio, tolerances) ? currentReplicas : Math.ceil(ratio * readyCount);
  }
  if (ratio < 1) for (const pod of missing) values.set(pod, assumed(pod));
  if (ratio > 1) for (const pod of missing) values.set(pod, 0);
  if (isRising) for (const pod of unready) values.set(pod, 0);
  const next = ratioOf();
  // Assumed values must not reverse the direction.
  if (isWithin(next, tolerances) || (ratio < 1 && next > 1) || (ratio > 1 && next < 1)) return currentReplicas;
  const replicas = Math.ceil(next * values.size);
  if ((next < 1 && replicas > currentReplicas) || (next > 1 && replicas < currentReplicas)) return currentReplicas;
  return replicas;
}

function isWithin(ratio: number, { up, down }: Tolerances): boolean {
  return 1 - down <= ratio && ratio <= 1 + up;
}

function milliValues(metrics: ReadonlyMap<string, Measured>): Map<string, number> {
  return new Map([...metrics].map(([pod, { milli }]) => [pod, milli]));
}

function averageOf(values: ReadonlyMap<string, number>): number {
  let total = 0;
  for (const value of values.values()) total += value;
  return Math.trunc(total / values.size);
}

function utilizationOf(values: ReadonlyMap<string, number>, requests: ReadonlyMap<string, number>, percent: number) {
  let used = 0;
  let requested = 0;
  let count = 0;
  for (const [pod, value] of values) {
    const request = requests.get(pod);
    if (request === undefined) continue;
    used += value;
    requested += request;
    count++;
  }
  if (requested === 0) throw new Error('no metrics returned matched known pods');
  const utilization = Math.trunc((used * 100) / requested);
  return { ratio: utilization / percent, utilization, average: Math.trunc(used / count) };
}

function requestsOf(
  pods: readonly StoredPod[],
  { resource, container }: { readonly resource: string; readonly container: string | undefined },
): Map<string, number> {
  const requests = new Map<string, number>();
  for (const { metadata, spec } of pods) {
    const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
    let sum = 0;
    for (const { name, resources } of [...spec.containers, ...sidecars]) {
      if (container !== undefined && container !== name) continue;
      const request = resources?.requests?.[resource];
      if (request === undefined) {
        throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata.name}`);
      }
      sum += Number(Quantity.parse(String(request)).milliValue());
    }
    requests.set(metadata.name, sum);
  }
  return requests;
}
