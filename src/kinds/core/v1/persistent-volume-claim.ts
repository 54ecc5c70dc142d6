/**
 * The PersistentVolumeClaim kind: a request for storage, bound to a PersistentVolume.
 */
import { own } from '../../../util/json.js';
import type { Column } from '../../columns.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type PersistentVolumeClaimKind,
  type PersistentVolumeClaimObject,
  persistentVolumeClaimBase,
} from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn, wideColumn } from '../../shared/common-columns.js';
import { roundResourceList } from '../../shared/resources.js';
import { statusSubresource } from '../../shared/strategies.js';
import { claimSpecDefaults, dropDisabledClaimFields, normalizeDataSources } from './claim-spec-rules.js';
import { accessModesCell, classCell, phaseCell, UNSET } from './persistent-volume/columns.js';
import { classAnnotationWarnings } from './persistent-volume/warnings.js';
import { claimProblems, claimStatusProblems, claimUpdateProblems } from './persistent-volume-claim/validate.js';
import { claimSpecWarnings } from './pod-spec/volume-warnings.js';

/** The capacity and access modes are printed only for bound claims. */
const isBound = (object: PersistentVolumeClaim) => Boolean(object.spec.volumeName);

const persistentVolumeClaimColumns: readonly Column<PersistentVolumeClaim>[] = [
  nameColumn,
  textColumn('Status', 'The phase of the claim.', (object) => phaseCell(object, object.status.phase)),
  textColumn('Volume', 'The volume that the claim is bound to.', (object) => object.spec.volumeName ?? ''),
  textColumn('Capacity', 'The storage capacity of its volume.', (object) =>
    isBound(object) ? (own(object.status.capacity ?? {}, 'storage') ?? '0') : '',
  ),
  textColumn('Access Modes', 'The abbreviated access modes of its volume.', (object) =>
    isBound(object) ? accessModesCell(object.status.accessModes) : '',
  ),
  textColumn('StorageClass', 'The storage class that the claim requests.', (object) =>
    classCell(object, object.spec.storageClassName),
  ),
  textColumn(
    'VolumeAttributesClass',
    'The class with the attributes that the claim requests.',
    (object) => object.spec.volumeAttributesClassName ?? UNSET,
  ),
  ageColumn,
  wideColumn(
    'VolumeMode',
    'Whether the claim requests a file system or a block device.',
    (object) => object.spec.volumeMode ?? UNSET,
  ),
];

export interface PersistentVolumeClaim extends PersistentVolumeClaimObject {}

export const PersistentVolumeClaim: PersistentVolumeClaimKind<PersistentVolumeClaim> = defineBuiltIn({
  ...persistentVolumeClaimBase,
  names: { shortNames: ['pvc'] },
  columns: persistentVolumeClaimColumns,
  strategy: {
    delete: { returnDeletedObject: true },
    write: {
      separateStatus: true,
      warnings: (object, _live, { dialect }) => [
        ...classAnnotationWarnings(object, dialect),
        ...claimSpecWarnings('spec', object.spec),
      ],
    },
    decode: { defaults },
    create: {
      prepare: (draft, context) => prepareSpec(draft, undefined, context),
      validate: (object, context, live) => claimProblems(object, live && live, context),
    },
    update: {
      prepare: prepareSpec,
      // The create validation runs twice, as in the reference server.
      validationOrder: ['create', 'metadata', 'create', 'update'],
      validate: (next, live, context) => claimUpdateProblems(next, live, context),
    },
  },
  subresources: {
    status: statusSubresource({
      prepare: dropDisabledStatus,
      validate: (next, _live, context) => claimStatusProblems(next, context),
    }),
  },
});

function defaults(draft: PersistentVolumeClaim): void {
  const { spec, status } = draft;
  claimSpecDefaults(spec);
  roundResourceList(status.capacity);
  roundResourceList(status.allocatedResources);
}

function prepareSpec(
  draft: PersistentVolumeClaim,
  live: PersistentVolumeClaim | undefined,
  { dialect, features }: HookContext,
): void {
  const { spec } = draft;
  const before = live === undefined ? undefined : live.spec;
  dropDisabledClaimFields(spec, before, features);
  normalizeDataSources(spec, before, dialect);
}

function dropDisabledStatus(
  draft: PersistentVolumeClaim,
  live: PersistentVolumeClaim,
  { features }: HookContext,
): void {
  if (features.enabled('VolumeAttributesClass')) return;
  const { status } = draft;
  const before = live.status;
  if (before.currentVolumeAttributesClassName === undefined) delete status.currentVolumeAttributesClassName;
  if (before.modifyVolumeStatus === undefined) delete status.modifyVolumeStatus;
}
