/**
 * The strategy by which a holder is chosen, in Leases and in candidates for them.
 */
import type { FieldError } from '../../meta/field-error.js';
import { invalid, notSupported } from '../../meta/field-error.js';
import { qualifiedNameProblems } from '../../meta/names.js';

/** The one strategy that the service itself knows; everybody else's carry a domain. */
export const OLDEST_EMULATION_VERSION = 'OldestEmulationVersion';

/** The reference server names this field twice over. */
const STRATEGY_PATH = 'spec.strategy.strategy';

export function strategyProblems(strategy: string): FieldError[] {
  if (strategy.includes('/')) {
    return qualifiedNameProblems(strategy).map((detail) => invalid(STRATEGY_PATH, strategy, detail));
  }
  return strategy === OLDEST_EMULATION_VERSION
    ? []
    : [notSupported(STRATEGY_PATH, strategy, [OLDEST_EMULATION_VERSION])];
}
