/**
 * The table columns of the storage kinds.
 */
import type { ApiObject } from '../../../meta/object.js';
import type { Column } from '../../columns.js';
import { ageColumn, countColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { DEFAULT_STORAGE_CLASS_SUBDOMAINS, isDefaultClass } from '../../shared/default-class.js';
import type { CSIDriver } from './csi-driver.js';
import type { CSINode } from './csi-node.js';
import type { StorageClass } from './storage-class.js';
import type { VolumeAttachment } from './volume-attachment.js';

const UNSET = '<unset>';

function flagColumn<Object>(
  name: string,
  description: string,
  cell: (object: ApiObject & NoInfer<Object>) => boolean,
): Column<Object> {
  return { name, type: 'boolean', description, cell };
}

/** The columns of CSIDrivers. */
export const csiDriverColumns: readonly Column<CSIDriver>[] = [
  nameColumn,
  flagColumn(
    'AttachRequired',
    'Whether volumes are attached before they are mounted.',
    (object) => object.spec.attachRequired,
  ),
  flagColumn(
    'PodInfoOnMount',
    'Whether mount requests contain information about the pod.',
    (object) => object.spec.podInfoOnMount,
  ),
  flagColumn(
    'StorageCapacity',
    'Whether the scheduler considers the available capacity.',
    (object) => object.spec.storageCapacity,
  ),
  textColumn(
    'TokenRequests',
    'The audiences of the service account tokens that the driver gets.',
    (object) => object.spec.tokenRequests?.map(({ audience }) => audience).join(',') ?? UNSET,
  ),
  flagColumn(
    'RequiresRepublish',
    'Whether mounted volumes are published again periodically.',
    (object) => object.spec.requiresRepublish,
  ),
  textColumn('Modes', 'The lifecycle modes that the driver supports.', (object) =>
    object.spec.volumeLifecycleModes.join(','),
  ),
  ageColumn,
];

/** The columns of CSINodes. */
export const csiNodeColumns: readonly Column<CSINode>[] = [
  nameColumn,
  countColumn('Drivers', 'The number of drivers on the node.', (object) => object.spec.drivers?.length ?? 0),
  ageColumn,
];

/** The name column, which marks the default class. */
function classNameColumn(marks: readonly string[]): Column {
  return {
    ...nameColumn,
    cell: (object, { dialect }) => {
      const { name } = object.metadata;
      return isDefaultClass(object, marks, dialect) ? `${name} (default)` : name;
    },
  };
}

/** The columns of StorageClasses. */
export const storageClassColumns: readonly Column<StorageClass>[] = [
  classNameColumn(DEFAULT_STORAGE_CLASS_SUBDOMAINS),
  textColumn('Provisioner', 'The driver that provisions the volumes.', (object) => object.provisioner),
  textColumn('ReclaimPolicy', 'What happens to a volume after its claim is deleted.', (object) => object.reclaimPolicy),
  textColumn('VolumeBindingMode', 'When claims are bound to volumes.', (object) => object.volumeBindingMode),
  textColumn(
    'AllowVolumeExpansion',
    'Whether volumes can be expanded.',
    (object) => object.allowVolumeExpansion ?? false,
  ),
  ageColumn,
];

/** The columns of VolumeAttachments. */
export const volumeAttachmentColumns: readonly Column<VolumeAttachment>[] = [
  nameColumn,
  {
    ...textColumn<VolumeAttachment>(
      'Attacher',
      'The driver that attaches the volume.',
      (object) => object.spec.attacher,
    ),
    format: 'name',
  },
  textColumn('PV', 'The volume to attach.', (object) => object.spec.source.persistentVolumeName ?? ''),
  textColumn('Node', 'The node that the volume is attached to.', (object) => object.spec.nodeName),
  flagColumn('Attached', 'Whether the volume is attached.', (object) => object.status.attached),
  ageColumn,
];

/** The columns of VolumeAttributesClasses. */
export const volumeAttributesClassColumns: readonly Column[] = [
  classNameColumn(['volumeattributesclass.alpha']),
  textColumn('DriverName', 'The driver that the attributes apply to.', (object) => object['driverName']),
  ageColumn,
];
