/**
 * What tables of claims show.
 */
import type { ApiObject } from '../../../../meta/object.js';
import { own } from '../../../../util/json.js';
import type { Column } from '../../../columns.js';
import { ageColumn, nameColumn, textColumn } from '../../../shared/common-columns.js';
import { accessModesCell, classCell, phaseCell, UNSET } from '../persistent-volume/columns.js';
import type { PersistentVolumeClaim } from '../persistent-volume-claim.js';

const claim = (object: ApiObject) => object as unknown as PersistentVolumeClaim;

/** What a claim has is shown once it has a volume. */
const isGiven = (object: ApiObject) => Boolean(claim(object).spec.volumeName);

export const persistentVolumeClaimColumns: readonly Column[] = [
  nameColumn,
  textColumn('Status', 'Whether it has a volume yet.', (object) => phaseCell(object, claim(object).status.phase)),
  textColumn('Volume', 'The volume that it has.', (object) => claim(object).spec.volumeName ?? ''),
  textColumn('Capacity', 'How much its volume can hold.', (object) =>
    isGiven(object) ? (own(claim(object).status.capacity ?? {}, 'storage') ?? '0') : '',
  ),
  textColumn('Access Modes', 'How pods may use its volume, in short forms.', (object) =>
    isGiven(object) ? accessModesCell(claim(object).status.accessModes) : '',
  ),
  textColumn('StorageClass', 'The class of storage that it asks for.', (object) =>
    classCell(object, claim(object).spec.storageClassName),
  ),
  textColumn(
    'VolumeAttributesClass',
    'The class whose attributes it asks for.',
    (object) => claim(object).spec.volumeAttributesClassName ?? UNSET,
  ),
  ageColumn,
  {
    name: 'VolumeMode',
    type: 'string',
    description: 'Whether it asks for a file system or a raw device.',
    priority: 1,
    cell: (object) => claim(object).spec.volumeMode ?? UNSET,
  },
];
