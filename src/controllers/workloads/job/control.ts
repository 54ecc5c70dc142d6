/**
 * What all parts of the Job controller share.
 */
import type { ControllerContext } from '../../runtime/controller.js';
import type { FailureRun } from './backoff.js';
import type { JobKeys } from './marks.js';

export interface JobControl extends Pick<ControllerContext, 'client' | 'clock' | 'events' | 'now'> {
  readonly keys: JobKeys;
  /** Consecutive failures by the Job's uid. Not part of the status: a restart resets them. */
  readonly runs: Map<string, FailureRun>;
}
