/** Kinds whose update rules look at the metadata of a new object once more: none of them takes a bare finalizer. */
import {
  ClusterRole,
  CSINode,
  CSIStorageCapacity,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  RoleBinding,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { refusals } from '../refusals.js';

const BARE =
  'metadata.finalizers[0]: Invalid value: "bare": name is neither a standard finalizer name nor is it fully qualified';

interface AnyApi {
  create(input: unknown): Promise<{ metadata: object }>;
  update(input: unknown): Promise<unknown>;
}

const accessModes = ['ReadWriteOnce'];

test.each([
  [Node, {}, 1],
  [PersistentVolume, { spec: { capacity: { storage: '1' }, accessModes, hostPath: { path: '/a' } } }, 2],
  [PersistentVolumeClaim, { spec: { accessModes, resources: { requests: { storage: '1' } } } }, 2],
  [ClusterRole, {}, 2],
  [RoleBinding, { roleRef: { kind: 'Role', name: 'r' } }, 2],
  [StorageClass, { provisioner: 'p' }, 1],
  [VolumeAttributesClass, { driverName: 'd', parameters: { k: 'v' } }, 2],
  [CSIStorageCapacity, { storageClassName: 's' }, 1],
  [CSINode, { spec: { drivers: [] } }, 2],
  [VolumeAttachment, { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } }, 1],
])('$kind refuses a bare finalizer on update', async (kind, body, times) => {
  const cluster = testCluster({ featureGates: { VolumeAttributesClass: true }, runtimeConfig: 'api/all=true' });
  const objects = cluster.api(kind as never) as unknown as AnyApi;
  const first = await objects.create({ metadata: { name: 'a' }, ...body });
  const update = objects.update({ ...first, metadata: { ...first.metadata, finalizers: ['bare'] } });
  expect(await refusals(update)).toEqual(Array.from({ length: times }, () => BARE));
});
