/**
 * What every part of the Job controller works with.
 */
import type { ControllerContext } from '../../runtime/controller.js';
import type { FailureRun } from './backoff.js';
import type { Marks } from './marks.js';

export interface JobControl extends Pick<ControllerContext, 'client' | 'clock' | 'events' | 'now'> {
  readonly marks: Marks;
  /** Failures in a row, by the Job's uid. Not part of any status: after a restart counting begins anew. */
  readonly runs: Map<string, FailureRun>;
}
