/**
 * Evicts pods from nodes with NoExecute taints that they do not tolerate, or no longer tolerate.
 */

import { strategicPatch } from '../../client/patches.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Taint } from '../../kinds/shared/taints.js';
import { StatusError } from '../../meta/errors.js';
import { deepEqual } from '../../util/json.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import { OwnerBackoff } from '../runtime/owner-backoff.js';
import { keyOf, splitKey } from '../runtime/shared-informer.js';
import type { WorkQueue } from '../runtime/work-queue.js';
import { podCondition, type StoredPod } from '../workloads/pod-state.js';
import { matchingTolerations } from './node-taints.js';

/**
 * Deletes pods that do not tolerate the NoExecute taints of their node, after `tolerationSeconds` if a toleration has one.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([nodeLifecycle(), taintEviction()]) });
 */
export function taintEviction(): Controller {
  return {
    name: 'taint-eviction-controller',
    account: 'node-controller',
    needs: [Node, Pod],
    start: (context) => new TaintEviction(context).start(),
  };
}

const NO_TAINTS: readonly Taint[] = Object.freeze([]);

class TaintEviction extends ControllerPart {
  readonly #nodes = this.context.informer(Node);
  readonly #pods = this.context.informer(Pod);
  readonly #podsOn = this.#pods.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  /** Pods whose eviction waits for its time. */
  readonly #scheduled = new Set<string>();
  readonly #backoff = new OwnerBackoff();
  readonly #nodeQueue = this.context.queue((name) => this.#reconcileNode(name), { name: 'nodes' });
  readonly #podQueue = this.context.queue((key) => this.#reconcilePod(key), { name: 'pods' });
  readonly #evictions: WorkQueue = this.context.queue((key) => this.#evict(key), { name: 'evictions', workers: 8 });

  start(): void {
    this.#nodes.subscribe((event) => {
      const { type, object } = event;
      if (type === 'DELETED') return;
      const before = type === 'MODIFIED' ? executionTaintsOf(event.previous.spec.taints) : NO_TAINTS;
      if (!deepEqual(before, executionTaintsOf(object.spec.taints))) this.#nodeQueue.add(object.metadata.name);
    });
    this.#pods.onKey((key, event) => {
      const { type, object } = event;
      if (
        type === 'MODIFIED' &&
        event.previous.spec.nodeName === object.spec.nodeName &&
        deepEqual(event.previous.spec.tolerations, object.spec.tolerations)
      ) {
        return;
      }
      // Most pods are not affected, so they are not queued.
      if (this.#scheduled.has(key) || this.#taintsFor(object).length > 0) this.#podQueue.add(key);
    });
  }

  async #reconcileNode(name: string): Promise<void> {
    const node = this.#nodes.get(name);
    // The pods of a deleted node are left to the pod garbage collector.
    if (node === undefined) return;
    const taints = executionTaintsOf(node.spec.taints);
    for (const pod of this.#podsOn(name)) this.#schedule(pod, taints);
  }

  async #reconcilePod(key: string): Promise<void> {
    const pod = this.#pods.at(key);
    if (pod === undefined) {
      this.#cancel(key);
      return;
    }
    const taints = this.#taintsFor(pod);
    if (taints.length > 0) this.#schedule(pod, taints, true);
  }

  #taintsFor({ spec }: StoredPod): readonly Taint[] {
    return executionTaintsOf(this.#nodes.get(spec.nodeName ?? '')?.spec.taints);
  }

  /** Evicts the pod now or later, or cancels its eviction. `isNew`: the pod came to the taints, not the taints to the pod. */
  #schedule(pod: StoredPod, taints: readonly Taint[], isNew = false): void {
    const key = keyOf(pod);
    const used = matchingTolerations(taints, pod.spec.tolerations ?? []);
    // Seconds above 2^53 are bigints.
    const limits =
      used === undefined ? [0] : used.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []).map(Number);
    if (limits.length === 0) {
      this.#cancel(key);
      return;
    }
    // A scheduled eviction keeps its time, even if taints or tolerations have changed since.
    if (this.#scheduled.has(key) && (isNew || used !== undefined)) return;
    this.#cancel(key);
    const minMs = isNew ? this.#backoff.waitMs(pod, this.context.clock.now()) : 0;
    const waitMs = Math.max(minMs, Math.min(...limits) * 1_000);
    if (waitMs > 0) this.#scheduled.add(key);
    this.#evictions.addAfter(key, waitMs);
  }

  #cancel(key: string): void {
    if (!this.#scheduled.delete(key)) return;
    this.#evictions.cancelDelay(key);
    this.#record(key, `Cancelling deletion of Pod ${key}`);
  }

  async #evict(key: string): Promise<void> {
    this.#scheduled.delete(key);
    this.#record(key, `Marking for deletion Pod ${key}`);
    const { name, namespace } = splitKey(key);
    const pods = this.context.client.api(Pod, namespace);
    try {
      const pod = await pods.get(name);
      const { uid } = pod.metadata;
      const condition = disruptionTarget(pod, this.context.now());
      if (!deepEqual(podCondition(pod, 'DisruptionTarget'), condition)) {
        await pods.status.patch(name, strategicPatch({ metadata: { uid }, status: { conditions: [condition] } }));
      }
      await pods.delete(name);
    } catch (error) {
      if (!StatusError.is(error, 'NotFound')) throw error;
    }
  }

  /** Events refer to pods by name only. */
  #record(key: string, message: string): void {
    const { name, namespace = '' } = splitKey(key);
    const metadata = { name, namespace, uid: '', resourceVersion: '', creationTimestamp: '' };
    this.context.events.record({ apiVersion: 'v1', kind: 'Pod', metadata }, 'Normal', 'TaintManagerEviction', message);
  }
}

function executionTaintsOf(taints: readonly Taint[] | undefined): readonly Taint[] {
  return taints?.filter(({ effect }) => effect === 'NoExecute') ?? NO_TAINTS;
}

function disruptionTarget(pod: StoredPod, now: string) {
  const before = podCondition(pod, 'DisruptionTarget');
  return {
    lastProbeTime: null,
    ...before,
    type: 'DisruptionTarget',
    status: 'True' as const,
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
    lastTransitionTime: (before?.status === 'True' ? before.lastTransitionTime : undefined) ?? now,
  };
}
