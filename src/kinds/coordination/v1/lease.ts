/**
 * Lease: who holds what until when; the base of leader election.
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { forbidden } from '../../../meta/field-error.js';
import type { ApiObject } from '../../../meta/object.js';
import { always, hint, microTime, namedString, pointer } from '../../../schema/hints.js';
import { rule } from '../../../schema/rules.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/workload-columns.js';
import { strategyProblems } from '../lease-strategy.js';

const leaseSpecShape = () => ({
  holderIdentity: pointer(z.string()),
  leaseDurationSeconds: pointer(atLeast(1, 'must be greater than 0')),
  acquireTime: pointer(microTime()),
  renewTime: pointer(microTime()),
  leaseTransitions: pointer(atLeast(0, 'must be greater than or equal to 0')),
  strategy: pointer(namedString('v1.CoordinatedLeaseStrategy')),
  preferredHolder: pointer(z.string()),
});
export interface LeaseSpec extends Output<typeof leaseSpecShape> {}
export interface LeaseSpecInput extends Input<typeof leaseSpecShape> {}
const leaseSpec: Type<LeaseSpec, LeaseSpecInput> = type('LeaseSpec', leaseSpecShape);

const shape = () => ({ spec: always(leaseSpec()) });
export interface Lease extends ObjectBase, Output<typeof shape> {}
export interface LeaseInput extends InputBase, Input<typeof shape> {}

export const Lease: Kind<Lease, LeaseInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('coordination')}/v1`,
  kind: 'Lease',
  scope: 'Namespaced',
  columns: [
    nameColumn,
    textColumn('Holder', 'Who holds it now.', (object) => (object as unknown as Lease).spec.holderIdentity ?? ''),
    ageColumn,
  ],
  body: shape,
  strategy: { unconditionalUpdate: false, createOnUpdate: true, validate, validateUpdate: validate },
});

function atLeast(minimum: number, detail: string): z.ZodNumber {
  return hint(
    rule(z.number(), (value) => (value >= minimum ? [] : [{ type: 'invalid', value, detail }])),
    { scalar: 'int32' },
  );
}

function validate(object: ApiObject): readonly FieldError[] {
  const { strategy, preferredHolder } = (object as unknown as Lease).spec;
  const problems: FieldError[] = [];
  if (strategy !== undefined) problems.push(...strategyProblems(strategy));
  // An empty preferred holder counts as none, and so does an empty strategy.
  if (preferredHolder && !strategy) {
    problems.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return problems;
}
