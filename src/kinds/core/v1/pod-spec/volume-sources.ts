/**
 * Schemas of volume sources.
 */
import * as z from 'zod';
import {
  defaulted,
  defaultedPointer,
  enumString,
  hint,
  int32,
  optional,
  pointer,
  quantity,
} from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { localObjectReference } from '../../../shared/types.js';
import { keyToPath } from './selectors.js';

/** What must exist at the path or is created there. Empty means no check. */
export type HostPathType =
  | ''
  | 'DirectoryOrCreate'
  | 'Directory'
  | 'FileOrCreate'
  | 'File'
  | 'Socket'
  | 'CharDevice'
  | 'BlockDevice';

const hostPathVolumeSourceShape = () => ({
  path: z.string(),
  type: defaultedPointer(enumString<HostPathType>('v1.HostPathType'), ''),
});
export interface HostPathVolumeSource extends Output<typeof hostPathVolumeSourceShape> {}
export interface HostPathVolumeSourceInput extends Input<typeof hostPathVolumeSourceShape> {}
export const hostPathVolumeSource: Type<HostPathVolumeSource, HostPathVolumeSourceInput> = type(
  'HostPathVolumeSource',
  hostPathVolumeSourceShape,
);

const emptyDirVolumeSourceShape = () => ({
  medium: optional(enumString<'' | 'Memory' | 'HugePages' | `HugePages-${string}`>('v1.StorageMedium')),
  sizeLimit: pointer(quantity()),
});
export interface EmptyDirVolumeSource extends Output<typeof emptyDirVolumeSourceShape> {}
export interface EmptyDirVolumeSourceInput extends Input<typeof emptyDirVolumeSourceShape> {}
export const emptyDirVolumeSource: Type<EmptyDirVolumeSource, EmptyDirVolumeSourceInput> = type(
  'EmptyDirVolumeSource',
  emptyDirVolumeSourceShape,
);

const gcePersistentDiskVolumeSourceShape = () => ({
  pdName: z.string(),
  fsType: optional(z.string()),
  partition: optional(int32()),
  readOnly: optional(z.boolean()),
});
export interface GCEPersistentDiskVolumeSource extends Output<typeof gcePersistentDiskVolumeSourceShape> {}
export interface GCEPersistentDiskVolumeSourceInput extends Input<typeof gcePersistentDiskVolumeSourceShape> {}
export const gcePersistentDiskVolumeSource: Type<GCEPersistentDiskVolumeSource, GCEPersistentDiskVolumeSourceInput> =
  type('GCEPersistentDiskVolumeSource', gcePersistentDiskVolumeSourceShape);

const awsElasticBlockStoreVolumeSourceShape = () => ({
  volumeID: z.string(),
  fsType: optional(z.string()),
  partition: optional(int32()),
  readOnly: optional(z.boolean()),
});
export interface AWSElasticBlockStoreVolumeSource extends Output<typeof awsElasticBlockStoreVolumeSourceShape> {}
export interface AWSElasticBlockStoreVolumeSourceInput extends Input<typeof awsElasticBlockStoreVolumeSourceShape> {}
export const awsElasticBlockStoreVolumeSource: Type<
  AWSElasticBlockStoreVolumeSource,
  AWSElasticBlockStoreVolumeSourceInput
> = type('AWSElasticBlockStoreVolumeSource', awsElasticBlockStoreVolumeSourceShape);

const gitRepoVolumeSourceShape = () => ({
  repository: z.string(),
  revision: optional(z.string()),
  directory: optional(z.string()),
});
export interface GitRepoVolumeSource extends Output<typeof gitRepoVolumeSourceShape> {}
export interface GitRepoVolumeSourceInput extends Input<typeof gitRepoVolumeSourceShape> {}
export const gitRepoVolumeSource: Type<GitRepoVolumeSource, GitRepoVolumeSourceInput> = type(
  'GitRepoVolumeSource',
  gitRepoVolumeSourceShape,
);

const secretVolumeSourceShape = () => ({
  secretName: optional(z.string()),
  items: optional(z.array(keyToPath())),
  defaultMode: defaultedPointer(int32(), 0o644),
  optional: pointer(z.boolean()),
});
export interface SecretVolumeSource extends Output<typeof secretVolumeSourceShape> {}
export interface SecretVolumeSourceInput extends Input<typeof secretVolumeSourceShape> {}
export const secretVolumeSource: Type<SecretVolumeSource, SecretVolumeSourceInput> = type(
  'SecretVolumeSource',
  secretVolumeSourceShape,
);

