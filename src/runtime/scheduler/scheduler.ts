/**
 * The scheduler as a controller: takes pods from the queue one at a time, binds them to the best node, and reports why a
 * pod does not fit. `rank.ts` and `preemption.ts` decide, this file writes.
 */
import { strategicPatch } from '../../client/patches.js';
import { type Controller, ControllerPart } from '../../controllers/runtime/controller.js';
import { ignoreNotFound } from '../../controllers/runtime/expected-errors.js';
import { keyOf } from '../../controllers/runtime/shared-informer.js';
import { type Backoff, checkedBackoff, type ReconcileResult } from '../../controllers/runtime/work-queue.js';
import { podCondition } from '../../controllers/workloads/pod-state.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { PodInput } from '../../kinds/generated/core-v1.js';
import { StatusError } from '../../meta/errors.js';
import { deepEqual } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import { ClaimWriter } from './claim-writer.js';
import { watchCluster } from './cluster-changes.js';
import { fitMessage } from './fit-message.js';
import { NodeCache } from './node-cache.js';
import { SchedulingError } from './plugin.js';
import { podResourceClaims } from './plugins/dynamic-resources.js';
import { PodQueue } from './pod-queue.js';
import { type Candidate, PREEMPTED } from './preemption.js';
import { type Failure, rank } from './rank.js';
import { findRemedy } from './remedy.js';
import { isConsidered, type PodInfo, podInfoOf, type Snapshot, type StoredPod } from './snapshot.js';
import { VolumeBinder } from './volume-binder.js';

export interface SchedulerOptions {
  /** The pods to schedule: those with this `spec.schedulerName`; `default-scheduler` unless given. */
  readonly schedulerName?: string | undefined;
  /**
   * The delay after an attempt that ended with an error, for example because the pod could not be bound: 1 s, doubled up to
   * 10 s, unless given. Pods that do not fit are tried again with the next change that may help them.
   */
  readonly backoff?: Backoff | undefined;
}

const DEFAULT_NAME = 'default-scheduler';
const DEFAULT_BACKOFF: Backoff = { firstMs: 1_000, longestMs: 10_000 };

/**
 * Creates a controller that assigns pods to nodes as kube-scheduler does with its default configuration. Of several nodes
 * with the same score it takes the first by name.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([...standardControllers(), scheduler()]) });
 */
export function scheduler(options: SchedulerOptions = {}): Controller {
  refuseUnknownOptions('scheduler', options, ['schedulerName', 'backoff']);
  const { schedulerName = DEFAULT_NAME, backoff = DEFAULT_BACKOFF } = options;
  if (typeof schedulerName !== 'string' || schedulerName === '') {
    throw new TypeError('orchplane: schedulerName of a scheduler is a name');
  }
  checkedBackoff('scheduler', backoff);
  return {
    name: schedulerName,
    fieldManager: 'kube-scheduler',
    needs: [Pod, Node],
    start: (context) => new Scheduler(context, { schedulerName, backoff }).start(),
  };
}

/** The only key of the work queue: pods are scheduled one at a time, in the order of the pod queue. */
const NEXT = 'next pod';
/** The API limits the message of an Event with an action to this length. */
const MAX_NOTE = 1024;

class Scheduler extends ControllerPart<
  Required<{ [Key in keyof SchedulerOptions]: NonNullable<SchedulerOptions[Key]> }>
