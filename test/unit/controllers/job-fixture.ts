/** A cluster with only the Job controller, and helpers that set pod statuses as a kubelet does. */
import { type AdmissionPlugin, defaultAdmission } from 'orchplane/admission';
import { controllers, jobs } from 'orchplane/controllers';
import { CoreEvent, Job, type JobInput, Pod } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';

type JobSpec = Partial<NonNullable<JobInput['spec']>>;

export class JobWorld {
  readonly cluster: TestCluster;
  /** Errors that controllers reported. */
  readonly complaints: string[] = [];

  constructor(...plugins: readonly AdmissionPlugin[]) {
    const onError = (error: unknown, about: string) => void this.complaints.push(`${about}: ${String(error)}`);
    this.cluster = testCluster({
      admission: [...defaultAdmission, ...plugins],
      controllers: controllers([jobs()], { onError }),
    });
  }

  /** Creates a Job whose pods have one container `c`, and waits for the controller. */
  async make(spec: JobSpec = {}, metadata: JobInput['metadata'] = { name: 'j' }) {
    await this.cluster.api(Job).create({ metadata, spec: { template: template(), ...spec } });
    await this.cluster.settle();
  }

  async job(name = 'j') {
    await this.cluster.settle();
    return this.cluster.api(Job).get(name);
  }

  async status(name = 'j') {
    return (await this.job(name)).status;
  }

  /** The conditions in order, each as `type=status reason`. */
  async conditions(name = 'j') {
    const { conditions = [] } = await this.status(name);
    return conditions.map(({ type, status, reason }) => `${type}=${status} ${reason}`);
  }

  async pods() {
    await this.cluster.settle();
    return (await this.cluster.api(Pod).list()).items;
  }

  /** Pods that are neither finished nor terminating. */
  async active() {
    const pods = await this.pods();
    return pods.filter(
      ({ metadata, status }) =>
        metadata.deletionTimestamp === undefined && status.phase !== 'Succeeded' && status.phase !== 'Failed',
    );
  }

  async setStatus(pod: string, status: object) {
    await this.cluster.api(Pod).status.patch(pod, { type: 'merge', merge: { status } });
    await this.cluster.settle();
  }

  /** Sets the phase of all active pods, or of the pod with the index. */
  async end(phase: 'Succeeded' | 'Failed', { index, exitCode }: { index?: number; exitCode?: number } = {}) {
    for (const { metadata } of await this.active()) {
      if (index !== undefined && metadata.annotations?.['batch.orch.io/job-completion-index'] !== String(index))
        continue;
      await this.setStatus(metadata.name, { phase, ...(exitCode === undefined ? {} : exited(exitCode)) });
    }
  }

  async events(type?: string) {
    await this.cluster.settle();
    const { items } = await this.cluster.api(CoreEvent).list();
    return items
      .filter((event) => type === undefined || event.type === type)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  advance(seconds: number) {
    return this.cluster.clock.advance(seconds * 1000);
  }

  close() {
    return this.cluster.close();
  }
}

export const template = (more: object = {}) => ({
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'i:1' }], restartPolicy: 'Never' as const, ...more },
});

export const FINALIZER = 'batch.orch.io/job-tracking';

export function exited(exitCode: number, more: object = {}) {
  const terminated = { exitCode, reason: 'Error', ...more };
  return {
    containerStatuses: [{ name: 'c', image: 'i:1', imageID: '', ready: false, restartCount: 0, state: { terminated } }],
  };
}
