/**
 * Collects pods that nobody will end: those of nodes that are gone, those that are to go but were never put anywhere, and
 * the oldest of those that have finished, when there are too many. There being nobody to say how they ended, they failed.
 */
import { strategicPatch } from '../client/patches.js';
import { Node } from '../kinds/core/v1/node/node.js';
import { Pod } from '../kinds/core/v1/pod/pod.js';
import { StatusError } from '../meta/errors.js';
import { timeToMs } from '../text/time/time.js';
import { refuseUnknownOptions } from '../util/options.js';
import { compareText } from '../util/order.js';
import type { Controller, ControllerContext } from './runtime/controller.js';
import { keyOf, type Lookup, type SharedInformer } from './runtime/shared-informer.js';
import type { Again, WorkQueue } from './runtime/work-queue.js';
import { isPodFinished, isTerminating, podCondition, type StoredPod } from './workloads/pod-state.js';

export interface PodCollectorOptions {
  /** How many finished pods are kept; 0: all of them. 12500 unless given. */
  readonly terminatedPods?: number | undefined;
  /** How long a pod may wait for its node to appear, or to come back, in milliseconds; 40 seconds unless given. */
  readonly missingNodeMs?: number | undefined;
  /**
   * How long a pod that is to go, and was never put on a node, is left to whoever holds it by a finalizer, in
   * milliseconds; 3 seconds unless given.
   */
  readonly unscheduledMs?: number | undefined;
}

const OPTIONS = [
  'terminatedPods',
  'missingNodeMs',
  'unscheduledMs',
] as const satisfies readonly (keyof PodCollectorOptions)[];

const TERMINATED_PODS = 12_500;
const MISSING_NODE_MS = 40_000;
/** The reference comes by every 20 seconds. That is soon for one pod and late for another; this is neither. */
const UNSCHEDULED_MS = 3_000;

/**
 * Collects pods that nobody else will.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([podCollector({ terminatedPods: 100 })]) });
 */
export function podCollector(options: PodCollectorOptions = {}): Controller {
  refuseUnknownOptions('podCollector', options, OPTIONS);
  return {
    name: 'pod-garbage-collector-controller',
    account: 'pod-garbage-collector',
    needs: [Pod, Node],
    start: (context) => new PodCollector(context, options).start(),
  };
}

/** The key of the look at finished pods; pods have a slash in theirs. */
const FINISHED = 'finished';

class PodCollector {
  readonly #context: ControllerContext;
  readonly #options: Required<{ [Key in keyof PodCollectorOptions]: number }>;
  readonly #pods: SharedInformer<typeof Pod>;
  readonly #nodes: SharedInformer<typeof Node>;
  readonly #podsOn: Lookup<StoredPod>;
  readonly #finished: Lookup<StoredPod>;
  readonly #queue: WorkQueue;
  /** Since when nodes are missing that pods are bound to. */
  readonly #missingSince = new Map<string, number>();

  constructor(context: ControllerContext, options: PodCollectorOptions) {
    const { terminatedPods = TERMINATED_PODS, missingNodeMs = MISSING_NODE_MS } = options;
    this.#context = context;
    this.#options = { terminatedPods, missingNodeMs, unscheduledMs: options.unscheduledMs ?? UNSCHEDULED_MS };
    this.#pods = context.informer(Pod);
    this.#nodes = context.informer(Node);
    this.#podsOn = this.#pods.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
    this.#finished = this.#pods.index(FINISHED, (pod) => (isPodFinished(pod) ? [FINISHED] : []));
    this.#queue = context.queue((key) => (key === FINISHED ? this.#thin() : this.#look(key)));
  }

