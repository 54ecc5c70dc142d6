/**
 * The controller of DaemonSets: one pod on each eligible node. A pod gets a node affinity to the node's name; the scheduler
 * binds it.
 */

import { ControllerRevision } from '../../../kinds/apps/v1/controller-revision.js';
import { DaemonSet } from '../../../kinds/apps/v1/daemon-set.js';
import { Node } from '../../../kinds/core/v1/node/node.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { PodInput } from '../../../kinds/generated/core-v1.js';
import { labelSelectorFromObject, matchesLabels } from '../../../meta/labels.js';
import { deepEqual } from '../../../util/json.js';
import { getOrInsertComputed } from '../../../util/once.js';
import { type Controller, ControllerPart } from '../../runtime/controller.js';
import { isNamespaceTerminating } from '../../runtime/expected-errors.js';
import { keyOf } from '../../runtime/shared-informer.js';
import type { ReconcileResult } from '../../runtime/work-queue.js';
import { claims, controllerAmong, matchesSelector, queueOwners } from '../dependents.js';
import { allOf, createPod, deletePod, podFromTemplate, slowStart } from '../pod-control.js';
import { isPodAvailable, isPodReady, isTerminating, msUntilNextAvailable, type StoredPod } from '../pod-state.js';
import { REVISION_LABEL } from '../revisions.js';
import { type DaemonHistory, History } from './history.js';
import {
  affinityTo,
  type Placement,
  placementOn,
  type StoredDaemonSet,
  type StoredNode,
  withDaemonTolerations,
} from './placement.js';
import {
  generationLabel,
  isUpToDate,
  managePlan,
  oldestFirst,
  type Plan,
  type PlanInput,
  podsByNode,
  rollingPlan,
} from './plan.js';

/**
 * Manages the pods of DaemonSets.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([daemonSets()]) });
 */
export function daemonSets(): Controller {
  return {
    name: 'daemonset-controller',
    account: 'daemon-set-controller',
    needs: [DaemonSet, ControllerRevision, Pod, Node],
    start: (context) => new DaemonSets(context).start(),
  };
}

const WORKERS = 2;
/** The maximum number of creates or deletes per reconcile; the next reconcile continues. */
const BURST = 250;

class DaemonSets extends ControllerPart {
  readonly #sets = this.context.informer(DaemonSet);
  readonly #pods = this.context.informer(Pod);
  readonly #nodes = this.context.informer(Node);
  readonly #claim = claims(this.context, DaemonSet, Pod);
  readonly #podsOn = this.#pods.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  readonly #history = new History(this.context);
  readonly #failedPodBackoff = new FailedPodBackoff();
  readonly #queue = this.context.queue((key) => this.#reconcileSet(key), { workers: WORKERS });

