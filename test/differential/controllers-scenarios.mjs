/**
 * Scenarios for comparing controllers, beside the recorded ones. A step is a request as in recordings, or an act of a
 * simulated kubelet on pods (`kubelet`, `select`, `count`, `status`). Before each step the controllers finish their work.
 * `wait` gives a deadline time to pass.
 */
import { CRON_JOBS, JOBS } from './controllers-jobs.mjs';
import {
  AUTOSCALERS,
  BUDGETS_AND_QUOTAS,
  GARBAGE,
  NAMESPACES,
  SERVICES,
  VOLUME_CLEANUP,
  VOLUMES,
} from './controllers-rest.mjs';
import { DAEMON_SETS, DEPLOYMENTS, NODE_CLEANUP, REPLICA_SETS, STATEFUL_SETS } from './controllers-workloads.mjs';

const named = (group, cleanup) => Object.entries(group).map(([name, steps]) => ({ name, steps, cleanup }));

export const scenarios = [
  ...[
    DEPLOYMENTS,
    REPLICA_SETS,
    STATEFUL_SETS,
    JOBS,
    CRON_JOBS,
    GARBAGE,
    NAMESPACES,
    SERVICES,
    BUDGETS_AND_QUOTAS,
    AUTOSCALERS,
  ].flatMap((group) => named(group)),
  ...named(DAEMON_SETS, NODE_CLEANUP),
  ...named(VOLUMES, VOLUME_CLEANUP),
];
