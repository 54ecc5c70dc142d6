/**
 * The controller of DaemonSets: one pod on each node that they belong on. A pod is meant for its node by an affinity to the
 * node's name; binding it there is a scheduler's task.
 */

import { ControllerRevision } from '../../../kinds/apps/v1/controller-revision.js';
import { DaemonSet } from '../../../kinds/apps/v1/daemon-set.js';
import { Node } from '../../../kinds/core/v1/node/node.js';
import { Pod, type PodInput } from '../../../kinds/core/v1/pod/pod.js';
import { labelSelectorFromObject, matchesLabels } from '../../../meta/labels.js';
import { deepEqual } from '../../../util/json.js';
import type { Controller, ControllerContext } from '../../runtime/controller.js';
import { controllerOf } from '../../runtime/owners.js';
import { isNamespaceTerminating } from '../../runtime/refusals.js';
import { keyOf, type Lookup, type SharedInformer } from '../../runtime/shared-informer.js';
import type { Again, WorkQueue } from '../../runtime/work-queue.js';
import { claim } from '../claim.js';
import { follow } from '../follow.js';
import { createPod, deletePod, podFromTemplate } from '../new-pod.js';
import { isPodAvailable, isPodReady, isTerminating, msUntilNextAvailable, type StoredPod } from '../pod-state.js';
import { REVISION_LABEL } from '../revisions.js';
import { type Orphans, orphans } from '../selecting.js';
import { allOf, slowStart } from '../slow-start.js';
import { type DaemonHistory, History } from './history.js';
import { type Managing, managePlan, type Plan } from './manage.js';
import { generationLabel, isUpToDate, oldestFirst, podsByNode } from './node-pods.js';
import {
  affinityTo,
  type Placement,
  placementOn,
  type StoredDaemonSet,
  type StoredNode,
  withDaemonTolerations,
} from './placement.js';
import { rollingPlan } from './rolling-update.js';

const FIRST_MS = 1_000;

const LONGEST_MS = 15 * 60_000;

/** What went well for so long is forgiven. */
const FORGIVEN_MS = 2 * LONGEST_MS;

class FailedPods {
  /** By the set's uid, then by its generation and the node. */
  readonly #setbacks = new Map<string, Map<string, Setback>>();

  /** How long the next replacement has to wait; 0: not at all, and the one after it waits longer. */
  waitMs({ uid, generation, node }: { uid: string; generation: number; node: string }, nowMs: number): number {
    let ofSet = this.#setbacks.get(uid);
    if (ofSet === undefined) {
      ofSet = new Map();
      this.#setbacks.set(uid, ofSet);
    }
    for (const [key, { atMs }] of ofSet) if (nowMs - atMs > FORGIVEN_MS) ofSet.delete(key);
    const key = `${generation}/${node}`;
    const known = ofSet.get(key);
    if (known !== undefined && nowMs - known.atMs < known.delayMs) return known.atMs + known.delayMs - nowMs;
    const delayMs = known === undefined ? FIRST_MS : Math.min(2 * known.delayMs, LONGEST_MS);
    ofSet.set(key, { delayMs, atMs: nowMs });
    return 0;
  }

  /** The set is gone. */
  forget(uid: string): void {
    this.#setbacks.delete(uid);
  }
}

/**
 * Keeps the pods of DaemonSets.
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
/** At most so many pods are made or deleted in one look; the next look goes on. */
const BURST = 250;

