/**
 * The controller of Jobs. Each reconcile classifies the Job's pods, decides whether the Job is finished, creates or deletes
 * pods, and counts finished ones in the status.
 */
import { Job } from '../../../kinds/batch/v1/job/job.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { JobStatus } from '../../../kinds/generated/batch-v1.js';
import type { OwnerReference } from '../../../meta/object.js';
import { copyJson } from '../../../util/json.js';
import { type Controller, ControllerPart } from '../../runtime/controller.js';
import { controllerOf } from '../../runtime/owners.js';
import { keyOf } from '../../runtime/shared-informer.js';
import type { ReconcileResult } from '../../runtime/work-queue.js';
import { candidateIndex, claims, onDependents, selectorIndex } from '../dependents.js';
import type { StoredPod } from '../pod-state.js';
import {
  finishedCondition,
  isSuspended,
  isTracked,
  type JobControl,
  jobKeys,
  NO_FAILURES,
  type StoredJob,
  snapshotOf,
  untrack,
} from './job-snapshot.js';
import { endPods, type Managed, managePods } from './manage-pods.js';
import { COMPLETIONS_REACHED, deadlineLeft, isComplete, outcomeOf } from './outcome.js';
import { addCondition, conditionOf, track } from './track.js';

const WORKERS = 5;
const BACKOFF = { firstMs: 1_000, longestMs: 60_000 };
/**
 * The reference server batches changes of a Job and its pods for this time. Here a Job is reconciled at once, unless it has
 * just failed: each attempt records an event, and there must not be more events than in the reference server. Pods are also
 * counted after this time if the Job is being deleted: it has released them.
 * upstream: pkg/controller/job/job_controller.go syncJobBatchPeriod
 */
const GATHERING_MS = 1_000;

/**
 * Runs Jobs: creates their pods until enough of them have succeeded.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([jobs()]) });
 */
export function jobs(): Controller {
  return {
    name: 'job-controller',
    account: 'job-controller',
    needs: [Job, Pod],
    start: (context) => new Jobs(context).start(),
  };
}

class Jobs extends ControllerPart {
  readonly #control: JobControl = { ...this.context, keys: jobKeys(this.context.dialect), runs: new Map() };
  readonly #hasManagers = this.context.features?.enabled('JobManagedBy') ?? true;
  readonly #jobs = this.context.informer(Job);
  readonly #pods = this.context.informer(Pod);
  readonly #candidates = candidateIndex(this.#pods);
  readonly #claim = claims(this.context, Job, Pod);
  readonly #jobsSelecting = selectorIndex(this.#jobs, ({ spec }) => spec.selector);
  readonly #queue = this.context.queue((key) => this.#reconcileJob(key), { workers: WORKERS, backoff: BACKOFF });
  /** Queue for pods with the tracking finalizer that no Job counts. */
  readonly #untracking = this.context.queue((key) => this.#untrack(key), { name: 'orphans', backoff: BACKOFF });

