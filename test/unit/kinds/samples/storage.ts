/** Samples of the storage group. */
import {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
  VolumeAttributesClassV1alpha1,
} from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const TYPE = ['kind', 'apiVersion', 'metadata'];
const usual = { deletedAtOnce: true, unconditionalUpdate: false, createOnUpdate: false };

export const samples: readonly KindSample[] = [
  {
    kind: CSIDriver,
    body: { spec: {} },
    change: { spec: { podInfoOnMount: true } },
    wireOrder: [...TYPE, 'spec'],
    ...usual,
  },
  {
    kind: CSINode,
    body: { spec: { drivers: [] } },
    change: { spec: { drivers: [{ name: 'd', nodeID: 'n' }] } },
    wireOrder: [...TYPE, 'spec'],
    ...usual,
  },
  {
    kind: CSIStorageCapacity,
    body: { storageClassName: 'c' },
    change: { storageClassName: 'c', capacity: '1Gi' },
    wireOrder: [...TYPE, 'nodeTopology', 'storageClassName', 'capacity', 'maximumVolumeSize'],
    ...usual,
  },
  {
    kind: StorageClass,
    body: { provisioner: 'p' },
    change: { provisioner: 'p', mountOptions: ['ro'], allowVolumeExpansion: true },
    wireOrder: [
      ...TYPE,
      'provisioner',
      'parameters',
      'reclaimPolicy',
      'mountOptions',
      'allowVolumeExpansion',
      'volumeBindingMode',
      'allowedTopologies',
    ],
    ...usual,
    unconditionalUpdate: true,
  },
  {
    kind: VolumeAttachment,
    body: { spec: { attacher: 'd', source: { persistentVolumeName: 'v' }, nodeName: 'n' } },
    change: {},
    wireOrder: [...TYPE, 'spec', 'status'],
    ...usual,
  },
  ...[VolumeAttributesClass, VolumeAttributesClassV1alpha1].map((kind) => ({
    kind,
    body: { driverName: 'd', parameters: { k: 'v' } },
    change: {},
    wireOrder: [...TYPE, 'driverName', 'parameters'],
    ...usual,
    unconditionalUpdate: true,
  })),
];