> {
  readonly #pods = this.context.informer(Pod);
  readonly #nodes = new NodeCache(this.context);
  readonly #waiting = new PodQueue(this.options.backoff);
  readonly #queue = this.context.queue(() => this.#scheduleNext());
  readonly #retries = this.context.queue(
    async (key) => {
      if (this.#waiting.retry(key)) this.#queue.add(NEXT);
    },
    { name: 'retries' },
  );
  readonly #claims = new ClaimWriter(this.context);
  readonly #volumes: VolumeBinder = new VolumeBinder(this.context, {
    onBound: (pod, nodeName) => this.#bind(pod, nodeName),
    onFailed: (pod, message) => this.#fail(pod, message),
  });

  start(): void {
    this.#nodes.start();
    this.#volumes.start();
    watchCluster(this.context, (plugins) => {
      if (this.#waiting.changed(plugins)) this.#queue.add(NEXT);
    });
    this.#pods.onKey((key, event) => {
      if (event.type === 'DELETED' || !this.#isOwn(event.object)) this.#waiting.delete(key);
      else this.#enqueue(key, event.object, event.type === 'MODIFIED' ? event.previous : undefined);
    });
  }

  #isOwn(pod: StoredPod): boolean {
    const { schedulerName = DEFAULT_NAME, nodeName = '' } = pod.spec;
    return nodeName === '' && schedulerName === this.options.schedulerName && isConsidered(pod);
  }

  #enqueue(key: string, pod: StoredPod, previous: StoredPod | undefined): void {
    // The server has set the condition of pods with scheduling gates.
    if ((pod.spec.schedulingGates ?? []).length > 0 || pod.metadata.deletionTimestamp !== undefined) return;
    this.#waiting.add(key, { uid: pod.metadata.uid, priority: pod.spec.priority ?? 0 });
    const isChanged =
      previous !== undefined &&
      (previous.spec !== pod.spec || !deepEqual(previous.metadata.labels, pod.metadata.labels)) &&
      !deepEqual([previous.spec, previous.metadata.labels], [pod.spec, pod.metadata.labels]);
    if (isChanged) this.#waiting.retry(key);
    this.#queue.add(NEXT);
  }

  async #scheduleNext(): Promise<ReconcileResult | undefined> {
    const key = this.#waiting.next();
    if (key === undefined) return undefined;
    const pod = this.#pods.at(key);
    if (pod === undefined || !this.#isOwn(pod)) this.#waiting.delete(key);
    else if (pod.metadata.deletionTimestamp !== undefined) {
      this.#waiting.delete(key);
      this.#recordFailure(pod, `skip schedule deleting pod: ${key}`);
    } else {
      try {
        await this.#schedule(pod);
      } catch (error) {
        this.#retryLater(key);
        throw error;
      }
    }
    this.#queue.add(NEXT);
    return undefined;
  }

  #retryLater(key: string): void {
    this.#retries.addAfter(key, this.#waiting.erred(key, this.context.clock.now()));
  }

  async #schedule(pod: StoredPod): Promise<void> {
    const snapshot = this.#nodes.snapshot();
    if (snapshot.nodes.length === 0) {
      await this.#reject(pod, 'no nodes available to schedule pods', { plugins: new Set(), nominatedNodeName: '' });
      return;
    }
    try {
      if ('reasons' in podResourceClaims(pod, snapshot)) {
        // Not an attempt: the claims do not exist yet.
        this.#wait(pod, new Set(['DynamicResources']));
        return;
      }
      const info = podInfoOf(pod);
      const ranking = rank(info, snapshot);
      if ('failure' in ranking) await this.#makeRoom(info, ranking.failure, snapshot);
      else await this.#place(pod, ranking.nodes[0]?.name ?? '', snapshot);
    } catch (error) {
      if (!(error instanceof SchedulingError)) throw error;
      await this.#fail(pod, error.message);
    }
  }

  async #place(pod: StoredPod, nodeName: string, snapshot: Snapshot): Promise<void> {
    // The pod counts on its node from now on, also while its volumes are being bound.
    this.#nodes.assume(pod, nodeName);
    await this.#claims.reserve(pod, nodeName, snapshot);
    if (await this.#volumes.prepare(pod, nodeName, snapshot)) await this.#bind(pod, nodeName);
  }

  async #bind(pod: StoredPod, nodeName: string): Promise<void> {
    const { name, namespace, uid } = pod.metadata;
    try {
      await this.context.client
        .api(Pod, namespace)
        .subresource('binding')
        .create(name, { metadata: { name, uid }, target: { kind: 'Node', name: nodeName } });
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      if (error.reason === 'NotFound') this.#nodes.forget(pod);
      else await this.#fail(pod, `running Bind plugin "DefaultBinder": ${error.message}`);
      return;
    }
    this.#nodes.forget(pod);
    const message = `Successfully assigned ${namespace}/${name} to ${nodeName}`;
    this.context.events.record(pod, 'Normal', 'Scheduled', message, { action: 'Binding' });
  }

  /** Removes pods of a lower priority if that helps. The pod is tried again when they are gone. */
  async #makeRoom(info: PodInfo, failure: Failure, snapshot: Snapshot): Promise<void> {
    const { candidates, claim, message: remedy, nominatedNodeName } = findRemedy(info, failure, snapshot);
    if (claim !== undefined) await this.#claims.release(claim);
    const { statuses, podProblem, plugins } = failure;
    const message = fitMessage({ nodeCount: snapshot.nodes.length, statuses, podProblem, remedy });
    await this.#reject(info.pod, message, { plugins, nominatedNodeName });
    const [candidate] = candidates;
    if (candidate !== undefined) await this.#removeVictims(info, candidate, snapshot);
  }

  async #removeVictims(info: PodInfo, { nodeName, victims }: Candidate, { nominated }: Snapshot): Promise<void> {
    // Pods of a lower priority that were to get the node look for another one.
    for (const { pod, priority } of nominated.get(nodeName) ?? []) {
      if (priority < info.priority) await this.#patchStatus(pod, { nominatedNodeName: null });
    }
    for (const { pod } of victims) await this.#removeVictim(pod, info.pod, nodeName);
  }

  async #removeVictim(victim: StoredPod, preemptor: StoredPod, nodeName: string): Promise<void> {
    const { name, namespace, uid } = victim.metadata;
    const message = `${this.options.schedulerName}: preempting to accommodate a higher priority pod`;
    const condition = this.#condition(victim, 'DisruptionTarget', { status: 'True', reason: PREEMPTED, message });
    if (condition !== undefined) await this.#patchStatus(victim, { conditions: [condition] });
    await ignoreNotFound(this.context.client.api(Pod, namespace).delete(name, { preconditions: { uid } }));
    const note = `Preempted by pod ${preemptor.metadata.uid} on node ${nodeName}`;
    const details = { action: 'Preempting', related: preemptor };
    this.context.events.record(victim, 'Normal', 'Preempted', note, details);
  }

  /** The pod fits nowhere. `nominatedNodeName` undefined: it stays. */
  async #reject(
    pod: StoredPod,
    message: string,
    { plugins, nominatedNodeName }: { plugins: ReadonlySet<string>; nominatedNodeName: string | undefined },
  ): Promise<void> {
    this.#recordFailure(pod, message);
    await this.#writeFailure(pod, { reason: 'Unschedulable', message }, nominatedNodeName);
    this.#wait(pod, plugins);
  }

  /** The pod waits for a change that concerns one of the plugins. */
  #wait(pod: StoredPod, plugins: ReadonlySet<string>): void {
    if (this.#waiting.failed(keyOf(pod), plugins, this.context.clock.now())) this.#queue.add(NEXT);
  }

  /** An error that has nothing to do with the nodes. The pod is tried again after a delay. */
  async #fail(pod: StoredPod, message: string): Promise<void> {
    this.#nodes.forget(pod);
    this.#retryLater(keyOf(pod));
    this.#recordFailure(pod, message);
    await this.#writeFailure(pod, { reason: 'SchedulerError', message }, '');
  }

  #recordFailure(pod: StoredPod, message: string): void {
    const note = message.length <= MAX_NOTE ? message : `${message.slice(0, MAX_NOTE - 4)} ...`;
    this.context.events.record(pod, 'Warning', 'FailedScheduling', note, { action: 'Scheduling' });
  }

  async #writeFailure(
    pod: StoredPod,
    { reason, message }: { reason: string; message: string },
    nominatedNodeName: string | undefined,
  ): Promise<void> {
    const condition = this.#condition(pod, 'PodScheduled', { status: 'False', reason, message });
    const isRenominated = nominatedNodeName !== undefined && nominatedNodeName !== (pod.status.nominatedNodeName ?? '');
    if (condition === undefined && !isRenominated) return;
    await this.#patchStatus(pod, {
      ...(condition === undefined ? {} : { conditions: [condition] }),
      ...(isRenominated ? { nominatedNodeName: nominatedNodeName === '' ? null : nominatedNodeName } : {}),
    });
  }

  /** The new condition; undefined if nothing changes. */
  #condition(
    pod: StoredPod,
    type: string,
    { status, reason, message }: Pick<NewCondition, 'status' | 'reason' | 'message'>,
  ): NewCondition | undefined {
    const before = podCondition(pod, type);
    if (before?.status === status && before.reason === reason && before.message === message) return undefined;
    const since = before?.status === status ? before.lastTransitionTime : undefined;
    return { type, status, lastProbeTime: null, lastTransitionTime: since ?? this.context.now(), reason, message };
  }

  /** A pod that was deleted meanwhile is ignored. */
  async #patchStatus({ metadata }: StoredPod, status: StatusPatch): Promise<void> {
    const { name, namespace, uid } = metadata;
    const patch = strategicPatch<PodInput>({ metadata: { uid }, status });
    await ignoreNotFound(this.context.client.api(Pod, namespace).status.patch(name, patch));
  }
}

/** Not an interface: the type of patches has an index signature. */
type NewCondition = {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly lastProbeTime: null;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
};

type StatusPatch = {
  readonly conditions?: readonly NewCondition[];
  readonly nominatedNodeName?: string | null;
};
