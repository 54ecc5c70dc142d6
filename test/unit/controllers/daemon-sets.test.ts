/** DaemonSet controller: a pod for each matching node, updates, history and status. */
import { daemonSets } from 'orchplane/controllers';
import { ControllerRevision, DaemonSet, type DaemonSetInput, Node, Pod } from 'orchplane/kinds';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { selector, template, WorkloadWorld } from './workload-fixture.js';

let world: WorkloadWorld;
beforeEach(() => {
  world = new WorkloadWorld([daemonSets()]);
});
afterEach(() => world.close());

async function make(spec: Partial<NonNullable<DaemonSetInput['spec']>> = {}) {
  await world.cluster
    .api(DaemonSet)
    .create({ metadata: { name: 'ds' }, spec: { selector, template: template(), ...spec } });
  await world.cluster.settle();
}

async function change(spec: object) {
  await world.cluster.api(DaemonSet).patch('ds', { type: 'merge', merge: { spec } });
  await world.cluster.settle();
}

async function status() {
  await world.cluster.settle();
  return (await world.cluster.api(DaemonSet).get('ds')).status;
}

type StoredPod = Awaited<ReturnType<typeof world.pods>>[number];

function nodeOf({ spec }: StoredPod) {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return spec.nodeName ?? required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? '?';
}

/** The node of each pod, bound or by affinity, with the pod's image. */
async function placed() {
  return (await world.pods()).map((pod) => `${nodeOf(pod)} ${pod.spec.containers[0]?.image}`).sort();
}

async function podOn(node: string, image?: string) {
  const found = (await world.pods()).filter(
    (pod) => nodeOf(pod) === node && (image === undefined || pod.spec.containers[0]?.image === image),
  );
  expect(found).toHaveLength(1);
  return found[0]?.metadata.name ?? '';
}

