/**
 * Validates the strategy of coordinated leader election in Leases and LeaseCandidates.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid, notSupported } from '../../meta/field-error.js';
import { qualifiedNameProblems } from '../../meta/names.js';

/** The only built-in strategy; other strategies are qualified names. */
export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion';

/** The reference server repeats the field's name in the path. */
const STRATEGY_PATH = 'spec.strategy.strategy';

/** Validates a strategy. */
export function strategyProblems(strategy: string): FieldError[] {
  if (strategy.includes('/')) {
    return qualifiedNameProblems(strategy).map((detail) => invalid(STRATEGY_PATH, strategy, detail));
  }
  return strategy === OLDEST_EMULATION_VERSION
    ? []
    : [notSupported(STRATEGY_PATH, strategy, [OLDEST_EMULATION_VERSION])];
}