  start(): void {
    this.#jobs.onKey((key, event) => {
      const { type, object } = event;
      if (type === 'MODIFIED' && event.previous.metadata.generation === object.metadata.generation) this.#add(object);
      else this.#queue.add(key);
      const isGone = type === 'DELETED';
      if (isGone) this.#control.runs.delete(object.metadata.uid);
      if (isGone || finishedCondition(object) !== undefined) this.#queueUntracking(object);
    });
    onDependents(
      this.#pods,
      (pod, controller) => this.#queueJobOf(pod, controller),
      (pod) => this.#queueAdopters(pod),
    );
  }

  #add(job: StoredJob): void {
    const key = keyOf(job);
    const isDeleted = job.metadata.deletionTimestamp !== undefined;
    if (isDeleted || this.#queue.hasPendingRetry(key)) this.#queue.addAfter(key, GATHERING_MS);
    else this.#queue.add(key);
  }

  /** Queues the Job of a pod. A tracked pod without an unfinished Job is queued for removal of its finalizer. */
  #queueJobOf(pod: StoredPod, controller: OwnerReference | undefined): void {
    const job = this.#jobOf(pod, controller);
    if (job !== undefined) this.#add(job);
    if ((job === undefined || finishedCondition(job) !== undefined) && isTracked(pod, this.#control.keys)) {
      this.#untracking.add(keyOf(pod));
    }
  }

  #queueAdopters(pod: StoredPod): void {
    const { namespace = '', labels } = pod.metadata;
    for (const job of this.#jobsSelecting(namespace, labels)) this.#add(job);
  }

  #queueUntracking(job: StoredJob): void {
    for (const pod of this.#candidates(job, job.spec.selector)) {
      if (isTracked(pod, this.#control.keys)) this.#untracking.add(keyOf(pod));
    }
  }

  #jobOf(pod: StoredPod, controller: OwnerReference | undefined): StoredJob | undefined {
    if (controller === undefined || !isJob(controller)) return undefined;
    const job = this.#jobs.get(controller.name, pod.metadata.namespace);
    return job?.metadata.uid === controller.uid ? job : undefined;
  }

  #isManagedElsewhere({ spec }: StoredJob): boolean {
    return this.#hasManagers && spec.managedBy !== undefined && spec.managedBy !== this.#control.keys.manager;
  }

  async #reconcileJob(key: string): Promise<ReconcileResult | undefined> {
    const job = this.#jobs.at(key);
    if (job === undefined || this.#isManagedElsewhere(job)) return undefined;
    const { clock, now, keys, runs } = this.#control;
    const { uid, deletionTimestamp } = job.metadata;
    if (finishedCondition(job) !== undefined) {
      runs.delete(uid);
      return undefined;
    }
    const pods = await this.#claim(job, job.spec.selector, { finalizers: [keys.finalizer] });
    const status = copyJson(job.status) as JobStatus;
    status.uncountedTerminatedPods ??= {};
    if (status.startTime === undefined && !isSuspended(job.spec)) status.startTime = now();

    const snapshot = snapshotOf(job, pods, { keys, run: runs.get(uid) ?? NO_FAILURES });
    const deadlineMs = deadlineLeft(job, status, clock.now());
    let outcome = outcomeOf(snapshot, deadlineMs);
    let managed: Managed = { active: snapshot.active.length, ready: snapshot.ready, terminating: snapshot.terminating };
    let isChanged = false;
    if (outcome !== undefined) {
      managed = await endPods(this.#control, snapshot);
      // The Job is not finished while a pod is active.
      if (managed.active > 0) outcome = undefined;
    } else {
      if (deletionTimestamp === undefined) managed = await managePods(this.#control, snapshot);
      if (isComplete(snapshot, managed.active)) outcome = COMPLETIONS_REACHED;
      else if (deletionTimestamp === undefined) isChanged = this.#noteSuspension(job, status);
      if (deadlineMs !== undefined) this.#queue.addAfter(key, deadlineMs);
    }

    const { active, ready, terminating, waitMs, failure } = managed;
    isChanged ||= active !== (status.active ?? 0) || ready !== status.ready || terminating !== status.terminating;
    Object.assign(status, { active, ready, terminating });
    // Before the status update, so that the delay is set even if the update fails.
    if (waitMs !== undefined) this.#queue.addAfter(key, waitMs);
    await track(this.#control, { snapshot, status, outcome, isChanged });
    if (failure !== undefined) {
      if (this.#isUnchanged(key, job) && this.#queue.dropRepeat(key)) this.#queue.addAfter(key, GATHERING_MS);
      throw failure.error;
    }
    return undefined;
  }

  /** Whether neither the spec has changed nor the Job was replaced. */
  #isUnchanged(key: string, { metadata }: StoredJob): boolean {
    const now = this.#jobs.at(key)?.metadata;
    return now?.uid === metadata.uid && now.generation === metadata.generation;
  }

  /** Updates the Suspended condition and returns whether the status changes. Resuming resets the start time. */
  #noteSuspension(job: StoredJob, status: JobStatus): boolean {
    const { events, now } = this.#control;
    const known = status.conditions?.find(({ type }) => type === 'Suspended');
    if (isSuspended(job.spec)) {
      if (known?.status === 'True') return false;
      addCondition(status, conditionOf('Suspended', { reason: 'JobSuspended', message: 'Job suspended' }, now()));
      events.record(job, 'Normal', 'Suspended', 'Job suspended');
      return true;
    }
    if (known === undefined || known.status === 'False') return false;
    const resumed = conditionOf('Suspended', { reason: 'JobResumed', message: 'Job resumed' }, now());
    addCondition(status, { ...resumed, status: 'False' });
    status.startTime = now();
    events.record(job, 'Normal', 'Resumed', 'Job resumed');
    return true;
  }

  /** Removes the tracking finalizer from a pod that no Job will count. */
  async #untrack(key: string): Promise<void> {
    const { client, keys } = this.#control;
    const pod = this.#pods.at(key);
    if (pod === undefined || !isTracked(pod, keys)) return;
    const controller = controllerOf(pod);
    if (controller !== undefined && !isJob(controller)) return;
    const job = this.#jobOf(pod, controller);
    if (job !== undefined && (this.#isManagedElsewhere(job) || finishedCondition(job) === undefined)) return;
    await untrack(client, pod, keys);
  }
}

function isJob({ apiVersion, kind }: Readonly<OwnerReference>): boolean {
  return kind === Job.kind && apiVersion === `${Job.group}/${Job.version}`;
}
