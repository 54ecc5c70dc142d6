/**
 * The DeviceTaintRule kind: a taint that an administrator adds to devices.
 */

import type { FieldError } from '../../../meta/field-error.js';
import { dnsSubdomainProblems } from '../../../meta/names.js';
import { deepEqual } from '../../../util/json.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import { defineBuiltIn } from '../../define-kind.js';
import {
  type DeviceTaintRuleKind,
  type DeviceTaintRuleObject,
  type DeviceTaintRuleSpec,
  type DeviceTaintSelector,
  deviceTaintRuleBase,
} from '../../generated/resource-v1alpha3.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, nameColumn, since, textColumn } from '../../shared/common-columns.js';
import { specGeneration } from '../../shared/strategies.js';
import { labelNameProblems, nameErrors, poolNameProblems } from '../rules/names.js';
import { deviceTaintProblems, type StoredOptions, selectorsProblems } from '../rules/selection.js';

export interface DeviceTaintRule extends DeviceTaintRuleObject {}

export const DeviceTaintRule: DeviceTaintRuleKind<DeviceTaintRule> = defineBuiltIn({
  ...deviceTaintRuleBase,
  lifecycle: { introducedIn: '1.33' },
  columns: [
    nameColumn,
    textColumn('Key', 'The key of its taint.', (object) => object.spec.taint.key),
    textColumn('Value', 'The value of its taint.', (object) => object.spec.taint.value ?? ''),
    textColumn('Effect', 'The effect of its taint.', (object) => object.spec.taint.effect),
    textColumn('TimeAdded', 'The time since the taint was added.', (object, context) => {
      const { timeAdded } = object.spec.taint;
      return timeAdded === undefined ? '' : since(timeAdded, context);
    }),
    ageColumn,
  ],
  strategy: {
    delete: { returnDeletedObject: true },
    write: { generation: specGeneration },
    decode: { defaults: stampTaint },
    create: { validate: (object) => specProblems(object.spec) },
    update: { validate: (next, live) => specProblems(next.spec, live.spec) },
  },
});

function stampTaint(draft: DeviceTaintRule, { now }: HookContext): void {
  const { taint } = draft.spec;
  taint.timeAdded ??= now;
}

function specProblems(spec: DeviceTaintRuleSpec, before?: DeviceTaintRuleSpec): FieldError[] {
  const { deviceSelector: selector = {}, taint } = spec;
  const live = before?.deviceSelector;
  const stored = live !== undefined && deepEqual(selector.selectors ?? [], live.selectors ?? []);
  return [
    ...selectorProblems('spec.deviceSelector', selector, { stored }),
    ...deviceTaintProblems('spec.taint', taint),
  ];
}

/** All parts are optional; present ones must be valid names. */
function selectorProblems(path: string, selector: DeviceTaintSelector, options: StoredOptions): FieldError[] {
  const { deviceClassName, driver, pool, device, selectors } = selector;
  return [
    ...(deviceClassName === undefined
      ? []
      : nameErrors(`${path}.deviceClassName`, deviceClassName, dnsSubdomainProblems)),
    ...(driver === undefined ? [] : driverNameProblems(`${path}.driver`, driver)),
    ...(pool === undefined ? [] : poolNameProblems(`${path}.pool`, pool)),
    ...(device === undefined ? [] : labelNameProblems(`${path}.device`, device)),
    ...selectorsProblems(`${path}.selectors`, selectors, options),
  ];
}
