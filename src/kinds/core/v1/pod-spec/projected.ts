/**
 * Schemas of projected volumes.
 */
import * as z from 'zod';
import { always, defaultedPointer, int32, int64, optional, pointer } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { labelSelector } from '../../../shared/types.js';
import { keyToPath, objectFieldSelector, resourceFieldSelector } from './selectors.js';

const downwardAPIVolumeFileShape = () => ({
  path: z.string(),
  fieldRef: pointer(objectFieldSelector()),
  resourceFieldRef: pointer(resourceFieldSelector()),
  mode: pointer(int32()),
});
export interface DownwardAPIVolumeFile extends Output<typeof downwardAPIVolumeFileShape> {}
export interface DownwardAPIVolumeFileInput extends Input<typeof downwardAPIVolumeFileShape> {}
export const downwardAPIVolumeFile: Type<DownwardAPIVolumeFile, DownwardAPIVolumeFileInput> = type(
  'DownwardAPIVolumeFile',
  downwardAPIVolumeFileShape,
);

const downwardAPIVolumeSourceShape = () => ({
  items: optional(z.array(downwardAPIVolumeFile())),
  defaultMode: defaultedPointer(int32(), 0o644),
});
export interface DownwardAPIVolumeSource extends Output<typeof downwardAPIVolumeSourceShape> {}
export interface DownwardAPIVolumeSourceInput extends Input<typeof downwardAPIVolumeSourceShape> {}
export const downwardAPIVolumeSource: Type<DownwardAPIVolumeSource, DownwardAPIVolumeSourceInput> = type(
  'DownwardAPIVolumeSource',
  downwardAPIVolumeSourceShape,
);

const secretProjectionShape = () => ({
  name: optional(z.string()),
  items: optional(z.array(keyToPath())),
  optional: pointer(z.boolean()),
});
export interface SecretProjection extends Output<typeof secretProjectionShape> {}
export interface SecretProjectionInput extends Input<typeof secretProjectionShape> {}
export const secretProjection: Type<SecretProjection, SecretProjectionInput> = type(
  'SecretProjection',
  secretProjectionShape,
);

const downwardAPIProjectionShape = () => ({
  items: optional(z.array(downwardAPIVolumeFile())),
});
export interface DownwardAPIProjection extends Output<typeof downwardAPIProjectionShape> {}
export interface DownwardAPIProjectionInput extends Input<typeof downwardAPIProjectionShape> {}
export const downwardAPIProjection: Type<DownwardAPIProjection, DownwardAPIProjectionInput> = type(
  'DownwardAPIProjection',
  downwardAPIProjectionShape,
);

const configMapProjectionShape = () => ({
  name: optional(z.string()),
  items: optional(z.array(keyToPath())),
  optional: pointer(z.boolean()),
});
export interface ConfigMapProjection extends Output<typeof configMapProjectionShape> {}
export interface ConfigMapProjectionInput extends Input<typeof configMapProjectionShape> {}
export const configMapProjection: Type<ConfigMapProjection, ConfigMapProjectionInput> = type(
  'ConfigMapProjection',
  configMapProjectionShape,
);

const serviceAccountTokenProjectionShape = () => ({
  audience: optional(z.string()),
  expirationSeconds: defaultedPointer(int64(), 3600),
  path: z.string(),
});
export interface ServiceAccountTokenProjection extends Output<typeof serviceAccountTokenProjectionShape> {}
export interface ServiceAccountTokenProjectionInput extends Input<typeof serviceAccountTokenProjectionShape> {}
export const serviceAccountTokenProjection: Type<ServiceAccountTokenProjection, ServiceAccountTokenProjectionInput> =
  type('ServiceAccountTokenProjection', serviceAccountTokenProjectionShape);

const clusterTrustBundleProjectionShape = () => ({
  name: pointer(z.string()),
  signerName: pointer(z.string()),
  labelSelector: pointer(labelSelector()),
  optional: pointer(z.boolean()),
  path: z.string(),
});
export interface ClusterTrustBundleProjection extends Output<typeof clusterTrustBundleProjectionShape> {}
export interface ClusterTrustBundleProjectionInput extends Input<typeof clusterTrustBundleProjectionShape> {}
export const clusterTrustBundleProjection: Type<ClusterTrustBundleProjection, ClusterTrustBundleProjectionInput> = type(
  'ClusterTrustBundleProjection',
  clusterTrustBundleProjectionShape,
);

const volumeProjectionShape = () => ({
  secret: pointer(secretProjection()),
  downwardAPI: pointer(downwardAPIProjection()),
  configMap: pointer(configMapProjection()),
  serviceAccountToken: pointer(serviceAccountTokenProjection()),
  clusterTrustBundle: pointer(clusterTrustBundleProjection()),
});
export interface VolumeProjection extends Output<typeof volumeProjectionShape> {}
export interface VolumeProjectionInput extends Input<typeof volumeProjectionShape> {}
export const volumeProjection: Type<VolumeProjection, VolumeProjectionInput> = type(
  'VolumeProjection',
  volumeProjectionShape,
);

const projectedVolumeSourceShape = () => ({
  // Null if absent.
  sources: always(z.array(volumeProjection())),
  defaultMode: defaultedPointer(int32(), 0o644),
});
export interface ProjectedVolumeSource extends Output<typeof projectedVolumeSourceShape> {}
export interface ProjectedVolumeSourceInput extends Input<typeof projectedVolumeSourceShape> {}
export const projectedVolumeSource: Type<ProjectedVolumeSource, ProjectedVolumeSourceInput> = type(
  'ProjectedVolumeSource',
  projectedVolumeSourceShape,
);
