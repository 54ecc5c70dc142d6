/**
 * What tables of claims show.
 */
import type { ApiObject } from '../../../../meta/object.js';
import { own } from '../../../../util/json.js';
import type { Column } from '../../../columns.js';
import { ageColumn, docs, nameColumn, textColumn } from '../../../shared/workload-columns.js';
import { accessModesCell, classCell, phaseCell, UNSET } from '../persistent-volume/columns.js';
import type { PersistentVolumeClaim } from '../persistent-volume-claim.js';

const claim = (object: ApiObject) => object as unknown as PersistentVolumeClaim;

/** What a claim has is shown once it has a volume. */
const isGiven = (object: ApiObject) => Boolean(claim(object).spec.volumeName);

export const persistentVolumeClaimColumns: readonly Column[] = [
  nameColumn,
  textColumn('Status', 'phase represents the current phase of PersistentVolumeClaim.', (object) =>
    phaseCell(object, claim(object).status.phase),
  ),
  textColumn(
    'Volume',
    'volumeName is the binding reference to the PersistentVolume backing this claim.',
    (object) => claim(object).spec.volumeName ?? '',
  ),
  textColumn('Capacity', 'capacity represents the actual resources of the underlying volume.', (object) =>
    isGiven(object) ? (own(claim(object).status.capacity ?? {}, 'storage') ?? '0') : '',
  ),
  textColumn(
    'Access Modes',
    `accessModes contains the actual access modes the volume backing the PVC has. More info: ${docs('concepts/storage/persistent-volumes#access-modes-1')}`,
    (object) => (isGiven(object) ? accessModesCell(claim(object).status.accessModes) : ''),
  ),
  textColumn('StorageClass', 'StorageClass of the pvc', (object) =>
    classCell(object, claim(object).spec.storageClassName),
  ),
  textColumn(
    'VolumeAttributesClass',
    'VolumeAttributesClass of the pvc',
    (object) => claim(object).spec.volumeAttributesClassName ?? UNSET,
  ),
  ageColumn,
  {
    name: 'VolumeMode',
    type: 'string',
    description:
      'volumeMode defines what type of volume is required by the claim. Value of Filesystem is implied when not included in claim spec.',
    priority: 1,
    cell: (object) => claim(object).spec.volumeMode ?? UNSET,
  },
];