const nfsVolumeSourceShape = () => ({
  server: z.string(),
  path: z.string(),
  readOnly: optional(z.boolean()),
});
export interface NFSVolumeSource extends Output<typeof nfsVolumeSourceShape> {}
export interface NFSVolumeSourceInput extends Input<typeof nfsVolumeSourceShape> {}
export const nfsVolumeSource: Type<NFSVolumeSource, NFSVolumeSourceInput> = type(
  'NFSVolumeSource',
  nfsVolumeSourceShape,
);

export const iscsiVolumeSourceShape = () => ({
  targetPortal: z.string(),
  iqn: z.string(),
  lun: int32(),
  iscsiInterface: defaulted(z.string(), 'default'),
  fsType: optional(z.string()),
  readOnly: optional(z.boolean()),
  portals: optional(z.array(z.string())),
  chapAuthDiscovery: optional(z.boolean()),
  chapAuthSession: optional(z.boolean()),
  secretRef: pointer(localObjectReference()),
  initiatorName: pointer(z.string()),
});
export interface ISCSIVolumeSource extends Output<typeof iscsiVolumeSourceShape> {}
export interface ISCSIVolumeSourceInput extends Input<typeof iscsiVolumeSourceShape> {}
export const iscsiVolumeSource: Type<ISCSIVolumeSource, ISCSIVolumeSourceInput> = type(
  'ISCSIVolumeSource',
  iscsiVolumeSourceShape,
);

export const glusterfsVolumeSourceShape = () => ({
  endpoints: z.string(),
  path: z.string(),
  readOnly: optional(z.boolean()),
});
export interface GlusterfsVolumeSource extends Output<typeof glusterfsVolumeSourceShape> {}
export interface GlusterfsVolumeSourceInput extends Input<typeof glusterfsVolumeSourceShape> {}
export const glusterfsVolumeSource: Type<GlusterfsVolumeSource, GlusterfsVolumeSourceInput> = type(
  'GlusterfsVolumeSource',
  glusterfsVolumeSourceShape,
);

const persistentVolumeClaimVolumeSourceShape = () => ({
  claimName: z.string(),
  readOnly: optional(z.boolean()),
});
export interface PersistentVolumeClaimVolumeSource extends Output<typeof persistentVolumeClaimVolumeSourceShape> {}
export interface PersistentVolumeClaimVolumeSourceInput extends Input<typeof persistentVolumeClaimVolumeSourceShape> {}
export const persistentVolumeClaimVolumeSource: Type<
  PersistentVolumeClaimVolumeSource,
  PersistentVolumeClaimVolumeSourceInput
> = type('PersistentVolumeClaimVolumeSource', persistentVolumeClaimVolumeSourceShape);

export const rbdVolumeSourceShape = () => ({
  monitors: z.array(z.string()),
  image: z.string(),
  fsType: optional(z.string()),
  pool: defaulted(z.string(), 'rbd'),
  user: defaulted(z.string(), 'admin'),
  keyring: defaulted(z.string(), '/etc/ceph/keyring'),
  secretRef: pointer(localObjectReference()),
  readOnly: optional(z.boolean()),
});
export interface RBDVolumeSource extends Output<typeof rbdVolumeSourceShape> {}
export interface RBDVolumeSourceInput extends Input<typeof rbdVolumeSourceShape> {}
export const rbdVolumeSource: Type<RBDVolumeSource, RBDVolumeSourceInput> = type(
  'RBDVolumeSource',
  rbdVolumeSourceShape,
);

export const flexVolumeSourceShape = () => ({
  driver: z.string(),
  fsType: optional(z.string()),
  secretRef: pointer(localObjectReference()),
  readOnly: optional(z.boolean()),
  options: optional(z.record(z.string(), z.string())),
});
export interface FlexVolumeSource extends Output<typeof flexVolumeSourceShape> {}
export interface FlexVolumeSourceInput extends Input<typeof flexVolumeSourceShape> {}
export const flexVolumeSource: Type<FlexVolumeSource, FlexVolumeSourceInput> = type(
  'FlexVolumeSource',
  flexVolumeSourceShape,
);

export const cinderVolumeSourceShape = () => ({
  volumeID: z.string(),
  fsType: optional(z.string()),
  readOnly: optional(z.boolean()),
  secretRef: pointer(localObjectReference()),
});
export interface CinderVolumeSource extends Output<typeof cinderVolumeSourceShape> {}
export interface CinderVolumeSourceInput extends Input<typeof cinderVolumeSourceShape> {}
export const cinderVolumeSource: Type<CinderVolumeSource, CinderVolumeSourceInput> = type(
  'CinderVolumeSource',
  cinderVolumeSourceShape,
);

