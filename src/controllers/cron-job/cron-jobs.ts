/**
 * The controller of CronJobs: creates a Job for each scheduled run. A reconcile deletes Jobs above the history limits, records
 * which Jobs have finished and starts the run that is due. The next reconcile is at the time of the next run.
 */

import { CronJob } from '../../kinds/batch/v1/cron-job.js';
import { Job } from '../../kinds/batch/v1/job/job.js';
import type { CronJobStatus } from '../../kinds/generated/batch-v1.js';
import { StatusError } from '../../meta/errors.js';
import { quote } from '../../text/go/go-text.js';
import { CronError, type CronSchedule } from '../../text/time/cron.js';
import { formatTime } from '../../text/time/time.js';
import { isTimeZone } from '../../text/time/time-zone.js';
import { deepEqual } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import type { EventType } from '../runtime/events.js';
import { isNamespaceTerminating } from '../runtime/expected-errors.js';
import { isControlledBy } from '../runtime/owners.js';
import { keyOf } from '../runtime/shared-informer.js';
import type { ReconcileResult } from '../runtime/work-queue.js';
import { controllerAmong } from '../workloads/dependents.js';
import { finishedCondition, type StoredJob } from '../workloads/job/job-snapshot.js';
import {
  jobFor,
  jobNameAt,
  lastDue,
  namesZone,
  referenceTo,
  ScheduleError,
  Schedules,
  type StoredCronJob,
  untilNext,
} from './runs.js';

/** Sorts after every timestamp. */
const NEVER = '~';

const WORKERS = 5;
/** Below this number, checking all Jobs is faster than using the cache. */
const MANY_JOBS = 16;

/**
 * Runs CronJobs. The Jobs need `jobs()` to get pods.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([cronJobs(), jobs()]) });
 */
export function cronJobs(): Controller {
  return {
    name: 'cronjob-controller',
    account: 'cronjob-controller',
    needs: [CronJob, Job],
    start: (context) => new CronJobs(context).start(),
  };
}

/** The input of one reconcile and the status it will write. */
interface Reconciliation {
  readonly cronJob: StoredCronJob;
  readonly jobs: readonly StoredJob[];
  /** Whether all Jobs are active and listed in the status in the same order: the common case, with the longest lists. */
  readonly isListed: boolean;
  /** Modified during the reconcile. */
  readonly status: CronJobStatus;
  readonly nowMs: number;
}

type Active = NonNullable<StoredCronJob['status']['active']>;

/** Jobs, the status list that contains exactly these, and a copy of that list. */
interface ListedJobs {
  readonly jobs: readonly StoredJob[];
  readonly status: Active;
  readonly active: Active;
}

class CronJobs extends ControllerPart {
  readonly #cronJobs = this.context.informer(CronJob);
  readonly #jobs = this.context.informer(Job);
  readonly #queue = this.context.queue((key) => this.#reconcileCronJob(key), { workers: WORKERS });
  readonly #schedules = new Schedules();
  /** CronJobs as written by a reconcile, with the time of their next run. */
  readonly #idleUntil = new WeakMap<StoredCronJob, number>();
  /** Jobs that were found to equal a status list, by the first Job. */
  readonly #listedJobs = new WeakMap<StoredJob, ListedJobs>();

