/**
 * Objects of namespace `b` whose controller reference has the uid of a workload in namespace `a`. Anyone who may create objects in `b`
 * can make them; controllers took them for dependents of the workload.
 */
import type { ApiObject, Kind } from 'orchplane';
import {
  type Controller,
  controllers,
  cronJobs,
  daemonSets,
  defineController,
  deployments,
  garbageCollector,
  jobs,
  replicaSets,
  replicationControllers,
  statefulSets,
  taintEviction,
} from 'orchplane/controllers';
import {
  ClusterRole,
  ConfigMap,
  ControllerRevision,
  CronJob,
  DaemonSet,
  Deployment,
  Job,
  Namespace,
  Node,
  Pod,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';

/** The uid of no object. */
const ABSENT = '11111111-2222-3333-4444-555555555555';

const WORKLOADS = [deployments, replicaSets, replicationControllers, statefulSets, daemonSets, jobs, cronJobs];
const KINDS = [
  Deployment,
  ReplicaSet,
  ReplicationController,
  StatefulSet,
  DaemonSet,
  Job,
  CronJob,
  Pod,
  ControllerRevision,
] as const satisfies readonly Kind[];

type AnyKind = Kind<ApiObject, Record<string, unknown>, 'Namespaced'>;

const labels = { app: 'x' };
const selector = { matchLabels: labels };
const template = (image = 'good') => ({ metadata: { labels }, spec: { containers: [{ name: 'c', image }] } });
const run = { metadata: { labels }, spec: { ...template().spec, restartPolicy: 'Never' } };

async function world(list: readonly Controller[]) {
  const failures: string[] = [];
  const onError = (error: unknown, about: string) => void failures.push(`${about}: ${String(error)}`);
  const cluster = testCluster({ dialect: 'kubernetes', controllers: controllers(list, { onError }) });
  for (const name of ['a', 'b']) await cluster.api(Namespace).create({ metadata: { name } });
  await node('n');
  async function node(name: string) {
    await cluster.api(Node).create({ metadata: { name } });
    await cluster.api(Node).patch(name, { type: 'merge', merge: { spec: { taints: null } } });
  }
  const api = (kind: Kind, namespace: string) =>
    kind.scope === 'Cluster' ? cluster.api(kind as AnyKind) : cluster.api(kind as AnyKind, namespace);
  const create = (kind: Kind, namespace: string, object: object) => api(kind, namespace).create(object as never);
  const patch = (kind: Kind, namespace: string, name: string, merge: object) =>
    api(kind, namespace).patch(name, { type: 'merge', merge: merge as never });
  const listed = async (kind: Kind, namespace: string) => {
    await cluster.settle();
    return (await api(kind, namespace).list()).items;
  };
  const setStatus = (pod: string, namespace: string) =>
    cluster.api(Pod, namespace).status.patch(pod, {
      type: 'merge',
      merge: { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } } as never,
    });
  /** Makes all pods of `a` ready, also those that are created then. */
  async function ready() {
    for (let round = 0; round < 4; round++) {
      for (const pod of await listed(Pod, 'a')) {
        if ((pod as { status?: { phase?: string } }).status?.phase === 'Pending')
          await setStatus(pod.metadata.name, 'a');
      }
    }
  }
  /** All objects of both namespaces, without what differs between clusters. */
  async function dump() {
    const objects: string[] = [];
    for (const namespace of ['a', 'b']) {
      for (const kind of KINDS) {
        for (const object of await listed(kind, namespace)) {
          const { metadata, ...rest } = object;
          const {
            uid: _uid,
            resourceVersion: _version,
            ownerReferences = [],
            managedFields: _fields,
            ...meta
          } = metadata;
          const owners = ownerReferences.map(({ kind: owner, name }) => `${owner} ${name}`);
          objects.push(JSON.stringify({ ...rest, metadata: meta, owners }, null, 1));
        }
      }
    }
    return objects;
  }
  return { cluster, failures, node, create, patch, list: listed, setStatus, ready, dump };
}

type World = Awaited<ReturnType<typeof world>>;

interface Case {
  readonly owner: Kind;
  readonly spec: object;
  /** Changes the template. */
  readonly change?: object;
  readonly smaller?: object;
  /** Creates dependents in `b`. */
  readonly attack: (world: World, references: object) => Promise<void>;
}

