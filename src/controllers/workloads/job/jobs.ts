/**
 * Jobs: pods that run until enough of them have succeeded. Each look takes a picture of the Job's pods, judges whether
 * it is over, makes or removes pods, and writes down what became of them.
 */
import { Job } from '../../../kinds/batch/v1/job/job.js';
import type { JobStatus } from '../../../kinds/batch/v1/job/schema.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { labelSelectorFromObject } from '../../../meta/labels.js';
import type { OwnerReference } from '../../../meta/object.js';
import { copyJson } from '../../../util/json.js';
import type { Controller, ControllerContext } from '../../runtime/controller.js';
import { controllerOf } from '../../runtime/owners.js';
import { keyOf, type SharedInformer } from '../../runtime/shared-informer.js';
import type { Again, WorkQueue } from '../../runtime/work-queue.js';
import { claim } from '../claim.js';
import { onDependents } from '../follow.js';
import type { StoredPod } from '../pod-state.js';
import { type Orphans, orphans, type Selecting, selecting } from '../selecting.js';
import { NO_FAILURES } from './backoff.js';
import type { JobControl } from './control.js';
import { endPods, type Managed, managePods } from './manage.js';
import { isTracked, marksIn, untrack } from './marks.js';
import { endOf, isSuspended, pictureOf, type StoredJob } from './picture.js';
import { addCondition, conditionOf, track } from './track.js';
import { COMPLETIONS_REACHED, deadlineLeft, isComplete, verdictOn } from './verdict.js';

const WORKERS = 5;
const BACKOFF = { firstMs: 1_000, longestMs: 60_000 };
/**
 * The reference gathers what happens to a Job and its pods for so long. Here a Job is looked at at once, unless it has just
 * failed: each attempt is told in an event, and there must not be more of them than there.
 */
const GATHERING_MS = 1_000;

