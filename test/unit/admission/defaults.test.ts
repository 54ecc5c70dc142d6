/** The plugins that set defaults: priorities, tolerations, taints, finalizers, classes. */
import { type AdmissionPlugin, defaultAdmission, mergePatch } from 'orchplane';
import {
  Ingress,
  IngressClass,
  type IngressInput,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  type PersistentVolumeClaimInput,
  type PersistentVolumeInput,
  Pod,
  type PodInput,
  PriorityClass,
  StorageClass,
} from 'orchplane/kinds';
import { type TestCluster, testCluster } from 'orchplane/testing';
import { beforeEach, describe, expect, test } from 'vitest';

let cluster: TestCluster;
beforeEach(() => {
  cluster = testCluster();
});

const pod = (spec: object = {}, name = 'p') =>
  cluster
    .api(Pod)
    .create({ metadata: { name }, spec: { containers: [{ name: 'c', image: 'i' }], ...spec } } as PodInput);

const claim = (spec: object = {}, metadata: object = {}) =>
  cluster.api(PersistentVolumeClaim).create({
    metadata: { name: 'c', ...metadata },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  } as PersistentVolumeClaimInput & { metadata: { name: string } });

const forbidden = (what: string, why: string) => ({ code: 403, message: `${what} is forbidden: ${why}` });

