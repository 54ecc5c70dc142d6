/**
 * Schemas of the PersistentVolume spec, also used inline by VolumeAttachment.
 */
import * as z from 'zod';
import { defaulted, defaultedPointer, enumString, optional, pointer, resourceList } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { openReference } from '../../../shared/types.js';
import type { PersistentVolumeAccessMode, PersistentVolumeMode } from '../pod-spec/claim-spec.js';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  fcVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  hostPathVolumeSource,
  nfsVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from '../pod-spec/volume-sources.js';
import { nodeSelector } from '../scheduling-types.js';
import {
  azureFilePersistentVolumeSource,
  cephFSPersistentVolumeSource,
  cinderPersistentVolumeSource,
  csiPersistentVolumeSource,
  flexPersistentVolumeSource,
  glusterfsPersistentVolumeSource,
  iscsiPersistentVolumeSource,
  localVolumeSource,
  rbdPersistentVolumeSource,
  scaleIOPersistentVolumeSource,
  storageOSPersistentVolumeSource,
} from './sources.js';

const volumeNodeAffinityShape = () => ({ required: pointer(nodeSelector()) });
export interface VolumeNodeAffinity extends Output<typeof volumeNodeAffinityShape> {}
export interface VolumeNodeAffinityInput extends Input<typeof volumeNodeAffinityShape> {}
const volumeNodeAffinity: Type<VolumeNodeAffinity, VolumeNodeAffinityInput> = type(
  'VolumeNodeAffinity',
  volumeNodeAffinityShape,
);

/** In wire order. A volume has exactly one of these sources. */
const sourceShape = () => ({
  gcePersistentDisk: pointer(gcePersistentDiskVolumeSource()),
  awsElasticBlockStore: pointer(awsElasticBlockStoreVolumeSource()),
  hostPath: pointer(hostPathVolumeSource()),
  glusterfs: pointer(glusterfsPersistentVolumeSource()),
  nfs: pointer(nfsVolumeSource()),
  rbd: pointer(rbdPersistentVolumeSource()),
  iscsi: pointer(iscsiPersistentVolumeSource()),
  cinder: pointer(cinderPersistentVolumeSource()),
  cephfs: pointer(cephFSPersistentVolumeSource()),
  fc: pointer(fcVolumeSource()),
  flocker: pointer(flockerVolumeSource()),
  flexVolume: pointer(flexPersistentVolumeSource()),
  azureFile: pointer(azureFilePersistentVolumeSource()),
  vsphereVolume: pointer(vsphereVirtualDiskVolumeSource()),
  quobyte: pointer(quobyteVolumeSource()),
  azureDisk: pointer(azureDiskVolumeSource()),
  photonPersistentDisk: pointer(photonPersistentDiskVolumeSource()),
  portworxVolume: pointer(portworxVolumeSource()),
  scaleIO: pointer(scaleIOPersistentVolumeSource()),
  local: pointer(localVolumeSource()),
  storageos: pointer(storageOSPersistentVolumeSource()),
  csi: pointer(csiPersistentVolumeSource()),
});
export interface PersistentVolumeSource extends Output<typeof sourceShape> {}

type ReclaimPolicy = 'Retain' | 'Delete' | 'Recycle';

const reclaimPolicy = () => enumString<ReclaimPolicy>('v1.PersistentVolumeReclaimPolicy');
const volumeMode = () => enumString<PersistentVolumeMode>('v1.PersistentVolumeMode');

const persistentVolumeSpecShape = () => ({
  capacity: optional(resourceList()),
  ...sourceShape(),
  accessModes: optional(z.array(enumString<PersistentVolumeAccessMode>('v1.PersistentVolumeAccessMode'))),
  claimRef: pointer(openReference()),
  persistentVolumeReclaimPolicy: defaulted(reclaimPolicy(), 'Retain'),
  storageClassName: optional(z.string()),
  mountOptions: optional(z.array(z.string())),
  volumeMode: defaultedPointer(volumeMode(), 'Filesystem'),
  nodeAffinity: pointer(volumeNodeAffinity()),
  volumeAttributesClassName: pointer(z.string()),
});
export interface PersistentVolumeSpec extends Output<typeof persistentVolumeSpecShape> {}
export interface PersistentVolumeSpecInput extends Input<typeof persistentVolumeSpecShape> {}
export const persistentVolumeSpec: Type<PersistentVolumeSpec, PersistentVolumeSpecInput> = type(
  'PersistentVolumeSpec',
  persistentVolumeSpecShape,
);

/** In an inline spec only the source has defaults. */
const inlineVolumeSpecShape = () => ({
  ...persistentVolumeSpecShape(),
  persistentVolumeReclaimPolicy: optional(reclaimPolicy()),
  volumeMode: pointer(volumeMode()),
});
export interface InlineVolumeSpec extends Output<typeof inlineVolumeSpecShape> {}
export interface InlineVolumeSpecInput extends Input<typeof inlineVolumeSpecShape> {}
export const inlineVolumeSpec: Type<InlineVolumeSpec, InlineVolumeSpecInput> = type(
  'PersistentVolumeSpec',
  inlineVolumeSpecShape,
);