/** Creates ready pods in `b` with the labels of the pods of `a`. */
async function pods({ create, list, setStatus }: World, references: object) {
  const [own] = await list(Pod, 'a');
  const spec = { nodeName: 'n', containers: [{ name: 'c', image: 'good' }] };
  const annotations = { 'controller.kubernetes.io/pod-deletion-cost': '2147483647' };
  for (const name of ['w-0', 'w-1', 'x']) {
    const metadata = { name, labels: own?.metadata.labels, annotations, ...references };
    await create(Pod, 'b', { metadata, spec });
    await setStatus(name, 'b');
  }
}

/** Creates revisions in `b`: one has the name of a revision of `a` and other data, the other one has its data and is newer. */
async function revisions({ create, list }: World, references: object) {
  const [own] = (await list(ControllerRevision, 'a')) as (ApiObject & { data?: unknown })[];
  const metadata = { labels: own?.metadata.labels, ...references };
  const data = JSON.parse(JSON.stringify(own?.data).replaceAll('good', 'evil'));
  await create(ControllerRevision, 'b', { metadata: { ...metadata, name: own?.metadata.name }, data, revision: 0 });
  await create(ControllerRevision, 'b', { metadata: { ...metadata, name: 'newer' }, data: own?.data, revision: 99 });
}

async function sets({ create }: World, references: object) {
  for (const image of ['good', 'next']) {
    const metadata = { name: `of-${image}`, labels, ...references };
    await create(ReplicaSet, 'b', { metadata, spec: { replicas: 1, selector, template: template(image) } });
  }
}

const changed = { spec: { template: template('next') } };
const smaller = { spec: { replicas: 1 } };
const replicated = { replicas: 2, selector, template: template() };
const statefulSpec = { ...replicated, serviceName: 's', updateStrategy: { rollingUpdate: { partition: 1 } } };

const CASES: readonly (Case & { readonly dependents: string })[] = [
  { owner: Deployment, spec: replicated, change: changed, smaller, dependents: 'ReplicaSets', attack: sets },
  {
    owner: Deployment,
    spec: { ...replicated, strategy: { type: 'Recreate' } },
    change: changed,
    smaller,
    dependents: 'ReplicaSets, while it recreates its pods,',
    attack: sets,
  },
  { owner: ReplicaSet, spec: replicated, change: changed, smaller, dependents: 'pods', attack: pods },
  {
    owner: ReplicationController,
    spec: { ...replicated, selector: labels },
    change: changed,
    smaller,
    dependents: 'pods',
    attack: pods,
  },
  { owner: StatefulSet, spec: statefulSpec, change: changed, smaller, dependents: 'pods', attack: pods },
  { owner: StatefulSet, spec: statefulSpec, change: changed, smaller, dependents: 'revisions', attack: revisions },
  { owner: DaemonSet, spec: { selector, template: template() }, change: changed, dependents: 'pods', attack: pods },
  {
    owner: DaemonSet,
    spec: { selector, template: template() },
    change: changed,
    dependents: 'revisions',
    attack: revisions,
  },
  {
    owner: Job,
    spec: { completions: 3, parallelism: 2, template: run },
    smaller: { spec: { parallelism: 1 } },
    dependents: 'pods',
    attack: pods,
  },
  {
    owner: Job,
    spec: { completions: 3, parallelism: 2, completionMode: 'Indexed', template: run },
    smaller: { spec: { parallelism: 1 } },
    dependents: 'pods, with indexes,',
    attack: pods,
  },
  {
    owner: CronJob,
    spec: {
      schedule: '* * * * *',
      concurrencyPolicy: 'Forbid',
      successfulJobsHistoryLimit: 0,
      jobTemplate: { spec: { template: run } },
    },
    dependents: 'Jobs',
    attack: async ({ create }, references) => {
      await create(Job, 'b', { metadata: { name: 'j', ...references }, spec: { template: run } });
    },
  },
];