describe('the priority of a pod', () => {
  const priorityClass = (name: string, value: number, more: object = {}) =>
    cluster.api(PriorityClass).create({ metadata: { name }, value, ...more });

  test('sets the priority of a pod without a class to zero', async () => {
    const { spec } = await pod();
    expect(spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
    expect(spec).not.toHaveProperty('priorityClassName');
  });

  test('comes from its class, else from the default class', async () => {
    await priorityClass('high', 1000, { preemptionPolicy: 'Never' });
    await priorityClass('usual', 10, { globalDefault: true });
    expect((await pod({ priorityClassName: 'high' })).spec).toMatchObject({
      priority: 1000,
      preemptionPolicy: 'Never',
    });
    expect((await pod({ priority: 10 }, 'q')).spec).toMatchObject({ priorityClassName: 'usual', priority: 10 });
  });

  test.each([
    ['a missing class', { priorityClassName: 'no' }, 'no PriorityClass with name no was found'],
    [
      'a number that differs from the class',
      { priority: 5, priorityClassName: 'high' },
      'the integer value of priority (5) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
    ],
    [
      'a preemption policy that differs from the class',
      { preemptionPolicy: 'Never' },
      'the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name',
    ],
  ])('rejects a pod whose priority comes from %s', async (_, spec, why) => {
    await priorityClass('high', 1000);
    await expect(pod(spec)).rejects.toMatchObject(forbidden('pods "p"', why));
  });

  test('keeps the priority of a pod in an update that omits it', async () => {
    const { priority: _, preemptionPolicy: __, ...spec } = (await pod()).spec;
    const next = await cluster.api(Pod).update({ metadata: { name: 'p', labels: { a: 'b' } }, spec } as never);
    expect(next.spec).toMatchObject({ priority: 0, preemptionPolicy: 'PreemptLowerPriority' });
  });

  test('allows one default class', async () => {
    await priorityClass('a', 1, { globalDefault: true });
    const why = 'PriorityClass a is already marked as default. Only one default can exist';
    await expect(priorityClass('b', 2, { globalDefault: true })).rejects.toMatchObject(
      forbidden('priorityclasses.scheduling.orch.io "b"', why),
    );
    await priorityClass('b', 2);
    const classes = cluster.api(PriorityClass);
    await expect(classes.patch('b', mergePatch({ globalDefault: true }))).rejects.toMatchObject({ code: 403 });
    expect(await classes.patch('a', mergePatch({ description: 'same' }))).toMatchObject({ globalDefault: true });
  });

  test('comes from the lowest of several default classes', async () => {
    // None of these classes existed when the others were created.
    const slow: AdmissionPlugin = { name: 'Slow', validate: () => Promise.resolve() };
    cluster = testCluster({ admission: [...defaultAdmission, slow] });
    const values = Object.entries({ a: 7, b: 3, c: 5 });
    await Promise.all(values.map(([name, value]) => priorityClass(name, value, { globalDefault: true })));
    expect((await pod()).spec).toMatchObject({ priorityClassName: 'b', priority: 3 });
  });
});

describe('DefaultTolerationSeconds', () => {
  const [notReady, unreachable] = ['node.orch.io/not-ready', 'node.orch.io/unreachable'];
  const waiting = (key: string | undefined) => ({
    key,
    operator: 'Exists',
    effect: 'NoExecute',
    tolerationSeconds: 300,
  });

  test.each([
    ['for five minutes', undefined, [waiting(notReady), waiting(unreachable)]],
    [
      'for a pod with tolerations of another effect',
      [{ key: notReady, operator: 'Exists', effect: 'NoSchedule' }],
      [{ key: notReady, operator: 'Exists', effect: 'NoSchedule' }, waiting(notReady), waiting(unreachable)],
    ],
    [
      'except those that the pod has with NoExecute',
      [{ key: notReady, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }],
      [{ key: notReady, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 1 }, waiting(unreachable)],
    ],
    [
      'except those that the pod has for any effect',
      [{ key: unreachable, operator: 'Exists' }],
      [{ key: unreachable, operator: 'Exists' }, waiting(notReady)],
    ],
    ['except for a pod that tolerates everything', [{ operator: 'Exists' }], [{ operator: 'Exists' }]],
  ])('sets tolerations %s', async (_, tolerations, stored) => {
    expect((await pod({ tolerations })).spec.tolerations).toEqual(stored);
  });

  test('restores tolerations that an update removes', async () => {
    const { spec } = await pod();
    const next = await cluster.api(Pod).patch('p', mergePatch({ spec: { tolerations: null } } as never));
    expect(next.spec.tolerations).toEqual(spec.tolerations);
  });
});

describe('TaintNodesByCondition', () => {
  const taint = { key: 'node.orch.io/not-ready', effect: 'NoSchedule' as const };
  const mine = { key: 'mine', effect: 'NoExecute' as const };

  test.each([
    ['has no taints', undefined, [taint]],
    ['has other taints', [mine], [mine, taint]],
    ['has the taint already', [taint, mine], [taint, mine]],
  ])('gives a new node its taint if it %s', async (_, taints, stored) => {
    const spec = taints === undefined ? {} : { taints };
    expect((await cluster.api(Node).create({ metadata: { name: 'n' }, spec })).spec.taints).toEqual(stored);
  });

  test('does not taint existing nodes again', async () => {
    const nodes = cluster.api(Node);
    await nodes.create({ metadata: { name: 'n' } });
    expect((await nodes.patch('n', mergePatch({ spec: { taints: null } } as never))).spec).toEqual({});
  });
});

describe('StorageObjectInUseProtection', () => {
  const volume = (finalizers: string[]) =>
    cluster.api(PersistentVolume).create({
      metadata: { name: 'v', finalizers },
      spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } },
    } as PersistentVolumeInput);

  test('adds one finalizer to every volume and claim', async () => {
    expect((await volume([])).metadata.finalizers).toEqual(['orch.io/pv-protection']);
    const finalizers = ['example.com/f'];
    expect((await claim({}, { finalizers })).metadata.finalizers).toEqual([...finalizers, 'orch.io/pvc-protection']);
    const again = await claim({}, { name: 'd', finalizers: ['orch.io/pvc-protection'] });
    expect(again.metadata.finalizers).toEqual(['orch.io/pvc-protection']);
  });

  test('does not restore a removed finalizer', async () => {
    await claim();
    const claims = cluster.api(PersistentVolumeClaim);
    expect(
      (await claims.patch('c', mergePatch({ metadata: { finalizers: null } } as never))).metadata,
    ).not.toHaveProperty('finalizers');
  });
});