  start(): void {
    this.#cronJobs.onKey((key, event) => {
      if (event.type === 'MODIFIED' && isRescheduled(event.previous, event.object)) this.#reschedule(key, event.object);
      else this.#queue.add(key);
    });
    this.#jobs.subscribe((event) => {
      this.#queueCronJobOf(event.object);
      if (event.type === 'MODIFIED') this.#queueCronJobOf(event.previous);
    });
  }

  #queueCronJobOf(job: StoredJob): void {
    const cronJob = controllerAmong(this.#cronJobs, job);
    if (cronJob !== undefined) this.#queue.add(keyOf(cronJob));
  }

  /** Past runs of a new schedule are not made up for. */
  #reschedule(key: string, cronJob: StoredCronJob): void {
    try {
      this.#queue.addAfter(key, untilNext(cronJob, this.#schedules.of(cronJob.spec), this.context.clock.now()));
    } catch (error) {
      if (!(error instanceof CronError || error instanceof ScheduleError)) throw error;
      // The reconcile records the event about the invalid schedule.
      this.#queue.add(key);
    }
  }

  async #reconcileCronJob(key: string): Promise<ReconcileResult | undefined> {
    const cronJob = this.#cronJobs.at(key);
    if (cronJob === undefined) return undefined;
    const { name, namespace } = cronJob.metadata;
    // A shallow copy, because there may be thousands of active Jobs; fields are replaced, never modified.
    const status = { ...cronJob.status } as CronJobStatus;
    const jobs = this.#jobs.controlledBy(cronJob);
    const nowMs = this.context.clock.now();
    const isListed = this.#areAllListed(jobs, cronJob.status.active);
    const idleUntil = this.#idleUntil.get(cronJob);
    // The event of this controller's own status update: nothing to do before the next run.
    if (idleUntil !== undefined && nowMs < idleUntil && isListed) return { requeueAfterMs: idleUntil - nowMs };
    const reconciliation: Reconciliation = { cronJob, jobs, isListed, status, nowMs };
    if (!isListed) for (const job of historyBeyondLimits(cronJob, jobs)) await this.#delete(reconciliation, job);

    let requeueAfterMs: number | undefined;
    let failure: { readonly error: unknown } | undefined;
    try {
      if (!isListed) await this.#updateFinished(reconciliation);
      requeueAfterMs = await this.#run(reconciliation);
    } catch (error) {
      failure = { error };
    }
    if (status.active?.length === 0) delete status.active;
    if (!deepEqual(status, cronJob.status)) {
      const written = await this.context.client.api(CronJob, namespace).status.update(name, { ...cronJob, status });
      // A schedule with a time zone records a warning in every reconcile, so none may be skipped.
      if (requeueAfterMs !== undefined && !namesZone(cronJob.spec)) {
        // If the write took time, the next run may be due by now or sooner than computed.
        if (this.context.clock.now() === nowMs && this.#isUpToDate(key, written)) this.#queue.dropRepeat(key);
        else this.#idleUntil.set(written, nowMs + requeueAfterMs);
      }
    }
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs };
  }

  /** Whether the informers contain exactly the result of this reconcile. */
  #isUpToDate(key: string, written: StoredCronJob): boolean {
    if (this.#cronJobs.at(key) !== written) return false;
    return this.#areAllListed(this.#jobs.controlledBy(written), written.status.active);
  }

  /** Compares Jobs with the status list. Uses a cache, because there may be thousands of Jobs and each one causes a reconcile. */
  #areAllListed(jobs: readonly StoredJob[], active: Active | undefined): boolean {
    if (jobs.length !== (active?.length ?? 0)) return false;
    const [first] = jobs;
    if (first === undefined || active === undefined) return true;
    if (jobs.length < MANY_JOBS) return jobs.every((job, index) => isActiveAs(job, active[index] as Active[number]));
    const before = this.#listedJobs.get(first);
    // JavaScript engines copy a frozen array faster than they read it element by element.
    const found: ListedJobs = { jobs, status: active, active: before?.status === active ? before.active : [...active] };
    for (let index = before === undefined ? 0 : commonPrefixLength(before, found); index < jobs.length; index++) {
      if (!isActiveAs(jobs[index] as StoredJob, found.active[index] as Active[number])) return false;
    }
    this.#listedJobs.set(first, found);
    return true;
  }

  /** Removes finished and missing Jobs from the status. */
  async #updateFinished(reconciliation: Reconciliation): Promise<void> {
    const { cronJob, jobs, status } = reconciliation;
    const uids = new Set<string>();
    const active = new Set(status.active?.map(({ uid }) => uid));
    for (const job of jobs) {
      const { name, uid } = job.metadata;
      uids.add(uid);
      const end = finishedCondition(job);
      const isActive = active.has(uid);
      if (end === undefined) {
        if (isActive) continue;
        const message = `Saw a job that the controller did not create or forgot: ${name}`;
        this.#recordEvent(cronJob, 'Warning', 'UnexpectedJob', message);
        continue;
      }
      if (isActive) {
        forget(status, uid);
        this.#recordEvent(cronJob, 'Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${end.type}`);
      }
      if (end.type === 'Complete') recordSuccess(status, job);
    }
    // Users can write the status: the namespaces in it are not used.
    const api = this.context.client.api(Job, cronJob.metadata.namespace);
    for (const { name = '', uid = '' } of status.active ?? []) {
      if (uids.has(uid)) continue;
      // The Job may exist without its owner reference.
      if ((await api.find(name)) !== undefined) continue;
      this.#recordEvent(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`);
      forget(status, uid);
    }
  }

  /** Starts the run that is due, if the policies permit it. Returns the time until the next run. */
  async #run(reconciliation: Reconciliation): Promise<number | undefined> {
    const { cronJob, status, nowMs } = reconciliation;
    const { metadata, spec } = cronJob;
    if (metadata.deletionTimestamp !== undefined) return undefined;
    const schedule = this.#scheduleOf(cronJob);
    if (schedule === undefined) return undefined;
    let dueMs: number | undefined;
    let waitMs: number;
    try {
      const { startingDeadlineSeconds: deadlineSeconds } = spec;
      const due = lastDue(cronJob, schedule, { nowMs, deadlineSeconds });
      dueMs = due.timeMs;
      if (dueMs !== undefined && due.hasManyMissed)
        this.#recordEvent(cronJob, 'Warning', 'TooManyMissedTimes', TOO_MANY);
      waitMs = untilNext(cronJob, schedule, nowMs, deadlineSeconds === undefined ? due : undefined);
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      this.#recordEvent(cronJob, 'Warning', 'InvalidSchedule', `invalid schedule: ${spec.schedule} : ${error.message}`);
      return undefined;
    }
    if (dueMs === undefined || this.#isHandled(reconciliation, dueMs)) return waitMs;
    if (spec.concurrencyPolicy === 'Forbid' && (status.active ?? []).length > 0) {
      this.#recordEvent(cronJob, 'Normal', 'JobAlreadyActive', FORBIDDEN);
      return waitMs;
    }
    if (spec.concurrencyPolicy === 'Replace') await this.#replaceActive(reconciliation);
    const job = await this.#start(reconciliation, dueMs);
    if (job === undefined) return undefined;
    status.active = [...(status.active ?? []), referenceTo(job)];
    status.lastScheduleTime = formatTime(dueMs);
    return waitMs;
  }

  #isHandled({ cronJob, isListed, status }: Reconciliation, dueMs: number): boolean {
    if (status.lastScheduleTime === formatTime(dueMs)) return true;
    const { namespace } = cronJob.metadata;
    const name = jobNameAt(cronJob, dueMs);
    if (!isListed) return status.active?.some((job) => job.name === name && job.namespace === namespace) ?? false;
    // All existing Jobs are active, so a lookup by name is sufficient.
    const job = this.#jobs.get(name, namespace);
    return job !== undefined && isControlledBy(job, cronJob);
  }

  /** The schedule; undefined if the CronJob creates no Jobs. Events report the reason. */
  #scheduleOf(cronJob: StoredCronJob): CronSchedule | undefined {
    const { schedule, suspend, timeZone } = cronJob.spec;
    if (timeZone !== undefined && !isTimeZone(timeZone)) {
      const message = `invalid timeZone: ${quote(timeZone)}: unknown time zone ${timeZone}`;
      this.#recordEvent(cronJob, 'Warning', 'UnknownTimeZone', message);
      return undefined;
    }
    if (suspend === true) return undefined;
    if (namesZone(cronJob.spec)) {
      const page = `https://${this.context.dialect.domain}/docs/concepts/workloads/controllers/cron-jobs/`;
      const problem = `CRON_TZ or TZ used in schedule ${quote(schedule)} is not officially supported`;
      this.#recordEvent(cronJob, 'Warning', 'UnsupportedSchedule', `${problem}, see ${page} for more details`);
    }
    try {
      return this.#schedules.of(cronJob.spec);
    } catch (error) {
      if (!(error instanceof CronError)) throw error;
      const message = `unparseable schedule: ${quote(schedule)} : ${error.message}`;
      this.#recordEvent(cronJob, 'Warning', 'UnparseableSchedule', message);
      return undefined;
    }
  }

  async #replaceActive(reconciliation: Reconciliation): Promise<void> {
    const { cronJob, status } = reconciliation;
    for (const { name = '' } of status.active ?? []) {
      let job: StoredJob;
      try {
        job = await this.context.client.api(Job, cronJob.metadata.namespace).get(name);
      } catch (error) {
        this.#recordEvent(cronJob, 'Warning', 'FailedGet', `Get job: ${messageOf(error)}`);
        throw error;
      }
      await this.#delete(reconciliation, job, { isRequired: true });
    }
  }

  /** Creates the Job of a run; undefined if the status does not change because another object has the name. */
  async #start({ cronJob, status }: Reconciliation, dueMs: number): Promise<StoredJob | undefined> {
    const { client, dialect } = this.context;
    const api = client.api(Job, cronJob.metadata.namespace);
    const input = jobFor(cronJob, { dueMs, dialect });
    try {
      const job = await api.create(input);
      this.#recordEvent(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
      return job;
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      if (!StatusError.is(error, 'AlreadyExists')) {
        this.#recordEvent(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`);
        throw error;
      }
    }
    // Created earlier but not recorded: the status update failed, or the cluster was restored.
    const existing = await api.get(input.metadata.name);
    if (!isControlledBy(existing, cronJob)) return undefined;
    return status.active?.some(({ uid }) => uid === existing.metadata.uid) ? undefined : existing;
  }

  async #delete({ cronJob, status }: Reconciliation, job: StoredJob, { isRequired = false } = {}): Promise<void> {
    const { name, namespace, uid } = job.metadata;
    try {
      await this.context.client.api(Job, namespace).delete(name, { propagation: 'Background' });
    } catch (error) {
      if (!StatusError.is(error, 'NotFound')) {
        this.#recordEvent(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${messageOf(error)}`);
        if (isRequired) throw error;
        return;
      }
    }
    forget(status, uid);
    this.#recordEvent(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
  }

  #recordEvent(cronJob: StoredCronJob, type: EventType, reason: string, message: string): void {
    this.context.events.record(cronJob, type, reason, message);
  }
}

