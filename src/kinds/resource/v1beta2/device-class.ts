/**
 * The DeviceClass kind: a named device selection and configuration, which claims reference.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { deepEqual } from '../../../util/json.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type DeviceClassKind,
  type DeviceClassObject,
  type DeviceClassSpec,
  deviceClassBase,
} from '../../generated/resource-v1beta2.js';
import { ageColumn, nameColumn } from '../../shared/common-columns.js';
import { specGeneration } from '../../shared/strategies.js';
import { MAX_CONFIGURATIONS } from '../rules/claim.js';
import { listProblems } from '../rules/collections.js';
import { configurationProblems, selectorsProblems } from '../rules/selection.js';

export interface DeviceClass extends DeviceClassObject {}

export const DeviceClass: DeviceClassKind<DeviceClass> = defineBuiltIn({
  ...deviceClassBase,
  lifecycle: { introducedIn: '1.33' },
  gate: 'DynamicResourceAllocation',
  columns: [nameColumn, ageColumn],
  strategy: {
    delete: { returnDeletedObject: true },
    update: {
      validationOrder: ['create', 'metadata', 'update'],
      validate: (next, live) => specProblems(next.spec, live.spec),
    },
    write: {
      // Parameters are compared as JSON, in which an empty list is not null.
      generation: (next, live) => specGeneration(next, live) || !sameConfig(next.spec, live.spec),
    },
    create: { validate: (object) => specProblems(object.spec) },
  },
});

function sameConfig({ config = [] }: DeviceClassSpec, before: DeviceClassSpec): boolean {
  return deepEqual(config, before.config ?? []);
}

function specProblems({ selectors, config = [] }: DeviceClassSpec, before?: DeviceClassSpec): FieldError[] {
  const stored = before !== undefined && sameConfig({ config }, before);
  // Any change of the list, even of its order, makes all selectors new.
  const storedSelectors = before !== undefined && deepEqual(selectors ?? [], before.selectors ?? []);
  return [
    ...selectorsProblems('spec.selectors', selectors, { stored: storedSelectors }),
    ...listProblems('spec.config', config, {
      max: MAX_CONFIGURATIONS,
      item: (at, one) => configurationProblems(at, one, { stored }),
    }),
  ];
}
