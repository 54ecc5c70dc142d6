/**
 * Garbage-collects pods: orphaned pods of deleted nodes, terminating pods that were never scheduled, terminating pods on
 * out-of-service nodes, and the oldest finished pods above a limit. Pods that have not finished are marked as Failed.
 */
import { strategicPatch } from '../client/patches.js';
import { Node } from '../kinds/core/v1/node/node.js';
import { Pod } from '../kinds/core/v1/pod/pod.js';
import { StatusError } from '../meta/errors.js';
import { timeToMs } from '../text/time/time.js';
import { withoutUndefined } from '../util/json.js';
import { refuseUnknownOptions } from '../util/options.js';
import { compareText } from '../util/order.js';
import { type Controller, ControllerPart } from './runtime/controller.js';
import { keyOf } from './runtime/shared-informer.js';
import type { ReconcileResult } from './runtime/work-queue.js';
import { isPodFinished, isTerminating, podCondition, type StoredPod } from './workloads/pod-state.js';

export interface PodCollectorOptions {
  /** How many finished pods are kept; 0: all of them. 12500 unless given. */
  readonly terminatedPods?: number | undefined;
  /**
   * How long a pod is kept after its creation and after its node disappeared or while the node has not appeared, in
   * milliseconds; 40 seconds unless given.
   */
  readonly missingNodeMs?: number | undefined;
  /**
   * How long a terminating pod that was never scheduled is left to the holders of its finalizers, in milliseconds; 3 seconds
   * unless given.
   */
  readonly unscheduledMs?: number | undefined;
}

const DEFAULTS = {
  terminatedPods: 12_500,
  missingNodeMs: 40_000,
  /**
   * The reference server runs every 20 seconds, so the delay varies from 0 to 20 s; this is a fixed value in between.
   * upstream: pkg/controller/podgc/gc_controller.go gcCheckPeriod
   */
  unscheduledMs: 3_000,
} as const satisfies Required<PodCollectorOptions>;

/**
 * Deletes orphaned, unscheduled terminating and excess finished pods.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([podCollector({ terminatedPods: 100 })]) });
 */
export function podCollector(options: PodCollectorOptions = {}): Controller {
  refuseUnknownOptions('podCollector', options, Object.keys(DEFAULTS));
  return {
    name: 'pod-garbage-collector-controller',
    account: 'pod-garbage-collector',
    needs: [Pod, Node],
    start: (context) => new PodCollector(context, { ...DEFAULTS, ...withoutUndefined(options) }).start(),
  };
}

/** The queue key for the check of finished pods; keys of pods contain a slash. */
const FINISHED = 'finished';

class PodCollector extends ControllerPart<Readonly<Record<keyof PodCollectorOptions, number>>> {
  readonly #pods = this.context.informer(Pod);
  readonly #nodes = this.context.informer(Node);
  readonly #podsOn = this.#pods.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  readonly #finished = this.#pods.index(FINISHED, (pod) => (isPodFinished(pod) ? [FINISHED] : []));
  readonly #queue = this.context.queue((key) => (key === FINISHED ? this.#deleteExcess() : this.#reconcilePod(key)));
  /** Since when a node that pods are bound to is missing. */
  readonly #missingSince = new Map<string, number>();

  start(): void {
    this.#pods.onKey((key, { type, object }) => {
      if (type === 'DELETED') {
        const { nodeName = '' } = object.spec;
        if (this.#podsOn(nodeName).length === 0) this.#missingSince.delete(nodeName);
        return;
      }
      if (isTerminating(object) || this.#isNodeMissing(object)) this.#queue.add(key);
      if (isPodFinished(object) && this.options.terminatedPods > 0) this.#queue.add(FINISHED);
    });
    this.#nodes.subscribe(({ type, object }) => {
      const { name } = object.metadata;
      if (type !== 'DELETED') this.#missingSince.delete(name);
      for (const pod of this.#podsOn(name)) {
        if (type === 'DELETED' || isTerminating(pod)) this.#queue.add(keyOf(pod));
      }
    });
  }

  async #reconcilePod(key: string): Promise<ReconcileResult | undefined> {
    const pod = this.#pods.at(key);
    if (pod === undefined) return undefined;
    const { nodeName = '' } = pod.spec;
    if (nodeName === '') return isTerminating(pod) ? this.#collectUnscheduled(pod) : undefined;
    if (this.#isNodeMissing(pod)) return this.#collectOrphan(pod, nodeName);
    if (isTerminating(pod) && this.#isOutOfService(nodeName)) await this.#collect(pod);
    return undefined;
  }

  async #collectUnscheduled(pod: StoredPod): Promise<ReconcileResult | undefined> {
    const since =
      timeToMs(pod.metadata.deletionTimestamp ?? '') - Number(pod.metadata.deletionGracePeriodSeconds ?? 0) * 1_000;
    const waitMs = since + this.options.unscheduledMs - this.context.clock.now();
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    await this.#collect(pod);
    return undefined;
  }

  async #collectOrphan(pod: StoredPod, node: string): Promise<ReconcileResult | undefined> {
    const now = this.context.clock.now();
    const missingSince = this.#missingSince.get(node) ?? now;
    this.#missingSince.set(node, missingSince);
    // Its owner replaces a collected pod at once, possibly on the same node. In the reference server a replacement waits as long,
    // because the wait for a node begins again with each collection.
    // upstream: pkg/controller/podgc/gc_controller.go PodGCController.gcOrphaned
    const since = Math.max(missingSince, timeToMs(pod.metadata.creationTimestamp));
    const waitMs = since + this.options.missingNodeMs - now;
    if (waitMs > 0) return { requeueAfterMs: waitMs };
    // The informer may be behind: ask the server whether the node exists.
    if ((await this.context.client.api(Node).find(node)) !== undefined) return undefined;
    await this.#collect(pod, 'PodGC: node no longer exists');
    return undefined;
  }

  /** Deletes the oldest finished pods above the limit; evicted pods first. */
  async #deleteExcess(): Promise<void> {
    const all = this.#finished(FINISHED);
    const excess = all.length - this.options.terminatedPods;
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

  /** Marks the pod as Failed unless it has finished, and deletes it without grace period. */
  async #collect(pod: StoredPod, disruption?: string): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    const api = this.context.client.api(Pod, namespace);
    try {
      if (!isPodFinished(pod)) {
        const conditions = disruption === undefined ? {} : { conditions: [this.#disruptionTarget(pod, disruption)] };
        await api.status.patch(name, strategicPatch({ metadata: { uid }, status: { phase: 'Failed', ...conditions } }));
      }
      // A pod that already terminates with grace period 0 is held by a finalizer only.
      if (pod.metadata.deletionGracePeriodSeconds !== 0) await api.delete(name, { gracePeriodSeconds: 0 });
    } catch (error) {
      // The pod was deleted meanwhile, or another pod has its name.
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
      lastTransitionTime: (before?.status === 'True' ? before.lastTransitionTime : undefined) ?? this.context.now(),
    };
  }

  #isNodeMissing({ spec }: StoredPod): boolean {
    return spec.nodeName !== undefined && spec.nodeName !== '' && this.#nodes.get(spec.nodeName) === undefined;
  }

  /** Whether the node is not ready and has the out-of-service taint. */
  #isOutOfService(name: string): boolean {
    const node = this.#nodes.get(name);
    if (
      node === undefined ||
      node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')
    ) {
      return false;
    }
    const key = this.context.dialect.subkey('node', 'out-of-service');
    return node.spec.taints?.some((taint) => taint.key === key) ?? false;
  }
}
