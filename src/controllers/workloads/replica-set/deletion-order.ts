/**
 * The order in which a ReplicaSet deletes excess pods. Criteria in order: without a node before with one, pending before
 * unknown before running, not ready before ready, low deletion cost before high, many pods on a node before few, ready for a
 * short time before long, more restarts before fewer, younger before older.
 *
 * Times are compared by order of magnitude, so pods of about the same age are deleted in random order; otherwise the
 * youngest pods of one zone would always be chosen. upstream: pkg/controller/controller_utils.go ActivePodsWithRanks
 */
import type { Dialect } from '../../../meta/dialect.js';
import { timeToMs } from '../../../text/time/time.js';
import { isPodActive, podCondition, restartsOf, type StoredPod } from '../pod-state.js';

export interface Excess {
  readonly pods: readonly StoredPod[];
  /** How many pods to delete. */
  readonly count: number;
  /** Pods of the same application: those of every ReplicaSet with the same controller. */
  readonly related: readonly StoredPod[];
  readonly nowMs: number;
  readonly dialect: Dialect;
}

/** Selects the pods to delete. */
export function podsToDelete({ pods, count, related, nowMs, dialect }: Excess): readonly StoredPod[] {
  if (count >= pods.length) return pods;
  const onNode = new Map<string, number>();
  for (const pod of related) {
    if (isPodActive(pod)) onNode.set(nodeOf(pod), (onNode.get(nodeOf(pod)) ?? 0) + 1);
  }
  const costKey = dialect.subkey('controller', 'pod-deletion-cost');
  const ranked = pods.map((pod): Ranked => {
    const ready = podCondition(pod, 'Ready');
    const isReady = ready?.status === 'True';
    return {
      pod,
      hasNode: Number(nodeOf(pod) !== ''),
      phase: PHASES[pod.status.phase ?? ''] ?? 0,
      isReady: Number(isReady),
      cost: deletionCost(pod.metadata.annotations?.[costKey]),
      colocated: onNode.get(nodeOf(pod)) ?? 0,
      readyTime: isReady ? timeOf(ready.lastTransitionTime) : undefined,
      restarts: restartsOf(pod),
      sidecarRestarts: sidecarRestartsOf(pod),
      created: timeOf(pod.metadata.creationTimestamp),
    };
  });
  // Of two equal pods the one that was listed later is deleted.
  ranked.reverse().sort((a, b) => compare(a, b, nowMs));
  return ranked.slice(0, count).map(({ pod }) => pod);
}

interface Ranked {
  readonly pod: StoredPod;
  readonly hasNode: number;
  readonly phase: number;
  readonly isReady: number;
  readonly cost: number;
  /** Related pods on the same node. */
  readonly colocated: number;
  readonly readyTime: number | undefined;
  readonly restarts: number;
  readonly sidecarRestarts: number;
  readonly created: number | undefined;
}

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

function compare(a: Ranked, b: Ranked, nowMs: number): number {
  return (
    a.hasNode - b.hasNode ||
    a.phase - b.phase ||
    a.isReady - b.isReady ||
    a.cost - b.cost ||
    b.colocated - a.colocated ||
    (a.isReady === 1 ? youngerFirst(a, b, { a: a.readyTime, b: b.readyTime, nowMs }) : 0) ||
    b.restarts - a.restarts ||
    b.sidecarRestarts - a.sidecarRestarts ||
    youngerFirst(a, b, { a: a.created, b: b.created, nowMs })
  );
}

interface Times {
  readonly a: number | undefined;
  readonly b: number | undefined;
  readonly nowMs: number;
}

/** No time counts as the latest. Times of the same magnitude are ordered by uid. */
function youngerFirst(a: Ranked, b: Ranked, times: Times): number {
  if (times.a === times.b) return 0;
  if (times.a === undefined || times.b === undefined) return times.a === undefined ? -1 : 1;
  const magnitudes = magnitude(times.nowMs - times.a) - magnitude(times.nowMs - times.b);
  return magnitudes || (a.pod.metadata.uid < b.pod.metadata.uid ? -1 : 1);
}

const NANOS_PER_MS = 1e6;

function magnitude(ageMs: number): number {
  return ageMs > 0 ? Math.trunc(Math.log2(ageMs * NANOS_PER_MS)) : -1;
}

const INT32 = 2 ** 31;

/** The deletion cost annotation; anything but a 32-bit integer counts as 0. */
function deletionCost(text: string | undefined): number {
  if (text === undefined || !/^(0|-[0-9]+|[1-9][0-9]*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -INT32 && cost < INT32 ? cost : 0;
}

function nodeOf({ spec }: StoredPod): string {
  return spec.nodeName ?? '';
}

function timeOf(text: string | null | undefined): number | undefined {
  return text === undefined || text === null ? undefined : timeToMs(text);
}

function sidecarRestartsOf({ spec, status }: StoredPod): number {
  const sidecars = new Set<string>();
  for (const { name, restartPolicy } of spec.initContainers ?? []) if (restartPolicy === 'Always') sidecars.add(name);
  if (sidecars.size === 0) return 0;
  const statuses = (status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name));
  return Math.max(0, ...statuses.map(({ restartCount }) => restartCount));
}
