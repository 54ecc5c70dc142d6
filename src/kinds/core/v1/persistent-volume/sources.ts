/**
 * Schemas of PersistentVolume sources that differ from the volume sources of pods: their secret references have a
 * namespace.
 */
import * as z from 'zod';
import { hint, optional, pointer } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { objectReference, secretReference } from '../../../shared/types.js';
import {
  azureFileVolumeSourceShape,
  cephFSVolumeSourceShape,
  cinderVolumeSourceShape,
  flexVolumeSourceShape,
  glusterfsVolumeSourceShape,
  iscsiVolumeSourceShape,
  rbdVolumeSourceShape,
  scaleIOVolumeSourceShape,
} from '../pod-spec/volume-sources.js';

const glusterfsPersistentVolumeSourceShape = () => ({
  ...glusterfsVolumeSourceShape(),
  endpointsNamespace: pointer(z.string()),
});
export interface GlusterfsPersistentVolumeSource extends Output<typeof glusterfsPersistentVolumeSourceShape> {}
export interface GlusterfsPersistentVolumeSourceInput extends Input<typeof glusterfsPersistentVolumeSourceShape> {}
export const glusterfsPersistentVolumeSource: Type<
  GlusterfsPersistentVolumeSource,
  GlusterfsPersistentVolumeSourceInput
> = type('GlusterfsPersistentVolumeSource', glusterfsPersistentVolumeSourceShape);

const rbdPersistentVolumeSourceShape = () => ({ ...rbdVolumeSourceShape(), secretRef: pointer(secretReference()) });
export interface RBDPersistentVolumeSource extends Output<typeof rbdPersistentVolumeSourceShape> {}
export interface RBDPersistentVolumeSourceInput extends Input<typeof rbdPersistentVolumeSourceShape> {}
export const rbdPersistentVolumeSource: Type<RBDPersistentVolumeSource, RBDPersistentVolumeSourceInput> = type(
  'RBDPersistentVolumeSource',
  rbdPersistentVolumeSourceShape,
);

const iscsiPersistentVolumeSourceShape = () => ({ ...iscsiVolumeSourceShape(), secretRef: pointer(secretReference()) });
export interface ISCSIPersistentVolumeSource extends Output<typeof iscsiPersistentVolumeSourceShape> {}
export interface ISCSIPersistentVolumeSourceInput extends Input<typeof iscsiPersistentVolumeSourceShape> {}
export const iscsiPersistentVolumeSource: Type<ISCSIPersistentVolumeSource, ISCSIPersistentVolumeSourceInput> = type(
  'ISCSIPersistentVolumeSource',
  iscsiPersistentVolumeSourceShape,
);

const cinderPersistentVolumeSourceShape = () => ({
  ...cinderVolumeSourceShape(),
  secretRef: pointer(secretReference()),
});
export interface CinderPersistentVolumeSource extends Output<typeof cinderPersistentVolumeSourceShape> {}
export interface CinderPersistentVolumeSourceInput extends Input<typeof cinderPersistentVolumeSourceShape> {}
export const cinderPersistentVolumeSource: Type<CinderPersistentVolumeSource, CinderPersistentVolumeSourceInput> = type(
  'CinderPersistentVolumeSource',
  cinderPersistentVolumeSourceShape,
);

const cephFSPersistentVolumeSourceShape = () => ({
  ...cephFSVolumeSourceShape(),
  secretRef: pointer(secretReference()),
});
export interface CephFSPersistentVolumeSource extends Output<typeof cephFSPersistentVolumeSourceShape> {}
export interface CephFSPersistentVolumeSourceInput extends Input<typeof cephFSPersistentVolumeSourceShape> {}
export const cephFSPersistentVolumeSource: Type<CephFSPersistentVolumeSource, CephFSPersistentVolumeSourceInput> = type(
  'CephFSPersistentVolumeSource',
  cephFSPersistentVolumeSourceShape,
);

