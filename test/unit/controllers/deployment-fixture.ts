/** A cluster with the Deployment and ReplicaSet controllers and one Deployment `d`; tests set the pod statuses. */
import type { ClusterOptions } from 'orchplane';
import { type Controller, deployments, replicaSets } from 'orchplane/controllers';
import { Deployment, type DeploymentInput, ReplicaSet } from 'orchplane/kinds';
import { selector, template, WorkloadWorld } from './workload-fixture.js';

type Spec = Partial<NonNullable<DeploymentInput['spec']>>;

export class DeploymentWorld extends WorkloadWorld {
  constructor(more: readonly Controller[] = [], options: Omit<ClusterOptions, 'clock' | 'controllers'> = {}) {
    super([deployments(), replicaSets(), ...more], options);
  }

  async make(spec: Spec = {}, metadata: DeploymentInput['metadata'] = { name: 'd' }) {
    const all = { replicas: 2, selector, template: template(), ...spec };
    await this.cluster.api(Deployment).create({ metadata, spec: all });
    await this.cluster.settle();
  }

  async change(spec: object, metadata: object = {}) {
    await this.cluster.api(Deployment).patch('d', { type: 'merge', merge: { metadata, spec } });
    await this.cluster.settle();
  }

  roll(image: string, spec: object = {}) {
    return this.change({ template: { spec: { containers: [{ name: 'c', image }] } }, ...spec });
  }

  async deployment() {
    await this.cluster.settle();
    return this.cluster.api(Deployment).get('d');
  }

  async counts() {
    const { conditions: _conditions, ...rest } = (await this.deployment()).status;
    return rest;
  }

  async conditions() {
    const all = (await this.deployment()).status.conditions ?? [];
    return all.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`);
  }

  async progressing() {
    return (await this.conditions()).find((condition) => condition.startsWith('Progressing'));
  }

  async sets() {
    await this.cluster.settle();
    return (await this.cluster.api(ReplicaSet).list()).items;
  }

  /** The replicas of each ReplicaSet by the image of its pods. */
  async sizes() {
    const all = await this.sets();
    const sized = all.map(({ spec }) => [spec.template.spec?.containers[0]?.image ?? '', spec.replicas] as const);
    return Object.fromEntries(sized.sort());
  }

  async setOf(image: string) {
    const found = (await this.sets()).find(({ spec }) => spec.template.spec?.containers[0]?.image === image);
    if (found === undefined) throw new Error(`there is no ReplicaSet of ${image}`);
    return found;
  }

  /** Marks pending pods of an image as running and ready. */
  async runPodsOf(image: string, count = Infinity) {
    const pods = (await this.pods()).filter(({ spec, status }) => {
      return spec.containers[0]?.image === image && status.phase === 'Pending';
    });
    await this.run(...pods.slice(0, count).map(({ metadata }) => metadata.name));
  }

  /** Marks all pods as running and ready, also those created meanwhile. */
  async runAll() {
    for (let [pod] = await this.#pending(); pod !== undefined; [pod] = await this.#pending()) await this.run(pod);
  }

  async #pending() {
    const pods = await this.pods();
    return pods.filter(({ status }) => status.phase === 'Pending').map(({ metadata }) => metadata.name);
  }
}
