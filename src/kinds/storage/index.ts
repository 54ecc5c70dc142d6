/**
 * The storage group.
 */
import type { Kind } from '../kind.js';
import { CSIDriver } from './v1/csi-driver.js';
import { CSINode } from './v1/csi-node.js';
import { CSIStorageCapacity } from './v1/csi-storage-capacity.js';
import { StorageClass } from './v1/storage-class.js';
import { VolumeAttachment } from './v1/volume-attachment.js';
import { VolumeAttributesClass, VolumeAttributesClassV1alpha1 } from './v1beta1/volume-attributes-class.js';

export * from './v1/csi-driver.js';
export * from './v1/csi-node.js';
export * from './v1/csi-storage-capacity.js';
export * from './v1/storage-class.js';
export * from './v1/volume-attachment.js';
export * from './v1beta1/volume-attributes-class.js';

/** The kinds of the group, in the order of discovery. */
export const storageKinds: readonly Kind[] = [
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
  VolumeAttributesClassV1alpha1,
];
