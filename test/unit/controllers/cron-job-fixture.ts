/** A cluster with only the CronJob controller, and helpers that finish its Jobs. */

import { createCluster } from 'orchplane';
import { type AdmissionPlugin, defaultAdmission } from 'orchplane/admission';
import { controllers, cronJobs } from 'orchplane/controllers';
import { CoreEvent, CronJob, type CronJobInput, Job } from 'orchplane/kinds';
import { fakeClock, sequentialIds } from 'orchplane/testing';
import { template } from './job-fixture.js';

type CronJobSpec = Partial<NonNullable<CronJobInput['spec']>>;

export class CronWorld {
  readonly clock;
  readonly cluster;
  readonly complaints: string[] = [];

  constructor(now: string, ...plugins: readonly AdmissionPlugin[]) {
    this.clock = fakeClock({ now: Date.parse(now) });
    const onError = (error: unknown, about: string) => void this.complaints.push(`${about}: ${String(error)}`);
    this.cluster = createCluster({
      clock: this.clock,
      ids: sequentialIds(),
      admission: [...defaultAdmission, ...plugins],
      controllers: controllers([cronJobs()], { onError }),
    });
  }

  async make(schedule: string, spec: CronJobSpec = {}, name = 'c') {
    const jobTemplate = { spec: { template: template() } };
    await this.cluster.api(CronJob).create({ metadata: { name }, spec: { schedule, jobTemplate, ...spec } });
    await this.cluster.settle();
  }

  async change(spec: CronJobSpec, name = 'c') {
    await this.cluster.api(CronJob).patch(name, { type: 'merge', merge: { spec: spec as never } });
    await this.cluster.settle();
  }

  async status(name = 'c') {
    await this.cluster.settle();
    return (await this.cluster.api(CronJob).get(name)).status;
  }

  async active() {
    return ((await this.status()).active ?? []).map(({ name }) => name);
  }

  async jobs() {
    await this.cluster.settle();
    return (await this.cluster.api(Job).list()).items;
  }

  /** The scheduled times of all Jobs, read from their names. */
  async runs() {
    return (await this.jobs()).map(({ metadata }) => timeOfRun(metadata.name));
  }

  async finish(name: string, type: 'Complete' | 'Failed' = 'Complete') {
    const now = new Date(this.clock.now()).toISOString();
    const interim = type === 'Complete' ? 'SuccessCriteriaMet' : 'FailureTarget';
    const conditions = [interim, type].map((each) => ({ type: each, status: 'True', lastTransitionTime: now }));
    const job = await this.cluster.api(Job).get(name);
    const end = type === 'Complete' ? { completionTime: now } : {};
    await this.cluster
      .api(Job)
      .status.update(name, { ...job, status: { startTime: now, ...end, conditions } as never });
    await this.cluster.settle();
  }

  async events(type?: string) {
    await this.cluster.settle();
    const { items } = await this.cluster.api(CoreEvent).list();
    return items
      .filter((event) => type === undefined || event.type === type)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  async advance(minutes: number) {
    await this.clock.advance(minutes * 60_000);
  }

  close() {
    return this.cluster.close();
  }
}

/** `c-31556160` → `2030-01-01T00:00`. */
export function timeOfRun(name: string): string {
  return new Date(Number(name.split('-').at(-1)) * 60_000).toISOString().slice(0, 16);
}