const flexPersistentVolumeSourceShape = () => ({ ...flexVolumeSourceShape(), secretRef: pointer(secretReference()) });
export interface FlexPersistentVolumeSource extends Output<typeof flexPersistentVolumeSourceShape> {}
export interface FlexPersistentVolumeSourceInput extends Input<typeof flexPersistentVolumeSourceShape> {}
export const flexPersistentVolumeSource: Type<FlexPersistentVolumeSource, FlexPersistentVolumeSourceInput> = type(
  'FlexPersistentVolumeSource',
  flexPersistentVolumeSourceShape,
);

const azureFilePersistentVolumeSourceShape = () => ({
  ...azureFileVolumeSourceShape(),
  // Null on the wire if absent; see source-rules.ts.
  secretNamespace: pointer(z.string().nullable()),
});
export interface AzureFilePersistentVolumeSource extends Output<typeof azureFilePersistentVolumeSourceShape> {}
export interface AzureFilePersistentVolumeSourceInput extends Input<typeof azureFilePersistentVolumeSourceShape> {}
export const azureFilePersistentVolumeSource: Type<
  AzureFilePersistentVolumeSource,
  AzureFilePersistentVolumeSourceInput
> = type('AzureFilePersistentVolumeSource', azureFilePersistentVolumeSourceShape);

const scaleIOPersistentVolumeSourceShape = () => ({
  ...scaleIOVolumeSourceShape(),
  // Null on the wire if absent; see source-rules.ts.
  secretRef: hint(secretReference().nullable(), { presence: 'pointer' }),
});
export interface ScaleIOPersistentVolumeSource extends Output<typeof scaleIOPersistentVolumeSourceShape> {}
export interface ScaleIOPersistentVolumeSourceInput extends Input<typeof scaleIOPersistentVolumeSourceShape> {}
export const scaleIOPersistentVolumeSource: Type<ScaleIOPersistentVolumeSource, ScaleIOPersistentVolumeSourceInput> =
  type('ScaleIOPersistentVolumeSource', scaleIOPersistentVolumeSourceShape);

const localVolumeSourceShape = () => ({
  path: z.string(),
  fsType: pointer(z.string()),
});
export interface LocalVolumeSource extends Output<typeof localVolumeSourceShape> {}
export interface LocalVolumeSourceInput extends Input<typeof localVolumeSourceShape> {}
export const localVolumeSource: Type<LocalVolumeSource, LocalVolumeSourceInput> = type(
  'LocalVolumeSource',
  localVolumeSourceShape,
);

const storageOSPersistentVolumeSourceShape = () => ({
  volumeName: optional(z.string()),
  volumeNamespace: optional(z.string()),
  fsType: optional(z.string()),
  readOnly: optional(z.boolean()),
  secretRef: pointer(objectReference()),
});
export interface StorageOSPersistentVolumeSource extends Output<typeof storageOSPersistentVolumeSourceShape> {}
export interface StorageOSPersistentVolumeSourceInput extends Input<typeof storageOSPersistentVolumeSourceShape> {}
export const storageOSPersistentVolumeSource: Type<
  StorageOSPersistentVolumeSource,
  StorageOSPersistentVolumeSourceInput
> = type('StorageOSPersistentVolumeSource', storageOSPersistentVolumeSourceShape);

const csiPersistentVolumeSourceShape = () => ({
  driver: z.string(),
  volumeHandle: z.string(),
  readOnly: optional(z.boolean()),
  fsType: optional(z.string()),
  volumeAttributes: optional(z.record(z.string(), z.string())),
  controllerPublishSecretRef: pointer(secretReference()),
  nodeStageSecretRef: pointer(secretReference()),
  nodePublishSecretRef: pointer(secretReference()),
  controllerExpandSecretRef: pointer(secretReference()),
  nodeExpandSecretRef: pointer(secretReference()),
});
export interface CSIPersistentVolumeSource extends Output<typeof csiPersistentVolumeSourceShape> {}
export interface CSIPersistentVolumeSourceInput extends Input<typeof csiPersistentVolumeSourceShape> {}
export const csiPersistentVolumeSource: Type<CSIPersistentVolumeSource, CSIPersistentVolumeSourceInput> = type(
  'CSIPersistentVolumeSource',
  csiPersistentVolumeSourceShape,
);
