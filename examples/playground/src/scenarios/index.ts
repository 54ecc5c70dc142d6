/**
 * All scenarios, in the order in which the panel lists them.
 */
import { heldByAFinalizer } from './held-by-a-finalizer.js';
import { policy } from './policy.js';
import { rollout } from './rollout.js';
import { rulesOfAKind } from './rules-of-a-kind.js';
import type { Scenario } from './scenario.js';
import { twoManagers } from './two-managers.js';
import { whoMayWhat } from './who-may-what.js';

export const scenarios: readonly Scenario[] = [
  twoManagers,
  rollout,
  heldByAFinalizer,
  rulesOfAKind,
  policy,
  whoMayWhat,
];
