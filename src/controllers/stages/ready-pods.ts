/**
 * In place of a scheduler and a kubelet: pods get a node and an address and run, pods of Jobs come to their end, and pods
 * that are deleted go. All of it at once, in as few writes as there can be: a binding and a status.
 */
import { mergePatch, strategicPatch } from '../../client/patches.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod, type PodInput } from '../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../meta/errors.js';
import { timeToMs } from '../../text/time/time.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { controllerOf } from '../runtime/owners.js';
import { isPodFinished, podCondition, type StoredPod } from '../workloads/pod-state.js';
import { readyNode } from './node-stages.js';
import { type Completion, completes } from './pod-ends.js';
import { endedStatus, podConditions, runningStatus, unmetGates } from './pod-parts.js';
import {
  isBound,
  KUBELET,
  livePods,
  nodesConcernPods,
  type PodSelection,
  placeOf,
  schedulerOf,
} from './pod-selection.js';
import { compileSelector } from './selector.js';
import { type Stage, type StageContext, stage } from './stage.js';

export interface ReadyPodsOptions extends PodSelection {
  /**
   * Where pods go in a cluster that has no node at all; `node-1` unless given. A ready Node of that name is made with the
   * first pod that needs it, where the cluster serves Nodes. `false`: pods wait until there is a node. Where there are
   * nodes, pods go to those that are ready and that they fit, and wait if there is none.
   */
  readonly nodeName?: string | false | undefined;
  /** How pods of Jobs end; with success and at once unless given. `false`: they run on. */
  readonly jobs?: Omit<Completion, keyof PodSelection> | false | undefined;
  /** `kept`: a pod that is deleted stays for its grace period. `prompt`: it goes at once. `prompt` unless given. */
  readonly grace?: 'prompt' | 'kept' | undefined;
}

const OPTIONS = [
  'namespace',
  'labels',
  'nodeName',
  'jobs',
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
  const { jobs = {} } = options;
  const isJobs = (pod: StoredPod) => controllerOf(pod)?.kind === 'Job';
  return [
    removedPods(options),
    scheduledPods(options),
    startedPods(options),
    gatedPods(options),
    ...(jobs === false ? [] : completes({ ...jobs, ...selection(options), where: isJobs })),
  ];
}

/** A container that is told to end (SIGTERM) does so; one that is still there after the grace period is killed (SIGKILL). */
const EXIT_CODES = { prompt: 143, kept: 137 };

/**
 * Deleted pods go. Those that take their time, or that something holds, come to their end first, so that whoever waits
 * for them sees it; of one that goes at once nobody would see more than that it has gone.
 */
export function removedPods({ grace = 'prompt', ...options }: ReadyPodsOptions = {}): Stage {
  if (grace !== 'prompt' && grace !== 'kept') {
    throw new TypeError(`orchplane: grace of pods is 'prompt' or 'kept', not ${JSON.stringify(grace)}`);
  }
  const isSelected = compileSelector({ ...selection(options), deleting: true });
  return stage({
    name: 'removed',
    kind: Pod,
    optional: true,
    fieldManager: KUBELET,
    // A grace period of 0 says that this has been done: what remains is up to finalizers.
    when: (pod) => isSelected(pod) && pod.metadata.deletionGracePeriodSeconds !== 0,
    after: ({ metadata }, { clock }) =>
      grace === 'kept' ? Math.max(0, timeToMs(metadata.deletionTimestamp ?? '') - clock.now()) : 0,
    set: (pod, { now }) =>
      isPodFinished(pod) || (grace === 'prompt' && (pod.metadata.finalizers ?? []).length === 0)
        ? undefined
        : { status: endedStatus(pod, EXIT_CODES[grace], now()) },
    delete: true,
  });
}

/** Pods without a node get one; where none fits, a condition says why. */
export function scheduledPods({ nodeName = 'node-1', ...options }: ReadyPodsOptions = {}): Stage {
  const isSelected = compileSelector(selection(options));
  return stage({
    name: 'scheduled',
    kind: Pod,
    optional: true,
    fieldManager: 'kube-scheduler',
    watches: [nodesConcernPods],
    when: (pod) =>
      !isBound(pod) &&
      !isPodFinished(pod) &&
      (pod.spec.schedulingGates ?? []).length === 0 &&
      (pod.spec.schedulerName ?? 'default-scheduler') === 'default-scheduler' &&
      isSelected(pod),
    run: (pod, context) => schedule(pod, context, nodeName),
  });
}

async function schedule(pod: StoredPod, context: StageContext, elsewhere: string | false): Promise<void> {
  const { name, namespace, uid } = pod.metadata;
  const pods = context.client.api(Pod, namespace);
  const placed = schedulerOf(context).place(pod, elsewhere);
  if ('nodeName' in placed) {
    if (placed.isMissing === true) await makeNode(placed.nodeName, context);
    await pods
      .subresource('binding')
      .create(name, { metadata: { name, uid }, target: { kind: 'Node', name: placed.nodeName } });
    return;
  }
  const before = podCondition(pod, 'PodScheduled');
  if (before?.status === 'False' && before.message === placed.message) return;
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

async function makeNode(name: string, { client, dialect, now }: StageContext): Promise<void> {
  try {
    const nodes = client.with({ fieldManager: KUBELET }).api(Node);
    const { spec } = await nodes.create(readyNode(name, dialect, now()));
    // The server marks every new node as not ready, whatever it says of itself.
    if (spec.taints !== undefined) await nodes.patch(name, mergePatch({ spec: { taints: null } }));
  } catch (error) {
    // Another pod needed it in the same moment.
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}

/** Pods on a node run, and are ready unless a gate keeps them. */
export function startedPods(options: PodSelection = {}): Stage {
  const isLive = livePods(selection(options));
  return stage({
    name: 'started',
    kind: Pod,
    optional: true,
    fieldManager: KUBELET,
    when: (pod) => (pod.status.phase ?? 'Pending') === 'Pending' && isLive(pod),
    set: (pod, context) => ({ status: runningStatus(pod, placeOf(pod, context), context.now()) }),
  });
}

/** Pods become ready when their gates open, and cease to be when one closes. */
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

function selection({ namespace, labels }: PodSelection): PodSelection {
  return { namespace, labels };
}
