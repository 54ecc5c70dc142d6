/** Objects that made controllers create and delete their dependents without end. */
import { controllers, standardControllers } from 'orchplane/controllers';
import {
  ControllerRevision,
  CoreEvent,
  DaemonSet,
  Deployment,
  Job,
  Node,
  Pod,
  ReplicaSet,
  StatefulSet,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';

const containers = [{ name: 'c', image: 'i' }];

function standardCluster() {
  const cluster = testCluster({ dialect: 'kubernetes', controllers: controllers(standardControllers()) });
  const created = async () => {
    await cluster.settle();
    const counts = [Pod, ReplicaSet, ControllerRevision].map(
      async (kind) => (await cluster.api(kind).list()).items.length,
    );
    return Promise.all(counts);
  };
  const failures = async () => {
    const { items } = await cluster.api(CoreEvent).list();
    return items.filter(({ type }) => type === 'Warning').map(({ reason, message }) => `${reason}: ${message}`);
  };
  return { cluster, created, failures };
}

const MISMATCH = 'FailedCreate: Error creating: the selector does not match the labels that the controller sets';

test.each([
  ['Deployment', 'pod-template-hash', [0, 0, 0]],
  ['DaemonSet', 'controller-revision-hash', [0, 0, 1]],
  ['DaemonSet', 'pod-template-generation', [0, 0, 1]],
  ['StatefulSet', 'controller-revision-hash', [0, 0, 1]],
  ['StatefulSet', 'statefulset.kubernetes.io/pod-name', [0, 0, 1]],
  ['Job', 'batch.kubernetes.io/job-completion-index', [0, 0, 0]],
] as const)(
  'a %s whose selector requires another %s creates nothing that it would release',
  async (kind, label, counts) => {
    const { cluster, created, failures } = standardCluster();
    const labels = { a: 'b', [label]: 'other' };
    const selector = { matchLabels: labels };
    const template = { metadata: { labels }, spec: { containers } };
    const metadata = { name: 'x' };
    await cluster.api(Node).create({ metadata: { name: 'n' } });
    if (kind === 'Deployment') await cluster.api(Deployment).create({ metadata, spec: { selector, template } });
    if (kind === 'DaemonSet') await cluster.api(DaemonSet).create({ metadata, spec: { selector, template } });
    if (kind === 'StatefulSet') {
      await cluster.api(StatefulSet).create({ metadata, spec: { serviceName: 's', selector, template } });
    }
    if (kind === 'Job') {
      const spec = { containers, restartPolicy: 'Never' } as const;
      const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3, manualSelector: true } as const;
      await cluster.api(Job).create({ metadata, spec: { ...indexed, selector, template: { ...template, spec } } });
    }
    expect(await created()).toEqual(counts);
    expect(await failures()).toEqual([MISMATCH]);
    await cluster.clock.advance(3_600_000);
    expect(await created()).toEqual(counts);
  },
);

test.each(['ReplicaSet', 'StatefulSet'])(
  'pods of a %s that its template binds to a node with taints are evicted less and less often',
  async (kind) => {
    const { cluster, created } = standardCluster();
    const labels = { a: 'b' };
    const selector = { matchLabels: labels };
    const template = { metadata: { labels }, spec: { nodeName: 'n', terminationGracePeriodSeconds: 0, containers } };
    const metadata = { name: 'x' };
    await cluster.api(Node).create({ metadata: { name: 'n' }, spec: { taints: [{ key: 'k', effect: 'NoExecute' }] } });
    if (kind === 'ReplicaSet') await cluster.api(ReplicaSet).create({ metadata, spec: { selector, template } });
    else await cluster.api(StatefulSet).create({ metadata, spec: { serviceName: 's', selector, template } });
    let evictions = 0;
    let last = '';
    const after = async (seconds: number) => {
      await cluster.clock.advance(seconds * 1_000);
      await created();
      const [pod] = (await cluster.api(Pod).list()).items;
      if (pod !== undefined && pod.metadata.uid !== last) evictions++;
      last = pod?.metadata.uid ?? '';
      return evictions;
    };
    expect(await after(0)).toBe(1);
    expect(await after(1)).toBe(2);
    expect(await after(1)).toBe(2);
    expect(await after(1)).toBe(3);
    expect(await after(3)).toBe(3);
    expect(await after(1)).toBe(4);
  },
);