describe('DaemonSet pods', () => {
  test('creates a pod with an affinity to its node, the daemon tolerations and the revision label', async () => {
    await world.node('a');
    await make();
    const [pod, ...others] = await world.pods();
    expect(others).toEqual([]);
    const [revision] = await world.revisions();
    expect(pod?.metadata).toMatchObject({
      generateName: 'ds-',
      labels: {
        app: 'x',
        'pod-template-generation': '1',
        'controller-revision-hash': revision?.metadata.labels?.['controller-revision-hash'],
      },
      ownerReferences: [{ kind: 'DaemonSet', name: 'ds', controller: true }],
    });
    expect(pod?.spec.nodeName).toBeUndefined();
    expect(pod?.spec.affinity).toEqual({
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }],
        },
      },
    });
    expect(pod?.spec.tolerations?.map(({ key, effect }) => `${key} ${effect}`)).toEqual([
      'node.orch.io/not-ready NoExecute',
      'node.orch.io/unreachable NoExecute',
      'node.orch.io/disk-pressure NoSchedule',
      'node.orch.io/memory-pressure NoSchedule',
      'node.orch.io/pid-pressure NoSchedule',
      'node.orch.io/unschedulable NoSchedule',
    ]);
    expect(await world.events()).toEqual([`SuccessfulCreate: Created pod: ${pod?.metadata.name}`]);
    expect(await status()).toEqual({
      observedGeneration: 1,
      desiredNumberScheduled: 1,
      currentNumberScheduled: 1,
      updatedNumberScheduled: 1,
      numberMisscheduled: 0,
      numberReady: 0,
      numberUnavailable: 1,
    });
    expect(world.complaints).toEqual([]);
  });

  test('creates a pod for each new node', async () => {
    await make();
    expect(await status()).toMatchObject({ observedGeneration: 1, desiredNumberScheduled: 0 });
    for (let n = 0; n < 20; n++) await world.cluster.api(Node).create({ metadata: { name: `n${n}` } });
    await world.cluster.settle();
    // New nodes have the not-ready NoSchedule taint, which DaemonSet pods do not tolerate.
    expect(await placed()).toEqual([]);
    for (let n = 0; n < 20; n++) {
      await world.cluster.api(Node).patch(`n${n}`, { type: 'merge', merge: { spec: { taints: null } } });
    }
    expect(await placed()).toHaveLength(20);
    expect(await status()).toMatchObject({ desiredNumberScheduled: 20, currentNumberScheduled: 20 });
  });

  test('counts a pod as available after it was ready for minReadySeconds', async () => {
    await world.node('a');
    await make({ minReadySeconds: 5 });
    await world.run(await podOn('a'));
    expect(await status()).toMatchObject({ numberReady: 1, numberUnavailable: 1 });
    await world.advance(5);
    const { numberAvailable, numberUnavailable } = await status();
    expect([numberAvailable, numberUnavailable]).toEqual([1, undefined]);
  });

  test('replaces deleted and finished pods, and failing pods with increasing delays', async () => {
    await world.node('a');
    await make();
    await world.remove(await podOn('a'));
    expect(await placed()).toEqual(['a i:1']);

    await world.setStatus(await podOn('a'), { phase: 'Succeeded' });
    expect((await world.pods())[0]?.status.phase).toBe('Pending');

    const fail = async () => {
      const pod = await podOn('a');
      await world.setStatus(pod, { phase: 'Failed' });
      return async () => (await podOn('a')) !== pod;
    };
    expect(await (await fail())()).toBe(true);
    const second = await fail();
    expect(await second()).toBe(false);
    await world.advance(1);
    expect(await second()).toBe(true);
    const third = await fail();
    await world.advance(1);
    expect(await third()).toBe(false);
    await world.advance(1);
    expect(await third()).toBe(true);
    expect(await world.events({ type: 'Warning' })).toHaveLength(3);
    expect((await world.events({ type: 'Warning' }))[0]).toMatch(
      /^FailedDaemonPod: Found failed daemon pod default\/ds-\S+ on node a, will try to kill it$/,
    );
    expect((await world.events()).some((event) => event.startsWith('SucceededDaemonPod: Found succeeded'))).toBe(true);
  });

  test('adopts matching pods and releases pods that no longer match', async () => {
    await world.node('a');
    await world.cluster.api(Pod).create({
      metadata: { name: 'p', labels: { app: 'x' } },
      spec: { nodeName: 'a', containers: [{ name: 'c', image: 'i:0' }] },
    });
    await make({ updateStrategy: { type: 'OnDelete' } });
    expect(await placed()).toEqual(['a i:0']);
    expect((await world.pod('p')).metadata.ownerReferences).toMatchObject([{ kind: 'DaemonSet', name: 'ds' }]);
    await world.cluster.api(Pod).patch('p', { type: 'merge', merge: { metadata: { labels: { app: 'y' } } } });
    expect((await world.pod('p')).metadata.ownerReferences).toBeUndefined();
    expect(await placed()).toEqual(['a i:0', 'a i:1']);
  });

  test('deletes surplus pods of a node and keeps the bound one', async () => {
    await world.node('a');
    await make();
    const meant = await podOn('a');
    const labels = (await world.pod(meant)).metadata.labels ?? {};
    await world.cluster.api(Pod).create({
      metadata: { name: 'bound', labels },
      spec: { nodeName: 'a', containers: [{ name: 'c', image: 'i:1' }] },
    });
    expect(await world.podNames()).toEqual(['bound']);
  });

  test('creates no pods for a terminating DaemonSet', async () => {
    await world.cluster
      .api(DaemonSet)
      .create({ metadata: { name: 'ds', finalizers: ['example.com/hold'] }, spec: { selector, template: template() } });
    await world.cluster.api(DaemonSet).delete('ds');
    await world.node('a');
    expect(await placed()).toEqual([]);
  });

  test('records an event for a rejected pod and counts it as missing', async () => {
    await world.node('a');
    await make({ template: template('i:1', { priorityClassName: 'missing' }) });
    expect(await world.events({ type: 'Warning' })).toEqual([
      'FailedCreate: Error creating: pods "ds-" is forbidden: no PriorityClass with name missing was found',
    ]);
    expect(await status()).toMatchObject({
      observedGeneration: 1,
      desiredNumberScheduled: 1,
      currentNumberScheduled: 0,
    });
    expect(world.complaints.length).toBeGreaterThan(0);
  });
});

