/**
 * What helps a pod that fits nowhere: the removal of pods, or another allocation of its resource claims.
 * upstream: pkg/scheduler/framework/runtime/framework.go RunPostFilterPlugins
 */

import type { StoredResourceClaim } from './plugins/device-allocator.js';
import { claimRelease } from './plugins/dynamic-resources.js';
import { type Candidate, preempt } from './preemption.js';
import type { Failure } from './rank.js';
import type { PodInfo, Snapshot } from './snapshot.js';

export interface Remedy {
  /** The best nodes for preemption: equal by all criteria, sorted by name. */
  readonly candidates: readonly Candidate[];
  /** A claim whose allocation must be removed. */
  readonly claim?: StoredResourceClaim | undefined;
  /** Why nothing helps, for the message about the pod. */
  readonly message?: string | undefined;
  /** The node that the pod is nominated to from now on; undefined: as before, empty: none. */
  readonly nominatedNodeName?: string | undefined;
}

export function findRemedy(info: PodInfo, failure: Failure, snapshot: Snapshot): Remedy {
  const hasClaims = (info.pod.spec.resourceClaims ?? []).length > 0;
  const { podProblem, plugins } = failure;
  // The reference looks for the state of its plugin, which does not exist if another one rejected the pod before.
  if (hasClaims && podProblem !== undefined && !plugins.has('DynamicResources')) {
    return { candidates: [], message: 'not found' };
  }
  const release = hasClaims ? claimRelease(info.pod, failure, snapshot) : undefined;
  const { best, message, isError = false, keepsNomination = false } = preempt(info, failure, snapshot);
  const [candidate] = best;
  if (candidate !== undefined)
    return { candidates: best, claim: release?.claim, nominatedNodeName: candidate.nodeName };
  const texts = [isError ? undefined : release?.message, `preemption: ${message}`].filter((text) => text !== undefined);
  return {
    candidates: [],
    claim: release?.claim,
    message: texts.join(', '),
    nominatedNodeName: keepsNomination ? undefined : '',
  };
}
