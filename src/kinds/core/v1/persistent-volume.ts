/**
 * The PersistentVolume kind: storage whose lifetime is independent of pods. spec: PersistentVolume
 */
import * as z from 'zod';
import type { FieldError } from '../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { always, defaulted, enumString, optional, pointer, time } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind, WriteContext } from '../../kind.js';
import { statusSubresource } from '../../shared/strategies.js';
import { persistentVolumeColumns } from './persistent-volume/columns.js';
import { volumeSourceDefaults } from './persistent-volume/source-rules.js';
import { persistentVolumeSpec } from './persistent-volume/spec.js';
import { mountOptionsProblems, volumeProblems, volumeUpdateProblems } from './persistent-volume/validate.js';
import { volumeWarnings } from './persistent-volume/warnings.js';

export type {
  PersistentVolumeSource,
  PersistentVolumeSpec,
  PersistentVolumeSpecInput,
} from './persistent-volume/spec.js';

type Phase = 'Pending' | 'Available' | 'Bound' | 'Released' | 'Failed';

const persistentVolumeStatusShape = () => ({
  phase: defaulted(enumString<Phase>('v1.PersistentVolumePhase'), 'Pending'),
  message: optional(z.string()),
  reason: optional(z.string()),
  lastPhaseTransitionTime: pointer(time()),
});
export interface PersistentVolumeStatus extends Output<typeof persistentVolumeStatusShape> {}
export interface PersistentVolumeStatusInput extends Input<typeof persistentVolumeStatusShape> {}
const persistentVolumeStatus: Type<PersistentVolumeStatus, PersistentVolumeStatusInput> = type(
  'PersistentVolumeStatus',
  persistentVolumeStatusShape,
);

const shape = () => ({ spec: always(persistentVolumeSpec()), status: always(persistentVolumeStatus()) });
export interface PersistentVolume extends ObjectBase, Output<typeof shape> {}
export interface PersistentVolumeInput extends InputBase, Input<typeof shape> {}

export const PersistentVolume: Kind<PersistentVolume, PersistentVolumeInput, 'Cluster', 'status'> = defineBuiltIn({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  scope: 'Cluster',
  names: { shortNames: ['pv'] },
  body: shape,
  columns: persistentVolumeColumns,
  strategy: {
    delete: { returnsObject: true },
    write: { separateStatus: true, warnings: (object, _live, { dialect }) => volumeWarnings(object, dialect) },
    decode: { defaults: (draft) => volumeSourceDefaults(volumeOf(draft).spec) },
    create: { prepare: prepareForCreate, validate },
    update: {
      prepare: dropDisabled,
      // The reference server runs the create validation twice on updates and reports errors twice.
      steps: ['whole', 'whole', 'change'],
      validate: validateUpdate,
    },
  },
  subresources: {
    status: statusSubresource({ prepare: prepareStatus }),
  },
});

function volumeOf(object: ApiObject | DraftObject): PersistentVolume {
  return object as unknown as PersistentVolume;
}

function nameAndSpec(object: ApiObject): { name: string; spec: PersistentVolume['spec'] } {
  return { name: object.metadata.name ?? '', spec: volumeOf(object).spec };
}

function prepareForCreate(draft: DraftObject, context: WriteContext): void {
  volumeOf(draft).status = { phase: 'Pending', lastPhaseTransitionTime: context.now };
  dropDisabled(draft, undefined, context);
}

function dropDisabled(draft: DraftObject, live: ApiObject | undefined, { features }: WriteContext): void {
  if (features.enabled('VolumeAttributesClass')) return;
  if (live !== undefined && volumeOf(live).spec.volumeAttributesClassName !== undefined) return;
  delete volumeOf(draft).spec.volumeAttributesClassName;
}

function validate(object: ApiObject, context: WriteContext, live: ApiObject | undefined): FieldError[] {
  if (live !== undefined) return volumeProblems({ ...nameAndSpec(object), live: volumeOf(live).spec }, context);
  return [...volumeProblems(nameAndSpec(object), context), ...optionProblems(object, context)];
}

function validateUpdate(next: ApiObject, live: ApiObject, context: WriteContext): FieldError[] {
  return [...optionProblems(next, context), ...volumeUpdateProblems(volumeOf(next).spec, volumeOf(live).spec, context)];
}

/** Runs once per write, unlike {@link volumeProblems}. */
function optionProblems(object: ApiObject, { dialect }: WriteContext): FieldError[] {
  return mountOptionsProblems(object.metadata.annotations, volumeOf(object).spec, dialect);
}

/** Sets `lastPhaseTransitionTime` when the phase changes, unless the client sets it. */
function prepareStatus(draft: DraftObject, live: ApiObject, { now }: WriteContext): void {
  const { status } = volumeOf(draft);
  const before = volumeOf(live).status;
  const given = status.lastPhaseTransitionTime;
  if (status.phase !== before.phase) {
    if (given === undefined || given === before.lastPhaseTransitionTime) status.lastPhaseTransitionTime = now;
  } else if (given === undefined && before.lastPhaseTransitionTime !== undefined) {
    status.lastPhaseTransitionTime = before.lastPhaseTransitionTime;
  }
}
