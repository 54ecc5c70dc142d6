/** A cluster with nodes whose kubelets the test simulates, and a log of what controllers write about nodes and pods. */
import type { Controller } from 'orchplane/controllers';
import { CoreEvent, Lease, Node } from 'orchplane/kinds';
import { WorkloadWorld } from '../workload-fixture.js';

const NODE_LEASES = 'kube-node-lease';

export class NodeWorld extends WorkloadWorld {
  constructor(list: readonly Controller[]) {
    super(list);
  }

  timeNow() {
    return new Date(this.cluster.clock.now()).toISOString().replace('.000Z', 'Z');
  }

  /** Creates a node and reports its status. */
  async ready(name: string, labels: Record<string, string> = {}) {
    await this.cluster.api(Node).create({ metadata: { name, labels } });
    await this.report(name);
  }

  /** Reports a status as kubelet does. */
  async report(name: string, ready: 'True' | 'False' = 'True', others: object[] = []) {
    const node = await this.cluster.api(Node).get(name);
    const before = node.status.conditions?.find(({ type }) => type === 'Ready');
    const now = this.timeNow();
    const lastTransitionTime = before?.status === ready ? before.lastTransitionTime : now;
    const condition = { type: 'Ready', status: ready, lastHeartbeatTime: now, lastTransitionTime, reason: 'Kubelet' };
    await this.cluster
      .api(Node)
      .status.patch(name, { type: 'merge', merge: { status: { conditions: [condition, ...others] } } as object });
    await this.cluster.settle();
  }

  async renew(name: string, leaseDurationSeconds = 40) {
    const leases = this.cluster.api(Lease, NODE_LEASES);
    const renewTime = new Date(this.cluster.clock.now()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: name, leaseDurationSeconds, renewTime };
    const lease = await leases.find(name);
    if (lease === undefined) await leases.create({ metadata: { name }, spec });
    else await leases.update({ ...lease, spec });
    await this.cluster.settle();
  }

  /** Lets time pass while the nodes renew their Leases every ten seconds. */
  async live(seconds: number, ...names: string[]) {
    for (let left = seconds; left > 0; left -= 10) {
      for (const name of names) await this.renew(name);
      await this.advance(Math.min(10, left));
    }
  }

  async nodeNamed(name: string) {
    await this.cluster.settle();
    return this.cluster.api(Node).get(name);
  }

  async taints(name: string) {
    const { spec } = await this.nodeNamed(name);
    return (spec.taints ?? []).map(({ key, effect }) => `${String(key).replace('node.orch.io/', '')}:${effect}`);
  }

  async conditions(name: string) {
    const { status } = await this.nodeNamed(name);
    return Object.fromEntries((status.conditions ?? []).map((each) => [each.type, each.status]));
  }

  /** `reason: message` of each event of a source. */
  async eventsOf(component: string) {
    await this.cluster.settle();
    const { items } = await this.cluster.api(CoreEvent).list();
    return items
      .filter(({ source }) => source?.component === component)
      .map(({ reason, message, count }) => `${reason}: ${message}${count === 1 ? '' : ` (${count})`}`);
  }
}
