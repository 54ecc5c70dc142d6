/**
 * Table columns of persistent volumes, and cells that claims share.
 */
import { kubernetesDialect, orchDialect } from '../../../../meta/dialect.js';
import { own } from '../../../../util/json.js';
import type { Column } from '../../../columns.js';
import type { ObjectBase } from '../../../define-kind.js';
import { ageColumn, nameColumn, textColumn } from '../../../shared/common-columns.js';
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
  textColumn('Capacity', 'How much it can hold.', (object) => own(object.spec.capacity ?? {}, 'storage') ?? '0'),
  textColumn('Access Modes', 'How pods may use it, in short forms.', (object) =>
    accessModesCell(object.spec.accessModes),
  ),
  textColumn(
    'Reclaim Policy',
    'What becomes of it once its claim is gone.',
    (object) => object.spec.persistentVolumeReclaimPolicy,
  ),
  textColumn('Status', 'Whether it is free, taken or given up.', (object) => phaseCell(object, object.status.phase)),
  textColumn('Claim', 'The claim that has it.', claimCell),
  textColumn('StorageClass', 'The class of storage that it belongs to.', (object) =>
    classCell(object, object.spec.storageClassName),
  ),
  textColumn(
    'VolumeAttributesClass',
    'The class that sets its attributes.',
    (object) => object.spec.volumeAttributesClassName ?? UNSET,
  ),
  textColumn('Reason', 'Why it is in trouble, in one word.', (object) => object.status.reason ?? ''),
  ageColumn,
  {
    name: 'VolumeMode',
    type: 'string',
    description: 'Whether it is a file system or a raw device.',
    priority: 1,
    cell: (object) => object.spec.volumeMode ?? UNSET,
  },
];

function claimCell(object: PersistentVolume): string {
  const { claimRef } = object.spec;
  return claimRef === undefined ? '' : `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`;
}