describe('nodes of a DaemonSet', () => {
  test('deletes bound pods of a node that no longer matches and keeps unscheduled ones', async () => {
    await world.node('a', { labels: { disk: 'ssd' } });
    await world.node('b', { labels: { disk: 'ssd' } });
    await world.node('c', { labels: { disk: 'hdd' } });
    await make({ template: template('i:1', { nodeSelector: { disk: 'ssd' }, terminationGracePeriodSeconds: 0 }) });
    expect(await placed()).toEqual(['a i:1', 'b i:1']);
    await world.bind(await podOn('a'), 'a');
    await world.cluster.api(Node).patch('b', { type: 'merge', merge: { metadata: { labels: { disk: 'hdd' } } } });
    expect(await placed()).toEqual(['a i:1', 'b i:1']);
    await world.cluster.api(Node).patch('a', { type: 'merge', merge: { metadata: { labels: { disk: 'hdd' } } } });
    expect(await placed()).toEqual([]);
    expect(await status()).toMatchObject({ desiredNumberScheduled: 0, numberMisscheduled: 0 });
  });

  test('keeps running pods after a NoSchedule taint and deletes them after a NoExecute taint', async () => {
    await world.node('a');
    await make();
    await world.bind(await podOn('a'), 'a');
    const taint = (effect: string) =>
      world.cluster.api(Node).patch('a', {
        type: 'merge',
        merge: { spec: { taints: [{ key: 'k', value: 'v', effect: effect as 'NoSchedule' }] } },
      });
    await taint('NoSchedule');
    await world.setStatus(await podOn('a'), { phase: 'Running' });
    expect(await placed()).toEqual(['a i:1']);
    expect(await status()).toMatchObject({ desiredNumberScheduled: 0, numberMisscheduled: 1 });
    await world.cluster.api(Node).patch('a', { type: 'merge', merge: { spec: { taints: null } } });
    expect(await status()).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 0 });
    await taint('NoExecute');
    const [pod] = await world.pods();
    expect(pod?.metadata.deletionTimestamp).toBeDefined();
  });

  test('deletes a pod with an affinity to a deleted node', async () => {
    await world.node('a');
    await make();
    await world.cluster.api(Node).delete('a');
    await change({ minReadySeconds: 1 });
    expect(await placed()).toEqual([]);
    expect(await status()).toMatchObject({ desiredNumberScheduled: 0, currentNumberScheduled: 0 });
  });
});

describe('DaemonSet rolling update', () => {
  async function running(count: number, rollingUpdate: object, spec: object = {}) {
    for (let n = 0; n < count; n++) await world.node(`n${n}`);
    await make({ updateStrategy: { type: 'RollingUpdate', rollingUpdate }, ...spec });
    await world.run(...(await world.podNames()));
  }
  const count = async (image: string) => (await placed()).filter((each) => each.endsWith(image)).length;

  test('replaces as many pods as maxUnavailable allows', async () => {
    await running(4, { maxUnavailable: '50%' });
    await change({ template: template('i:2') });
    expect([await count('i:1'), await count('i:2')]).toEqual([2, 2]);
    expect(await status()).toMatchObject({ updatedNumberScheduled: 2, numberAvailable: 2, observedGeneration: 2 });
    const [first] = (await world.pods()).filter(({ spec }) => spec.containers[0]?.image === 'i:2');
    await world.run(first?.metadata.name ?? '');
    expect([await count('i:1'), await count('i:2')]).toEqual([1, 3]);
  });

  test('replaces unavailable pods at once', async () => {
    await running(3, { maxUnavailable: 1 });
    for (const node of ['n0', 'n1']) await world.stop(await podOn(node));
    await change({ template: template('i:2') });
    expect(await placed()).toEqual(['n0 i:2', 'n1 i:2', 'n2 i:1']);
  });

  test('creates the new pod before it deletes the old one with maxSurge', async () => {
    await running(2, { maxSurge: 1, maxUnavailable: 0 });
    await change({ template: template('i:2') });
    expect([await count('i:1'), await count('i:2')]).toEqual([2, 1]);
    const fresh = async () => (await world.pods()).filter(({ spec }) => spec.containers[0]?.image === 'i:2');
    await world.run((await fresh())[0]?.metadata.name ?? '');
    expect([await count('i:1'), await count('i:2')]).toEqual([1, 2]);
    await world.run(...(await fresh()).map(({ metadata }) => metadata.name));
    expect(await placed()).toEqual(['n0 i:2', 'n1 i:2']);
  });

  test('waits for minReadySeconds of the new pod with maxSurge', async () => {
    await running(1, { maxSurge: 1, maxUnavailable: 0 }, { minReadySeconds: 10 });
    await world.advance(10);
    await change({ template: template('i:2') });
    await world.run(await podOn('n0', 'i:2'));
    expect(await placed()).toEqual(['n0 i:1', 'n0 i:2']);
    await world.advance(10);
    expect(await placed()).toEqual(['n0 i:2']);
  });

  test('replaces a pod only after its deletion with OnDelete', async () => {
    await world.node('a');
    await make({ updateStrategy: { type: 'OnDelete' } });
    await change({ template: template('i:2') });
    expect(await placed()).toEqual(['a i:1']);
    expect((await status()).updatedNumberScheduled).toBeUndefined();
    await world.remove(await podOn('a'));
    expect(await placed()).toEqual(['a i:2']);
  });
});

