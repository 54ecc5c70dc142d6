/** The volume plugins: restrictions, limits, binding and zones. */
import { describe, expect, test } from 'vitest';
import { volumeRestrictions } from '../../../../src/runtime/scheduler/plugins/volume-restrictions.js';
import { type NodeInfo, podInfoOf } from '../../../../src/runtime/scheduler/snapshot.js';
import { cpuTimer } from '../../../fixtures/cpu-time.js';
import { node, object, place, pod, snapshotOf } from './fixture.js';

const HOST = 'kubernetes.io/hostname';
const ZONE = 'topology.kubernetes.io/zone';
const NAMESPACE = { namespace: 'default' };
const rejected = (reason: string) => `0/1 nodes are available: ${reason}.`;
const onNode = (reason: string) => rejected(`1 ${reason}`);
const using = (...names: string[]) => ({
  spec: {
    containers: [{ resources: {} }],
    volumes: names.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  },
});
const user = (...names: string[]) => pod('p', {}, using(...names));

function claim(name: string, spec: object = {}, annotations: object = {}, more: object = {}) {
  const fields = { resources: { requests: { storage: '1Gi' } }, accessModes: ['ReadWriteOnce'], ...spec };
  return object('PersistentVolumeClaim', name, { spec: fields, status: {}, ...more }, { ...NAMESPACE, annotations });
}

function bound(name: string, volumeName: string, spec: object = {}) {
  return claim(name, { volumeName, ...spec }, { 'pv.kubernetes.io/bind-completed': 'yes' });
}

function volume(name: string, spec: object = {}, labels: object = {}) {
  const fields = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], ...spec };
  return object('PersistentVolume', name, { spec: fields, status: { phase: 'Available' } }, { labels });
}

const affinityTo = (key: string, value: string) => ({
  nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'In', values: [value] }] }] } },
});

function storageClass(name: string, volumeBindingMode: string, fields: object = {}) {
  return object('StorageClass', name, { volumeBindingMode, provisioner: 'example.com/disk', ...fields });
}

describe('VolumeRestrictions', () => {
  const disk = (name: string, source: object) =>
    pod(name, {}, { spec: { containers: [{ resources: {} }], volumes: [{ name: 'v', ...source }] } });
  const busy = onNode('node(s) had no available disk');

  test.each<[object, object, boolean]>([
    [{ gcePersistentDisk: { pdName: 'd' } }, { gcePersistentDisk: { pdName: 'd' } }, false],
    [
      { gcePersistentDisk: { pdName: 'd', readOnly: true } },
      { gcePersistentDisk: { pdName: 'd', readOnly: true } },
      true,
    ],
    [{ awsElasticBlockStore: { volumeID: 'd' } }, { awsElasticBlockStore: { volumeID: 'd' } }, false],
    [{ awsElasticBlockStore: { volumeID: 'd' } }, { awsElasticBlockStore: { volumeID: 'e' } }, true],
    [{ iscsi: { iqn: 'q' } }, { iscsi: { iqn: 'q', readOnly: true } }, false],
    [
      { rbd: { monitors: ['m', 'n'], image: 'i', pool: 'p' } },
      { rbd: { monitors: ['n'], image: 'i', pool: 'p' } },
      false,
    ],
    [{ rbd: { monitors: ['m'], image: 'i', pool: 'p' } }, { rbd: { monitors: ['n'], image: 'i', pool: 'p' } }, true],
  ])('with %j on the node, %j fits: %s', (used, wanted, fits) => {
    const snapshot = snapshotOf([node('a', { pods: [disk('old', used)] })]);
    expect(place(disk('p', wanted), snapshot)).toEqual(fits ? ['a'] : busy);
  });

  test('allows one pod only to use a ReadWriteOncePod claim', () => {
    const objects = [bound('one', 'v', { accessModes: ['ReadWriteOncePod'] }), volume('v')];
    expect(place(user('one'), snapshotOf([node('a')], objects))).toEqual(['a']);
    expect(place(user('one'), snapshotOf([node('a', { pods: [pod('old', {}, using('one'))] })], objects))).toBe(
      onNode('node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode'),
    );
  });

  test('reports a claim that does not exist', () => {
    expect(place(user('absent'), snapshotOf([node('a')]))).toBe(rejected('persistentvolumeclaim "absent" not found'));
  });

  test.each([
    ['20,000 disks', (at: number) => ({ gcePersistentDisk: { pdName: `d${at}` } }), 20_000],
    ['20,000 exclusive claims', (at: number) => ({ persistentVolumeClaim: { claimName: `c${at}` } }), 20_000],
  ])('compares pods with %s in time proportional to their number', (_what, source, count) => {
    const many = (name: string, from: number) =>
      pod(
        name,
        {},
        {
          spec: {
            containers: [{ resources: {} }],
            volumes: Array.from({ length: count }, (_, at) => ({ name: `v${at}`, ...source(from + at) })),
          },
        },
      );
    const claims = new Map(
      Array.from({ length: count }, (_, at) => [`c${at}`, claim(`c${at}`, { accessModes: ['ReadWriteOncePod'] })]),
    );
    const snapshot = snapshotOf([node('a', { pods: [many('other', count)] })]);
    const { objects } = snapshot;
    const get = ((kind, name, namespace) =>
      kind.kind === 'PersistentVolumeClaim'
        ? claims.get(name)
        : objects.get(kind, name, namespace)) as typeof objects.get;
    const { prepare } = volumeRestrictions;
    const spentMs = cpuTimer();
    const filter = prepare(podInfoOf(many('p', 0)), { ...snapshot, objects: { ...objects, get } });
    if (filter !== undefined && 'check' in filter) expect(filter.check(snapshot.nodes[0] as NodeInfo)).toBeUndefined();
    expect(spentMs()).toBeLessThan(1_000);
  });

  test('compares the monitors of block devices in time proportional to their number', () => {
    const device = (name: string, prefix: string) => {
      const monitors = Array.from({ length: 30_000 }, (_, at) => `${prefix}${at}`);
      return disk(name, { rbd: { monitors, image: 'i', pool: 'p' } });
    };
    const spentMs = cpuTimer();
    expect(place(device('p', 'm'), snapshotOf([node('a', { pods: [device('o', 'n')] })]))).toEqual(['a']);
    expect(place(device('p', 'm'), snapshotOf([node('a', { pods: [device('o', 'm')] })]))).toBe(busy);
    expect(spentMs()).toBeLessThan(1_000);
  });
});