/** The states, and the errors, of a cluster in which `b` has dependents of the workload, or of no object. */
async function statesOf({ owner, spec, change, smaller, attack }: Case, isOwned: boolean): Promise<string[][]> {
  const here = await world(WORKLOADS.map((make) => make()));
  const { cluster, create, patch, list, ready, dump, failures } = here;
  const { uid } = (await create(owner, 'a', { metadata: { name: 'w', annotations: { secret: 'of-a' } }, spec }))
    .metadata;
  await ready();
  const { kind, group, version } = owner;
  const reference = { apiVersion: group === '' ? version : `${group}/${version}`, kind, name: 'w', controller: true };
  await attack(here, { ownerReferences: [{ ...reference, uid: isOwned ? uid : ABSENT }] });
  const states = [await dump()];
  const step = async () => {
    await ready();
    states.push(await dump());
  };
  await patch(owner, 'a', 'w', { metadata: { annotations: { x: '1' } } });
  await step();
  const [pod] = await list(Pod, 'a');
  if (pod !== undefined) await cluster.api(Pod, 'a').delete(pod.metadata.name, { gracePeriodSeconds: 0 });
  await step();
  if (change !== undefined) await patch(owner, 'a', 'w', change);
  await step();
  await cluster.clock.advance(61_000);
  await step();
  if (smaller !== undefined) await patch(owner, 'a', 'w', smaller);
  await step();
  await cluster.close();
  return [...states, failures];
}

test.each(CASES.map((each) => [each.owner.kind, each.dependents, each] as const))(
  'the controller of a %s ignores %s of another namespace that refer to its uid',
  async (_kind, _dependents, each) => {
    const states = await statesOf(each, true);
    expect(states).toEqual(await statesOf(each, false));
    expect(states.join('').includes('evil')).toBe(each.attack === revisions);
  },
);

const HOLD = 'example.com/hold';

function controlled(owner: ApiObject, more: object = {}) {
  const { apiVersion, kind, metadata } = owner;
  return { ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true, ...more }] };
}

test('a pod of another namespace on a new node does not keep a DaemonSet from running there', async () => {
  const { create, node, list } = await world([daemonSets()]);
  const set = await create(DaemonSet, 'a', { metadata: { name: 'w' }, spec: { selector, template: template() } });
  const spec = { nodeName: 'new', containers: [{ name: 'c', image: 'i' }] };
  await create(Pod, 'b', { metadata: { name: 'x', labels, ...controlled(set) }, spec });
  expect(await list(Pod, 'a')).toHaveLength(1);
  await node('new');
  expect(await list(Pod, 'a')).toHaveLength(2);
});

test('evictions of pods of another namespace do not delay those of the owner’s pods', async () => {
  const { cluster, create, node, list } = await world([taintEviction()]);
  await node('tainted');
  const taints = [{ key: 'k', effect: 'NoExecute' as const }];
  await cluster.api(Node).patch('tainted', { type: 'merge', merge: { spec: { taints } } });
  const set = await create(ReplicaSet, 'a', { metadata: { name: 'w' }, spec: { ...replicated, replicas: 0 } });
  const spec = { nodeName: 'tainted', containers: [{ name: 'c', image: 'i' }] };
  const metadata = { finalizers: [HOLD], ...controlled(set) };
  for (const name of ['x', 'y']) await create(Pod, 'b', { metadata: { ...metadata, name }, spec });
  await cluster.settle();
  for (const name of ['x', 'y']) await create(Pod, 'a', { metadata: { ...metadata, name }, spec });
  const evicted = (await list(Pod, 'a')).map((pod) => pod.metadata.deletionTimestamp !== undefined);
  expect(evicted).toEqual([true, false]);
});

test('the status of a CronJob does not make the controller delete Jobs of another namespace', async () => {
  const { cluster, create, list } = await world([cronJobs()]);
  const job = await create(Job, 'a', { metadata: { name: 'victim' }, spec: { template: run } });
  const spec = { schedule: '* * * * *', concurrencyPolicy: 'Replace', jobTemplate: { spec: { template: run } } };
  await create(CronJob, 'b', { metadata: { name: 'c' }, spec });
  const active = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'victim', namespace: 'a', uid: job.metadata.uid }];
  await cluster.api(CronJob, 'b').status.patch('c', { type: 'merge', merge: { status: { active } } });
  await cluster.clock.advance(121_000);
  expect((await list(Job, 'a')).map(({ metadata }) => metadata.name)).toEqual(['victim']);
  const runs = (await list(Job, 'b')).map(({ metadata }) => metadata.name);
  const { status } = await cluster.api(CronJob, 'b').get('c');
  expect(runs).toHaveLength(1);
  expect(status.active?.map(({ name }) => name)).toEqual(runs);
});

