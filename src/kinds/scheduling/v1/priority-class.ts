/**
 * The PriorityClass kind: a named pod priority. Admission plugins set the class of pods and reject a second default
 * class.
 */

import { serviceGroup } from '../../../meta/dialect.js';
import { errors } from '../../../meta/errors.js';
import { type FieldError, forbidden, required } from '../../../meta/field-error.js';
import { append } from '../../../util/arrays.js';
import type { Column } from '../../columns.js';
import { defineBuiltIn } from '../../define-kind.js';
import type { DeletionDecision, DeletionRequest } from '../../deletion.js';
import { type PriorityClassKind, type PriorityClassObject, priorityClassBase } from '../../generated/scheduling-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, countColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { immutableErrors, valueErrors } from '../../shared/field-rules.js';
import { ownedByServer } from '../../shared/initial-managers.js';

export interface PriorityClass extends PriorityClassObject {}

const columns: readonly Column<PriorityClass>[] = [
  nameColumn,
  countColumn('Value', 'The priority of pods of this class.', (object) => object.value),
  {
    name: 'Global-Default',
    type: 'boolean',
    description: 'Whether pods without a class get this one.',
    cell: (object) => object.globalDefault ?? false,
  },
  ageColumn,
  textColumn(
    'PreemptionPolicy',
    'Whether its pods may preempt pods of lower priority.',
    (object) => object.preemptionPolicy,
  ),
];

const GROUP = serviceGroup('scheduling');
const PLURAL = 'priorityclasses';

export const PriorityClass: PriorityClassKind<PriorityClass> = defineBuiltIn({
  ...priorityClassBase,
  names: { plural: PLURAL, shortNames: ['pc'] },
  columns,
  strategy: {
    write: {
      // The generation is always 1, because the fields that count are immutable.
      generation: () => false,
    },
    create: { validate },
    update: { validate: validateUpdate },
    delete: { intercept: beforeDelete },
  },
  initial: () =>
    [...SYSTEM_VALUES].map(([name, value]) => ({
      metadata: { name, generation: 1, managers: [ownedByServer(['description', 'preemptionPolicy', 'value'])] },
      value,
      description: SYSTEM_DESCRIPTIONS[name],
      preemptionPolicy: 'PreemptLowerPriority',
    })),
});

/** The highest value of user-defined classes; system classes have higher ones. */
const HIGHEST_VALUE = 1_000_000_000;
const SYSTEM_PREFIX = 'system-';
const SYSTEM_VALUES: ReadonlyMap<string, number> = new Map([
  ['system-node-critical', 2_000_001_000],
  ['system-cluster-critical', 2_000_000_000],
]);
const SYSTEM_DESCRIPTIONS: Readonly<Record<string, string>> = {
  'system-node-critical': 'Used for system critical pods that must not be moved from their current node.',
  'system-cluster-critical':
    'Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.',
};
const POLICIES = ['PreemptLowerPriority', 'Never'];

function validate(object: PriorityClass): FieldError[] {
  const { metadata, value, preemptionPolicy, globalDefault = false } = object;
  // Validation also runs for an object without a name.
  const { name = '' }: { name?: string } = metadata;
  const found: FieldError[] = [];
  if (name.startsWith(SYSTEM_PREFIX)) {
    const why = systemClassProblem(name, { value, globalDefault });
    const reserved = `priority class names with '${SYSTEM_PREFIX}' prefix are reserved for system use only`;
    if (why !== undefined) found.push(forbidden('metadata.name', `${reserved}. error: ${why}`));
  } else if (value > HIGHEST_VALUE) {
    found.push(forbidden('value', `maximum allowed value of a user defined priority is ${HIGHEST_VALUE}`));
  }
  if ((preemptionPolicy as string) === '') found.push(required('preemptionPolicy'));
  else append(found, valueErrors('preemptionPolicy', preemptionPolicy, POLICIES));
  return found;
}

/** A class with a system name is accepted only if it equals the built-in one. */
function systemClassProblem(
  name: string,
  { value, globalDefault }: { readonly value: number; readonly globalDefault: boolean },
): string | undefined {
  const known = SYSTEM_VALUES.get(name);
  if (known === undefined) return `${name} is not a known system priority class`;
  if (value !== known) return `value of ${name} PriorityClass must be ${known}`;
  return globalDefault ? `globalDefault of ${name} PriorityClass must be false` : undefined;
}

function validateUpdate(next: PriorityClass, live: PriorityClass): FieldError[] {
  return [
    ...(next.value === live.value ? [] : [forbidden('value', 'may not be changed in an update.')]),
    ...immutableErrors('preemptionPolicy', next.preemptionPolicy, live.preemptionPolicy),
  ];
}

function beforeDelete(live: PriorityClass, _request: DeletionRequest, { dialect }: HookContext): DeletionDecision {
  const { name } = live.metadata;
  if (!SYSTEM_VALUES.has(name)) return { type: 'proceed' };
  const resource = { group: dialect.group(GROUP), resource: PLURAL };
  throw errors.forbidden(resource, name, 'this is a system priority class and cannot be deleted');
}