class DaemonSets {
  readonly #context: ControllerContext;
  readonly #sets: SharedInformer<typeof DaemonSet>;
  readonly #pods: SharedInformer<typeof Pod>;
  readonly #nodes: SharedInformer<typeof Node>;
  readonly #orphans: Orphans<StoredPod>;
  readonly #podsOn: Lookup<StoredPod>;
  readonly #history: History;
  readonly #failed = new FailedPods();
  readonly #queue: WorkQueue;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#sets = context.informer(DaemonSet);
    this.#pods = context.informer(Pod);
    this.#nodes = context.informer(Node);
    this.#orphans = orphans(this.#pods);
    this.#podsOn = this.#pods.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
    this.#history = new History(context);
    this.#queue = context.queue((key) => this.#look(key), { workers: WORKERS });
  }

  start(): void {
    const queue = this.#queue;
    const selectorOf = ({ spec }: StoredDaemonSet) => spec.selector;
    this.#sets.onKey((key, { type, object }) => {
      if (type === 'DELETED') this.#failed.forget(object.metadata.uid);
      queue.add(key);
    });
    follow({ owners: this.#sets, dependents: this.#pods, selectorOf, queue });
    follow({ owners: this.#sets, dependents: this.#context.informer(ControllerRevision), selectorOf, queue });
    const nodeQueue = this.#context.queue(async (name) => this.#lookAtNode(name), { name: 'nodes' });
    this.#nodes.subscribe((event) => {
      if (event.type === 'DELETED' || (event.type === 'MODIFIED' && !isPlacementNews(event))) return;
      nodeQueue.add(event.object.metadata.name);
    });
  }

  /** Wakes the sets to which a node makes a difference: by what is bound to it, not by what is merely meant for it. */
  #lookAtNode(name: string): void {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    const present = new Set(this.#podsOn(name).map((pod) => controllerOf(pod)?.uid));
    for (const set of this.#sets.list()) {
      const { shouldRun, mayStay } = placementOn(node, set, this.#context.dialect);
      const isPresent = present.has(set.metadata.uid);
      // Where pods are that should not be, a change may have put that right.
      const isNews = isPresent ? !mayStay || set.status.numberMisscheduled > 0 : shouldRun;
      if (isNews) this.#queue.add(keyOf(set));
    }
  }

  async #look(key: string): Promise<Again | undefined> {
    const set = this.#sets.at(key);
    if (set === undefined) return undefined;
    if (deepEqual(set.spec.selector, {})) {
      const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
      this.#context.events.record(set, 'Warning', 'SelectingAll', message);
      return undefined;
    }
    if (isTerminating(set)) return undefined;
    const history = await this.#history.of(set, () => this.#claim(set));
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

  /** Returns after how long failed pods that have to wait may be replaced. */
  async #manage(set: StoredDaemonSet, { hash, old }: DaemonHistory): Promise<number | undefined> {
    const pods = await this.#claim(set);
    let waitMs: number | undefined;
    const managing: Managing = {
      ...this.#picture(set, pods, hash),
      onFinished: (pod, node) => {
        const ms = this.#onFinished(set, pod, node);
        if (ms > 0) waitMs = Math.min(waitMs ?? ms, ms);
        return ms === 0;
      },
    };
    const plan = managePlan(managing);
    await this.#carryOut(set, plan, hash);
    // What has just been done is not in the picture: an update goes on in the next look.
    const isDone = plan.create.length + plan.remove.length === 0;
    if (isDone && set.spec.updateStrategy.type === 'RollingUpdate') {
      await this.#carryOut(set, rollingPlan(managing), hash);
    }
    await this.#history.truncate(set, old, pods);
    return waitMs;
  }

  /** Returns how long the pod has to stay before it is replaced. */
  #onFinished(set: StoredDaemonSet, pod: StoredPod, node: string): number {
    const { events, clock } = this.#context;
    const { uid } = set.metadata;
    const what = `daemon pod ${pod.metadata.namespace}/${pod.metadata.name} on node ${node}`;
    if (pod.status.phase === 'Succeeded') {
      events.record(set, 'Normal', 'SucceededDaemonPod', `Found succeeded ${what}, will try to delete it`);
      return 0;
    }
    const generation = set.status.observedGeneration ?? 0;
    const waitMs = this.#failed.waitMs({ uid, generation, node }, clock.now());
    if (waitMs > 0) return waitMs;
    events.record(set, 'Warning', 'FailedDaemonPod', `Found failed ${what}, will try to kill it`);
    return 0;
  }

  #claim(set: StoredDaemonSet): Promise<StoredPod[]> {
    const { client } = this.#context;
    const { name, namespace, uid } = set.metadata;
    return claim({
      client,
      kind: Pod,
      owner: set,
      selector: labelSelectorFromObject(set.spec.selector),
      candidates: [...this.#pods.controlledBy(uid), ...this.#orphans(namespace ?? '', set.spec.selector)],
      ownerNow: () => client.api(DaemonSet, namespace).find(name),
    });
  }

  #picture(set: StoredDaemonSet, pods: readonly StoredPod[], hash: string): Omit<Managing, 'onFinished'> {
    const { clock, dialect } = this.#context;
    const known = new Map<StoredNode, Placement>();
    const placement = (node: StoredNode): Placement => {
      let found = known.get(node);
      if (found === undefined) {
        found = placementOn(node, set, dialect);
        known.set(node, found);
      }
      return found;
    };
    return { set, nodes: this.#nodes.list(), pods: podsByNode(pods), hash, nowMs: clock.now(), placement };
  }

  async #carryOut(set: StoredDaemonSet, { create, remove }: Plan, hash: string): Promise<void> {
    const creation = slowStart(create.slice(0, BURST), async (node) => {
      try {
        await createPod(this.#context, this.#newPod(set, node, hash), set);
      } catch (error) {
        if (!isNamespaceTerminating(error)) throw error;
      }
    });
    const removal = allOf(remove.slice(0, BURST).map((pod) => deletePod(this.#context, pod, set)));
    await allOf([creation, removal]);
    if (Math.max(create.length, remove.length) > BURST) this.#queue.add(keyOf(set));
  }

  #newPod(set: StoredDaemonSet, node: string, hash: string): PodInput {
    const pod = podFromTemplate(set.spec.template, set);
    const { spec = { containers: [] } } = pod;
    const { hostNetwork, tolerations = [] } = spec;
    const { dialect } = this.#context;
    return {
      ...pod,
      metadata: {
        ...pod.metadata,
        labels: { ...pod.metadata?.labels, ...generationLabel(set), [REVISION_LABEL]: hash },
      },
      spec: {
        ...spec,
        affinity: affinityTo(spec.affinity, node),
        tolerations: withDaemonTolerations(tolerations, { hostNetwork, dialect }),
      },
    };
  }

  async #writeStatus(set: StoredDaemonSet, hash: string): Promise<number | undefined> {
    const selector = labelSelectorFromObject(set.spec.selector);
    const pods = this.#pods
      .controlledBy(set.metadata.uid)
      .filter(({ metadata }) => matchesLabels(selector, metadata.labels));
    const counts = countDaemons(this.#picture(set, pods, hash));
    if (isStatusNews(set, counts)) {
      const { name, namespace, generation } = set.metadata;
      const status = {
        ...set.status,
        ...counts,
        ...(generation === undefined ? {} : { observedGeneration: generation }),
      };
      await this.#context.client.api(DaemonSet, namespace).status.update(name, { ...set, status });
    }
    return msUntilNextAvailable(pods, set.spec.minReadySeconds ?? 0, this.#context.clock.now());
  }
}

/** Only labels and taints decide where pods belong. */
function isPlacementNews({
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

/**
 * A pod that failed on a node is replaced; one that fails there again and again is replaced later and later.
 */

interface Setback {
  delayMs: number;
  atMs: number;
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

/** On a node with several pods the first one counts. */
function countDaemons({ set, nodes, pods, hash, nowMs, placement }: Omit<Managing, 'onFinished'>): DaemonCounts {
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

function isStatusNews({ metadata, status }: StoredDaemonSet, counts: DaemonCounts): boolean {
  const keys = Object.keys(counts) as (keyof DaemonCounts)[];
  return (
    (status.observedGeneration ?? 0) < (metadata.generation ?? 0) ||
    keys.some((key) => (status[key] ?? 0) !== counts[key])
  );
}
