/**
 * Schema of the spec of a PersistentVolumeClaim.
 */
import * as z from 'zod';
import { always, defaultedPointer, enumString, optional, pointer, resourceList } from '../../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../../schema/type.js';
import { labelSelector, typedLocalObjectReference } from '../../../shared/types.js';

const volumeResourceRequirementsShape = () => ({
  limits: optional(resourceList()),
  requests: optional(resourceList()),
});
export interface VolumeResourceRequirements extends Output<typeof volumeResourceRequirementsShape> {}
export interface VolumeResourceRequirementsInput extends Input<typeof volumeResourceRequirementsShape> {}
export const volumeResourceRequirements: Type<VolumeResourceRequirements, VolumeResourceRequirementsInput> = type(
  'VolumeResourceRequirements',
  volumeResourceRequirementsShape,
);

const typedObjectReferenceShape = () => ({
  // Null on the wire if absent; see claim-spec-rules.ts.
  apiGroup: pointer(z.string().nullable()),
  kind: z.string(),
  name: z.string(),
  namespace: pointer(z.string()),
});
export interface TypedObjectReference extends Output<typeof typedObjectReferenceShape> {}
export interface TypedObjectReferenceInput extends Input<typeof typedObjectReferenceShape> {}
export const typedObjectReference: Type<TypedObjectReference, TypedObjectReferenceInput> = type(
  'TypedObjectReference',
  typedObjectReferenceShape,
);

/** The access modes of volumes and claims. */
export type PersistentVolumeAccessMode = 'ReadWriteOnce' | 'ReadOnlyMany' | 'ReadWriteMany' | 'ReadWriteOncePod';
export type AccessMode = PersistentVolumeAccessMode;

/** Whether a container uses a volume as a file system or as a block device. */
export type PersistentVolumeMode = 'Block' | 'Filesystem';

const persistentVolumeClaimSpecShape = () => ({
  accessModes: optional(z.array(enumString<PersistentVolumeAccessMode>('v1.PersistentVolumeAccessMode'))),
  selector: pointer(labelSelector()),
  resources: always(volumeResourceRequirements()),
  volumeName: optional(z.string()),
  storageClassName: pointer(z.string()),
  volumeMode: defaultedPointer(enumString<PersistentVolumeMode>('v1.PersistentVolumeMode'), 'Filesystem'),
  dataSource: pointer(typedLocalObjectReference()),
  dataSourceRef: pointer(typedObjectReference()),
  volumeAttributesClassName: pointer(z.string()),
});
export interface PersistentVolumeClaimSpec extends Output<typeof persistentVolumeClaimSpecShape> {}
export interface PersistentVolumeClaimSpecInput extends Input<typeof persistentVolumeClaimSpecShape> {}
export const persistentVolumeClaimSpec: Type<PersistentVolumeClaimSpec, PersistentVolumeClaimSpecInput> = type(
  'PersistentVolumeClaimSpec',
  persistentVolumeClaimSpecShape,
);
