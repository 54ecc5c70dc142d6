/**
 * The node lifecycle controller: nodes that do not respond become Unknown, nodes get the taints of their conditions, and
 * pods on nodes that do not respond are no longer ready.
 *
 * The reference examines all nodes every five seconds. Here an examination takes place at the same times, but only if a
 * node has changed or a grace period ends, so that a clock can advance by days in a test without thousands of them.
 */
import { mergePatch } from '../../client/patches.js';
import { Lease } from '../../kinds/coordination/v1/lease.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../meta/errors.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import { ignoreNotFound } from '../runtime/expected-errors.js';
import type { ReconcileResult, WorkQueue } from '../runtime/work-queue.js';
import type { StoredNode } from '../workloads/daemon-set/placement.js';
import { isPodReady, type StoredPod } from '../workloads/pod-state.js';
import { conditionOf, lostConditions, NODE_LEASES, NodeHealths } from './node-health.js';
import { executionTaints, hasTaint, schedulingTaintChanges, TaintWriter } from './node-taints.js';
import { rateIn, TaintQueue, type ZoneLimits, type ZoneState, zoneOf, zoneState } from './zones.js';

export interface NodeLifecycleOptions extends Partial<ZoneLimits> {
  /** The time between two examinations of the nodes, in milliseconds; 5 seconds unless given. */
  readonly monitorPeriodMs?: number | undefined;
  /** How long a node may be silent before it becomes Unknown, in milliseconds; 50 seconds unless given. */
  readonly gracePeriodMs?: number | undefined;
  /** The same for a new node that has not reported its status, in milliseconds; 60 seconds unless given. */
  readonly startupGracePeriodMs?: number | undefined;
}

type Settings = Required<{ [Key in keyof NodeLifecycleOptions]: number }>;

const DEFAULTS: Settings = {
  monitorPeriodMs: 5_000,
  gracePeriodMs: 50_000,
  startupGracePeriodMs: 60_000,
  evictionRate: 0.1,
  secondaryEvictionRate: 0.01,
  largeClusterThreshold: 50,
  unhealthyZoneThreshold: 0.55,
};

/** The source of the controller's Events and its service account. */
const NODE_CONTROLLER = 'node-controller';

/**
 * Monitors nodes and taints those that are not ready. {@link taintEviction} evicts their pods.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([nodeLifecycle({ gracePeriodMs: 20_000 }), taintEviction()]) });
 */
export function nodeLifecycle(options: NodeLifecycleOptions = {}): Controller {
  refuseUnknownOptions('nodeLifecycle', options, Object.keys(DEFAULTS));
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  for (const [name, value] of given) {
    if (typeof value !== 'number' || !(value >= 0) || (name === 'monitorPeriodMs' && value === 0)) {
      throw new TypeError(`orchplane: nodeLifecycle: ${name} is a number that is not negative, not ${String(value)}`);
    }
  }
  const settings: Settings = { ...DEFAULTS, ...Object.fromEntries(given) };
  return {
    name: 'node-lifecycle-controller',
    account: NODE_CONTROLLER,
    component: NODE_CONTROLLER,
    needs: [Node, Pod],
    start: (context) => new NodeLifecycle(context, settings).start(),
  };
}

interface Zone {
  state: ZoneState;
  readonly queue: TaintQueue;
}

/** The keys of the monitor's queue. */
const EXAMINE = 'examine';
const TAINT = 'taint';
const MAX_UPDATES = 5;

