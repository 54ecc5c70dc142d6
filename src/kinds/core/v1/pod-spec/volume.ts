/**
 * Schemas of pod volumes: a name and one source.
 */
import * as z from 'zod';
import { always, pointer } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { templateMeta } from '../../../shared/object-meta.js';
import { persistentVolumeClaimSpec } from './claim-spec.js';
import { downwardAPIVolumeSource, projectedVolumeSource } from './projected.js';
import {
  awsElasticBlockStoreVolumeSource,
  azureDiskVolumeSource,
  azureFileVolumeSource,
  cephFSVolumeSource,
  cinderVolumeSource,
  configMapVolumeSource,
  csiVolumeSource,
  emptyDirVolumeSource,
  fcVolumeSource,
  flexVolumeSource,
  flockerVolumeSource,
  gcePersistentDiskVolumeSource,
  gitRepoVolumeSource,
  glusterfsVolumeSource,
  hostPathVolumeSource,
  imageVolumeSource,
  iscsiVolumeSource,
  nfsVolumeSource,
  persistentVolumeClaimVolumeSource,
  photonPersistentDiskVolumeSource,
  portworxVolumeSource,
  quobyteVolumeSource,
  rbdVolumeSource,
  scaleIOVolumeSource,
  secretVolumeSource,
  storageOSVolumeSource,
  vsphereVirtualDiskVolumeSource,
} from './volume-sources.js';

const persistentVolumeClaimTemplateShape = () => ({
  metadata: always(templateMeta()),
  spec: persistentVolumeClaimSpec(),
});
export interface PersistentVolumeClaimTemplate extends Output<typeof persistentVolumeClaimTemplateShape> {}
export interface PersistentVolumeClaimTemplateInput extends Input<typeof persistentVolumeClaimTemplateShape> {}
export const persistentVolumeClaimTemplate: Type<PersistentVolumeClaimTemplate, PersistentVolumeClaimTemplateInput> =
  type('PersistentVolumeClaimTemplate', persistentVolumeClaimTemplateShape);

const ephemeralVolumeSourceShape = () => ({
  volumeClaimTemplate: pointer(persistentVolumeClaimTemplate()),
});
export interface EphemeralVolumeSource extends Output<typeof ephemeralVolumeSourceShape> {}
export interface EphemeralVolumeSourceInput extends Input<typeof ephemeralVolumeSourceShape> {}
export const ephemeralVolumeSource: Type<EphemeralVolumeSource, EphemeralVolumeSourceInput> = type(
  'EphemeralVolumeSource',
  ephemeralVolumeSourceShape,
);

const volumeShape = () => ({
  name: z.string(),
  hostPath: pointer(hostPathVolumeSource()),
  emptyDir: pointer(emptyDirVolumeSource()),
  gcePersistentDisk: pointer(gcePersistentDiskVolumeSource()),
  awsElasticBlockStore: pointer(awsElasticBlockStoreVolumeSource()),
  gitRepo: pointer(gitRepoVolumeSource()),
  secret: pointer(secretVolumeSource()),
  nfs: pointer(nfsVolumeSource()),
  iscsi: pointer(iscsiVolumeSource()),
  glusterfs: pointer(glusterfsVolumeSource()),
  persistentVolumeClaim: pointer(persistentVolumeClaimVolumeSource()),
  rbd: pointer(rbdVolumeSource()),
  flexVolume: pointer(flexVolumeSource()),
  cinder: pointer(cinderVolumeSource()),
  cephfs: pointer(cephFSVolumeSource()),
  flocker: pointer(flockerVolumeSource()),
  downwardAPI: pointer(downwardAPIVolumeSource()),
  fc: pointer(fcVolumeSource()),
  azureFile: pointer(azureFileVolumeSource()),
  configMap: pointer(configMapVolumeSource()),
  vsphereVolume: pointer(vsphereVirtualDiskVolumeSource()),
  quobyte: pointer(quobyteVolumeSource()),
  azureDisk: pointer(azureDiskVolumeSource()),
  photonPersistentDisk: pointer(photonPersistentDiskVolumeSource()),
  projected: pointer(projectedVolumeSource()),
  portworxVolume: pointer(portworxVolumeSource()),
  scaleIO: pointer(scaleIOVolumeSource()),
  storageos: pointer(storageOSVolumeSource()),
  csi: pointer(csiVolumeSource()),
  ephemeral: pointer(ephemeralVolumeSource()),
  image: pointer(imageVolumeSource()),
});
export interface Volume extends Output<typeof volumeShape> {}
export interface VolumeInput extends Input<typeof volumeShape> {}
export const volume: Type<Volume, VolumeInput> = type('Volume', volumeShape);
