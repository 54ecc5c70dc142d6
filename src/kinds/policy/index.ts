/**
 * The policy group.
 */
import type { Kind } from '../kind.js';
import { PodDisruptionBudget } from './v1/pod-disruption-budget.js';

export * from './v1/pod-disruption-budget.js';

/** The kinds of the group. */
export const policyKinds: readonly Kind[] = [PodDisruptionBudget];
