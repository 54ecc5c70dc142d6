/**
 * Table columns of persistent volumes, and cells that claims share.
 */

import { kubernetesDialect, orchDialect } from '../../../../meta/dialect.js';
import type { ObjectBase } from '../../../../meta/object.js';
import { own } from '../../../../util/json.js';
import type { Column } from '../../../columns.js';
import { ageColumn, nameColumn, textColumn, wideColumn } from '../../../shared/common-columns.js';
import type { PersistentVolume } from '../persistent-volume.js';
import { classAnnotation } from './warnings.js';

/** The cell of an absent class or mode. */
export const UNSET = '<unset>';

/** In the order in which a cell lists them. */
const SHORT_MODES = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
] as const;

/** Access modes in short form: `RWO,ROX`. */
export function accessModesCell(modes: readonly string[] | undefined): string {
  return SHORT_MODES.filter(([mode]) => modes?.includes(mode))
    .map(([, short]) => short)
    .join(',');
}

/** The phase, or `Terminating` for objects that are being deleted. */
export function phaseCell({ metadata }: ObjectBase, phase: string | undefined): string {
  return metadata.deletionTimestamp === undefined ? (phase ?? '') : 'Terminating';
}

/** The deprecated annotation takes precedence over the field. Both dialects are tried, because cells have no dialect. */
export function classCell({ metadata }: ObjectBase, name: string | undefined): string {
  const annotations = metadata.annotations ?? {};
  const [canonical, other] = [orchDialect, kubernetesDialect].map((dialect) =>
    own(annotations, classAnnotation(dialect)),
  );
  return canonical ?? other ?? name ?? '';
}

export const persistentVolumeColumns: readonly Column<PersistentVolume>[] = [
  nameColumn,
  textColumn(
    'Capacity',
    'The storage capacity of the volume.',
    (object) => own(object.spec.capacity ?? {}, 'storage') ?? '0',
  ),
  textColumn('Access Modes', 'The abbreviated access modes.', (object) => accessModesCell(object.spec.accessModes)),
  textColumn(
    'Reclaim Policy',
    'What happens to the volume after its claim is deleted.',
    (object) => object.spec.persistentVolumeReclaimPolicy,
  ),
  textColumn('Status', 'The phase of the volume.', (object) => phaseCell(object, object.status.phase)),
  textColumn('Claim', 'The claim that the volume is bound to.', claimCell),
  textColumn('StorageClass', 'The storage class of the volume.', (object) =>
    classCell(object, object.spec.storageClassName),
  ),
  textColumn(
    'VolumeAttributesClass',
    'The class that determines its attributes.',
    (object) => object.spec.volumeAttributesClassName ?? UNSET,
  ),
  textColumn('Reason', 'The reason for its current phase.', (object) => object.status.reason ?? ''),
  ageColumn,
  wideColumn(
    'VolumeMode',
    'Whether the volume is a file system or a block device.',
    (object) => object.spec.volumeMode ?? UNSET,
  ),
];

function claimCell(object: PersistentVolume): string {
  const { claimRef } = object.spec;
  return claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`;
}