test.each([
  ['a namespaced owner those of its namespace', ConfigMap, ['a/own']],
  ['a cluster-scoped owner those of all namespaces', ClusterRole, ['a/own', 'b/foreign']],
] as const)('owned() returns to %s', async (_what, kind, expected) => {
  const owned: string[][] = [];
  const reconciled: string[] = [];
  const controller = defineController({
    name: 'mine',
    kind: kind as Kind,
    owns: [ReplicaSet],
    reconcile: (object, context) => {
      const { metadata } = object as ApiObject;
      if (metadata.name !== 'w') return;
      reconciled.push(`${metadata.namespace ?? ''}/${metadata.name}`);
      owned.push(context.owned(ReplicaSet).map((set) => `${set.metadata.namespace}/${set.metadata.name}`));
    },
  });
  const { cluster, create, patch } = await world([controller]);
  const owner = await create(kind, 'a', { metadata: { name: 'w' } });
  const spec = { ...replicated, replicas: 0 };
  await create(ReplicaSet, 'a', { metadata: { name: 'own', ...controlled(owner) }, spec });
  await cluster.settle();
  const before = reconciled.length;
  await create(ReplicaSet, 'b', { metadata: { name: 'foreign', ...controlled(owner) }, spec });
  await cluster.settle();
  expect(reconciled.length > before).toBe(kind === ClusterRole);
  await patch(kind, 'a', 'w', { metadata: { labels } });
  await cluster.settle();
  expect(owned.at(-1)).toEqual(expected);
});

describe('the garbage collector', () => {
  async function collected() {
    const here = await world([garbageCollector()]);
    const owner = await here.create(ConfigMap, 'a', { metadata: { name: 'owner' } });
    const metadata = { finalizers: [HOLD], ...controlled(owner, { blockOwnerDeletion: true }) };
    await here.create(ConfigMap, 'b', { metadata: { name: 'held', ...metadata } });
    await here.cluster.settle();
    const names = async (namespace: string) =>
      (await here.list(ConfigMap, namespace)).map(({ metadata }) => metadata.name);
    return { ...here, owner, names };
  }

  test('deletes dependents of another namespace, for which a foreground deletion does not wait', async () => {
    const { cluster, names, create, owner } = await collected();
    await create(ConfigMap, 'b', { metadata: { name: 'free', ...controlled(owner) } });
    await create(ConfigMap, 'a', { metadata: { name: 'own', ...controlled(owner, { blockOwnerDeletion: true }) } });
    await cluster.settle();
    expect(await names('b')).toEqual(['held']);
    expect((await cluster.api(ConfigMap, 'b').get('held')).metadata.deletionTimestamp).toBeDefined();
    expect(await names('a')).toEqual(['own', 'owner']);
    await cluster.api(ConfigMap, 'a').delete('owner', { propagation: 'Foreground' });
    expect(await names('a')).toEqual([]);
    expect(await names('b')).toEqual(['held']);
  });

  test('does not change dependents of another namespace when it orphans those of the owner', async () => {
    const { cluster, names, create, owner } = await collected();
    await create(ConfigMap, 'a', { metadata: { name: 'own', ...controlled(owner) } });
    await cluster.settle();
    const before = await cluster.api(ConfigMap, 'b').get('held');
    await cluster.api(ConfigMap, 'a').delete('owner', { propagation: 'Orphan' });
    expect(await names('a')).toEqual(['own']);
    expect(await cluster.api(ConfigMap, 'b').get('held')).toEqual(before);
  });

  test('deletes an owner in the background whose only dependents are in another namespace', async () => {
    const { cluster, names, create, owner } = await collected();
    const middle = { name: 'middle', ...controlled(owner, { blockOwnerDeletion: false }) };
    const parent = await create(ConfigMap, 'a', { metadata: middle });
    const metadata = { name: 'x', finalizers: [HOLD], ...controlled(parent, { blockOwnerDeletion: true }) };
    await create(ConfigMap, 'b', { metadata });
    await cluster.settle();
    await cluster.api(ConfigMap, 'a').delete('owner', { propagation: 'Foreground' });
    expect(await names('a')).toEqual([]);
    expect(await names('b')).toEqual(['held', 'x']);
  });
});
