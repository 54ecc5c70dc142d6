/**
 * Pure functions that build a pod's status as kubelet writes it, for use in stages.
 */

import type {
  ContainerStateInput,
  ContainerStatusInput,
  PodConditionInput,
  PodStatusInput,
} from '../../kinds/generated/core-v1.js';
import { hexDigitsFromText } from '../../util/ids.js';
import { copyJson } from '../../util/json.js';
import { podCondition, type StoredPod } from '../workloads/pod-state.js';

export interface PodAddressPair {
  readonly podIP: string;
  readonly hostIP: string;
}

type Container = Pick<StoredPod['spec']['containers'][number], 'name' | 'image' | 'resources'>;

/** The state of a pod from which its conditions follow. */
export interface PodReadiness {
  readonly hasSandbox: boolean;
  readonly isInitialized: boolean;
  /** Names of init containers that are not complete; absent: all. */
  readonly incomplete?: readonly string[] | undefined;
  /** Names of containers that are not ready. */
  readonly unready: readonly string[];
  /** The final phase of a finished pod; it determines the reasons of the conditions. */
  readonly ended?: 'Succeeded' | 'Failed' | undefined;
}

/** The status of a pod whose containers all run. */
export function runningStatus(pod: StoredPod, place: PodAddressPair, now: string, isReady = true): PodStatusInput {
  const { containers, initContainers = [] } = pod.spec;
  const running: ContainerStateInput = { running: { startedAt: now } };
  const unready = isReady ? [] : containers.map(({ name }) => name);
  return {
    phase: 'Running',
    conditions: podConditions(pod, { hasSandbox: true, isInitialized: true, unready }, now),
    ...placed(place),
    startTime: pod.status.startTime ?? now,
    ...(initContainers.length === 0
      ? {}
      : {
          initContainerStatuses: initContainers.map((container) =>
            container.restartPolicy === 'Always'
              ? containerStatus(pod, container, { state: running, isReady: true, restarts: 0 })
              : containerStatus(pod, container, { state: terminated(0, now, now), isReady: true, restarts: 0 }),
          ),
        }),
    containerStatuses: containers.map((container) =>
      containerStatus(pod, container, { state: running, isReady, restarts: 0 }),
    ),
  };
}

/** The status of a scheduled pod whose containers are being created. */
export function creatingStatus(pod: StoredPod, { hostIP }: PodAddressPair, now: string): PodStatusInput {
  const { containers, initContainers = [] } = pod.spec;
  const waitingFor = (reason: string): ContainerStateInput => ({ waiting: { reason } });
  const statusOf = (container: Container, reason: string): ContainerStatusInput => ({
    name: container.name,
    state: waitingFor(reason),
    lastState: {},
    ready: false,
    restartCount: 0,
    image: container.image ?? '',
    imageID: '',
    started: false,
  });
  const hasInit = initContainers.length > 0;
  const unready = containers.map(({ name }) => name);
  return {
    phase: 'Pending',
    conditions: podConditions(pod, { hasSandbox: false, isInitialized: !hasInit, unready }, now),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    startTime: pod.status.startTime ?? now,
    ...(hasInit ? { initContainerStatuses: initContainers.map((each) => statusOf(each, 'PodInitializing')) } : {}),
    containerStatuses: containers.map((each) => statusOf(each, hasInit ? 'PodInitializing' : 'ContainerCreating')),
  };
}

/**
 * The status after all running containers, including sidecars and ephemeral ones, exit with this code. Containers that
 * exited before are unchanged.
 */
export function endedStatus(pod: StoredPod, exitCode: number, now: string): PodStatusInput {
  const phase = exitCode === 0 ? 'Succeeded' : 'Failed';
  const { containers, initContainers = [] } = pod.spec;
  const { initContainerStatuses, ephemeralContainerStatuses } = pod.status;
  const besides = [...initContainers, ...(pod.spec.ephemeralContainers ?? [])];
  const stopped = (status: NonNullable<typeof initContainerStatuses>[number]): ContainerStatusInput => {
    const container = besides.find(({ name }) => name === status.name);
    const { running } = status.state;
    if (container === undefined || running === undefined) return copyJson(status) as ContainerStatusInput;
    const state = terminated(exitCode, running.startedAt ?? now, now);
    return { ...containerStatus(pod, container, { state, isReady: false, restarts: status.restartCount }) };
  };
  return {
    phase,
    ...(initContainerStatuses === undefined ? {} : { initContainerStatuses: initContainerStatuses.map(stopped) }),
    ...(ephemeralContainerStatuses === undefined
      ? {}
      : { ephemeralContainerStatuses: ephemeralContainerStatuses.map(stopped) }),
    conditions: podConditions(pod, { hasSandbox: false, isInitialized: true, unready: [], ended: phase }, now),
    startTime: pod.status.startTime ?? now,
    containerStatuses: containers.map((container) => {
      const before = statusNamed(pod, container.name);
      const startedAt = before?.state.running?.startedAt ?? now;
      const state = before?.state.terminated !== undefined ? before.state : terminated(exitCode, startedAt, now);
      return { ...containerStatus(pod, container, { state, isReady: false, restarts: before?.restartCount ?? 0 }) };
    }),
  };
}