export const cephFSVolumeSourceShape = () => ({
  monitors: z.array(z.string()),
  path: optional(z.string()),
  user: optional(z.string()),
  secretFile: optional(z.string()),
  secretRef: pointer(localObjectReference()),
  readOnly: optional(z.boolean()),
});
export interface CephFSVolumeSource extends Output<typeof cephFSVolumeSourceShape> {}
export interface CephFSVolumeSourceInput extends Input<typeof cephFSVolumeSourceShape> {}
export const cephFSVolumeSource: Type<CephFSVolumeSource, CephFSVolumeSourceInput> = type(
  'CephFSVolumeSource',
  cephFSVolumeSourceShape,
);

const flockerVolumeSourceShape = () => ({
  datasetName: optional(z.string()),
  datasetUUID: optional(z.string()),
});
export interface FlockerVolumeSource extends Output<typeof flockerVolumeSourceShape> {}
export interface FlockerVolumeSourceInput extends Input<typeof flockerVolumeSourceShape> {}
export const flockerVolumeSource: Type<FlockerVolumeSource, FlockerVolumeSourceInput> = type(
  'FlockerVolumeSource',
  flockerVolumeSourceShape,
);

const fcVolumeSourceShape = () => ({
  targetWWNs: optional(z.array(z.string())),
  lun: pointer(int32()),
  fsType: optional(z.string()),
  readOnly: optional(z.boolean()),
  wwids: optional(z.array(z.string())),
});
export interface FCVolumeSource extends Output<typeof fcVolumeSourceShape> {}
export interface FCVolumeSourceInput extends Input<typeof fcVolumeSourceShape> {}
export const fcVolumeSource: Type<FCVolumeSource, FCVolumeSourceInput> = type('FCVolumeSource', fcVolumeSourceShape);

export const azureFileVolumeSourceShape = () => ({
  secretName: z.string(),
  shareName: z.string(),
  readOnly: optional(z.boolean()),
});
export interface AzureFileVolumeSource extends Output<typeof azureFileVolumeSourceShape> {}
export interface AzureFileVolumeSourceInput extends Input<typeof azureFileVolumeSourceShape> {}
export const azureFileVolumeSource: Type<AzureFileVolumeSource, AzureFileVolumeSourceInput> = type(
  'AzureFileVolumeSource',
  azureFileVolumeSourceShape,
);

const configMapVolumeSourceShape = () => ({
  name: optional(z.string()),
  items: optional(z.array(keyToPath())),
  defaultMode: defaultedPointer(int32(), 0o644),
  optional: pointer(z.boolean()),
});
export interface ConfigMapVolumeSource extends Output<typeof configMapVolumeSourceShape> {}
export interface ConfigMapVolumeSourceInput extends Input<typeof configMapVolumeSourceShape> {}
export const configMapVolumeSource: Type<ConfigMapVolumeSource, ConfigMapVolumeSourceInput> = type(
  'ConfigMapVolumeSource',
  configMapVolumeSourceShape,
);

const vsphereVirtualDiskVolumeSourceShape = () => ({
  volumePath: z.string(),
  fsType: optional(z.string()),
  storagePolicyName: optional(z.string()),
  storagePolicyID: optional(z.string()),
});
export interface VsphereVirtualDiskVolumeSource extends Output<typeof vsphereVirtualDiskVolumeSourceShape> {}
export interface VsphereVirtualDiskVolumeSourceInput extends Input<typeof vsphereVirtualDiskVolumeSourceShape> {}
export const vsphereVirtualDiskVolumeSource: Type<VsphereVirtualDiskVolumeSource, VsphereVirtualDiskVolumeSourceInput> =
  type('VsphereVirtualDiskVolumeSource', vsphereVirtualDiskVolumeSourceShape);

const quobyteVolumeSourceShape = () => ({
  registry: z.string(),
  volume: z.string(),
  readOnly: optional(z.boolean()),
  user: optional(z.string()),
  group: optional(z.string()),
  tenant: optional(z.string()),
});
export interface QuobyteVolumeSource extends Output<typeof quobyteVolumeSourceShape> {}
export interface QuobyteVolumeSourceInput extends Input<typeof quobyteVolumeSourceShape> {}
export const quobyteVolumeSource: Type<QuobyteVolumeSource, QuobyteVolumeSourceInput> = type(
  'QuobyteVolumeSource',
  quobyteVolumeSourceShape,
);

