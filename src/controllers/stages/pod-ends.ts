/**
 * Stages that simulate what can happen to pods besides becoming ready: slow start, completion, crash loops and eviction. Put
 * them before `readyPods()`, each with a selection of pods.
 */
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ContainerStatusInput, PodStatusInput } from '../../kinds/generated/core-v1.js';
import { timeToMs } from '../../text/time/time.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { podCondition, restartsOf, type StoredPod } from '../workloads/pod-state.js';
import {
  containerEvent,
  containerStartEvents,
  killingEvents,
  kubeletEvent,
  pullingEvents,
  startEvents,
} from './pod-events.js';
import {
  containerIdOf,
  containerStatus,
  creatingStatus,
  endedStatus,
  podConditions,
  runningStatus,
  statusNamed,
} from './pod-parts.js';
import { KUBELET, livePods, type PodSelection, placeOf } from './pod-selection.js';
import { type Delay, type Stage, type StageEvent, type StageRule, stage } from './stage.js';

const SELECTION = ['namespace', 'labels'] as const;

/** Annotations of a pod: the exit code of its containers and their run time. They override the stage's options. */
const EXIT_CODE = 'orchplane/exit-code';
const RUN_MS = 'orchplane/run-ms';

export interface SlowStart extends PodSelection {
  /** How long image pulls take; 0 unless given. */
  readonly pullMs?: Delay | undefined;
  /** How long a running container is not ready; 0 unless given. `Infinity`: forever. */
  readonly startMs?: Delay | undefined;
}

/**
 * Pods that start slowly: containers are created, then run, then become ready.
 *
 * @example
 * stages([...slowStart({ labels: { app: 'db' }, pullMs: { min: 1_000, max: 3_000 }, startMs: 500 }), ...readyPods()]);
 */
export function slowStart(options: SlowStart = {}): readonly Stage[] {
  refuseUnknownOptions('slowStart', options, [...SELECTION, 'pullMs', 'startMs']);
  const { pullMs = 0, startMs = 0 } = options;
  const isLive = livePods(options);
  const isPending = (pod: StoredPod) => (pod.status.phase ?? 'Pending') === 'Pending' && isLive(pod);
  const isReadyAtOnce = startMs === 0;
  const isPresent = pullMs === 0;
  return [
    podStage({
      name: 'creating',
      when: (pod) => isPending(pod) && pod.status.containerStatuses === undefined,
      set: (pod, context) => ({ status: creatingStatus(pod, placeOf(pod, context), context.now()) }),
      event: (pod) => (isPresent ? undefined : pullingEvents(pod)),
    }),
    podStage({
      name: 'running',
      when: isPending,
      after: pullMs,
      set: (pod, context) => ({ status: runningStatus(pod, placeOf(pod, context), context.now(), isReadyAtOnce) }),
      event: (pod, { clock }) => {
        const { startTime } = pod.status;
        const tookMs = startTime == null ? 0 : clock.now() - timeToMs(startTime);
        return startEvents(pod, isPresent ? {} : { tookMs });
      },
    }),
    podStage({
      name: 'ready',
      when: (pod) => isLive(pod) && pod.status.phase === 'Running' && isStarting(pod),
      after: startMs,
      set: (pod, { now }) => ({
        status: {
          conditions: podConditions(pod, { hasSandbox: true, isInitialized: true, unready: [] }, now()),
          containerStatuses: (pod.status.containerStatuses ?? []).map((status) => ({ ...status, ready: true })),
        },
      }),
    }),
  ];
}

/** Whether all containers run for the first time and at least one is not ready. */
function isStarting({ status }: StoredPod): boolean {
  const all = status.containerStatuses ?? [];
  return (
    all.some(({ ready }) => !ready) &&
    all.every(({ state, restartCount }) => state.running !== undefined && restartCount === 0)
  );
}

export interface Completion extends PodSelection {
  /** How long containers run; 0 unless given. The pod's annotation `orchplane/run-ms` overrides it. */
  readonly afterMs?: Delay | undefined;
  /** The exit code; 0 unless given. The pod's annotation `orchplane/exit-code` overrides it. */
  readonly exitCode?: number | ((pod: StoredPod) => number) | undefined;
  /** Applies only to pods for which this returns true. */
  readonly where?: ((pod: StoredPod) => boolean) | undefined;
}

/**
 * Pods whose containers exit, so that the pod succeeds or fails. With restart policy OnFailure, failed containers are
 * restarted; pods with restart policy Always are not affected.
 *
 * @example
 * stages([...completes({ labels: { 'job-name': 'flaky' }, afterMs: 5_000, exitCode: 3 }), ...readyPods()]);
 */
