/** Samples of PersistentVolumes and PersistentVolumeClaims. A protection finalizer delays their deletion. */
import { PersistentVolume, PersistentVolumeClaim } from 'orchplane/kinds';
import type { KindSample } from '../kind-contract.js';

const volume = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/x' } };
const claim = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
const usual = {
  wireOrder: ['kind', 'apiVersion', 'metadata', 'spec', 'status'],
  deletedAtOnce: false,
  unconditionalUpdate: true,
  createOnUpdate: false,
};

export const samples: readonly KindSample[] = [
  { kind: PersistentVolume, body: { spec: volume }, change: { spec: { ...volume, mountOptions: ['ro'] } }, ...usual },
  { kind: PersistentVolumeClaim, body: { spec: claim }, change: { spec: { ...claim, volumeName: 'v' } }, ...usual },
];