describe('default classes', () => {
  const annotations = (kind: string, value = 'true') => ({ [`${kind}.orch.io/is-default-class`]: value });
  const storageClass = (name: string, value = 'true') =>
    cluster
      .api(StorageClass)
      .create({ metadata: { name, annotations: annotations('storageclass', value) }, provisioner: 'example.com/p' });
  const ingressClass = (name: string, value = 'true') =>
    cluster.api(IngressClass).create({
      metadata: { name, annotations: annotations('ingressclass', value) },
      spec: { controller: 'example.com/c' },
    });
  const ingress = (spec: object = {}, metadata: object = {}) =>
    cluster.api(Ingress).create({
      metadata: { name: 'i', ...metadata },
      spec: { defaultBackend: { service: { name: 's', port: { number: 80 } } }, ...spec },
    } as IngressInput & { metadata: { name: string } });

  test('sets the default class of claims and ingresses without a class', async () => {
    await storageClass('a');
    await ingressClass('a');
    expect((await claim()).spec.storageClassName).toBe('a');
    expect((await ingress()).spec.ingressClassName).toBe('a');
  });

  test('sets no default class of other objects', async () => {
    await storageClass('a');
    await ingressClass('a');
    expect((await claim({ storageClassName: '' })).spec.storageClassName).toBe('');
    const old = { 'volume.beta.orch.io/storage-class': 'old' };
    expect((await claim({}, { name: 'd', annotations: old })).spec).not.toHaveProperty('storageClassName');
    expect((await ingress({ ingressClassName: 'b' })).spec.ingressClassName).toBe('b');
    const before = { 'orch.io/ingress.class': 'old' };
    expect((await ingress({}, { name: 'j', annotations: before })).spec).not.toHaveProperty('ingressClassName');
  });

  test('recognizes default classes by the value true', async () => {
    await storageClass('a', 'yes');
    await ingressClass('a', 'yes');
    expect((await claim()).spec).not.toHaveProperty('storageClassName');
    expect((await ingress()).spec).not.toHaveProperty('ingressClassName');
  });

  test('uses the newest default class, and of equally old ones the first by name', async () => {
    for (const name of ['a', 'z']) await Promise.all([storageClass(name), ingressClass(name)]);
    await cluster.clock.advance(1000);
    for (const name of ['y', 'x']) await Promise.all([storageClass(name), ingressClass(name)]);
    expect((await claim()).spec.storageClassName).toBe('x');
    expect((await ingress()).spec.ingressClassName).toBe('x');
  });
});

describe('PersistentVolumeClaimResize', () => {
  const grow = (storage = '2Gi') =>
    cluster
      .api(PersistentVolumeClaim)
      .patch('c', mergePatch({ spec: { resources: { requests: { storage } } } } as never));
  const bind = () =>
    cluster
      .api(PersistentVolumeClaim)
      .subresource('status')
      .patch('c', mergePatch({ status: { phase: 'Bound' } }));
  const storageClass = (name: string, allowVolumeExpansion: boolean) =>
    cluster.api(StorageClass).create({ metadata: { name }, provisioner: 'example.com/p', allowVolumeExpansion });
  const unable =
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize';

  beforeEach(async () => {
    await storageClass('elastic', true);
    await storageClass('rigid', false);
  });

  test.each([
    ['it has an expandable class', { storageClassName: 'elastic' }, {}],
    [
      'it has an expandable class by annotation',
      {},
      { annotations: { 'volume.beta.orch.io/storage-class': 'elastic' } },
    ],
  ])('allows expansion of a bound claim if %s', async (_, spec, metadata) => {
    await claim({ volumeName: 'v', ...spec }, metadata);
    await bind();
    expect((await grow()).spec.resources.requests).toEqual({ storage: '2Gi' });
  });

  test.each([
    ['its class is not expandable', { storageClassName: 'rigid' }],
    ['its class does not exist', { storageClassName: 'gone' }],
    ['it has no class', { storageClassName: '' }],
  ])('rejects expansion if %s', async (_, spec) => {
    await claim({ volumeName: 'v', ...spec });
    await bind();
    await expect(grow()).rejects.toMatchObject(forbidden('persistentvolumeclaims "c"', unable));
    expect(await grow('1024Mi')).toBeDefined();
  });
});
