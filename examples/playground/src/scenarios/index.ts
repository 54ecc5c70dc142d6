/**
 * All scenarios, in the order in which the panel lists them.
 */
import { autoscaler } from './autoscaler.js';
import { crashLoop } from './crash-loop.js';
import { finalizer } from './finalizer.js';
import { policy } from './policy.js';
import { rbacRoles } from './rbac-roles.js';
import { rollout } from './rollout.js';
import type { Scenario } from './scenario.js';
import { twoManagers } from './two-managers.js';
import { validationRules } from './validation-rules.js';
import { webhook } from './webhook.js';

export const scenarios: readonly Scenario[] = [
  twoManagers,
  rollout,
  crashLoop,
  autoscaler,
  finalizer,
  validationRules,
  policy,
  webhook,
  rbacRoles,
];
