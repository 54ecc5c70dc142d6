/**
 * Simulates a scheduler and kubelet: pods get a node and an address and run, pods of Jobs complete, and deleted pods are
 * removed. Everything happens at once, with two writes per pod: a binding and a status update. Events are written besides.
 */

import { mergePatch, strategicPatch } from '../../client/patches.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { PodInput } from '../../kinds/generated/core-v1.js';
import { StatusError } from '../../meta/errors.js';
import { timeToMs } from '../../text/time/time.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { controllerOf } from '../runtime/owners.js';
import { isPodFinished, podCondition, type StoredPod } from '../workloads/pod-state.js';
import { debuggedPods } from './debugged-pods.js';
import { isOnStoppedNode, leaseStages, nodesAffectWaitingPods } from './node-leases.js';
import { readyNode } from './node-stages.js';
import { type Completion, completes } from './pod-ends.js';
import { failedSchedulingEvent, killingEvents, scheduledEvent, startEvents } from './pod-events.js';
import { endedStatus, podConditions, runningStatus, unmetGates } from './pod-parts.js';
import {
  isBound,
  KUBELET,
  livePods,
  nodesAffectUnscheduledPods,
  type PodSelection,
  placeOf,
  schedulerOf,
  selection,
} from './pod-selection.js';
import { resizedPods } from './resized-pods.js';
import { compileSelector, type Stage, type StageContext, stage } from './stage.js';

export interface ReadyPodsOptions extends PodSelection {
  /**
   * The node for pods in a cluster without nodes; `node-1` unless given. A ready Node with that name is created with the
   * first pod, if the cluster serves Nodes. `false`: pods wait for a node. In a cluster with nodes, pods are bound to ready
   * nodes that fit, and wait if there is none.
   */
  readonly nodeName?: string | false | undefined;
  /** How pods of Jobs complete; successfully and at once unless given. `false`: they keep running. */
  readonly jobs?: Omit<Completion, keyof PodSelection> | false | undefined;
  /**
   * How pods without controller complete if their restart policy is Never or OnFailure, for example those of `helm test`:
   * successfully after five seconds unless given. `false`: they keep running.
   */
  readonly bare?: Omit<Completion, keyof PodSelection> | false | undefined;
  /** `kept`: a deleted pod stays for its grace period. `prompt`: it is removed at once. `prompt` unless given. */
  readonly grace?: 'prompt' | 'kept' | undefined;
}

const OPTIONS = [
  'namespace',
  'labels',
  'nodeName',
  'jobs',
  'bare',
  'grace',
] as const satisfies readonly (keyof ReadyPodsOptions)[];

/**
 * Stages that make pods ready at once.
 *
 * @example
 * stages([...slowStart({ labels: { app: 'db' }, pullMs: 3_000 }), ...readyPods({ grace: 'kept' })]);
 */
export function readyPods(options: ReadyPodsOptions = {}): readonly Stage[] {
  refuseUnknownOptions('readyPods', options, OPTIONS);
  const { jobs = {}, bare = {} } = options;
  const belongsToJob = (pod: StoredPod) => controllerOf(pod)?.kind === 'Job';
  const isBare = (pod: StoredPod) => controllerOf(pod) === undefined && (bare === false || (bare.where?.(pod) ?? true));
  return [
    ...(options.grace === 'kept' ? [stoppedPods(options)] : []),
    removedPods(options),
    scheduledPods(options),
    startedPods(options),
    resizedPods(options),
    debuggedPods(options),
    gatedPods(options),
    ...(jobs === false ? [] : completes({ ...jobs, ...selection(options), where: belongsToJob })),
    ...(bare === false ? [] : completes({ afterMs: BARE_MS, ...bare, ...selection(options), where: isBare })),
    ...leaseStages,
  ];
}

/** Long enough that a client sees the pod run. */
const BARE_MS = 5_000;

/** Containers exit on SIGTERM (143); after the grace period they are killed with SIGKILL (137). */
const EXIT_CODES = { prompt: 143, kept: 137 };

/** Pods that kubelet has to stop. A grace period of 0 means that they are stopped; only finalizers keep the pod. */
function stoppable(options: PodSelection): (pod: StoredPod, context: StageContext) => boolean {
  const isSelected = compileSelector({ ...selection(options), deleting: true });
  return (pod, context) =>
    isSelected(pod) && pod.metadata.deletionGracePeriodSeconds !== 0 && !isOnStoppedNode(pod, context);
}

/** Records the beginning of the grace period. The containers run until its end. */
function stoppedPods(options: ReadyPodsOptions): Stage {
  return stage({
    name: 'stopped',
    kind: Pod,
    optional: true,
    fieldManager: KUBELET,
    when: stoppable(options),
    watches: [nodesAffectWaitingPods],
    event: (pod) => killingEvents(pod),
    next: 'removed',
  });
}