  start(): void {
    this.#pods.onKey((key, { type, object }) => {
      if (type === 'DELETED') {
        const { nodeName = '' } = object.spec;
        if (this.#podsOn(nodeName).length === 0) this.#missingSince.delete(nodeName);
        return;
      }
      if (isTerminating(object) || this.#isNodeMissing(object)) this.#queue.add(key);
      if (isPodFinished(object) && this.#options.terminatedPods > 0) this.#queue.add(FINISHED);
    });
    this.#nodes.subscribe(({ type, object }) => {
      const { name } = object.metadata;
      if (type !== 'DELETED') this.#missingSince.delete(name);
      for (const pod of this.#podsOn(name)) {
        if (type === 'DELETED' || isTerminating(pod)) this.#queue.add(keyOf(pod));
      }
    });
  }

  async #look(key: string): Promise<Again | undefined> {
    const pod = this.#pods.at(key);
    if (pod === undefined) return undefined;
    const { nodeName = '' } = pod.spec;
    if (nodeName === '') return isTerminating(pod) ? this.#collectUnscheduled(pod) : undefined;
    if (this.#isNodeMissing(pod)) return this.#collectOrphan(pod, nodeName);
    if (isTerminating(pod) && this.#isOutOfService(nodeName)) await this.#collect(pod);
    return undefined;
  }

  async #collectUnscheduled(pod: StoredPod): Promise<Again | undefined> {
    const since =
      timeToMs(pod.metadata.deletionTimestamp ?? '') - (pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
    const waitMs = since + this.#options.unscheduledMs - this.#context.clock.now();
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    await this.#collect(pod);
    return undefined;
  }

  async #collectOrphan(pod: StoredPod, node: string): Promise<Again | undefined> {
    const now = this.#context.clock.now();
    const since = this.#missingSince.get(node) ?? now;
    this.#missingSince.set(node, since);
    const waitMs = since + this.#options.missingNodeMs - now;
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    // It may have come back without being known here.
    if ((await this.#context.client.api(Node).find(node)) !== undefined) return undefined;
    await this.#collect(pod, 'PodGC: node no longer exists');
    return undefined;
  }

  /** Deletes the oldest of the finished pods; those that were evicted first. */
  async #thin(): Promise<void> {
    const all = this.#finished(FINISHED);
    const excess = all.length - this.#options.terminatedPods;
    if (excess <= 0) return;
    const wasEvicted = ({ status }: StoredPod) => Number(status.phase === 'Failed' && status.reason === 'Evicted');
    const sorted = [...all].sort(
      (left, right) =>
        wasEvicted(right) - wasEvicted(left) ||
        compareText(left.metadata.creationTimestamp, right.metadata.creationTimestamp) ||
        compareText(left.metadata.name, right.metadata.name),
    );
    for (const pod of sorted.slice(0, excess)) await this.#collect(pod);
  }

  /** Marks the pod as failed, unless it has finished, and deletes it at once. */
  async #collect(pod: StoredPod, disruption?: string): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const api = this.#context.client.api(Pod, namespace);
    try {
      if (!isPodFinished(pod)) {
        const conditions = disruption === undefined ? {} : { conditions: [this.#disruptionTarget(pod, disruption)] };
        await api.status.patch(name, strategicPatch({ metadata: { uid }, status: { phase: 'Failed', ...conditions } }));
      }
      // A finalizer may hold one that has been told to go at once. It need not be told again.
      if (pod.metadata.deletionGracePeriodSeconds !== 0) await api.delete(name, { gracePeriodSeconds: 0 });
    } catch (error) {
      // Gone meanwhile, or another has its name.
      if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Conflict')) throw error;
    }
  }

  #disruptionTarget(pod: StoredPod, message: string) {
    const before = podCondition(pod, 'DisruptionTarget');
    return {
      type: 'DisruptionTarget',
      status: 'True' as const,
      reason: 'DeletionByPodGC',
      message,
      lastTransitionTime: (before?.status === 'True' ? before.lastTransitionTime : undefined) ?? this.#context.now(),
    };
  }

  #isNodeMissing({ spec }: StoredPod): boolean {
    return spec.nodeName !== undefined && spec.nodeName !== '' && this.#nodes.get(spec.nodeName) === undefined;
  }

  /** Somebody vouches that nothing runs there any more. */
  #isOutOfService(name: string): boolean {
    const node = this.#nodes.get(name);
    if (
      node === undefined ||
      node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    ) {
      return false;
    }
    const key = this.#context.dialect.subkey('node', 'out-of-service');
    return node.spec.taints?.some((taint) => taint.key === key) ?? false;
  }
}