export function completes(options: Completion = {}): readonly Stage[] {
  refuseUnknownOptions('completes', options, [...SELECTION, 'afterMs', 'exitCode', 'where']);
  const { afterMs = 0, exitCode = 0, where = () => true } = options;
  const isLive = livePods(options);
  const isAffected = (pod: StoredPod) => (pod.spec.restartPolicy ?? 'Always') !== 'Always' && isLive(pod) && where(pod);
  const codeOf = (pod: StoredPod) =>
    numberAt(pod, EXIT_CODE) ?? (typeof exitCode === 'function' ? exitCode(pod) : exitCode);
  return [
    podStage({
      name: 'completed',
      when: (pod) => isAffected(pod) && isRunning(pod),
      after: (pod) => numberAt(pod, RUN_MS) ?? afterMs,
      set: (pod, { now }) => ({
        status: afterExit(pod, { exitCode: codeOf(pod), restarts: restartsOf(pod) }, now()),
      }),
    }),
    restarts(isAffected),
  ];
}

export interface CrashLoop extends PodSelection {
  /** How long containers run and are ready before they crash. 0, the default: they never become ready. */
  readonly afterMs?: Delay | undefined;
  /** The exit code; 1 unless given. */
  readonly exitCode?: number | undefined;
  /** The number of crashes, after which containers keep running; unlimited unless given. */
  readonly times?: number | undefined;
}

/**
 * Pods whose containers crash repeatedly. The first restart is immediate, later ones are delayed by a back-off that doubles
 * from 10 s to 5 min.
 *
 * @example
 * stages([...crashLoop({ labels: { app: 'bad' }, afterMs: 1_000, times: 3 }), ...readyPods()]);
 */
export function crashLoop(options: CrashLoop = {}): readonly Stage[] {
  refuseUnknownOptions('crashLoop', options, [...SELECTION, 'afterMs', 'exitCode', 'times']);
  const { afterMs = 0, exitCode = 1, times = Infinity } = options;
  if (exitCode === 0) throw new TypeError('orchplane: crashLoop: a crash has an exit code other than 0');
  const isLive = livePods(options);
  const crashes = (pod: StoredPod, restarts: number) => isLive(pod) && restarts < times;
  // The immediate first restart has no BackOff event.
  const backOff = (pod: StoredPod) => (willWait(pod) ? backOffEvents(pod) : []);
  const atOnce = [
    podStage({
      name: 'crashed at once',
      when: (pod) => (pod.status.phase ?? 'Pending') === 'Pending' && crashes(pod, 0),
      set: (pod, context) => {
        const started = runningStatus(pod, placeOf(pod, context), context.now(), false);
        return { status: { ...started, ...afterExit(pod, { exitCode, restarts: 0 }, context.now()) } };
      },
      event: (pod) => startEvents(pod),
    }),
    podStage({
      name: 'crashed again',
      when: (pod) => isToRestart(pod) && crashes(pod, restartsOf(pod) + 1),
      after: (pod) => backOffMs(restartsOf(pod)),
      set: (pod, { now }) => ({ status: afterExit(pod, { exitCode, restarts: restartsOf(pod) + 1 }, now()) }),
      event: (pod) => [...restartEvents(pod), ...backOff(pod)],
    }),
  ];
  return [
    ...(afterMs === 0 ? atOnce : []),
    podStage({
      name: 'crashed',
      when: (pod) => isRunning(pod) && crashes(pod, restartsOf(pod)),
      after: afterMs,
      set: (pod, { now }) => ({ status: afterExit(pod, { exitCode, restarts: restartsOf(pod) }, now()) }),
      event: backOff,
    }),
    restarts(isLive),
  ];
}

export interface Evicted extends PodSelection {
  readonly afterMs?: Delay | undefined;
  /** The message in the pod's status. */
  readonly message?: string | undefined;
}

/**
 * Pods that their node evicts: they fail with the reason Evicted.
 *
 * @example
 * stages([...evicted({ labels: { tier: 'batch' }, afterMs: 60_000 }), ...readyPods()]);
 */
export function evicted(options: Evicted = {}): readonly Stage[] {
  refuseUnknownOptions('evicted', options, [...SELECTION, 'afterMs', 'message']);
  const { afterMs = 0, message = 'The node was low on resource: memory.' } = options;
  const isLive = livePods(options);
  return [
    podStage({
      name: 'evicted',
      when: (pod) => isLive(pod) && isRunning(pod),
      after: afterMs,
      set: (pod, { now }) => ({ status: evictedStatus(pod, message, now()) }),
      event: (pod) => [kubeletEvent(pod, { type: 'Warning', reason: 'Evicted', message }), ...killingEvents(pod)],
    }),
  ];
}

function podStage(rule: Omit<StageRule<typeof Pod>, 'kind'>): Stage {
  return stage({ kind: Pod, optional: true, fieldManager: KUBELET, ...rule });
}

