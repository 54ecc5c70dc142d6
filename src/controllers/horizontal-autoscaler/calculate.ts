/**
 * From samples to a number of replicas. Pods that are not ready yet, or that nobody has measured, count with whatever
 * makes a change smaller.
 */
import { Quantity } from '../../meta/quantity.js';
import { timeToMs } from '../../text/time/time.js';
import { isPodReady, isTerminating, podCondition, type StoredPod } from '../workloads/pod-state.js';
import type { Measured } from './metrics.js';

/** How far from 1 a ratio may be without anything being done. */
export interface Tolerances {
  readonly up: number;
  readonly down: number;
}

export interface Circumstances {
  readonly pods: readonly StoredPod[];
  readonly currentReplicas: number;
  readonly tolerances: Tolerances;
  readonly nowMs: number;
  /** How long after its start a pod's cpu usage may be that of starting. */
  readonly cpuInitializationMs: number;
  /** How long after its start a pod that was never ready counts as starting. */
  readonly initialReadinessDelayMs: number;
}

export interface Proposal {
  readonly replicas: number;
  /** What was found, in thousandths: on average, or in sum. */
  readonly milli: number;
  /** Percent of what was requested. */
  readonly utilization?: number;
}

/** Replicas so that pods use a share of what they request on average. */
export function forUtilization(
  metrics: Map<string, Measured>,
  target: { readonly percent: number; readonly resource: string; readonly container: string | undefined },
  about: Circumstances,
): Proposal {
  const standing = groupPods(metrics, about, target.resource);
  const requests = requestsOf(about.pods, target);
  const values = milliValues(metrics);
  const { ratio, utilization, average } = utilizationOf(values, requests, target.percent);
  const fallback = Math.max(100, target.percent);
  const replicas = replicasFor(about, standing, {
    ratio,
    values,
    assumed: (pod) => Math.trunc(((requests.get(pod) ?? 0) * fallback) / 100),
    ratioOf: () => utilizationOf(values, requests, target.percent).ratio,
  });
  return { replicas, milli: average, utilization };
}

/** Replicas so that a metric of pods has a value on average. */
export function forAverage(
  metrics: Map<string, Measured>,
  target: { readonly milli: number; readonly resource: string },
  about: Circumstances,
): Proposal {
  const standing = groupPods(metrics, about, target.resource);
  const values = milliValues(metrics);
  const average = averageOf(values);
  const replicas = replicasFor(about, standing, {
    ratio: average / target.milli,
    values,
    assumed: () => target.milli,
    ratioOf: () => averageOf(values) / target.milli,
  });
  return { replicas, milli: average };
}

/** Replicas so that something beside the pods has a value. */
export function forValue(milli: number, target: number, about: Circumstances): Proposal {
  const { currentReplicas, pods, tolerances } = about;
  const ratio = milli / target;
  if (currentReplicas === 0) return { replicas: Math.ceil(ratio), milli };
  if (isWithin(ratio, tolerances)) return { replicas: currentReplicas, milli };
  if (pods.length === 0) {
    throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count');
  }
  const ready = pods.filter((pod) => pod.status.phase === 'Running' && isPodReady(pod)).length;
  return { replicas: Math.ceil(ratio * ready), milli };
}

/** Replicas so that each has its share of something beside them. */
export function forShare(
  milli: number,
  target: number,
  { statusReplicas, tolerances }: { readonly statusReplicas: number; readonly tolerances: Tolerances },
): Proposal {
  const ratio = milli / (target * statusReplicas);
  const replicas = isWithin(ratio, tolerances) ? statusReplicas : Math.ceil(milli / target);
  return { replicas, milli: statusReplicas === 0 ? 0 : Math.ceil(milli / statusReplicas) };
}

interface Standing {
  readonly readyCount: number;
  readonly unready: ReadonlySet<string>;
  readonly missing: ReadonlySet<string>;
}

/** Sorts pods, and takes the samples away that say nothing about the load. */
function groupPods(metrics: Map<string, Measured>, about: Circumstances, resource: string): Standing {
  if (about.pods.length === 0) throw new Error('no pods returned by selector while calculating replica count');
  const unready = new Set<string>();
  const missing = new Set<string>();
  const ignored: string[] = [];
  let readyCount = 0;
  for (const pod of about.pods) {
    const { name } = pod.metadata;
    const measured = metrics.get(name);
    if (isTerminating(pod) || pod.status.phase === 'Failed') ignored.push(name);
    else if (pod.status.phase === 'Pending') unready.add(name);
    else if (measured === undefined) missing.add(name);
    else if (resource === 'cpu' && isStarting(pod, measured, about)) unready.add(name);
    else readyCount++;
  }
  for (const name of [...ignored, ...unready]) metrics.delete(name);
  if (metrics.size === 0) throw new Error('did not receive metrics for targeted pods (pods might be unready)');
  return { readyCount, unready, missing };
}

function isStarting(pod: StoredPod, measured: Measured, about: Circumstances): boolean {
  const ready = podCondition(pod, 'Ready');
  const { startTime } = pod.status;
  if (ready === undefined || startTime === undefined || startTime === null) return true;
  const started = timeToMs(startTime);
  const { lastTransitionTime } = ready;
  const since = lastTransitionTime === undefined || lastTransitionTime === null ? 0 : timeToMs(lastTransitionTime);
  if (started + about.cpuInitializationMs > about.nowMs) {
    // A sample has to lie wholly in the time in which the pod was ready.
    return ready.status === 'False' || measured.atMs < since + measured.windowMs;
  }
  return ready.status === 'False' && started + about.initialReadinessDelayMs > since;
}

interface Load {
  readonly ratio: number;
  /** Filled up with assumptions. */
  readonly values: Map<string, number>;
  /** What a pod that nobody has measured is taken to use when there is less to do than there might be. */
  readonly assumed: (pod: string) => number;
  readonly ratioOf: () => number;
}

function replicasFor(about: Circumstances, standing: Standing, { ratio, values, assumed, ratioOf }: Load): number {
  const { currentReplicas, tolerances } = about;
  const { readyCount, unready, missing } = standing;
  const isRising = unready.size > 0 && ratio > 1;
  if (!isRising && missing.size === 0) {
    return isWithin(ratio, tolerances) ? currentReplicas : Math.ceil(ratio * readyCount);
  }
  if (ratio < 1) for (const pod of missing) values.set(pod, assumed(pod));
  if (ratio > 1) for (const pod of missing) values.set(pod, 0);
  if (isRising) for (const pod of unready) values.set(pod, 0);
  const next = ratioOf();
  // Assumptions must not turn the direction.
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
