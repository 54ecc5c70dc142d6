/**
 * A cluster with nodes and pods whose status the tests set, for tests of the Endpoints controllers.
 */

import { type Controller, controllers } from 'orchplane/controllers';
import { CoreEvent, Node, Pod, type PodInput, Service, type ServiceInput } from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import type { DialectName } from '../../../src/meta/dialect.js';

export interface PodSetup {
  readonly ip?: string;
  readonly ips?: readonly string[];
  readonly ready?: boolean;
  readonly phase?: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly node?: string | undefined;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: Partial<PodInput['spec']>;
  readonly startTime?: string;
  readonly readySince?: string;
}

export interface Serving {
  readonly cluster: TestCluster;
  readonly failures: unknown[];
  pod(name: string, setup?: PodSetup): Promise<void>;
  status(name: string, setup: PodSetup): Promise<void>;
  service(name: string, spec?: ServiceInput['spec'], labels?: Record<string, string>): Promise<void>;
  node(name: string, labels?: Record<string, string>): Promise<void>;
  events(): Promise<string[]>;
}

export async function serving(
  list: readonly Controller[],
  options: { readonly dialect?: DialectName; readonly featureGates?: Record<string, boolean> } = {},
): Promise<Serving> {
  const failures: unknown[] = [];
  const run = controllers(list, { onError: (error, about) => failures.push(`${about}: ${String(error)}`) });
  const cluster = testCluster({ ...options, controllers: run });
  const self: Serving = {
    cluster,
    failures,
    async pod(name, setup = {}) {
      const { labels = { app: 'x' }, spec = {} } = setup;
      const node = 'node' in setup ? setup.node : 'n1';
      await cluster.api(Pod).create({
        metadata: { name, labels },
        spec: { containers: [{ name: 'c', image: 'i:1' }], ...(node === undefined ? {} : { nodeName: node }), ...spec },
      });
      await self.status(name, setup);
    },
    async status(name, { ip, ips = ip === undefined ? [] : [ip], ready = true, phase = 'Running', ...times }) {
      await cluster.api(Pod).status.edit(name, (pod) => {
        pod.status.phase = phase;
        const [first] = ips;
        if (first !== undefined) {
          pod.status.podIP = first;
          pod.status.podIPs = ips.map((text) => ({ ip: text }));
        }
        if (times.startTime !== undefined) pod.status.startTime = times.startTime;
        const lastTransitionTime = times.readySince ?? '2030-01-01T00:00:00Z';
        pod.status.conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
      });
    },
    async service(name, spec = {}, labels = {}) {
      const full = { clusterIP: 'None', selector: { app: 'x' }, ports: [{ port: 80 }], ...spec };
      await cluster.api(Service).create({ metadata: { name, labels }, spec: full });
    },
    async node(name, labels = {}) {
      await cluster.api(Node).create({ metadata: { name, labels } });
    },
    async events() {
      const { items } = await cluster.all(CoreEvent).list();
      return items.map(({ type, reason, message, count }) => `${type} ${reason} ${message} (${count})`);
    },
  };
  await self.node('n1', { [`topology.${options.dialect === 'kubernetes' ? 'kubernetes.io' : 'orch.io'}/zone`]: 'z1' });
  return self;
}