/** Removes deleted pods. They get their final status first, so that watchers see that they are no longer ready. */
export function removedPods({ grace = 'prompt', ...options }: ReadyPodsOptions = {}): Stage {
  if (grace !== 'prompt' && grace !== 'kept') {
    throw new TypeError(`orchplane: grace of pods is 'prompt' or 'kept', not ${JSON.stringify(grace)}`);
  }
  return stage({
    name: 'removed',
    kind: Pod,
    optional: true,
    fieldManager: KUBELET,
    when: stoppable(options),
    watches: [nodesAffectWaitingPods],
    after: ({ metadata }, { clock }) =>
      grace === 'kept' ? Math.max(0, timeToMs(metadata.deletionTimestamp ?? '') - clock.now()) : 0,
    set: (pod, { now }) => (isPodFinished(pod) ? undefined : { status: endedStatus(pod, EXIT_CODES[grace], now()) }),
    event: (pod) => (grace === 'kept' ? undefined : killingEvents(pod)),
    delete: true,
  });
}

/** Binds pods to nodes. If no node fits, the PodScheduled condition says why. */
export function scheduledPods({ nodeName = 'node-1', ...options }: ReadyPodsOptions = {}): Stage {
  const isSelected = compileSelector(selection(options));
  return stage({
    name: 'scheduled',
    kind: Pod,
    optional: true,
    fieldManager: 'kube-scheduler',
    watches: [nodesAffectUnscheduledPods],
    when: (pod) =>
      !isBound(pod) &&
      !isPodFinished(pod) &&
      (pod.spec.schedulingGates ?? []).length === 0 &&
      (pod.spec.schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
      isSelected(pod),
    run: (pod, context) => schedule(pod, context, nodeName),
  });
}

async function schedule(pod: StoredPod, context: StageContext, fallbackNode: string | false): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  const pods = context.client.api(Pod, namespace);
  const placed = schedulerOf(context).place(pod, fallbackNode);
  if ('nodeName' in placed) {
    if (placed.isMissing === true) await createNode(placed.nodeName, context);
    await pods
      .subresource('binding')
      .create(name, { metadata: { name, uid }, target: { kind: 'Node', name: placed.nodeName } });
    context.record(pod, scheduledEvent(pod, placed.nodeName));
    return;
  }
  const before = podCondition(pod, 'PodScheduled');
  if (before?.status === 'False' && before.message === placed.message) return;
  context.record(pod, failedSchedulingEvent(placed.message));
  const condition = {
    type: 'PodScheduled',
    status: 'False',
    lastProbeTime: null,
    lastTransitionTime: before?.status === 'False' ? (before.lastTransitionTime ?? context.now()) : context.now(),
    reason: 'Unschedulable',
    message: placed.message,
  } as const;
  await pods.status.patch(name, strategicPatch<PodInput>({ metadata: { uid }, status: { conditions: [condition] } }));
}

async function createNode(name: string, { client, dialect, now }: StageContext): Promise<void> {
  try {
    const nodes = client.with({ fieldManager: KUBELET }).api(Node);
    const { spec } = await nodes.create(readyNode(name, dialect, now()));
    // The server adds the not-ready taint to every new node.
    if (spec.taints !== undefined) await nodes.patch(name, mergePatch({ spec: { taints: null } }));
  } catch (error) {
    // Another pod created it concurrently.
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}

/** Starts pods that have a node. They become ready unless a readiness gate is not met. */
export function startedPods(options: PodSelection = {}): Stage {
  const isLive = livePods(selection(options));
  return stage({
    name: 'started',
    kind: Pod,
    optional: true,
    fieldManager: KUBELET,
    when: (pod, context) =>
      (pod.status.phase ?? 'Pending') === 'Pending' && isLive(pod) && !isOnStoppedNode(pod, context),
    watches: [nodesAffectWaitingPods],
    set: (pod, context) => ({ status: runningStatus(pod, placeOf(pod, context), context.now()) }),
    event: (pod) => startEvents(pod),
  });
}

/** Updates the Ready condition of pods when the conditions of their readiness gates change. */
export function gatedPods(options: PodSelection = {}): Stage {
  const isLive = livePods(selection(options));
  return stage({
    name: 'gated',
    kind: Pod,
    optional: true,
    fieldManager: KUBELET,
    when: (pod) =>
      (pod.spec.readinessGates ?? []).length > 0 &&
      podCondition(pod, 'ContainersReady')?.status === 'True' &&
      isLive(pod) &&
      isGateStale(pod),
    set: (pod, { now }) => ({
      status: { conditions: podConditions(pod, { hasSandbox: true, isInitialized: true, unready: [] }, now()) },
    }),
  });
}

function isGateStale(pod: StoredPod): boolean {
  const ready = podCondition(pod, 'Ready');
  const unmet = unmetGates(pod);
  return unmet.length === 0 ? ready?.status !== 'True' : ready?.message !== unmet.join(', ');
}
