/** Defaulting, validation and warnings of PersistentVolumes. */
import { PersistentVolume, type PersistentVolumeInput } from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { describe, expect, test } from 'vitest';
import { invalidWith } from '../rejections.js';

interface Named {
  metadata: { name: string };
}

const usual = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] };
const input = (spec: object, metadata: object = {}) =>
  ({ metadata: { name: 'v', ...metadata }, spec: { ...usual, ...spec } }) as PersistentVolumeInput & Named;
const create = (spec: object, options = {}) => testCluster(options).api(PersistentVolume).create(input(spec));
const nfs = { server: 'h', path: '/x' };

describe('a PersistentVolume', () => {
  test('starts in phase Pending with policy Retain and volumeMode Filesystem', async () => {
    const created = await testCluster()
      .api(PersistentVolume)
      .create({ ...input({ nfs, mountOptions: ['ro'] }), status: { phase: 'Bound' } });
    expect(created.spec).toEqual({
      ...usual,
      nfs,
      mountOptions: ['ro'],
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
    });
    expect(created.status).toEqual({ phase: 'Pending', lastPhaseTransitionTime: '2030-01-01T00:00:00Z' });
  });

  test.each([
    ['hostPath', { path: '/x' }, { path: '/x', type: '' }],
    [
      'rbd',
      { monitors: ['m'], image: 'i' },
      { monitors: ['m'], image: 'i', pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
    ],
    [
      'iscsi',
      { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:s' },
      { targetPortal: 'p', iqn: 'iqn.2001-04.com.example:s', lun: 0, iscsiInterface: 'default' },
    ],
    ['azureFile', { secretName: 's', shareName: 't' }, { secretName: 's', shareName: 't', secretNamespace: null }],
    [
      'scaleIO',
      { gateway: 'g', system: 's', volumeName: 'v' },
      { gateway: 'g', system: 's', secretRef: null, storageMode: 'ThinProvisioned', volumeName: 'v', fsType: 'xfs' },
    ],
  ])('sets the defaults of a PersistentVolume with source %s', async (source, given, stored) => {
    const { spec } = await create({ [source]: given });
    expect(JSON.stringify(spec[source as 'hostPath'])).toBe(JSON.stringify(stored));
  });

  test.each([
    [
      'an empty spec',
      { capacity: {}, accessModes: [] },
      [
        ['spec.accessModes', 'Required value'],
        ['spec.capacity', 'Required value'],
        ['spec.capacity', 'Unsupported value: core.ResourceList{}: supported values: "storage"'],
        ['spec', 'Required value: must specify a volume type'],
      ],
    ],
    [
      'negative storage and a cpu capacity',
      { capacity: { storage: '-1', cpu: '1' }, nfs },
      [
        ['spec.capacity', expect.stringMatching(/^Unsupported value: core.ResourceList{"cpu":resource.Quantity{/)],
        ['spec.capacity[storage]', 'Invalid value: -1: must be a valid resource quantity'],
        ['spec.capacity[storage]', 'Invalid value: "-1": must be greater than zero'],
      ],
    ],
    [
      'incompatible access modes',
      { accessModes: ['ReadWriteOncePod', 'ReadWriteOnce', 'Odd'], nfs, persistentVolumeReclaimPolicy: 'Burn' },
      [
        [
          'spec.accessModes',
          'Unsupported value: "Odd": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"',
        ],
        ['spec.accessModes', 'Forbidden: may not use ReadWriteOncePod with other access modes'],
        [
          'spec.persistentVolumeReclaimPolicy',
          'Unsupported value: "Burn": supported values: "Delete", "Recycle", "Retain"',
        ],
      ],
    ],
    [
      'three sources',
      { hostPath: { path: '/x' }, nfs, cephfs: { monitors: ['m'] } },
      [
        ['spec.nfs', 'Forbidden: may not specify more than 1 volume type'],
        ['spec.cephFS', 'Forbidden: may not specify more than 1 volume type'],
      ],
    ],
    [
      'recycling of the host root',
      { hostPath: { path: '/./' }, persistentVolumeReclaimPolicy: 'Recycle' },
      [['spec.persistentVolumeReclaimPolicy', "Forbidden: may not be 'recycle' for a hostPath mount of '/'"]],
    ],
    [
      'an invalid class and mode',
      { nfs, storageClassName: 'A', volumeMode: 'Tape' },
      [
        ['spec.storageClassName', expect.stringMatching(/^Invalid value: "A": a lowercase RFC 1123/)],
        ['spec.volumeMode', 'Unsupported value: "Tape": supported values: "Block", "Filesystem"'],
      ],
    ],
    [
      'a relative local path without node affinity',
      { local: { path: '../x' } },
      [
        ['spec.local.path', 'Invalid value: "../x": must not contain \'..\''],
        ['spec.nodeAffinity', 'Required value: Local volume requires node affinity'],
      ],
    ],
    [
      'an empty node affinity',
      { local: { path: '' }, nodeAffinity: {} },
      [
        ['spec.nodeAffinity.required', 'Required value: must specify required node constraints'],
        ['spec.local.path', 'Required value'],
      ],
    ],
    [
      'an empty driver',
      { csi: { driver: '', volumeHandle: '', nodeStageSecretRef: {}, nodePublishSecretRef: { name: 'A' } } },
      [
        ['spec.csi.driver', 'Required value'],
        ['spec.csi.driver', expect.stringMatching(/^Invalid value: "": a lowercase RFC 1123/)],
        ['spec.csi.volumeHandle', 'Required value'],
        ['spec.csi.nodePublishSecretRef.name', expect.stringMatching(/^Invalid value: "A": a lowercase/)],
        ['spec.csi.nodePublishSecretRef.namespace', 'Required value'],
      ],
    ],
    [
      'empty endpoints',
      { glusterfs: { endpoints: '', path: '', endpointsNamespace: '' } },
      [
        ['spec.glusterfs.endpoints', 'Required value'],
        ['spec.glusterfs.path', 'Required value'],
        [
          'spec.glusterfs.endpointsNamespace',
          'Invalid value: "": if the endpointnamespace is set, it must be a valid namespace name',
        ],
      ],
    ],
    [
      'invalid iSCSI names',
      { iscsi: { targetPortal: 'p'.repeat(64), iqn: 'x', lun: 256, chapAuthSession: true, initiatorName: 'iqn' } },
      [
        [
          'spec.iscsi.targetportal',
          `Invalid value: "${'p'.repeat(64)}": Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.`,
        ],
        ['spec.iscsi.iqn', 'Invalid value: "x": must be valid format'],
        ['spec.iscsi.lun', 'Invalid value: 256: must be between 0 and 255, inclusive'],
        ['spec.iscsi.secretRef', 'Required value'],
        ['spec.iscsi.initiatorname', 'Invalid value: "iqn": must be valid format'],
      ],
    ],
    [
      'secrets without names',
      { cinder: { volumeID: '', secretRef: {} } },
      [
        ['spec.cinder.volumeID', 'Required value'],
        ['spec.cinder.secretRef.name', 'Required value'],
        ['spec.cinder.secretRef.namespace', 'Required value'],
      ],
    ],
    [
      'an empty namespace',
      { azureFile: { secretName: 's', shareName: '', secretNamespace: '' } },
      [
        ['spec.azureFile.shareName', 'Required value'],
        ['spec.azureFile.secretNamespace', 'Required value'],
      ],
    ],
    [
      'invalid names',
      { storageos: { volumeName: 'A', volumeNamespace: 'B', secretRef: { name: 's' } } },
      [
        ['spec.storageos.volumeName', expect.stringMatching(/^Invalid value: "A": a lowercase RFC 1123 label/)],
        ['spec.storageos.volumeNamespace', expect.stringMatching(/^Invalid value: "B": a lowercase RFC 1123 label/)],
        ['spec.storageos.secretRef.namespace', 'Required value'],
      ],
    ],
  ] as const)('rejects a PersistentVolume with %s', async (_what, spec, causes) => {
    await expect(create(spec)).rejects.toMatchObject(invalidWith(...causes));
  });

  test('keeps a volume attributes class only if the feature gate is enabled', async () => {
    const spec = { nfs, volumeAttributesClassName: '' };
    expect((await create(spec)).spec).not.toHaveProperty('volumeAttributesClassName');
    await expect(create(spec, { featureGates: { VolumeAttributesClass: true } })).rejects.toMatchObject(
      invalidWith(
        ['spec.volumeAttributesClassName', 'Required value: an empty string is disallowed'],
        ['spec.csi', 'Required value: has to be specified when using volumeAttributesClassName'],
      ),
    );
  });

  test('can change its volume attributes class, but not lose it', async () => {
    const volumes = testCluster({ featureGates: { VolumeAttributesClass: true } }).api(PersistentVolume);
    const spec = { csi: { driver: 'd', volumeHandle: 'h' }, volumeAttributesClassName: 'gold' };
    await volumes.create(input(spec));
    const silver = await volumes.update(input({ ...spec, volumeAttributesClassName: 'silver' }));
    expect(silver.spec.volumeAttributesClassName).toBe('silver');
    await expect(volumes.update(input({ csi: spec.csi }))).rejects.toMatchObject(
      invalidWith(['spec.volumeAttributesClassName', 'Forbidden: update from non-nil value to nil is forbidden']),
    );
  });

  test('returns warnings about deprecated fields', async () => {
    const warnings: string[] = [];
    const cluster = testCluster();
    const volumes = cluster.with({ onWarning: (warning) => warnings.push(warning) }).api(PersistentVolume);
    const key = 'failure-domain.beta.orch.io/zone';
    const annotations = { 'volume.beta.orch.io/storage-class': 'c', 'volume.beta.orch.io/mount-options': 'ro' };
    const older = ['app.orch.io/created-by', 'scheduler.alpha.orch.io/preferAvoidPods', 'node-role.orch.io/master'];
    const matchExpressions = [key, ...older].map((label) => ({ key: label, operator: 'Exists' }));
    const path = 'spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions';
    await volumes.create(
      input(
        {
          cephfs: { monitors: ['m'] },
          persistentVolumeReclaimPolicy: 'Recycle',
          nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
        },
        { annotations },
      ),
    );
    expect(warnings).toEqual([
      'metadata.annotations[volume.beta.orch.io/storage-class]: deprecated since v1.8; use "storageClassName" attribute instead',
      'metadata.annotations[volume.beta.orch.io/mount-options]: deprecated since v1.31; use "mountOptions" attribute instead',
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.',
      `${path}[0].key: ${key} is deprecated since v1.17; use "topology.orch.io/zone" instead`,
      `${path}[1].key: ${older[0]} is deprecated since v1.9`,
      `${path}[2].key: ${older[1]} is deprecated since v1.22; use Taints and Tolerations instead`,
      `${path}[3].key: ${older[2]} is use "node-role.orch.io/control-plane" instead`,
      'spec.cephfs: deprecated in v1.28, non-functional in v1.31+',
    ]);
  });
});

describe('an update of a PersistentVolume', () => {
  const affinity = (key: string) => ({
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key, operator: 'Exists' }] }] },
  });

  async function change(before: object, after: object) {
    const volumes = testCluster().api(PersistentVolume);
    await volumes.create(input(before));
    return volumes.update(input(after));
  }

  test('allows an update of a PersistentVolume to change the capacity and the reclaim policy', async () => {
    const after = { nfs, capacity: { storage: '2Gi' }, persistentVolumeReclaimPolicy: 'Delete' };
    expect((await change({ nfs }, after)).spec).toMatchObject(after);
  });

  test('does not allow an update of a PersistentVolume to change the source, the volumeMode and the node affinity', async () => {
    await expect(
      change(
        { nfs, nodeAffinity: affinity('a') },
        { nfs: { ...nfs, path: '/y' }, volumeMode: 'Block', nodeAffinity: affinity('b') },
      ),
    ).rejects.toMatchObject(
      invalidWith(
        ['spec.persistentvolumesource', expect.stringContaining('- \t\tPath:     "/x",\n+ \t\tPath:     "/y",\n')],
        ['volumeMode', 'Invalid value: "Block": field is immutable'],
        [
          'nodeAffinity',
          'Invalid value: core.VolumeNodeAffinity{Required:(*core.NodeSelector)(0xc000000000)}: field is immutable, except for updating from beta label to GA',
        ],
      ),
    );
    await expect(change({ nfs, nodeAffinity: affinity('a') }, { nfs })).rejects.toMatchObject(
      invalidWith([
        'nodeAffinity',
        'Invalid value: "null": field is immutable, except for updating from beta label to GA',
      ]),
    );
  });

  test('allows the mount options annotation of a PersistentVolume if its source supports mount options', async () => {
    const annotations = { 'volume.beta.orch.io/mount-options': 'ro' };
    const volumes = testCluster().api(PersistentVolume);
    await expect(volumes.create(input({ hostPath: { path: '/x' } }, { annotations }))).rejects.toMatchObject(
      invalidWith([
        'metadata.annotations.volume.beta.orch.io/mount-options',
        'Forbidden: may not specify mount options for this volume type',
      ]),
    );
    await expect(volumes.create(input({ nfs }, { annotations }))).resolves.toBeDefined();
  });

  test('allows an update of a PersistentVolume to set an absent node affinity, and replace a deprecated label', async () => {
    await expect(change({ nfs }, { nfs, nodeAffinity: affinity('a') })).resolves.toBeDefined();
    const old = { nfs, nodeAffinity: affinity('beta.orch.io/os') };
    await expect(change(old, { nfs, nodeAffinity: affinity('orch.io/os') })).resolves.toBeDefined();
  });

  test('allows an update of a PersistentVolume to set controllerExpandSecretRef once', async () => {
    const csi = { driver: 'd', volumeHandle: 'h' };
    const secret = (name: string) => ({ csi: { ...csi, controllerExpandSecretRef: { name, namespace: 'n' } } });
    await expect(change({ csi }, secret('a'))).resolves.toBeDefined();
    await expect(change(secret('a'), secret('b'))).rejects.toMatchObject({ reason: 'Invalid' });
  });

  test('reports errors in the spec as often as the reference server', async () => {
    const cause = ['spec.capacity[storage]', 'Invalid value: "0": must be greater than zero'] as const;
    await expect(change({ nfs }, { nfs, capacity: { storage: '0' } })).rejects.toMatchObject(invalidWith(cause, cause));
  });

  test('sets lastPhaseTransitionTime when the phase changes', async () => {
    const cluster = testCluster();
    const volumes = cluster.api(PersistentVolume);
    const created = await volumes.create(input({ nfs }));
    await cluster.clock.advance(60_000);
    const bound = await volumes.status.update('v', { ...created, status: { phase: 'Bound' } });
    expect(bound.status).toEqual({ phase: 'Bound', lastPhaseTransitionTime: '2030-01-01T00:01:00Z' });
    await cluster.clock.advance(60_000);
    const updated = await volumes.status.update('v', { ...bound, status: { phase: 'Bound', message: 'm' } });
    expect(updated.status.lastPhaseTransitionTime).toBe('2030-01-01T00:01:00Z');
    const lastPhaseTransitionTime = '2029-01-01T00:00:00Z';
    const set = await volumes.status.update('v', { ...updated, status: { phase: 'Failed', lastPhaseTransitionTime } });
    expect(set.status.lastPhaseTransitionTime).toBe(lastPhaseTransitionTime);
  });
});