/**
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

class Jobs {
  readonly #control: JobControl;
  readonly #jobs: SharedInformer<typeof Job>;
  readonly #pods: SharedInformer<typeof Pod>;
  readonly #queue: WorkQueue;
  /** Keys of pods that are tracked although no Job counts them. */
  readonly #untracking: WorkQueue;
  readonly #orphans: Orphans<StoredPod>;
  readonly #selecting: Selecting<StoredJob>;
  readonly #hasManagers: boolean;

  constructor(context: ControllerContext) {
    const { client, clock, events, now, dialect, features } = context;
    this.#control = { client, clock, events, now, marks: marksIn(dialect), runs: new Map() };
    this.#hasManagers = features?.enabled('JobManagedBy') ?? true;
    this.#jobs = context.informer(Job);
    this.#pods = context.informer(Pod);
    this.#orphans = orphans(this.#pods);
    this.#selecting = selecting(this.#jobs, ({ spec }) => spec.selector);
    this.#queue = context.queue((key) => this.#look(key), { workers: WORKERS, backoff: BACKOFF });
    this.#untracking = context.queue((key) => this.#untrack(key), { name: 'orphans', backoff: BACKOFF });
  }

  start(): void {
    this.#jobs.onKey((key, event) => {
      const { type, object } = event;
      if (type === 'MODIFIED' && event.previous.metadata.generation === object.metadata.generation) this.#add(key);
      else this.#queue.add(key);
      const isGone = type === 'DELETED';
      if (isGone) this.#control.runs.delete(object.metadata.uid);
      if (isGone || endOf(object) !== undefined) this.#wakeUntracking(object);
    });
    onDependents(
      this.#pods,
      (pod, controller) => this.#wake(pod, controller),
      (pod) => this.#wakeAdopters(pod),
    );
  }

  #add(key: string): void {
    if (this.#queue.isPutOff(key)) this.#queue.addAfter(key, GATHERING_MS);
    else this.#queue.add(key);
  }

  /** The Job of a pod looks again; a pod that is tracked and has none is looked at itself. */
  #wake(pod: StoredPod, controller: OwnerReference | undefined): void {
    const job = this.#jobOf(pod, controller);
    if (job !== undefined) this.#add(keyOf(job));
    if ((job === undefined || endOf(job) !== undefined) && isTracked(pod, this.#control.marks)) {
      this.#untracking.add(keyOf(pod));
    }
  }

  #wakeAdopters(pod: StoredPod): void {
    const { namespace = '', labels } = pod.metadata;
    for (const job of this.#selecting(namespace, labels)) this.#add(keyOf(job));
  }

  #wakeUntracking(job: StoredJob): void {
    for (const pod of this.#candidates(job)) {
      if (isTracked(pod, this.#control.marks)) this.#untracking.add(keyOf(pod));
    }
  }

  #jobOf(pod: StoredPod, controller: OwnerReference | undefined): StoredJob | undefined {
    if (controller === undefined || !isJob(controller)) return undefined;
    const job = this.#jobs.get(controller.name, pod.metadata.namespace);
    return job?.metadata.uid === controller.uid ? job : undefined;
  }

  #candidates({ metadata, spec }: StoredJob): StoredPod[] {
    const strays = spec.selector === undefined ? [] : this.#orphans(metadata.namespace ?? '', spec.selector);
    return [...this.#pods.controlledBy(metadata.uid), ...strays];
  }

  #isManagedElsewhere({ spec }: StoredJob): boolean {
    return this.#hasManagers && spec.managedBy !== undefined && spec.managedBy !== this.#control.marks.manager;
  }

  async #look(key: string): Promise<Again | undefined> {
    const job = this.#jobs.at(key);
    if (job === undefined || this.#isManagedElsewhere(job)) return undefined;
    const { clock, now, marks, runs } = this.#control;
    const { uid, deletionTimestamp } = job.metadata;
    if (endOf(job) !== undefined) {
      runs.delete(uid);
      return undefined;
    }
    const pods = await this.#claim(job);
    const status = copyJson(job.status) as JobStatus;
    status.uncountedTerminatedPods ??= {};
    if (status.startTime === undefined && !isSuspended(job.spec)) status.startTime = now();

    const picture = pictureOf(job, pods, { marks, run: runs.get(uid) ?? NO_FAILURES });
    const deadlineMs = deadlineLeft(job, status, clock.now());
    let verdict = verdictOn(picture, deadlineMs);
    let managed: Managed = { active: picture.active.length, ready: picture.ready, terminating: picture.terminating };
    let isChanged = false;
    if (verdict !== undefined) {
      managed = await endPods(this.#control, picture);
      // Not over as long as one of them is still at work.
      if (managed.active > 0) verdict = undefined;
    } else {
      if (deletionTimestamp === undefined) managed = await managePods(this.#control, picture);
      if (isComplete(picture, managed.active)) verdict = COMPLETIONS_REACHED;
      else if (deletionTimestamp === undefined) isChanged = this.#noteSuspension(job, status);
      if (deadlineMs !== undefined) this.#queue.addAfter(key, deadlineMs);
    }

    const { active, ready, terminating, waitMs, failure } = managed;
    isChanged ||= active !== (status.active ?? 0) || ready !== status.ready || terminating !== status.terminating;
    Object.assign(status, { active, ready, terminating });
    // Before the status is written: the wait counts also where that is refused.
    if (waitMs !== undefined) this.#queue.addAfter(key, waitMs);
    await track(this.#control, { picture, status, verdict, isChanged });
    if (failure !== undefined) {
      if (this.#isStill(key, job) && this.#queue.seen(key)) this.#queue.addAfter(key, GATHERING_MS);
      throw failure.error;
    }
    return undefined;
  }

  /** Nobody has asked for something else, or for another Job of that name. */
  #isStill(key: string, { metadata }: StoredJob): boolean {
    const now = this.#jobs.at(key)?.metadata;
    return now?.uid === metadata.uid && now.generation === metadata.generation;
  }

  #claim(job: StoredJob): Promise<StoredPod[]> {
    const { client, marks } = this.#control;
    const { name, namespace } = job.metadata;
    return claim({
      client,
      kind: Pod,
      owner: job,
      selector: labelSelectorFromObject(job.spec.selector),
      candidates: this.#candidates(job),
      ownerNow: () => client.api(Job, namespace).find(name),
      finalizers: [marks.finalizer],
    });
  }

  /** Whether that changes the status. A Job that goes on begins anew as far as time is concerned. */
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

  /** Lets a pod go that no Job will count: it has none, or one that is over. */
  async #untrack(key: string): Promise<void> {
    const { client, marks } = this.#control;
    const pod = this.#pods.at(key);
    if (pod === undefined || !isTracked(pod, marks)) return;
    const controller = controllerOf(pod);
    if (controller !== undefined && !isJob(controller)) return;
    const job = this.#jobOf(pod, controller);
    if (job !== undefined && (this.#isManagedElsewhere(job) || endOf(job) === undefined)) return;
    await untrack(client, pod, marks);
  }
}

function isJob({ apiVersion, kind }: Readonly<OwnerReference>): boolean {
  return kind === Job.kind && apiVersion === `${Job.group}/${Job.version}`;
}
