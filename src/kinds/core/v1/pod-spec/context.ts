/**
 * What validation of a pod spec needs besides the spec.
 */

import type { PodSpec } from '../../../generated/core-v1.js';
import type { HookContext } from '../../../kind.js';

/** For a template a HookContext is sufficient. */
export interface PodSpecContext extends Pick<HookContext, 'dialect' | 'features' | 'settings'> {
  /** The name of the pod; absent for templates. */
  readonly podName?: string | undefined;
  /** True for mirror pods of static pods. */
  readonly isStatic?: boolean;
  /** The live spec on updates: some invalid values are accepted if the live spec already has them. */
  readonly live?: PodSpec | undefined;
}
