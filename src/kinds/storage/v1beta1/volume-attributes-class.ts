/**
 * The VolumeAttributesClass kind: a named set of mutable volume attributes.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { type FieldError, forbidden, required } from '../../../meta/field-error.js';
import { deepEqual } from '../../../util/json.js';
import { anotherVersion, defineBuiltIn } from '../../define-kind.js';
import {
  type VolumeAttributesClassKind,
  type VolumeAttributesClassObject,
  volumeAttributesClassBase,
} from '../../generated/storage-v1beta1.js';
import { parameterProblems, provisionerProblems } from '../parameters.js';
import { volumeAttributesClassColumns } from '../v1/columns.js';

export interface VolumeAttributesClass extends VolumeAttributesClassObject {}

export const VolumeAttributesClass: VolumeAttributesClassKind<VolumeAttributesClass> = defineBuiltIn({
  ...volumeAttributesClassBase,
  names: { shortNames: ['vac'] },
  gate: 'VolumeAttributesClass',
  lifecycle: { introducedIn: '1.31' },
  columns: volumeAttributesClassColumns,
  strategy: {
    delete: { returnDeletedObject: true },
    create: { validate: classProblems },
    update: { validationOrder: ['create', 'metadata', 'update', 'create'], validate: fixedProblems },
  },
});

export const VolumeAttributesClassV1alpha1: VolumeAttributesClassKind<VolumeAttributesClass> = anotherVersion(
  VolumeAttributesClass,
  {
    apiVersion: `${serviceGroup('storage')}/v1alpha1`,
    lifecycle: { introducedIn: '1.29', deprecatedIn: '1.32', removedIn: '1.35' },
  },
);

function classProblems(object: VolumeAttributesClass): FieldError[] {
  const { driverName, parameters = {} } = object;
  const found = [...provisionerProblems('driverName', driverName), ...parameterProblems('parameters', parameters)];
  if (Object.keys(parameters).length === 0) {
    found.push(required('parameters', 'must contain at least one key/value pair'));
  }
  return found;
}

function fixedProblems(next: VolumeAttributesClass, live: VolumeAttributesClass): FieldError[] {
  return (['driverName', 'parameters'] as const)
    .filter((field) => !deepEqual(next[field], live[field]))
    .map((field) => forbidden(field, `updates to ${field} are forbidden.`));
}