  start(): void {
    const queue = this.#queue;
    const selectorOf = ({ spec }: StoredDaemonSet) => spec.selector;
    this.#sets.onKey((key, { type, object }) => {
      if (type === 'DELETED') this.#failedPodBackoff.forget(object.metadata.uid);
      queue.add(key);
    });
    queueOwners({ owners: this.#sets, dependents: this.#pods, selectorOf, queue });
    // A new revision that has a controller is this controller's own, or is seen with the next change.
    const revisions = this.context.informer(ControllerRevision);
    queueOwners({ owners: this.#sets, dependents: revisions, selectorOf, queue, ignoresNew: true });
    const nodeQueue = this.context.queue(async (name) => this.#queueSetsOfNode(name), { name: 'nodes' });
    this.#nodes.subscribe((event) => {
      if (event.type === 'DELETED' || (event.type === 'MODIFIED' && !affectsPlacement(event))) return;
      nodeQueue.add(event.object.metadata.name);
    });
  }

  /** Queues the sets that are affected by a node. Only pods bound to it count, not those with an affinity to it. */
  #queueSetsOfNode(name: string): void {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    const present = new Set(this.#podsOn(name).map((pod) => controllerAmong(this.#sets, pod)));
    for (const set of this.#sets.list()) {
      const { shouldRun, mayStay } = placementOn(node, set, this.context.dialect);
      const isPresent = present.has(set);
      // A change may have corrected a misscheduled pod, so that the status is outdated.
      const isAffected = isPresent ? !mayStay || set.status.numberMisscheduled > 0 : shouldRun;
      if (isAffected) this.#queue.add(keyOf(set));
    }
  }

  async #reconcileSet(key: string): Promise<ReconcileResult | undefined> {
    const set = this.#sets.at(key);
    if (set === undefined) return undefined;
    if (deepEqual(set.spec.selector, {})) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.context.events.record(set, 'Warning', 'SelectingAll', message);
      return undefined;
    }
    if (isTerminating(set)) return undefined;
    const history = await this.#history.of(set, () => this.#claim(set, set.spec.selector));
    if (history === undefined) return undefined;

    let failure: { readonly error: unknown } | undefined;
    let waitMs: number | undefined;
    try {
      waitMs = await this.#manage(set, history);
    } catch (error) {
      failure = { error };
    }
    const nextAvailableMs = await this.#writeStatus(set, history.hash);
    if (failure !== undefined) throw failure.error;
    const waits = [waitMs, nextAvailableMs].filter((ms) => ms !== undefined);
    return { requeueAfterMs: waits.length === 0 ? undefined : Math.min(...waits) };
  }

  /** Creates and deletes pods. Returns the delay until failed pods may be replaced. */
  async #manage(set: StoredDaemonSet, { hash, old }: DaemonHistory): Promise<number | undefined> {
    const pods = await this.#claim(set, set.spec.selector);
    let waitMs: number | undefined;
    const input: PlanInput = {
      ...this.#planInput(set, pods, hash),
      onFinished: (pod, node) => {
        const ms = this.#onFinished(set, pod, node);
        if (ms > 0) waitMs = Math.min(waitMs ?? ms, ms);
        return ms === 0;
      },
    };
    const plan = managePlan(input);
    await this.#execute(set, plan, hash);
    // The input does not contain what was just done: a rolling update continues in the next reconcile.
    const isDone = plan.create.length + plan.remove.length === 0;
    if (isDone && set.spec.updateStrategy.type === 'RollingUpdate') {
      await this.#execute(set, rollingPlan(input), hash);
    }
    await this.#history.truncate(set, old, pods);
    return waitMs;
  }

  /** Returns the remaining delay before the pod is replaced. */
  #onFinished(set: StoredDaemonSet, pod: StoredPod, node: string): number {
    const { events, clock } = this.context;
    const { uid } = set.metadata;
    const what = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${node}`;
    if (pod.status.phase === 'Succeeded') {
      events.record(set, 'Normal', 'SucceededDaemonPod', `Found succeeded ${what}, will try to delete it`);
      return 0;
    }
    const generation = set.status.observedGeneration ?? 0;
    const waitMs = this.#failedPodBackoff.waitMs({ uid, generation, node }, clock.now());
    if (waitMs > 0) return waitMs;
    events.record(set, 'Warning', 'FailedDaemonPod', `Found failed ${what}, will try to kill it`);
    return 0;
  }

  #planInput(set: StoredDaemonSet, pods: readonly StoredPod[], hash: string): Omit<PlanInput, 'onFinished'> {
    const { clock, dialect } = this.context;
    const known = new Map<StoredNode, Placement>();
    const placement = (node: StoredNode): Placement =>
      getOrInsertComputed(known, node, () => placementOn(node, set, dialect));
    return { set, nodes: this.#nodes.list(), pods: podsByNode(pods), hash, nowMs: clock.now(), placement };
  }

  async #execute(set: StoredDaemonSet, plan: Plan, hash: string): Promise<void> {
    const { remove } = plan;
    const isCreating = plan.create.length > 0 && matchesSelector(this.context, set, labelsOfPods(set, hash));
    const create = isCreating ? plan.create : [];
    const creation = slowStart(create.slice(0, BURST), async (node) => {
      try {
        await createPod(this.context, this.#newPod(set, node, hash), set);
      } catch (error) {
        if (!isNamespaceTerminating(error)) throw error;
      }
    });
    const removal = allOf(remove.slice(0, BURST).map((pod) => deletePod(this.context, pod, set)));
    await allOf([creation, removal]);
    if (Math.max(create.length, remove.length) > BURST) this.#queue.add(keyOf(set));
  }

  #newPod(set: StoredDaemonSet, node: string, hash: string): PodInput {
    const pod = podFromTemplate(set.spec.template, set);
    const { spec = { containers: [] } } = pod;
    const { hostNetwork, tolerations = [] } = spec;
    const { dialect } = this.context;
    return {
      ...pod,
      metadata: { ...pod.metadata, labels: labelsOfPods(set, hash) },
      spec: {
        ...spec,
        affinity: affinityTo(spec.affinity, node),
        tolerations: withDaemonTolerations(tolerations, { hostNetwork, dialect }),
      },
    };
  }

  async #writeStatus(set: StoredDaemonSet, hash: string): Promise<number | undefined> {
    const selector = labelSelectorFromObject(set.spec.selector);
    const pods = this.#pods.controlledBy(set).filter(({ metadata }) => matchesLabels(selector, metadata.labels));
    const counts = countDaemons(this.#planInput(set, pods, hash));
    if (isStatusChanged(set, counts)) {
      const { name, namespace, generation } = set.metadata;
      const status = {
        ...set.status,
        ...counts,
        ...(generation === undefined ? {} : { observedGeneration: generation }),
      };
      await this.context.client.api(DaemonSet, namespace).status.update(name, { ...set, status });
    }
    return msUntilNextAvailable(pods, set.spec.minReadySeconds ?? 0, this.context.clock.now());
  }
}

function labelsOfPods(set: StoredDaemonSet, hash: string): Record<string, string> {
  return { ...set.spec.template.metadata?.labels, ...generationLabel(set), [REVISION_LABEL]: hash };
}

/** Whether a node change affects placement: only labels and taints do. */
function affectsPlacement({
  object,
  previous,
}: {
  readonly object: StoredNode;
  readonly previous: StoredNode;
}): boolean {
  return (
    !deepEqual(object.metadata.labels, previous.metadata.labels) || !deepEqual(object.spec.taints, previous.spec.taints)
  );
}

interface DaemonCounts {
  readonly currentNumberScheduled: number;
  readonly numberMisscheduled: number;
  readonly desiredNumberScheduled: number;
  readonly numberReady: number;
  readonly updatedNumberScheduled: number;
  readonly numberAvailable: number;
  readonly numberUnavailable: number;
}

/** On a node with several pods only the oldest counts. */
function countDaemons({ set, nodes, pods, hash, nowMs, placement }: Omit<PlanInput, 'onFinished'>): DaemonCounts {
  const { minReadySeconds = 0 } = set.spec;
  let [desired, current, misscheduled, ready, updated, available] = [0, 0, 0, 0, 0, 0];
  for (const node of nodes) {
    const [pod] = oldestFirst(pods.get(node.metadata.name) ?? []);
    if (!placement(node).shouldRun) {
      if (pod !== undefined) misscheduled++;
      continue;
    }
    desired++;
    if (pod === undefined) continue;
    current++;
    if (isUpToDate(set, pod, hash)) updated++;
    if (!isPodReady(pod)) continue;
    ready++;
    if (isPodAvailable(pod, minReadySeconds, nowMs)) available++;
  }
  return {
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    desiredNumberScheduled: desired,
    numberReady: ready,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
  };
}

function isStatusChanged({ metadata, status }: StoredDaemonSet, counts: DaemonCounts): boolean {
  const keys = Object.keys(counts) as (keyof DaemonCounts)[];
  return (
    (status.observedGeneration ?? 0) < (metadata.generation ?? 0) ||
    keys.some((key) => (status[key] ?? 0) !== counts[key])
  );
}

interface BackoffEntry {
  delayMs: number;
  atMs: number;
}

const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 15 * 60_000;
/** An entry is dropped after this time without failures. */
const BACKOFF_EXPIRY_MS = 2 * MAX_BACKOFF_MS;

/** The backoff for replacing failed pods: repeated failures on a node increase the delay. */
class FailedPodBackoff {
  /** By the set's uid, then by generation and node. */
  readonly #entries = new Map<string, Map<string, BackoffEntry>>();

  /** The remaining delay of the next replacement. 0: replace now; that doubles the delay of the one after it. */
  waitMs({ uid, generation, node }: { uid: string; generation: number; node: string }, nowMs: number): number {
    const ofSet = getOrInsertComputed(this.#entries, uid, () => new Map<string, BackoffEntry>());
    for (const [key, { atMs }] of ofSet) if (nowMs - atMs > BACKOFF_EXPIRY_MS) ofSet.delete(key);
    const key = `${generation}/${node}`;
    const known = ofSet.get(key);
    if (known !== undefined && nowMs - known.atMs < known.delayMs) return known.atMs + known.delayMs - nowMs;
    const delayMs = known === undefined ? FIRST_BACKOFF_MS : Math.min(2 * known.delayMs, MAX_BACKOFF_MS);
    ofSet.set(key, { delayMs, atMs: nowMs });
    return 0;
  }

  /** Must be called when the set is deleted. */
  forget(uid: string): void {
    this.#entries.delete(uid);
  }
}