function restarts(isAffected: (pod: StoredPod) => boolean): Stage {
  return podStage({
    name: 'restarted',
    when: (pod) => isAffected(pod) && isToRestart(pod),
    after: (pod) => backOffMs(restartsOf(pod)),
    set: (pod, { now }) => ({
      status: {
        phase: 'Running',
        conditions: podConditions(pod, { hasSandbox: true, isInitialized: true, unready: [] }, now()),
        containerStatuses: pod.spec.containers.map((container) => {
          const before = statusNamed(pod, container.name);
          if (before?.state.running !== undefined) return { ...before };
          const running = { state: { running: { startedAt: now() } }, isReady: true };
          const status = containerStatus(pod, container, { ...running, restarts: (before?.restartCount ?? 0) + 1 });
          const { terminated } = before?.state ?? {};
          return { ...status, lastState: terminated === undefined ? { ...before?.lastState } : { terminated } };
        }),
      },
    }),
    event: restartEvents,
  });
}

/** The Events of the containers that are restarted: those that do not run. */
function restartEvents(pod: StoredPod): readonly StageEvent[] {
  return pod.spec.containers
    .filter(({ name }) => statusNamed(pod, name)?.state.running === undefined)
    .flatMap((container) => containerStartEvents(pod, container));
}

/** The exit of all containers and their restart count before it. */
interface Exit {
  readonly exitCode: number;
  readonly restarts: number;
}

/** The status after all containers have exited: final, or waiting for the restart according to the restart policy. */
function afterExit(pod: StoredPod, { exitCode, restarts: restartCount }: Exit, now: string): PodStatusInput {
  const policy = pod.spec.restartPolicy ?? 'Always';
  if (policy === 'Never' || (policy === 'OnFailure' && exitCode === 0)) return endedStatus(pod, exitCode, now);
  const unready = pod.spec.containers.map(({ name }) => name);
  return {
    phase: 'Running',
    conditions: podConditions(pod, { hasSandbox: true, isInitialized: true, unready }, now),
    containerStatuses: pod.spec.containers.map((container): ContainerStatusInput => {
      const startedAt = statusNamed(pod, container.name)?.state.running?.startedAt ?? now;
      const containerID = containerIdOf(pod, container.name, restartCount);
      const reason = exitCode === 0 ? 'Completed' : 'Error';
      const terminated = { exitCode, reason, startedAt, finishedAt: now, containerID };
      const facts = { isReady: false, restarts: restartCount };
      if (restartCount === 0) return containerStatus(pod, container, { state: { terminated }, ...facts });
      const waiting = { reason: 'CrashLoopBackOff', message: backOffMessage(pod, container.name, restartCount) };
      return { ...containerStatus(pod, container, { state: { waiting }, ...facts }), lastState: { terminated } };
    }),
  };
}

function evictedStatus(pod: StoredPod, message: string, now: string): PodStatusInput {
  const status = endedStatus(pod, 137, now);
  const disruption = {
    type: 'DisruptionTarget',
    status: 'True',
    lastProbeTime: null,
    lastTransitionTime: now,
    reason: 'TerminationByKubelet',
    message,
  } as const;
  const others = (status.conditions ?? []).filter(({ type }) => type !== disruption.type);
  return { ...status, reason: 'Evicted', message, conditions: [disruption, ...others] };
}

function isRunning(pod: StoredPod): boolean {
  const all = pod.status.containerStatuses ?? [];
  return (
    pod.status.phase === 'Running' &&
    podCondition(pod, 'ContainersReady')?.status === 'True' &&
    all.every(({ state }) => state.running !== undefined)
  );
}

function isToRestart({ status }: StoredPod): boolean {
  if (status.phase !== 'Running') return false;
  const all = status.containerStatuses ?? [];
  return all.some(({ state }) => state.terminated !== undefined || state.waiting?.reason === 'CrashLoopBackOff');
}

/** Whether the restart after a crash is delayed: only the first one is immediate. */
function willWait(pod: StoredPod): boolean {
  return isToRestart(pod) || restartsOf(pod) > 0;
}

function backOffMs(restarts: number): number {
  return restarts === 0 ? 0 : Math.min(300_000, 10_000 * 2 ** (restarts - 1));
}

/** Formats the back-off as kubelet does: 10s, 2m40s. */
function backOffText(restarts: number): string {
  const seconds = backOffMs(restarts) / 1_000;
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m${seconds % 60}s`;
}

function backOffMessage({ metadata }: StoredPod, container: string, restarts: number): string {
  const pod = `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
  return `back-off ${backOffText(restarts)} restarting failed container=${container} pod=${pod}`;
}

function backOffEvents(pod: StoredPod): readonly StageEvent[] {
  const { name, namespace, uid } = pod.metadata;
  return pod.spec.containers.map((container) => {
    const message = `Back-off restarting failed container ${container.name} in pod ${name}_${namespace}(${uid})`;
    return containerEvent(pod, container.name, { type: 'Warning', reason: 'BackOff', message });
  });
}

function numberAt({ metadata }: StoredPod, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}
