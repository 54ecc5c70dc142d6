/**
 * The options of a delete, and what a kind may do instead of the default deletion.
 */
import type { DraftObject } from '../meta/object.js';
import type { Preconditions } from '../protocol/request.js';

export type PropagationPolicy = 'Foreground' | 'Background' | 'Orphan';

/** The validated options of a delete. */
export interface DeletionRequest {
  readonly preconditions: Preconditions;
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: PropagationPolicy;
  readonly orphanDependents?: boolean;
}

/**
 * The result of `DeleteStrategy.intercept`. `proceed`: run the default deletion. `unchanged`: respond with the live object.
 * `conflict`: respond with 409 and this message. `update`: store this object and respond with it.
 */
export type DeletionDecision =
  | { readonly type: 'proceed' }
  | { readonly type: 'unchanged' }
  | { readonly type: 'conflict'; readonly why: string }
  | { readonly type: 'update'; readonly object: DraftObject };
