/** How often the update validation of a kind reports metadata errors, and whether the kind accepts unqualified finalizers. */
import { mergePatch } from 'orchplane';
import {
  ClusterRole,
  ConfigMap,
  CSINode,
  CSIStorageCapacity,
  DeviceClass,
  Endpoints,
  Lease,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PodTemplate,
  ResourceQuota,
  Role,
  RoleBinding,
  RuntimeClass,
  StorageClass,
  StorageVersionMigration,
  ValidatingWebhookConfiguration,
  VolumeAttachment,
  VolumeAttributesClass,
} from 'orchplane/kinds';
import { testCluster } from 'orchplane/testing';
import { expect, test } from 'vitest';
import { rejectionCauses } from '../rejections.js';

const BARE =
  'metadata.finalizers[0]: Invalid value: "bare": name is neither a standard finalizer name nor is it fully qualified';

interface AnyApi {
  create(input: unknown): Promise<{ metadata: object }>;
  update(input: unknown): Promise<unknown>;
  patch(name: string, patch: unknown): Promise<unknown>;
  readonly status: { patch(name: string, patch: unknown): Promise<unknown> };
}

const accessModes = ['ReadWriteOnce'];

test.each([
  [Node, {}, 2],
  [PersistentVolume, { spec: { capacity: { storage: '1' }, accessModes, hostPath: { path: '/a' } } }, 2],
  [PersistentVolumeClaim, { spec: { accessModes, resources: { requests: { storage: '1' } } } }, 3],
  [ClusterRole, {}, 3],
  [RoleBinding, { roleRef: { kind: 'Role', name: 'r' } }, 3],
  [StorageClass, { provisioner: 'p' }, 2],
  [VolumeAttributesClass, { driverName: 'd', parameters: { k: 'v' } }, 3],
  [CSIStorageCapacity, { storageClassName: 's' }, 2],
  [ConfigMap, {}, 2],
  [ResourceQuota, {}, 1],
  [PodTemplate, { template: { spec: { containers: [{ name: 'c', image: 'i' }] } } }, 1],
  [Endpoints, {}, 2],
  [CSINode, { spec: { drivers: [] } }, 2],
  [VolumeAttachment, { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } }, 2],
])('rejects an unqualified finalizer on update of $kind', async (kind, body, times) => {
  const cluster = testCluster({ featureGates: { VolumeAttributesClass: true }, runtimeConfig: 'api/all=true' });
  const objects = cluster.api(kind as never) as unknown as AnyApi;
  const first = await objects.create({ metadata: { name: 'a' }, ...body });
  const update = objects.update({ ...first, metadata: { ...first.metadata, finalizers: ['bare'] } });
  expect(await rejectionCauses(update)).toEqual(Array.from({ length: times }, () => BARE));
});

/** Errors of labels, of finalizers in general, of the two finalizers of built-in kinds, and of the grace period. */
const SIGNS: Record<string, string> = {
  'metadata.labels': 'l',
  'metadata.finalizers': 'f',
  'metadata.finalizers[0]': '0',
  'metadata.finalizers[1]': '1',
  'metadata.deletionGracePeriodSeconds': 'd',
};
const attached = { spec: { attacher: 'a', nodeName: 'n', source: { persistentVolumeName: 'v' } } };
const migrated = { spec: { resource: { version: 'v1', resource: 'secrets' } } };

// As recorded from the reference server 1.33.
test.each([
  [Role, '', {}, 'lfdllf01lf01dl01'],
  [RoleBinding, '', { roleRef: { kind: 'Role', name: 'r' } }, 'lfdllf01lf01dl01'],
  [ClusterRole, '', {}, 'lfdllf01lf01dl01'],
  [StorageClass, '', { provisioner: 'p' }, 'lfdllf01dl01'],
  [CSINode, '', { spec: { drivers: [] } }, 'lfdllf01lf01'],
  [CSIStorageCapacity, '', { storageClassName: 's' }, 'lfdllf01dl01'],
  [VolumeAttributesClass, '', { driverName: 'd', parameters: { k: 'v' } }, 'lfdllf01dl01lf01'],
  [VolumeAttachment, '', attached, 'lfdllf01lf01'],
  [VolumeAttachment, '/status', attached, 'd'],
  [StorageVersionMigration, '', migrated, 'lfdllf01dl01'],
  [StorageVersionMigration, '/status', migrated, 'dd'],
  [DeviceClass, '', { spec: {} }, 'lfdllf01dl01'],
  [Pod, '', { spec: { containers: [{ name: 'c', image: 'i' }] } }, 'lfdldl01lf01'],
])('reports metadata errors of $kind in the order of the reference server', async (kind, address, body, order) => {
  const cluster = testCluster({
    featureGates: { VolumeAttributesClass: true, StorageVersionMigrator: true, DynamicResourceAllocation: true },
    runtimeConfig: 'api/all=true',
  });
  const objects = cluster.api(kind as never) as unknown as AnyApi;
  await objects.create({ metadata: { name: 'a' }, ...body });
  const bad = { labels: { 'a b': 'c' }, finalizers: ['bare', 'e f'], deletionGracePeriodSeconds: 3 };
  const patch = mergePatch({ metadata: bad });
  const found = await rejectionCauses(address === '' ? objects.patch('a', patch) : objects.status.patch('a', patch));
  expect(found.map((cause) => SIGNS[cause.slice(0, cause.indexOf(':'))]).join('')).toBe(order);
});

test.each([
  [Lease, {}],
  [PodDisruptionBudget, {}],
  [RuntimeClass, { handler: 'h' }],
  [ValidatingWebhookConfiguration, {}],
])('accepts an unqualified finalizer of $kind', async (kind, body) => {
  const objects = testCluster().api(kind as never) as unknown as AnyApi;
  const first = await objects.create({ metadata: { name: 'a', finalizers: ['bare'] }, ...body });
  const again = await objects.update({ ...first, metadata: { ...first.metadata, finalizers: ['bare', 'other'] } });
  expect(again).toMatchObject({ metadata: { finalizers: ['bare', 'other'] } });
});

test('validates metadata of status updates', async () => {
  const pods = testCluster().api(Pod);
  await pods.create({ metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } });
  const patch = mergePatch({ metadata: { finalizers: ['bare'] } });
  expect(await rejectionCauses(pods.status.patch('p', patch as never))).toEqual([BARE]);
});
