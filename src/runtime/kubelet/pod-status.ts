/**
 * The status of a pod from the statuses of its containers.
 * upstream: pkg/kubelet/kubelet_pods.go getPhase, generateAPIPodStatus
 */
import { podConditions } from '../../controllers/stages/pod-parts.js';
import type { StoredPod } from '../../controllers/workloads/pod-state.js';
import type { ContainerStatusInput, PodStatusInput } from '../../kinds/generated/core-v1.js';

/** The final state of a pod. */
export interface PodEnd {
  readonly phase: 'Succeeded' | 'Failed';
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  /** The node did not admit the pod, so that it has no containers. */
  readonly isRejected?: boolean | undefined;
}

export interface PodFacts {
  readonly now: string;
  readonly podIP: string | undefined;
  readonly hostIP: string;
  readonly isInitialized: boolean;
  readonly isRunning: boolean;
  readonly init: readonly ContainerStatusInput[];
  readonly main: readonly ContainerStatusInput[];
  readonly ephemeral: readonly ContainerStatusInput[];
  readonly end: PodEnd | undefined;
}

export function podStatus(pod: StoredPod, facts: PodFacts): PodStatusInput {
  const { now, podIP, hostIP, init, main, ephemeral, end, isInitialized } = facts;
  const { startTime } = pod.status;
  if (end?.isRejected === true) {
    const { phase, reason = '', message = '' } = end;
    return { phase, reason, message, startTime: startTime ?? now };
  }
  const phase = end?.phase ?? phaseOf(pod, facts);
  const sidecars = sidecarNames(pod);
  const isIncomplete = ({ name, state, started }: ContainerStatusInput) =>
    sidecars.has(name) ? started !== true : state?.terminated?.exitCode !== 0;
  const serving = [...init.filter(({ name }) => sidecars.has(name)), ...main];
  const unready = serving.filter(({ ready }) => !ready).map(({ name }) => name);
  const incomplete = init.filter(isIncomplete).map(({ name }) => name);
  const readiness = {
    hasSandbox: podIP !== undefined && (facts.isRunning || end === undefined),
    isInitialized,
    incomplete,
    unready,
    ended: end?.phase,
  };
  return {
    phase,
    conditions: podConditions(pod, readiness, now),
    ...(end?.reason === undefined ? {} : { reason: end.reason, message: end.message ?? '' }),
    ...(hostIP === '' ? {} : { hostIP, hostIPs: [{ ip: hostIP }] }),
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: startTime ?? now,
    ...(init.length === 0 ? {} : { initContainerStatuses: [...init] }),
    containerStatuses: [...main],
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: [...ephemeral] }),
  };
}

function sidecarNames({ spec }: StoredPod): ReadonlySet<string> {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return new Set(sidecars.map(({ name }) => name));
}

function phaseOf({ spec }: StoredPod, { isInitialized, main }: PodFacts): 'Pending' | 'Running' {
  if (!isInitialized && (spec.initContainers ?? []).length > 0) return 'Pending';
  // A container that waits for its restart has run.
  const hasNotRun = ({ state, lastState }: ContainerStatusInput) =>
    state?.waiting !== undefined && lastState?.terminated === undefined;
  return main.some(hasNotRun) || main.length === 0 ? 'Pending' : 'Running';
}
