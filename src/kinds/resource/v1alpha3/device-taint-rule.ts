/**
 * DeviceTaintRule: a taint that an administrator puts on devices from outside.
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { dnsSubdomainProblems } from '../../../meta/names.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { optional, pointer } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { deepEqual } from '../../../util/json.js';
import { driverNameProblems } from '../../core/v1/pod-spec/local-source-rules.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind, WriteContext } from '../../kind.js';
import { ageColumn, nameColumn, since, textColumn } from '../../shared/common-columns.js';
import { specGeneration } from '../../shared/strategies.js';
import { labelNameProblems, poolNameProblems, worded } from '../rules/names.js';
import { deviceTaintProblems, type StoredOptions, selectorsProblems } from '../rules/selection.js';
import { deviceSelector, deviceTaint } from '../schema/selection.js';

const deviceTaintSelectorShape = () => ({
  deviceClassName: pointer(z.string()),
  driver: pointer(z.string()),
  pool: pointer(z.string()),
  device: pointer(z.string()),
  selectors: optional(z.array(deviceSelector('v1alpha3'))),
});
export interface DeviceTaintSelector extends Output<typeof deviceTaintSelectorShape> {}
export interface DeviceTaintSelectorInput extends Input<typeof deviceTaintSelectorShape> {}
const deviceTaintSelector: Type<DeviceTaintSelector, DeviceTaintSelectorInput> = type(
  'v1alpha3.DeviceTaintSelector',
  deviceTaintSelectorShape,
);

const deviceTaintRuleSpecShape = () => ({
  deviceSelector: pointer(deviceTaintSelector()),
  taint: deviceTaint('v1alpha3'),
});
export interface DeviceTaintRuleSpec extends Output<typeof deviceTaintRuleSpecShape> {}
export interface DeviceTaintRuleSpecInput extends Input<typeof deviceTaintRuleSpecShape> {}
const deviceTaintRuleSpec: Type<DeviceTaintRuleSpec, DeviceTaintRuleSpecInput> = type(
  'v1alpha3.DeviceTaintRuleSpec',
  deviceTaintRuleSpecShape,
);

const shape = () => ({ spec: deviceTaintRuleSpec() });
export interface DeviceTaintRule extends ObjectBase, Output<typeof shape> {}
export interface DeviceTaintRuleInput extends InputBase, Input<typeof shape> {}

export const DeviceTaintRule: Kind<DeviceTaintRule, DeviceTaintRuleInput, 'Cluster', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('resource')}/v1alpha3`,
  kind: 'DeviceTaintRule',
  scope: 'Cluster',
  lifecycle: { introducedIn: '1.33' },
  body: shape,
  columns: [
    nameColumn,
    textColumn('Key', 'The key of its taint.', (object) => specOf(object).taint.key),
    textColumn('Value', 'The value of its taint.', (object) => specOf(object).taint.value ?? ''),
    textColumn('Effect', 'What the taint does.', (object) => specOf(object).taint.effect),
    {
      name: 'TimeAdded',
      type: 'string',
      description: 'How long ago the taint was put there.',
      cell: (object, context) => {
        const { timeAdded } = specOf(object).taint;
        return timeAdded === undefined ? '' : since(timeAdded, context);
      },
    },
    ageColumn,
  ],
  strategy: {
    delete: { returnsObject: true },
    write: { generation: specGeneration },
    decode: { defaults: stampTaint },
    create: { validate: (object) => specProblems(specOf(object)) },
    update: { validate: (next, live) => specProblems(specOf(next), specOf(live)) },
  },
});

function stampTaint(draft: DraftObject, { now }: WriteContext): void {
  const { taint } = (draft as unknown as DeviceTaintRule).spec;
  taint.timeAdded ??= now;
}

function specOf(object: ApiObject): DeviceTaintRuleSpec {
  return (object as unknown as DeviceTaintRule).spec;
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

/** Each part may be left out, but what is given must be a name. */
function selectorProblems(path: string, selector: DeviceTaintSelector, options: StoredOptions): FieldError[] {
  const { deviceClassName, driver, pool, device, selectors } = selector;
  return [
    ...(deviceClassName === undefined ? [] : worded(`${path}.deviceClassName`, deviceClassName, dnsSubdomainProblems)),
    ...(driver === undefined ? [] : driverNameProblems(`${path}.driver`, driver)),
    ...(pool === undefined ? [] : poolNameProblems(`${path}.pool`, pool)),
    ...(device === undefined ? [] : labelNameProblems(`${path}.device`, device)),
    ...selectorsProblems(`${path}.selectors`, selectors, options),
  ];
}