export function containerStatus(
  pod: StoredPod,
  container: Container,
  { state, isReady, restarts }: { state: ContainerStateInput; isReady: boolean; restarts: number },
): ContainerStatusInput {
  const image = container.image ?? '';
  const containerID = containerIdOf(pod, container.name, restarts);
  const ended = state.terminated;
  return {
    name: container.name,
    state: ended === undefined ? state : { terminated: { ...ended, containerID: ended.containerID ?? containerID } },
    lastState: {},
    ready: isReady,
    restartCount: restarts,
    image,
    imageID: `${repositoryOf(image)}@sha256:${digest(image)}`,
    containerID,
    started: state.running !== undefined,
    ...allocatedTo(container),
  };
}

/** The resources of a container as kubelet reports them: those of the spec, because no node runs out of them. */
export function allocatedTo({ resources }: Container): Pick<ContainerStatusInput, 'allocatedResources' | 'resources'> {
  const { requests, limits } = resources ?? {};
  return {
    ...(requests === undefined ? {} : { allocatedResources: { ...requests } }),
    resources: {
      ...(limits === undefined ? {} : { limits: { ...limits } }),
      ...(requests === undefined ? {} : { requests: { ...requests } }),
    },
  };
}

export function containerIdOf({ metadata }: StoredPod, container: string, restarts: number): string {
  return `containerd://${digest(`${metadata.uid}/${container}/${restarts}`)}`;
}

export function statusNamed({ status }: StoredPod, name: string) {
  return status.containerStatuses?.find((each) => each.name === name);
}

export function terminated(exitCode: number, startedAt: string | null, finishedAt: string): ContainerStateInput {
  return { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt, finishedAt } };
}

/**
 * The conditions that kubelet manages, after those of other managers, which are kept. A condition whose status does not change
 * keeps its lastTransitionTime.
 */
export function podConditions(pod: StoredPod, readiness: PodReadiness, now: string): PodConditionInput[] {
  const { unready, ended } = readiness;
  const why = notReadyReason(readiness);
  const gates = unready.length === 0 && ended === undefined ? unmetGates(pod) : [];
  const own: PodConditionInput[] = [
    { type: 'PodReadyToStartContainers', status: truth(readiness.hasSandbox) },
    {
      type: 'Initialized',
      status: truth(readiness.isInitialized),
      ...(ended === 'Succeeded' ? { reason: 'PodCompleted' } : {}),
      ...(readiness.isInitialized ? {} : notInitialized(pod, readiness)),
    },
    {
      type: 'Ready',
      status: truth(why === undefined && gates.length === 0),
      ...(why ?? (gates.length === 0 ? {} : { reason: 'ReadinessGatesNotReady', message: gatesMessage(gates) })),
    },
    { type: 'ContainersReady', status: truth(why === undefined), ...why },
    { type: 'PodScheduled', status: 'True' },
  ];
  const types = new Set(own.map(({ type }) => type));
  const foreign = (pod.status.conditions ?? []).filter(({ type }) => !types.has(type));
  return [
    ...foreign.map((condition) => ({ ...condition })),
    ...own.map((condition) => {
      const before = podCondition(pod, condition.type);
      const since = before?.status === condition.status ? (before.lastTransitionTime ?? now) : now;
      const { type, status, ...why } = condition;
      // The key order is the wire order.
      return { type, status, lastProbeTime: null, lastTransitionTime: since, ...why };
    }),
  ];
}

/** Messages about readiness gates that are not met. */
export function unmetGates(pod: StoredPod): readonly string[] {
  return (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = podCondition(pod, conditionType);
    if (condition === undefined)
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    if (condition.status === 'True') return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
}

function gatesMessage(gates: readonly string[]): string {
  return gates.join(', ');
}

function notReadyReason({ unready, ended }: PodReadiness): { reason: string; message?: string } | undefined {
  if (ended === 'Succeeded') return { reason: 'PodCompleted' };
  if (ended === 'Failed') return { reason: 'PodFailed' };
  if (unready.length === 0) return undefined;
  return { reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` };
}

function notInitialized({ spec }: StoredPod, { incomplete }: PodReadiness): { reason: string; message: string } {
  const names = incomplete ?? (spec.initContainers ?? []).map(({ name }) => name);
  return { reason: 'ContainersNotInitialized', message: `containers with incomplete status: [${names.join(' ')}]` };
}

function placed({ podIP, hostIP }: PodAddressPair): Pick<PodStatusInput, 'hostIP' | 'hostIPs' | 'podIP' | 'podIPs'> {
  return { hostIP, hostIPs: [{ ip: hostIP }], podIP, podIPs: [{ ip: podIP }] };
}

function truth(value: boolean): 'True' | 'False' {
  return value ? 'True' : 'False';
}

/** The image name without tag and digest. */
function repositoryOf(image: string): string {
  const bare = image.split('@', 1)[0] ?? image;
  const colon = bare.lastIndexOf(':');
  return colon > bare.lastIndexOf('/') ? bare.slice(0, colon) : bare;
}

/** 64 digits derived from a text. They identify simulated objects and need no cryptographic strength. */
function digest(text: string): string {
  return hexDigitsFromText(text) + hexDigitsFromText(`${text} `);
}
