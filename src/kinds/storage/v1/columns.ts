/**
 * What tables of storage kinds show.
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

const driver = (object: ApiObject) => (object as unknown as CSIDriver).spec;
const storageClass = (object: ApiObject) => object as unknown as StorageClass;
const attachment = (object: ApiObject) => object as unknown as VolumeAttachment;

function flagColumn(name: string, description: string, cell: (object: ApiObject) => boolean): Column {
  return { name, type: 'boolean', description, cell };
}

export const csiDriverColumns: readonly Column[] = [
  nameColumn,
  flagColumn(
    'AttachRequired',
    'Whether volumes are attached before they are mounted.',
    (object) => driver(object).attachRequired,
  ),
  flagColumn(
    'PodInfoOnMount',
    'Whether the driver is told which pod a mount is for.',
    (object) => driver(object).podInfoOnMount,
  ),
  flagColumn(
    'StorageCapacity',
    'Whether scheduling heeds the room that is left.',
    (object) => driver(object).storageCapacity,
  ),
  textColumn(
    'TokenRequests',
    'For whom the driver needs tokens of the pods.',
    (object) =>
      driver(object)
        .tokenRequests?.map(({ audience }) => audience)
        .join(',') ?? UNSET,
  ),
  flagColumn(
    'RequiresRepublish',
    'Whether mounted volumes are refreshed now and then.',
    (object) => driver(object).requiresRepublish,
  ),
  textColumn('Modes', 'How long the volumes of the driver may live.', (object) =>
    driver(object).volumeLifecycleModes.join(','),
  ),
  ageColumn,
];

export const csiNodeColumns: readonly Column[] = [
  nameColumn,
  countColumn(
    'Drivers',
    'How many drivers the node has.',
    (object) => (object as unknown as CSINode).spec.drivers?.length ?? 0,
  ),
  ageColumn,
];

/** The name, and whether it is the one that is taken where none is named. */
function classNameColumn(marks: readonly string[]): Column {
  return {
    ...nameColumn,
    cell: (object, { dialect }) => {
      const { name } = object.metadata;
      return isDefaultClass(object, marks, dialect) ? `${name} (default)` : name;
    },
  };
}

export const storageClassColumns: readonly Column[] = [
  classNameColumn(DEFAULT_STORAGE_CLASS_SUBDOMAINS),
  textColumn('Provisioner', 'Who makes the volumes.', (object) => storageClass(object).provisioner),
  textColumn(
    'ReclaimPolicy',
    'What becomes of volumes that nobody claims any more.',
    (object) => storageClass(object).reclaimPolicy,
  ),
  textColumn('VolumeBindingMode', 'When claims get their volumes.', (object) => storageClass(object).volumeBindingMode),
  textColumn(
    'AllowVolumeExpansion',
    'Whether volumes may grow.',
    (object) => storageClass(object).allowVolumeExpansion ?? false,
  ),
  ageColumn,
];

export const volumeAttachmentColumns: readonly Column[] = [
  nameColumn,
  {
    ...textColumn('Attacher', 'The driver that does the work.', (object) => attachment(object).spec.attacher),
    format: 'name',
  },
  textColumn(
    'PV',
    'The volume that is attached.',
    (object) => attachment(object).spec.source.persistentVolumeName ?? '',
  ),
  textColumn('Node', 'Where the volume is attached.', (object) => attachment(object).spec.nodeName),
  flagColumn('Attached', 'Whether the work is done.', (object) => attachment(object).status.attached),
  ageColumn,
];

export const volumeAttributesClassColumns: readonly Column[] = [
  classNameColumn(['volumeattributesclass.alpha']),
  textColumn('DriverName', 'The driver that knows the attributes.', (object) => object['driverName']),
  ageColumn,
];
