/**
 * CronJobs: a Job whenever the schedule says so. One look at a CronJob removes Jobs that are history, notes which of its
 * Jobs have ended, and starts the run that is due; the next look is when the next run is.
 */

import { CronJob, type CronJobStatus } from '../../kinds/batch/v1/cron-job.js';
import { Job } from '../../kinds/batch/v1/job/job.js';
import { StatusError } from '../../meta/errors.js';
import { quote } from '../../text/go/go-text.js';
import { CronError, type CronSchedule } from '../../text/time/cron.js';
import { formatTime } from '../../text/time/time.js';
import { isTimeZone } from '../../text/time/time-zone.js';
import { deepEqual } from '../../util/json.js';
import { messageOf } from '../../util/message-of.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import type { EventType } from '../runtime/events.js';
import { controllerOf, isControlledBy } from '../runtime/owners.js';
import { isNamespaceTerminating } from '../runtime/refusals.js';
import { keyOf, type SharedInformer } from '../runtime/shared-informer.js';
import type { Again, WorkQueue } from '../runtime/work-queue.js';
import { finishedCondition, type StoredJob } from '../workloads/job/picture.js';
import { lastDue, ScheduleError, type StoredCronJob, untilNext } from './due.js';
import { jobFor, jobNameAt, referenceTo } from './new-job.js';
import { namesZone, Schedules } from './schedules.js';

/** After every time. */
const NEVER = '~';

const WORKERS = 5;
/** Fewer are looked through faster than what was found before is remembered. */
const MANY_JOBS = 16;

/**
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

/** One look: what it sees, and the status it will leave. */
interface Look {
  readonly cronJob: StoredCronJob;
  readonly jobs: readonly StoredJob[];
  /** All of its Jobs are active, and noted in the order in which they came: the common case, and the longest lists. */
  readonly isAsNoted: boolean;
  /** A draft. */
  readonly status: CronJobStatus;
  readonly nowMs: number;
}

type Active = NonNullable<StoredCronJob['status']['active']>;

/** Jobs, the list in a status that names the same ones, and a copy of that list. */
interface NotedJobs {
  readonly jobs: readonly StoredJob[];
  readonly status: Active;
  readonly active: Active;
}

