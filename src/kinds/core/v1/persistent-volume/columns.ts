/**
 * What tables of persistent volumes and of claims show.
 */
import { kubernetesDialect, orchDialect } from '../../../../meta/dialect.js';
import type { ApiObject } from '../../../../meta/object.js';
import { own } from '../../../../util/json.js';
import type { Column } from '../../../columns.js';
import { ageColumn, docs, nameColumn, textColumn } from '../../../shared/workload-columns.js';
import type { PersistentVolume } from '../persistent-volume.js';
import { classAnnotation } from './warnings.js';

/** What a cell shows for a class or a mode that was not given. */
export const UNSET = '<unset>';

const volume = (object: ApiObject) => object as unknown as PersistentVolume;

/** In the order in which a cell shows them. */
const SHORT_MODES = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

export function accessModesCell(modes: readonly string[] | undefined): string {
  return SHORT_MODES.filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

export function phaseCell({ metadata }: ApiObject, phase: string | undefined): string {
  return metadata.deletionTimestamp === undefined ? (phase ?? '') : 'Terminating';
}

/** The old annotation wins over the field. A cell does not know its dialect, so both spellings are tried. */
export function classCell({ metadata }: ApiObject, name: string | undefined): string {
  const annotations = metadata.annotations ?? {};
  const [canonical, other] = [orchDialect, kubernetesDialect].map((dialect) =>
    own(annotations, classAnnotation(dialect)),
  );
  return canonical ?? other ?? name ?? '';
}

export const persistentVolumeColumns: readonly Column[] = [
  nameColumn,
  textColumn(
    'Capacity',
    `capacity is the description of the persistent volume's resources and capacity. More info: ${docs('concepts/storage/persistent-volumes#capacity')}`,
    (object) => own(volume(object).spec.capacity ?? {}, 'storage') ?? '0',
  ),
  textColumn(
    'Access Modes',
    `accessModes contains all ways the volume can be mounted. More info: ${docs('concepts/storage/persistent-volumes#access-modes')}`,
    (object) => accessModesCell(volume(object).spec.accessModes),
  ),
  textColumn(
    'Reclaim Policy',
    `persistentVolumeReclaimPolicy defines what happens to a persistent volume when released from its claim. Valid options are Retain (default for manually created PersistentVolumes), Delete (default for dynamically provisioned PersistentVolumes), and Recycle (deprecated). Recycle must be supported by the volume plugin underlying this PersistentVolume. More info: ${docs('concepts/storage/persistent-volumes#reclaiming')}`,
    (object) => volume(object).spec.persistentVolumeReclaimPolicy,
  ),
  textColumn(
    'Status',
    `phase indicates if a volume is available, bound to a claim, or released by a claim. More info: ${docs('concepts/storage/persistent-volumes#phase')}`,
    (object) => phaseCell(object, volume(object).status.phase),
  ),
  textColumn(
    'Claim',
    `claimRef is part of a bi-directional binding between PersistentVolume and PersistentVolumeClaim. Expected to be non-nil when bound. claim.VolumeName is the authoritative bind between PV and PVC. More info: ${docs('concepts/storage/persistent-volumes#binding')}`,
    claimCell,
  ),
  textColumn('StorageClass', 'StorageClass of the pv', (object) =>
    classCell(object, volume(object).spec.storageClassName),
  ),
  textColumn(
    'VolumeAttributesClass',
    'VolumeAttributesClass of the pv',
    (object) => volume(object).spec.volumeAttributesClassName ?? UNSET,
  ),
  textColumn(
    'Reason',
    'reason is a brief CamelCase string that describes any failure and is meant for machine parsing and tidy display in the CLI.',
    (object) => volume(object).status.reason ?? '',
  ),
  ageColumn,
  {
    name: 'VolumeMode',
    type: 'string',
    description:
      'volumeMode defines if a volume is intended to be used with a formatted filesystem or to remain in raw block state. Value of Filesystem is implied when not included in spec.',
    priority: 1,
    cell: (object) => volume(object).spec.volumeMode ?? UNSET,
  },
];

function claimCell(object: ApiObject): string {
  const { claimRef } = volume(object).spec;
  return claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`;
}