class NodeLifecycle extends ControllerPart<Settings> {
  readonly #nodes = this.context.informer(Node);
  readonly #pods = this.context.informer(Pod);
  readonly #leases = this.context.serves(Lease) ? this.context.informer(Lease) : undefined;
  readonly #podsOn = this.#pods.index('node', ({ spec }) => (spec.nodeName ? [spec.nodeName] : []));
  readonly #taints = executionTaints(this.context.dialect);
  readonly #writer = new TaintWriter(this.context.client, () => this.context.now());
  readonly #startMs = this.context.clock.now();
  readonly #healths = new NodeHealths(this.options, { atOrAfter: (ms) => this.#tickAtOrAfter(ms) });
  readonly #zones = new Map<string, Zone>();
  /** The nodes of the last examination. */
  readonly #known = new Map<string, StoredNode>();
  /** Nodes whose pods could not be marked. */
  readonly #unmarked = new Set<string>();
  readonly #monitor: WorkQueue = this.context.queue((key) => (key === TAINT ? this.#taintNodes() : this.#examine()), {
    name: 'monitor',
  });
  readonly #nodeQueue = this.context.queue((name) => this.#reconcileNode(name), { name: 'nodes', workers: 8 });
  readonly #podQueue = this.context.queue((key) => this.#reconcilePod(key), { name: 'pods', workers: 4 });

  start(): void {
    this.#nodes.subscribe((event) => {
      if (event.type === 'DELETED') this.#unmarked.delete(event.object.metadata.name);
      else this.#nodeQueue.add(event.object.metadata.name);
      if (event.type !== 'MODIFIED' || isRelevant(event.object, event.previous)) this.#examineAtNextTick();
    });
    this.#leases?.subscribe(({ type, object: { metadata } }) => {
      if (metadata.namespace !== NODE_LEASES) return;
      if (type !== 'DELETED') this.#healths.renewed(metadata.name, this.context.clock.now());
      // The end of a Lease may bring the deadline forward. A renewal only defers it.
      else this.#examineAtNextTick();
    });
    this.#pods.onKey((key, event) => {
      const { nodeName = '' } = event.object.spec;
      if (event.type === 'DELETED' || !this.#healths.isKnownUnready(nodeName)) return;
      if (event.type === 'ADDED' || event.previous.spec.nodeName !== nodeName) this.#podQueue.add(key);
    });
    this.#monitor.add(EXAMINE);
  }

  /** Updates the NoSchedule taints and the labels of a node. */
  async #reconcileNode(name: string): Promise<void> {
    const node = this.#nodes.get(name);
    if (node === undefined) return;
    const { dialect, client } = this.context;
    const { add, remove } = schedulingTaintChanges(node, dialect);
    await this.#writer.swap(node, add, remove);
    const current = node.metadata.labels ?? {};
    const labels: Record<string, string> = {};
    for (const label of ['os', 'arch']) {
      const value = current[dialect.key(label)];
      const beta = dialect.subkey('beta', label);
      if (value !== undefined && current[beta] !== value) labels[beta] = value;
    }
    if (Object.keys(labels).length > 0) {
      await ignoreNotFound(client.api(Node).patch(name, mergePatch({ metadata: { labels } })));
    }
  }

  /** A pod that is bound to a node that is not ready cannot be ready. */
  async #reconcilePod(key: string): Promise<void> {
    const pod = this.#pods.at(key);
    if (pod !== undefined && this.#healths.isKnownUnready(pod.spec.nodeName ?? '')) await this.#markNotReady([pod]);
  }

  /** Examines all nodes. */
  async #examine(): Promise<ReconcileResult> {
    const { clock, events } = this.context;
    const nodes = this.#nodes.list();
    const registered = nodes.filter(({ metadata }) => !this.#known.has(metadata.name));
    const removed = [...this.#known.values()].filter(({ metadata }) => this.#nodes.get(metadata.name) === undefined);
    for (const node of nodes) this.#zoneOf(node);
    for (const node of registered) {
      const { name } = node.metadata;
      this.#known.set(name, node);
      events.record(
        reference(node),
        'Normal',
        'RegisteredNode',
        `Node ${name} event: Registered Node ${name} in Controller`,
      );
      await this.#markReachable(node);
    }
    for (const node of removed) {
      const { name } = node.metadata;
      this.#known.delete(name);
      this.#healths.forget(name);
      events.record(
        reference(node),
        'Normal',
        'RemovingNode',
        `Node ${name} event: Removing Node ${name} from Controller`,
      );
    }
    const readyIn = new Map<string, boolean[]>();
    let next = Infinity;
    for (const node of nodes) next = Math.min(next, await this.#examineNode(node, readyIn));
    await this.#handleDisruption(readyIn, nodes);
    this.#monitor.add(TAINT);
    return { requeueAfterMs: next - clock.now() };
  }

  /** Examines one node, counts it in its zone, and returns the time of the next examination it needs. */
  async #examineNode(observed: StoredNode, readyIn: Map<string, boolean[]>): Promise<number> {
    const { clock, client, dialect, events, now, report } = this.context;
    const { name } = observed.metadata;
    let node: StoredNode | undefined = observed;
    let { observedReady, deadlineMs, again } = this.#healths.examine(node, this.#leaseOf(name), clock.now());
    for (let attempt = 1; deadlineMs <= clock.now(); attempt++) {
      const conditions = lostConditions(node, now());
      if (conditions === undefined) break;
      try {
        node = await client.api(Node).status.update(name, { ...node, status: { ...node.status, conditions } });
        this.#healths.lost(name, conditionOf(node, 'Ready'));
        break;
      } catch (error) {
        node = await client.api(Node).find(name);
        if (node === undefined) return Infinity;
        if (attempt >= MAX_UPDATES || !StatusError.is(error, 'Conflict')) {
          report(error, name);
          return this.#nextTick();
        }
        ({ observedReady, deadlineMs, again } = this.#healths.examine(node, this.#leaseOf(name), clock.now()));
      }
    }
    const ready = conditionOf(node, 'Ready');
    if (node.metadata.labels?.[dialect.subkey('node', 'exclude-disruption')] === undefined) {
      const zone = zoneOf(node, dialect);
      readyIn.set(zone, [...(readyIn.get(zone) ?? []), ready?.status === 'True']);
    }
    if (ready !== undefined) {
      await this.#taintByReadiness(node, observedReady);
      const isLost = ready.status !== 'True' && observedReady === 'True';
      if (isLost) events.record(reference(node), 'Normal', 'NodeNotReady', `Node ${name} status is now: NodeNotReady`);
      if (isLost || (this.#unmarked.has(name) && observedReady !== 'True')) {
        const isDone = await this.#markNotReady(this.#podsOn(name));
        if (!isDone) {
          this.#unmarked.add(name);
          return this.#nextTick();
        }
      }
    }
    this.#unmarked.delete(name);
    if (again) return this.#nextTick();
    return ready?.status === 'Unknown' ? Infinity : this.#tickAtOrAfter(deadlineMs);
  }

  /** Queues the node for its NoExecute taint, or removes the taint. A node that has the other taint changes at once. */
  async #taintByReadiness(node: StoredNode, observed: 'True' | 'False' | 'Unknown'): Promise<void> {
    if (observed === 'True') {
      await this.#markReachable(node);
      return;
    }
    const { notReady, unreachable } = this.#taints;
    const [wanted, other] = observed === 'False' ? [notReady, unreachable] : [unreachable, notReady];
    if (hasTaint(node.spec.taints, other)) {
      await this.#writer.swap(node, [wanted], [other]);
      return;
    }
    const { queue } = this.#zoneOf(node);
    if (!hasTaint(node.spec.taints, wanted)) queue.remove(node.metadata.name);
    queue.add(node.metadata.name);
  }

  async #markReachable(node: StoredNode): Promise<void> {
    await this.#writer.remove(node, [this.#taints.unreachable]);
    await this.#writer.remove(node, [this.#taints.notReady]);
    this.#zoneOf(node).queue.remove(node.metadata.name);
  }

  /** Adds NoExecute taints, as many as the rates of the zones permit. */
  async #taintNodes(): Promise<ReconcileResult> {
    const { notReady, unreachable } = this.#taints;
    let next = Infinity;
    for (const { queue } of this.#zones.values()) {
      const waitMs = await queue.taintNodes(this.context.clock, async (name) => {
        const node = this.#nodes.get(name);
        const status = node === undefined ? undefined : conditionOf(node, 'Ready')?.status;
        if (node === undefined || status === undefined || status === 'True') return;
        if (status === 'False') await this.#writer.swap(node, [notReady], [unreachable]);
        else await this.#writer.swap(node, [unreachable], [notReady]);
      });
      next = Math.min(next, waitMs);
    }
    return { requeueAfterMs: next };
  }

  /**
   * Adjusts the rates to the states of the zones. While no node at all is ready, the fault is probably on this side: all
   * NoExecute taints are removed and none is added.
   */
  async #handleDisruption(readyIn: ReadonlyMap<string, readonly boolean[]>, nodes: readonly StoredNode[]) {
    const nowMs = this.context.clock.now();
    const states = new Map<string, ZoneState>();
    for (const [zone, all] of readyIn) {
      const ready = all.filter(Boolean).length;
      states.set(zone, zoneState(ready, all.length - ready, this.options));
    }
    const isFull = [...states.values()].every((state) => state === 'FullDisruption');
    let wasFull = true;
    for (const [key, zone] of this.#zones) {
      if (!states.has(key)) this.#zones.delete(key);
      else if (zone.state !== 'FullDisruption') {
        wasFull = false;
        break;
      }
    }
    if (isFull && wasFull) return;
    if (isFull) {
      for (const node of nodes) await this.#markReachable(node);
      for (const zone of this.#zones.values()) {
        zone.queue.setRate(0, nowMs);
        zone.state = 'FullDisruption';
      }
      return;
    }
    if (wasFull) {
      for (const { metadata } of nodes) this.#healths.restart(metadata.name, nowMs);
      this.#examineAtNextTick();
    }
    for (const [key, zone] of this.#zones) {
      const state = states.get(key);
      if (state === undefined || (state === zone.state && !wasFull)) continue;
      zone.queue.setRate(rateIn(state, readyIn.get(key)?.length ?? 0, this.options), nowMs);
      zone.state = state;
    }
  }

  /** Sets the Ready condition of pods to False, with an Event for each. Returns whether all writes succeeded. */
  async #markNotReady(pods: readonly StoredPod[]): Promise<boolean> {
    const { client, events, now, report } = this.context;
    let isDone = true;
    for (const pod of pods) {
      if (!isPodReady(pod)) continue;
      const { name, namespace } = pod.metadata;
      const conditions = (pod.status.conditions ?? []).map((condition) =>
        condition.type === 'Ready' ? { ...condition, status: 'False' as const, lastTransitionTime: now() } : condition,
      );
      try {
        await client.api(Pod, namespace).status.update(name, { ...pod, status: { ...pod.status, conditions } });
      } catch (error) {
        if (StatusError.is(error, 'NotFound')) continue;
        isDone = false;
        if (!StatusError.is(error, 'Conflict')) report(error, `${namespace}/${name}`);
      }
      events.record(pod, 'Warning', 'NodeNotReady', 'Node is not ready');
    }
    return isDone;
  }

  #zoneOf(node: StoredNode): Zone {
    const key = zoneOf(node, this.context.dialect);
    let zone = this.#zones.get(key);
    if (zone === undefined) {
      zone = { state: 'Initial', queue: new TaintQueue(this.options.evictionRate, this.context.clock.now()) };
      this.#zones.set(key, zone);
    }
    return zone;
  }

  #leaseOf(node: string) {
    return this.#leases?.get(node, NODE_LEASES);
  }

  #examineAtNextTick(): void {
    this.#monitor.addAfter(EXAMINE, this.#nextTick() - this.context.clock.now());
  }

  #nextTick(): number {
    return this.#tickAtOrAfter(this.context.clock.now() + 1);
  }

  #tickAtOrAfter(ms: number): number {
    const { monitorPeriodMs } = this.options;
    return this.#startMs + Math.ceil((ms - this.#startMs) / monitorPeriodMs) * monitorPeriodMs;
  }
}

/** Whether a change of a node affects an examination. */
function isRelevant(node: StoredNode, previous: StoredNode): boolean {
  return (
    node.metadata.uid !== previous.metadata.uid ||
    node.metadata.labels !== previous.metadata.labels ||
    node.spec.taints !== previous.spec.taints ||
    conditionOf(node, 'Ready') !== conditionOf(previous, 'Ready')
  );
}

/** Events about nodes refer to them without a version. */
function reference({ metadata: { name, uid, creationTimestamp } }: StoredNode) {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid, creationTimestamp, resourceVersion: '' } };
}