describe('DaemonSet history', () => {
  test('creates a revision per template and renumbers the revision of a restored template', async () => {
    await make();
    await change({ template: template('i:2') });
    await change({ template: template('i:1') });
    const revisions = await world.revisions();
    expect(revisions.map(({ revision }) => revision)).toEqual([2, 3]);
    expect(revisions[1]).toMatchObject({
      metadata: { labels: { app: 'x' }, annotations: { 'deprecated.daemonset.template.generation': '1' } },
      data: { spec: { template: { $patch: 'replace', spec: { containers: [{ image: 'i:1' }] } } } },
    });
  });

  test('keeps the revisions of existing pods and as many old ones as the history limit', async () => {
    await world.node('a');
    await make({ revisionHistoryLimit: 1, updateStrategy: { type: 'OnDelete' } });
    for (const image of ['i:2', 'i:3', 'i:4', 'i:5']) await change({ template: template(image) });
    expect((await world.revisions()).map(({ revision }) => revision)).toEqual([1, 5]);
  });

  test('resolves a name collision with the collision count in the status', async () => {
    await make();
    const [first] = await world.revisions();
    const name = first?.metadata.name ?? '';
    await world.cluster.api(DaemonSet).delete('ds');
    await world.cluster.api(ControllerRevision).delete(name);
    await world.cluster.api(ControllerRevision).create({ metadata: { name }, data: { a: 1 }, revision: 1 });
    await make();
    expect((await status()).collisionCount).toBe(1);
    expect((await world.revisions()).map(({ metadata }) => metadata.name)).not.toEqual([name]);
    expect(world.complaints).toEqual([]);
  });

  test('merges two revisions with equal data and relabels the pods', async () => {
    await world.node('a');
    await make();
    const [first] = await world.revisions();
    const labels = { app: 'x', 'controller-revision-hash': 'twin' };
    await world.cluster
      .api(ControllerRevision)
      .create({ metadata: { name: 'twin', labels }, data: first?.data, revision: 7 });
    expect((await world.revisions()).map(({ metadata }) => metadata.name)).toEqual(['twin']);
    expect((await world.pods())[0]?.metadata.labels).toMatchObject(labels);
  });

  test('does not react to a new revision that has a controller until the set or a revision changes', async () => {
    await world.node('a');
    await make();
    const [first] = await world.revisions();
    const revisions = world.cluster.api(ControllerRevision);
    const labels = { app: 'x', 'controller-revision-hash': 'twin' };
    const { ownerReferences = [] } = first?.metadata ?? {};
    await revisions.create({ metadata: { name: 'twin', labels, ownerReferences }, data: first?.data, revision: 7 });
    const names = async () => (await world.revisions()).map(({ metadata }) => metadata.name);
    expect(await names()).toEqual([first?.metadata.name, 'twin']);
    await revisions.edit('twin', (draft) => {
      draft.metadata.annotations = { touched: 'yes' };
    });
    expect(await names()).toEqual(['twin']);
  });

  test('creates its revision again if another client deletes it', async () => {
    await make();
    const [first] = await world.revisions();
    await world.cluster.api(ControllerRevision).delete(first?.metadata.name ?? '');
    expect((await world.revisions()).map(({ metadata }) => metadata.name)).toEqual([first?.metadata.name]);
    expect((await world.revisions())[0]?.metadata.uid).not.toBe(first?.metadata.uid);
  });
});