describe('NodeVolumeLimits', () => {
  const csi = (name: string) => volume(name, { csi: { driver: 'csi.example.com', volumeHandle: name } });
  const limit = (count: number) =>
    object('CSINode', 'a', { spec: { drivers: [{ name: 'csi.example.com', allocatable: { count } }] } });
  const attached = (persistentVolumeName: string) =>
    object('VolumeAttachment', 'at', {
      spec: { attacher: 'csi.example.com', nodeName: 'a', source: { persistentVolumeName } },
    });
  const objects = [bound('c1', 'v1'), csi('v1'), bound('c2', 'v2'), csi('v2'), csi('v3')];
  const nodes = [node('a', { pods: [pod('old', {}, using('c1'))] })];

  test.each<[number, readonly ReturnType<typeof object>[], string, boolean]>([
    [1, [], 'c2', false],
    [2, [], 'c2', true],
    [1, [], 'c1', true],
    [2, [attached('v3')], 'c2', false],
    [2, [attached('v1')], 'c2', true],
  ])('with a limit of %d and %j, the claim %s fits: %s', (count, attachments, name, fits) => {
    const snapshot = snapshotOf(nodes, [...objects, limit(count), ...attachments]);
    expect(place(user(name), snapshot)).toEqual(fits ? ['a'] : onNode('node(s) exceed max volume count'));
  });

  test('counts a claim without volume for the driver of its class', () => {
    const later = storageClass('later', 'WaitForFirstConsumer', { provisioner: 'csi.example.com' });
    const snapshot = snapshotOf(nodes, [...objects, limit(1), later, claim('new', { storageClassName: 'later' })]);
    expect(place(user('new'), snapshot)).toBe(onNode('node(s) exceed max volume count'));
  });
});