const TOO_MANY = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
const FORBIDDEN = 'Not starting job because prior execution is running and concurrency policy is Forbid';

function isActiveAs({ metadata, status }: StoredJob, { uid, name, namespace }: Active[number]): boolean {
  if (metadata.uid !== uid || metadata.name !== name || metadata.namespace !== namespace) return false;
  return status.conditions === undefined || finishedCondition({ status }) === undefined;
}

/** The number of leading entries that are identical in both. */
function commonPrefixLength(a: ListedJobs, b: ListedJobs): number {
  const length = Math.min(a.jobs.length, b.jobs.length);
  let index = 0;
  while (index < length && a.jobs[index] === b.jobs[index] && a.active[index] === b.active[index]) index++;
  return index;
}

function isRescheduled({ spec: before }: StoredCronJob, { spec: now }: StoredCronJob): boolean {
  return before.schedule !== now.schedule || before.timeZone !== now.timeZone;
}

function forget(status: CronJobStatus, uid: string): void {
  if (status.active !== undefined) status.active = status.active.filter((reference) => reference.uid !== uid);
}

function recordSuccess(status: CronJobStatus, job: StoredJob): void {
  const { completionTime = '' } = job.status;
  // Stored times have a fixed format, so they sort as text.
  if (completionTime > (status.lastSuccessfulTime ?? '')) status.lastSuccessfulTime = completionTime;
}

function historyBeyondLimits({ spec }: StoredCronJob, jobs: readonly StoredJob[]): StoredJob[] {
  const complete: StoredJob[] = [];
  const failed: StoredJob[] = [];
  for (const job of jobs) {
    const end = finishedCondition(job);
    if (end !== undefined) (end.type === 'Complete' ? complete : failed).push(job);
  }
  return [...beyond(complete, spec.successfulJobsHistoryLimit), ...beyond(failed, spec.failedJobsHistoryLimit)];
}

function beyond(jobs: readonly StoredJob[], limit = Infinity): readonly StoredJob[] {
  if (jobs.length <= limit) return [];
  return [...jobs].sort(byStart).slice(0, jobs.length - limit);
}

/** Jobs that never started come last; ties are broken by name. */
function byStart(a: StoredJob, b: StoredJob): number {
  const [first, second] = [a.status.startTime ?? NEVER, b.status.startTime ?? NEVER];
  if (first !== second) return first < second ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
