/**
 * The PersistentVolume kind: storage whose lifetime is independent of pods.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type PersistentVolumeKind,
  type PersistentVolumeObject,
  persistentVolumeBase,
} from '../../generated/core-v1.js';
import type { HookContext } from '../../kind.js';
import { statusSubresource } from '../../shared/strategies.js';
import { persistentVolumeColumns } from './persistent-volume/columns.js';
import { volumeSourceDefaults } from './persistent-volume/source-rules.js';
import { mountOptionsProblems, volumeProblems, volumeUpdateProblems } from './persistent-volume/validate.js';
import { volumeWarnings } from './persistent-volume/warnings.js';

export interface PersistentVolume extends PersistentVolumeObject {}

export const PersistentVolume: PersistentVolumeKind<PersistentVolume> = defineBuiltIn({
  ...persistentVolumeBase,
  names: { shortNames: ['pv'] },
  columns: persistentVolumeColumns,
  strategy: {
    delete: { returnDeletedObject: true },
    write: { separateStatus: true, warnings: (object, _live, { dialect }) => volumeWarnings(object, dialect) },
    decode: { defaults: (draft) => volumeSourceDefaults(draft.spec) },
    create: { prepare: prepareForCreate, validate },
    update: {
      prepare: dropDisabled,
      // The reference server runs the create validation twice on updates and reports errors twice.
      validationOrder: ['create', 'create', 'update'],
      validate: validateUpdate,
    },
  },
  subresources: {
    status: statusSubresource({ prepare: prepareStatus }),
  },
});

function nameAndSpec(object: PersistentVolume): { name: string; spec: PersistentVolume['spec'] } {
  return { name: object.metadata.name ?? '', spec: object.spec };
}

function prepareForCreate(draft: PersistentVolume, context: HookContext): void {
  draft.status = { phase: 'Pending', lastPhaseTransitionTime: context.now };
  dropDisabled(draft, undefined, context);
}

function dropDisabled(draft: PersistentVolume, live: PersistentVolume | undefined, { features }: HookContext): void {
  if (features.enabled('VolumeAttributesClass')) return;
  if (live !== undefined && live.spec.volumeAttributesClassName !== undefined) return;
  delete draft.spec.volumeAttributesClassName;
}

function validate(object: PersistentVolume, context: HookContext, live: PersistentVolume | undefined): FieldError[] {
  if (live !== undefined) return volumeProblems({ ...nameAndSpec(object), live: live.spec }, context);
  return [...volumeProblems(nameAndSpec(object), context), ...optionProblems(object, context)];
}

function validateUpdate(next: PersistentVolume, live: PersistentVolume, context: HookContext): FieldError[] {
  return [...optionProblems(next, context), ...volumeUpdateProblems(next.spec, live.spec, context)];
}

/** Runs once per write, unlike {@link volumeProblems}. */
function optionProblems(object: PersistentVolume, { dialect }: HookContext): FieldError[] {
  return mountOptionsProblems(object.metadata.annotations, object.spec, dialect);
}

/** Sets `lastPhaseTransitionTime` when the phase changes, unless the client sets it. */
function prepareStatus(draft: PersistentVolume, live: PersistentVolume, { now }: HookContext): void {
  const { status } = draft;
  const before = live.status;
  const given = status.lastPhaseTransitionTime;
  if (status.phase !== before.phase) {
    if (given === undefined || given === before.lastPhaseTransitionTime) status.lastPhaseTransitionTime = now;
  } else if (given === undefined && before.lastPhaseTransitionTime !== undefined) {
    status.lastPhaseTransitionTime = before.lastPhaseTransitionTime;
  }
}
