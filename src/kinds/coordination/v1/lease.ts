/**
 * Lease: who holds what until when; the base of leader election.
 */
import * as z from 'zod';
import { serviceGroup } from '../../../meta/dialect.js';
import type { FieldError } from '../../../meta/field-error.js';
import { forbidden, invalid } from '../../../meta/field-error.js';
import type { ApiObject, DraftObject } from '../../../meta/object.js';
import { always, int32, microTime, namedString, pointer } from '../../../schema/hints.js';
import { type Input, type Output, type Type, type } from '../../../schema/type.js';
import { defineBuiltIn, type InputBase, type ObjectBase } from '../../define-kind.js';
import type { Kind, WriteContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { strategyProblems } from '../lease-strategy.js';

const leaseSpecShape = () => ({
  holderIdentity: pointer(z.string()),
  leaseDurationSeconds: pointer(int32()),
  acquireTime: pointer(microTime()),
  renewTime: pointer(microTime()),
  leaseTransitions: pointer(int32()),
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
  strategy: {
    update: { unconditional: false, createsAbsent: true, prepare: dropDisabled, metadata: 'plain', validate: validate },
    create: { prepare: (draft, context) => dropDisabled(draft, undefined, context), metadata: 'plain', validate },
  },
});

/** Coordinated election is not open to everybody yet; a lease that takes part in it goes on to. */
function dropDisabled(draft: DraftObject, live: ApiObject | undefined, { features }: WriteContext): void {
  if (features.enabled('CoordinatedLeaderElection')) return;
  const { spec } = draft as unknown as Lease;
  const before = (live as unknown as Lease | undefined)?.spec;
  if (before?.strategy === undefined) delete spec.strategy;
  if (before?.preferredHolder === undefined) delete spec.preferredHolder;
}

function validate(object: ApiObject): readonly FieldError[] {
  const {
    leaseDurationSeconds = 1,
    leaseTransitions = 0,
    strategy,
    preferredHolder,
  } = (object as unknown as Lease).spec;
  const problems: FieldError[] = [];
  if (leaseDurationSeconds <= 0) {
    problems.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  if (leaseTransitions < 0) {
    problems.push(invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'));
  }
  if (strategy !== undefined) problems.push(...strategyProblems(strategy));
  // An empty preferred holder counts as none, and so does an empty strategy.
  if (preferredHolder && !strategy) {
    problems.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return problems;
}
