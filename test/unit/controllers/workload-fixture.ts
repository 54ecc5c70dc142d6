/** A cluster with some controllers, and helpers that act as kubelet and scheduler. */
import type { ClusterOptions } from 'orchplane';
import { type Controller, controllers } from 'orchplane/controllers';
import { ControllerRevision, CoreEvent, Node, type NodeInput, Pod } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';

export class WorkloadWorld {
  readonly cluster: TestCluster;
  /** Errors that controllers reported. */
  readonly complaints: string[] = [];

  constructor(list: readonly Controller[], options: Omit<ClusterOptions, 'clock' | 'controllers'> = {}) {
    const onError = (error: unknown, about: string) => void this.complaints.push(`${about}: ${String(error)}`);
    this.cluster = testCluster({ ...options, controllers: controllers(list, { onError }) });
  }

  async pods() {
    await this.cluster.settle();
    return (await this.cluster.api(Pod).list()).items;
  }

  async podNames() {
    return (await this.pods()).map(({ metadata }) => metadata.name);
  }

  async pod(name: string) {
    await this.cluster.settle();
    return this.cluster.api(Pod).get(name);
  }

  async setStatus(pod: string, status: object) {
    await this.cluster.api(Pod).status.patch(pod, { type: 'merge', merge: { status } });
    await this.cluster.settle();
  }

  async run(...pods: string[]) {
    for (const pod of pods) await this.setStatus(pod, ready(new Date(this.cluster.clock.now()).toISOString()));
  }

  async stop(pod: string) {
    const lastTransitionTime = new Date(this.cluster.clock.now()).toISOString();
    await this.setStatus(pod, {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: 'False', lastTransitionTime }],
    });
  }

  async remove(pod: string) {
    await this.cluster.api(Pod).delete(pod);
    await this.cluster.settle();
  }

  async bind(pod: string, node: string) {
    const target = { kind: 'Node', name: node };
    await this.cluster.api(Pod).subresource('binding').create(pod, { target });
    await this.cluster.settle();
  }

  async node(name: string, { labels = {}, ...spec }: NodeInput['spec'] & { labels?: Record<string, string> } = {}) {
    await this.cluster.api(Node).create({ metadata: { name, labels }, spec });
    // A new node has the not-ready taint; its kubelet removes it.
    await this.cluster.api(Node).patch(name, { type: 'merge', merge: { spec: { taints: spec.taints ?? null } } });
    await this.cluster.settle();
  }

  async revisions() {
    await this.cluster.settle();
    const { items } = await this.cluster.api(ControllerRevision).list();
    return [...items].sort((left, right) => left.revision - right.revision);
  }

  async events(about?: { type?: string; kind?: string }) {
    await this.cluster.settle();
    const { items } = await this.cluster.api(CoreEvent).list();
    return items
      .filter(({ type }) => about?.type === undefined || type === about.type)
      .filter(({ involvedObject }) => about?.kind === undefined || involvedObject.kind === about.kind)
      .map(({ reason, message }) => `${reason}: ${message}`);
  }

  async advance(seconds: number) {
    await this.cluster.clock.advance(seconds * 1000);
    await this.cluster.settle();
  }

  close() {
    return this.cluster.close();
  }
}

export function ready(since: string) {
  return { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: since }] };
}

/** A pod template with the label `app: x` and one container `c`. */
export function template(image = 'i:1', spec: object = {}) {
  return { metadata: { labels: { app: 'x' } }, spec: { containers: [{ name: 'c', image }], ...spec } };
}

export const selector = { matchLabels: { app: 'x' } };