describe('VolumeBinding', () => {
  const wait = storageClass('wait', 'WaitForFirstConsumer', { provisioner: 'kubernetes.io/no-provisioner' });
  const waiting = claim('data', { storageClassName: 'wait' });
  const nodes = [node('a'), node('b')];
  const NO_VOLUME = "node(s) didn't find available persistent volumes to bind";

  test.each<[string, readonly ReturnType<typeof object>[], string]>([
    [
      'data',
      [claim('data', { storageClassName: 'now' }), storageClass('now', 'Immediate')],
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'data',
      [claim('data', { storageClassName: 'wait', volumeName: 'v' }), wait],
      'pod has unbound immediate PersistentVolumeClaims',
    ],
    [
      'data',
      [claim('data', { volumeName: 'v' }, {}, { status: { phase: 'Lost' } })],
      'persistentvolumeclaim "data" bound to non-existent persistentvolume "v"',
    ],
    ['data', [bound('data', 'v')], 'persistentvolume "v" not found'],
  ])('rejects the claim %s of %j', (name, objects, reason) => {
    expect(place(user(name), snapshotOf([node('a')], objects))).toBe(rejected(reason));
  });

  test('waits for the claim of an ephemeral volume', () => {
    const volumes = [{ name: 'tmp', ephemeral: {} }];
    const candidate = pod('p', {}, { spec: { containers: [{ resources: {} }], volumes } });
    expect(place(candidate, snapshotOf([node('a')]))).toBe(
      rejected('waiting for ephemeral volume controller to create the persistentvolumeclaim "p-tmp"'),
    );
    expect(place(candidate, snapshotOf([node('a')], [claim('p-tmp')]))).toBe(
      rejected('PVC default/p-tmp was not created for pod default/p (pod is not owner)'),
    );
  });

  test('accepts the nodes that can reach a bound volume', () => {
    const objects = [bound('data', 'v'), volume('v', affinityTo(HOST, 'b'))];
    expect(place(user('data'), snapshotOf(nodes, objects))).toEqual(['b']);
    expect(place(user('data'), snapshotOf([node('a')], objects))).toBe(
      onNode("node(s) didn't match PersistentVolume's node affinity"),
    );
  });

  test.each<[string, object, boolean]>([
    ['of its class', {}, true],
    ['of another class', { storageClassName: 'other' }, false],
    ['that is too small', { capacity: { storage: '500Mi' } }, false],
    ['with another mode', { volumeMode: 'Block' }, false],
    ['with other access modes', { accessModes: ['ReadOnlyMany'] }, false],
    ['of another claim', { claimRef: { namespace: 'default', name: 'other' } }, false],
    ['that is reserved for the claim', { claimRef: { namespace: 'default', name: 'data' } }, true],
    ['that no node can reach', affinityTo(HOST, 'x'), false],
  ])('finds a volume %s: %j %s', (_name, spec, fits) => {
    const snapshot = snapshotOf([node('a')], [wait, waiting, volume('v', { storageClassName: 'wait', ...spec })]);
    expect(place(user('data'), snapshot)).toEqual(fits ? ['a'] : onNode(NO_VOLUME));
  });

  test('needs a volume for each claim', () => {
    const local = (name: string) => volume(name, { storageClassName: 'wait', ...affinityTo(HOST, 'b') });
    const objects = [wait, waiting, claim('more', { storageClassName: 'wait' }), local('v1')];
    expect(place(user('data', 'more'), snapshotOf(nodes, objects))).toBe(`0/2 nodes are available: 2 ${NO_VOLUME}.`);
    expect(place(user('data', 'more'), snapshotOf(nodes, [...objects, local('v2')]))).toEqual(['b']);
  });

  test('accepts nodes where a provisioner can create the volume', () => {
    const inZone = [node('a', { labels: { [ZONE]: 'z1' } }), node('b', { labels: { [ZONE]: 'z2' } })];
    const allowedTopologies = [{ matchLabelExpressions: [{ key: ZONE, values: ['z2'] }] }];
    const later = (fields: object = {}) => storageClass('wait', 'WaitForFirstConsumer', fields);
    expect(place(user('data'), snapshotOf(inZone, [later(), waiting]))).toEqual(['a', 'b']);
    expect(place(user('data'), snapshotOf(inZone, [later({ allowedTopologies }), waiting]))).toEqual(['b']);
    const selected = claim('data', { storageClassName: 'wait' }, { 'volume.kubernetes.io/selected-node': 'a' });
    expect(place(user('data'), snapshotOf(inZone, [later(), selected]))).toEqual(['a']);
  });

  test('compares the size with the capacity that a driver reports', () => {
    const driver = object('CSIDriver', 'example.com/disk', { spec: { storageCapacity: true } });
    const capacity = (size: string) =>
      object('CSIStorageCapacity', 'c', {
        storageClassName: 'wait',
        capacity: size,
        nodeTopology: { matchLabels: { [HOST]: 'a' } },
      });
    const objects = [storageClass('wait', 'WaitForFirstConsumer'), waiting, driver];
    expect(place(user('data'), snapshotOf(nodes, [...objects, capacity('1Gi')]))).toEqual(['a']);
    expect(place(user('data'), snapshotOf(nodes, [...objects, capacity('1Mi')]))).toBe(
      '0/2 nodes are available: 2 node(s) did not have enough free storage.',
    );
  });
});

describe('VolumeZone', () => {
  const inZone = (value: string) => node('a', { labels: { [ZONE]: value } });

  test.each<[object, string, boolean]>([
    [{ [ZONE]: 'z1' }, 'z1', true],
    [{ [ZONE]: 'z1' }, 'z2', false],
    [{ [ZONE]: 'z1__z2' }, 'z2', true],
    [{ 'failure-domain.beta.kubernetes.io/zone': 'z1' }, 'z1', true],
    [{ 'failure-domain.beta.kubernetes.io/zone': 'z1' }, 'z2', false],
  ])('compares the labels %j of a volume with a node in %s', (labels, value, fits) => {
    const snapshot = snapshotOf([inZone(value)], [bound('data', 'v'), volume('v', {}, labels)]);
    expect(place(user('data'), snapshot)).toEqual(fits ? ['a'] : onNode('node(s) had no available volume zone'));
  });

  test('accepts nodes without any zone', () => {
    const snapshot = snapshotOf([node('a')], [bound('data', 'v'), volume('v', {}, { [ZONE]: 'z1' })]);
    expect(place(user('data'), snapshot)).toEqual(['a']);
  });
});
