/**
 * Computes the status of a ReplicaSet or ReplicationController.
 */

import type { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import { labelSelectorFrom, matchesLabels } from '../../../meta/labels.js';
import { messageOf } from '../../../util/message-of.js';
import { isPodReady, msUntilAvailable, type StoredPod } from '../pod-state.js';

export type ReplicaStatus = ObjectOf<typeof ReplicaSet>['status'];

const FAILURE = 'ReplicaFailure';

export interface Observed {
  readonly status: ReplicaStatus;
  readonly generation: number | undefined;
  readonly templateLabels: Readonly<Record<string, string>>;
  readonly minReadySeconds: number;
  /** Pods that are neither finished nor terminating. */
  readonly active: readonly StoredPod[];
  /** The number of terminating pods; undefined: not reported. */
  readonly terminating: number | undefined;
  /** The error of a create or, with `tooMany`, of a delete. */
  readonly failure?: { readonly error: unknown; readonly tooMany: boolean } | undefined;
  readonly nowMs: number;
  readonly now: string;
}

export interface NextStatus {
  readonly status: ReplicaStatus;
  /** The time until the next ready pod becomes available. */
  readonly nextAvailableMs: number | undefined;
}

/** Computes the status from the pods. Zero counts are omitted, as in storage. */
export function replicaStatus(observed: Observed): NextStatus {
  const { active, minReadySeconds, nowMs } = observed;
  const template = labelSelectorFrom(observed.templateLabels);
  let labeled = 0;
  let ready = 0;
  let available = 0;
  let next = Infinity;
  for (const pod of active) {
    if (matchesLabels(template, pod.metadata.labels)) labeled++;
    if (!isPodReady(pod)) continue;
    ready++;
    const wait = msUntilAvailable(pod, minReadySeconds, nowMs);
    if (wait === 0) available++;
    else next = Math.min(next, wait);
  }
  const conditions = conditionsOf(observed);
  return {
    status: {
      replicas: active.length,
      ...(labeled > 0 && { fullyLabeledReplicas: labeled }),
      ...(ready > 0 && { readyReplicas: ready }),
      ...(available > 0 && { availableReplicas: available }),
      ...(observed.terminating !== undefined && { terminatingReplicas: observed.terminating }),
      ...(observed.generation !== undefined && { observedGeneration: observed.generation }),
      ...(conditions.length > 0 && { conditions }),
    },
    nextAvailableMs: next === Infinity ? undefined : next,
  };
}

/** Adds the failure condition with the message of the first failure, and removes it after a reconcile without failure. */
function conditionsOf({ status, failure, now }: Observed): NonNullable<ReplicaStatus['conditions']> {
  const { conditions = [] } = status;
  const isPresent = conditions.some(({ type }) => type === FAILURE);
  if (failure === undefined) return isPresent ? conditions.filter(({ type }) => type !== FAILURE) : conditions;
  if (isPresent) return conditions;
  const reason = failure.tooMany ? 'FailedDelete' : 'FailedCreate';
  const message = `${failure.tooMany ? 'unable to delete pods: ' : ''}${messageOf(failure.error)}`;
  return [...conditions, { type: FAILURE, status: 'True', lastTransitionTime: now, reason, message }];
}