const azureDiskVolumeSourceShape = () => ({
  diskName: z.string(),
  diskURI: z.string(),
  cachingMode: defaultedPointer(
    enumString<'None' | 'ReadOnly' | 'ReadWrite'>('v1.AzureDataDiskCachingMode'),
    'ReadWrite',
  ),
  fsType: defaultedPointer(z.string(), 'ext4'),
  readOnly: defaultedPointer(z.boolean(), false),
  kind: defaultedPointer(enumString<'Shared' | 'Dedicated' | 'Managed'>('v1.AzureDataDiskKind'), 'Shared'),
});
export interface AzureDiskVolumeSource extends Output<typeof azureDiskVolumeSourceShape> {}
export interface AzureDiskVolumeSourceInput extends Input<typeof azureDiskVolumeSourceShape> {}
export const azureDiskVolumeSource: Type<AzureDiskVolumeSource, AzureDiskVolumeSourceInput> = type(
  'AzureDiskVolumeSource',
  azureDiskVolumeSourceShape,
);

const photonPersistentDiskVolumeSourceShape = () => ({
  pdID: z.string(),
  fsType: optional(z.string()),
});
export interface PhotonPersistentDiskVolumeSource extends Output<typeof photonPersistentDiskVolumeSourceShape> {}
export interface PhotonPersistentDiskVolumeSourceInput extends Input<typeof photonPersistentDiskVolumeSourceShape> {}
export const photonPersistentDiskVolumeSource: Type<
  PhotonPersistentDiskVolumeSource,
  PhotonPersistentDiskVolumeSourceInput
> = type('PhotonPersistentDiskVolumeSource', photonPersistentDiskVolumeSourceShape);

const portworxVolumeSourceShape = () => ({
  volumeID: z.string(),
  fsType: optional(z.string()),
  readOnly: optional(z.boolean()),
});
export interface PortworxVolumeSource extends Output<typeof portworxVolumeSourceShape> {}
export interface PortworxVolumeSourceInput extends Input<typeof portworxVolumeSourceShape> {}
export const portworxVolumeSource: Type<PortworxVolumeSource, PortworxVolumeSourceInput> = type(
  'PortworxVolumeSource',
  portworxVolumeSourceShape,
);

export const scaleIOVolumeSourceShape = () => ({
  gateway: z.string(),
  system: z.string(),
  // Null if absent; see defaults.ts.
  secretRef: hint(localObjectReference().nullable(), { presence: 'pointer' }),
  sslEnabled: optional(z.boolean()),
  protectionDomain: optional(z.string()),
  storagePool: optional(z.string()),
  storageMode: defaulted(z.string(), 'ThinProvisioned'),
  volumeName: optional(z.string()),
  fsType: defaulted(z.string(), 'xfs'),
  readOnly: optional(z.boolean()),
});
export interface ScaleIOVolumeSource extends Output<typeof scaleIOVolumeSourceShape> {}
export interface ScaleIOVolumeSourceInput extends Input<typeof scaleIOVolumeSourceShape> {}
export const scaleIOVolumeSource: Type<ScaleIOVolumeSource, ScaleIOVolumeSourceInput> = type(
  'ScaleIOVolumeSource',
  scaleIOVolumeSourceShape,
);

const storageOSVolumeSourceShape = () => ({
  volumeName: optional(z.string()),
  volumeNamespace: optional(z.string()),
  fsType: optional(z.string()),
  readOnly: optional(z.boolean()),
  secretRef: pointer(localObjectReference()),
});
export interface StorageOSVolumeSource extends Output<typeof storageOSVolumeSourceShape> {}
export interface StorageOSVolumeSourceInput extends Input<typeof storageOSVolumeSourceShape> {}
export const storageOSVolumeSource: Type<StorageOSVolumeSource, StorageOSVolumeSourceInput> = type(
  'StorageOSVolumeSource',
  storageOSVolumeSourceShape,
);

const csiVolumeSourceShape = () => ({
  driver: z.string(),
  readOnly: pointer(z.boolean()),
  fsType: pointer(z.string()),
  volumeAttributes: optional(z.record(z.string(), z.string())),
  nodePublishSecretRef: pointer(localObjectReference()),
});
export interface CSIVolumeSource extends Output<typeof csiVolumeSourceShape> {}
export interface CSIVolumeSourceInput extends Input<typeof csiVolumeSourceShape> {}
export const csiVolumeSource: Type<CSIVolumeSource, CSIVolumeSourceInput> = type(
  'CSIVolumeSource',
  csiVolumeSourceShape,
);

const imageVolumeSourceShape = () => ({
  reference: optional(z.string()),
  pullPolicy: optional(enumString<'Always' | 'Never' | 'IfNotPresent'>('v1.PullPolicy')),
});
export interface ImageVolumeSource extends Output<typeof imageVolumeSourceShape> {}
export interface ImageVolumeSourceInput extends Input<typeof imageVolumeSourceShape> {}
export const imageVolumeSource: Type<ImageVolumeSource, ImageVolumeSourceInput> = type(
  'ImageVolumeSource',
  imageVolumeSourceShape,
);
