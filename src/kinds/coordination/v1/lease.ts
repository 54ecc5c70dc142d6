/**
 * Lease: who holds what until when; the base of leader election.
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { forbidden, invalid, notSupported } from '../../../meta/field-error.js';
import { qualifiedNameProblems } from '../../../meta/names.js';
import type { ApiObject } from '../../../meta/object.js';
import { hint, microTime, namedString, optional, pointer, struct } from '../../../schema/hints.js';
import { rule } from '../../../schema/rules.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind } from '../../kind.js';

const specShape = {
  holderIdentity: pointer(z.string()),
  leaseDurationSeconds: pointer(atLeast(1, 'must be greater than 0')),
  acquireTime: pointer(microTime()),
  renewTime: pointer(microTime()),
  leaseTransitions: pointer(atLeast(0, 'must be greater than or equal to 0')),
  strategy: pointer(namedString('v1.CoordinatedLeaseStrategy')),
  preferredHolder: pointer(z.string()),
};

const shape = { spec: hint(optional(struct('LeaseSpec', specShape)), { presence: 'always' }) };

interface LeaseSpecSchema extends z.ZodObject<typeof specShape> {}

export interface LeaseSpec extends z.output<LeaseSpecSchema> {}
export interface LeaseSpecInput extends z.input<LeaseSpecSchema> {}

export interface Lease extends ObjectBase {
  spec: LeaseSpec;
}
export interface LeaseInput extends InputBase {
  spec?: LeaseSpecInput;
}

export const Lease: Kind<Lease, LeaseInput, 'Namespaced', never> = defineBuiltIn({
  apiVersion: `${serviceGroup('coordination')}/v1`,
  kind: 'Lease',
  scope: 'Namespaced',
  body: shape,
  strategy: { unconditionalUpdate: false, createOnUpdate: true, validate, validateUpdate: validate },
});

function atLeast(minimum: number, detail: string): z.ZodNumber {
  return hint(
    rule(z.number(), (value) => (value >= minimum ? [] : [{ type: 'invalid', value, detail }])),
    { scalar: 'int32' },
  );
}

/** The reference server names this field twice over. */
const STRATEGY_PATH = 'spec.strategy.strategy';

function validate(object: ApiObject): readonly FieldError[] {
  const { strategy, preferredHolder } = (object as unknown as Lease).spec;
  const problems: FieldError[] = [];
  if (strategy !== undefined) problems.push(...strategyProblems(strategy));
  // An empty preferred holder counts as none.
  if (preferredHolder && strategy === undefined) {
    problems.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return problems;
}

function strategyProblems(strategy: string): FieldError[] {
  if (strategy.includes('/')) {
    return qualifiedNameProblems(strategy).map((detail) => invalid(STRATEGY_PATH, strategy, detail));
  }
  return strategy === 'OldestEmulationVersion'
    ? []
    : [notSupported(STRATEGY_PATH, strategy, ['OldestEmulationVersion'])];
}
