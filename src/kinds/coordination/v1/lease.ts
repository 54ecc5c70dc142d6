/**
 * The Lease kind: a time-limited lock, the basis of leader election.
 */

import { type FieldError, forbidden, invalid } from '../../../meta/field-error.js';
import { qualifiedNameProblems } from '../../../meta/names.js';
import { append } from '../../../util/arrays.js';
import { defineBuiltIn } from '../../define-kind.js';
import { type LeaseKind, type LeaseObject, leaseBase } from '../../generated/coordination-v1.js';
import type { HookContext } from '../../kind.js';
import { ageColumn, nameColumn, textColumn } from '../../shared/common-columns.js';
import { nonNegative, valueErrors } from '../../shared/field-rules.js';

/** The only built-in strategy; other strategies are qualified names. */
export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion';

/** The reference server repeats the field's name in the path. */
const STRATEGY_PATH = 'spec.strategy.strategy';

export interface Lease extends LeaseObject {}

export const Lease: LeaseKind<Lease> = defineBuiltIn({
  ...leaseBase,
  columns: [
    nameColumn,
    textColumn('Holder', 'The current holder of the lease.', ({ spec }) => spec.holderIdentity ?? ''),
    ageColumn,
  ],
  strategy: {
    update: {
      allowUnconditionalUpdate: false,
      allowCreateOnUpdate: true,
      prepare: dropDisabled,
      metadataValidation: 'repeated',
      validate: validate,
    },
    create: {
      prepare: (draft, context) => dropDisabled(draft, undefined, context),
      metadataValidation: 'repeated',
      validate,
    },
  },
});

/** Drops the fields of coordinated leader election while its gate is disabled, unless the live lease uses them. */
function dropDisabled({ spec }: Lease, live: Lease | undefined, { features }: HookContext): void {
  if (features.enabled('CoordinatedLeaderElection')) return;
  if (live?.spec.strategy === undefined) delete spec.strategy;
  if (live?.spec.preferredHolder === undefined) delete spec.preferredHolder;
}

function validate({ spec }: Lease): readonly FieldError[] {
  const { leaseDurationSeconds = 1, leaseTransitions, strategy, preferredHolder } = spec;
  const problems: FieldError[] = [];
  if (leaseDurationSeconds <= 0) {
    problems.push(invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'));
  }
  append(problems, nonNegative('spec.leaseTransitions', leaseTransitions));
  if (strategy !== undefined) append(problems, strategyProblems(strategy));
  // Empty values count as absent.
  if (preferredHolder && !strategy) {
    problems.push(forbidden('spec.preferredHolder', 'may only be specified if `strategy` is defined'));
  }
  return problems;
}

/** Validates a strategy. */
export function strategyProblems(strategy: string): FieldError[] {
  if (strategy.includes('/')) {
    return qualifiedNameProblems(strategy).map((detail) => invalid(STRATEGY_PATH, strategy, detail));
  }
  return valueErrors(STRATEGY_PATH, strategy, [OLDEST_EMULATION_VERSION]);
}
