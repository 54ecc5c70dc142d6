/**
 * Both rounds of admission: plugins that may change the draft, and plugins that may only refuse.
 */
import { runAdmission } from '../../admission/chain.js';
import type { AdmissionRequest, Operation } from '../../admission/types.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { MaybePromise } from '../../util/maybe-promise.js';
import type { WriteJob } from '../job.js';

/** What a write asks of admission. */
export interface Admitted {
  readonly operation: Operation;
  readonly object?: DraftObject | ApiObject | undefined;
  readonly oldObject?: ApiObject | undefined;
}

export function admit(phase: 'mutate' | 'validate', admitted: Admitted, job: WriteJob): MaybePromise<void> {
  const { admission, view } = job.context;
  if (admission.length === 0) return undefined;
  return runAdmission(admission, phase, { request: requestOf(admitted, job), view });
}

function requestOf(admitted: Admitted, job: WriteJob): AdmissionRequest<DraftObject> {
  const metadata = admitted.object?.metadata ?? admitted.oldObject?.metadata;
  return {
    operation: admitted.operation,
    served: job.served,
    subresource: job.request.subresource ?? '',
    namespace: job.namespace,
    name: job.request.name || metadata?.name || metadata?.generateName || '',
    // The chain hands it to validating plugins under the type of a finished object.
    object: admitted.object as DraftObject | undefined,
    oldObject: admitted.oldObject,
    dryRun: job.dryRun,
    user: job.user,
  };
}