class CronJobs {
  readonly #context: ControllerContext;
  readonly #cronJobs: SharedInformer<typeof CronJob>;
  readonly #jobs: SharedInformer<typeof Job>;
  readonly #queue: WorkQueue;
  readonly #schedules = new Schedules();
  /** CronJobs as a look has left them, and until when there is no run for them. */
  readonly #leftBehind = new WeakMap<StoredCronJob, number>();
  /** Jobs that were found to be those that a status names, by the first of them. */
  readonly #asNoted = new WeakMap<StoredJob, NotedJobs>();

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#cronJobs = context.informer(CronJob);
    this.#jobs = context.informer(Job);
    this.#queue = context.queue((key) => this.#look(key), { workers: WORKERS });
  }

  start(): void {
    this.#cronJobs.onKey((key, event) => {
      if (event.type === 'MODIFIED' && isRescheduled(event.previous, event.object)) this.#reschedule(key, event.object);
      else this.#queue.add(key);
    });
    this.#jobs.subscribe((event) => {
      this.#wake(event.object);
      if (event.type === 'MODIFIED') this.#wake(event.previous);
    });
  }

  #wake(job: StoredJob): void {
    const controller = controllerOf(job);
    if (controller?.kind !== CronJob.kind) return;
    const cronJob = this.#cronJobs.get(controller.name, job.metadata.namespace);
    if (cronJob?.metadata.uid === controller.uid) this.#queue.add(keyOf(cronJob));
  }

  /** Runs that a new schedule would have had in the past are not made up for. */
  #reschedule(key: string, cronJob: StoredCronJob): void {
    try {
      this.#queue.addAfter(key, untilNext(cronJob, this.#schedules.of(cronJob.spec), this.#context.clock.now()));
    } catch (error) {
      if (!(error instanceof CronError || error instanceof ScheduleError)) throw error;
      // The look tells what is wrong with it.
      this.#queue.add(key);
    }
  }

  async #look(key: string): Promise<Again | undefined> {
    const cronJob = this.#cronJobs.at(key);
    if (cronJob === undefined) return undefined;
    const { name, namespace, uid } = cronJob.metadata;
    // Its own fields are replaced, never changed: there may be thousands of active Jobs.
    const status = { ...cronJob.status } as CronJobStatus;
    const jobs = this.#jobs.controlledBy(uid);
    const nowMs = this.#context.clock.now();
    const isAsNoted = this.#isAllAsNoted(jobs, cronJob.status.active);
    const left = this.#leftBehind.get(cronJob);
    // Its own writes bring it back here, and there is nothing to see.
    if (left !== undefined && nowMs < left && isAsNoted) return { requeueAfterMs: left - nowMs };
    const look: Look = { cronJob, jobs, isAsNoted, status, nowMs };
    if (!isAsNoted) for (const job of historyBeyondLimits(cronJob, jobs)) await this.#delete(look, job);

    let requeueAfterMs: number | undefined;
    let failure: { readonly error: unknown } | undefined;
    try {
      if (!isAsNoted) await this.#followJobs(look);
      requeueAfterMs = await this.#run(look);
    } catch (error) {
      failure = { error };
    }
    if (status.active?.length === 0) delete status.active;
    if (!deepEqual(status, cronJob.status)) {
      const written = await this.#context.client.api(CronJob, namespace).status.update(name, { ...cronJob, status });
      // Whoever is to be warned is warned at every look.
      if (requeueAfterMs !== undefined && !namesZone(cronJob.spec)) {
        // Where writes take their time the next run may have come by now, or be nearer than it was.
        if (this.#context.clock.now() === nowMs && this.#isAllThereIs(key, written)) this.#queue.seen(key);
        else this.#leftBehind.set(written, nowMs + requeueAfterMs);
      }
    }
    if (failure !== undefined) throw failure.error;
    return { requeueAfterMs };
  }

  /** Whether the informers know by now what a look has left behind, and nothing else. */
  #isAllThereIs(key: string, written: StoredCronJob): boolean {
    if (this.#cronJobs.at(key) !== written) return false;
    return this.#isAllAsNoted(this.#jobs.controlledBy(written.metadata.uid), written.status.active);
  }

  /** There may be thousands of Jobs, and there is a look for every one that comes: what was found before holds. */
  #isAllAsNoted(jobs: readonly StoredJob[], active: Active | undefined): boolean {
    if (jobs.length !== (active?.length ?? 0)) return false;
    const [first] = jobs;
    if (first === undefined || active === undefined) return true;
    if (jobs.length < MANY_JOBS) return jobs.every((job, index) => isActiveAs(job, active[index] as Active[number]));
    const before = this.#asNoted.get(first);
    // Engines copy a frozen list faster than they read from it.
    const found: NotedJobs = { jobs, status: active, active: before?.status === active ? before.active : [...active] };
    for (let index = before === undefined ? 0 : startInCommon(before, found); index < jobs.length; index++) {
      if (!isActiveAs(jobs[index] as StoredJob, found.active[index] as Active[number])) return false;
    }
    this.#asNoted.set(first, found);
    return true;
  }

  /** Notes what has become of its Jobs. */
  async #followJobs(look: Look): Promise<void> {
    const { cronJob, jobs, status } = look;
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
        this.#tell(cronJob, 'Warning', 'UnexpectedJob', message);
        continue;
      }
      if (isActive) {
        forget(status, uid);
        this.#tell(cronJob, 'Normal', 'SawCompletedJob', `Saw completed job: ${name}, condition: ${end.type}`);
      }
      if (end.type === 'Complete') noteSuccess(status, job);
    }
    for (const { name = '', namespace, uid = '' } of status.active ?? []) {
      if (uids.has(uid)) continue;
      // Perhaps only its owner was taken from it.
      if ((await this.#context.client.api(Job, namespace).find(name)) !== undefined) continue;
      this.#tell(cronJob, 'Normal', 'MissingJob', `Active job went missing: ${name}`);
      forget(status, uid);
    }
  }

  /** Starts the run that is due, unless something stands against it. The time until the next one. */
  async #run(look: Look): Promise<number | undefined> {
    const { cronJob, status, nowMs } = look;
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
      if (dueMs !== undefined && due.isOneOfMany) this.#tell(cronJob, 'Warning', 'TooManyMissedTimes', TOO_MANY);
      waitMs = untilNext(cronJob, schedule, nowMs, deadlineSeconds === undefined ? due : undefined);
    } catch (error) {
      if (!(error instanceof ScheduleError)) throw error;
      this.#tell(cronJob, 'Warning', 'InvalidSchedule', `invalid schedule: ${spec.schedule} : ${error.message}`);
      return undefined;
    }
    if (dueMs === undefined || this.#isHandled(look, dueMs)) return waitMs;
    if (spec.concurrencyPolicy === 'Forbid' && (status.active ?? []).length > 0) {
      this.#tell(cronJob, 'Normal', 'JobAlreadyActive', FORBIDDEN);
      return waitMs;
    }
    if (spec.concurrencyPolicy === 'Replace') await this.#replaceActive(look);
    const job = await this.#start(look, dueMs);
    if (job === undefined) return undefined;
    status.active = [...(status.active ?? []), referenceTo(job)];
    status.lastScheduleTime = formatTime(dueMs);
    return waitMs;
  }

  #isHandled({ cronJob, isAsNoted, status }: Look, dueMs: number): boolean {
    if (status.lastScheduleTime === formatTime(dueMs)) return true;
    const { namespace } = cronJob.metadata;
    const name = jobNameAt(cronJob, dueMs);
    if (!isAsNoted) return status.active?.some((job) => job.name === name && job.namespace === namespace) ?? false;
    // Its active Jobs are the ones that are there.
    const job = this.#jobs.get(name, namespace);
    return job !== undefined && isControlledBy(job, cronJob);
  }

  /** Undefined where it makes no Jobs, now or ever; events tell why. */
  #scheduleOf(cronJob: StoredCronJob): CronSchedule | undefined {
    const { schedule, suspend, timeZone } = cronJob.spec;
    if (timeZone !== undefined && !isTimeZone(timeZone)) {
      const message = `invalid timeZone: ${quote(timeZone)}: unknown time zone ${timeZone}`;
      this.#tell(cronJob, 'Warning', 'UnknownTimeZone', message);
      return undefined;
    }
    if (suspend === true) return undefined;
    if (namesZone(cronJob.spec)) {
      const page = `https://${this.#context.dialect.domain}/docs/concepts/workloads/controllers/cron-jobs/`;
      const problem = `CRON_TZ or TZ used in schedule ${quote(schedule)} is not officially supported`;
      this.#tell(cronJob, 'Warning', 'UnsupportedSchedule', `${problem}, see ${page} for more details`);
    }
    try {
      return this.#schedules.of(cronJob.spec);
    } catch (error) {
      if (!(error instanceof CronError)) throw error;
      const message = `unparseable schedule: ${quote(schedule)} : ${error.message}`;
      this.#tell(cronJob, 'Warning', 'UnparseableSchedule', message);
      return undefined;
    }
  }

  async #replaceActive(look: Look): Promise<void> {
    const { cronJob, status } = look;
    for (const { name = '', namespace } of status.active ?? []) {
      let job: StoredJob;
      try {
        job = await this.#context.client.api(Job, namespace).get(name);
      } catch (error) {
        this.#tell(cronJob, 'Warning', 'FailedGet', `Get job: ${messageOf(error)}`);
        throw error;
      }
      await this.#delete(look, job, { mustGo: true });
    }
  }

  /** The Job of a run; undefined where there is nothing to note, because the name is taken by something else. */
  async #start({ cronJob, status }: Look, dueMs: number): Promise<StoredJob | undefined> {
    const { client, dialect } = this.#context;
    const api = client.api(Job, cronJob.metadata.namespace);
    const input = jobFor(cronJob, { dueMs, dialect });
    try {
      const job = await api.create(input);
      this.#tell(cronJob, 'Normal', 'SuccessfulCreate', `Created job ${job.metadata.name}`);
      return job;
    } catch (error) {
      if (isNamespaceTerminating(error)) return undefined;
      if (!StatusError.is(error, 'AlreadyExists')) {
        this.#tell(cronJob, 'Warning', 'FailedCreate', `Error creating job: ${messageOf(error)}`);
        throw error;
      }
    }
    // Made before, and not noted: the status could not be written, or was restored.
    const existing = await api.get(input.metadata.name);
    if (!isControlledBy(existing, cronJob)) return undefined;
    return status.active?.some(({ uid }) => uid === existing.metadata.uid) ? undefined : existing;
  }

  async #delete({ cronJob, status }: Look, job: StoredJob, { mustGo = false } = {}): Promise<void> {
    const { name, namespace, uid } = job.metadata;
    try {
      await this.#context.client.api(Job, namespace).delete(name, { propagation: 'Background' });
    } catch (error) {
      if (!StatusError.is(error, 'NotFound')) {
        this.#tell(cronJob, 'Warning', 'FailedDelete', `Deleted job: ${messageOf(error)}`);
        if (mustGo) throw error;
        return;
      }
    }
    forget(status, uid);
    this.#tell(cronJob, 'Normal', 'SuccessfulDelete', `Deleted job ${name}`);
  }

  #tell(cronJob: StoredCronJob, type: EventType, reason: string, message: string): void {
    this.#context.events.record(cronJob, type, reason, message);
  }
}

const TOO_MANY = 'too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew';
const FORBIDDEN = 'Not starting job because prior execution is running and concurrency policy is Forbid';

function isActiveAs({ metadata, status }: StoredJob, { uid, name, namespace }: Active[number]): boolean {
  if (metadata.uid !== uid || metadata.name !== name || metadata.namespace !== namespace) return false;
  return status.conditions === undefined || finishedCondition({ status }) === undefined;
}

/** How many there are, from the first on, that are the very same in both. */
function startInCommon(a: NotedJobs, b: NotedJobs): number {
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

function noteSuccess(status: CronJobStatus, job: StoredJob): void {
  const { completionTime = '' } = job.status;
  // Stored times are all spelled alike, so that their order is that of their texts.
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

/** Those that never started come last; names decide between equals. Stored times are in the order of their texts. */
function byStart(a: StoredJob, b: StoredJob): number {
  const [first, second] = [a.status.startTime ?? NEVER, b.status.startTime ?? NEVER];
  if (first !== second) return first < second ? -1 : 1;
  return a.metadata.name < b.metadata.name ? -1 : 1;
}
