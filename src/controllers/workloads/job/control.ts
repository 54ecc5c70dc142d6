/**
 * What all parts of the Job controller share: the clients, and the finalizer, annotations and labels on its pods. The tracking
 * finalizer keeps a finished pod until it is counted.
 */

import type { Client } from '../../../client/client.js';
import { strategicPatch } from '../../../client/patches.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { Dialect } from '../../../meta/dialect.js';
import type { ControllerContext } from '../../runtime/controller.js';
import { ignoreNotFound } from '../../runtime/expected-errors.js';
import type { StoredPod } from '../pod-state.js';
import type { FailureRun } from './failures.js';

export interface JobControl extends Pick<ControllerContext, 'client' | 'clock' | 'events' | 'now'> {
  readonly keys: JobKeys;
  /** Consecutive failures by the Job's uid. Not part of the status: a restart resets them. */
  readonly runs: Map<string, FailureRun>;
}

/** The names in a cluster's dialect. */
export interface JobKeys {
  readonly finalizer: string;
  /** Both an annotation and a label. */
  readonly index: string;
  readonly failures: string;
  readonly ignoredFailures: string;
  /** The value of `spec.managedBy` that means this controller. */
  readonly manager: string;
}

export function jobKeys(dialect: Dialect): JobKeys {
  return {
    finalizer: dialect.subkey('batch', 'job-tracking'),
    index: dialect.subkey('batch', 'job-completion-index'),
    failures: dialect.subkey('batch', 'job-index-failure-count'),
    ignoredFailures: dialect.subkey('batch', 'job-index-ignored-failure-count'),
    manager: dialect.key('job-controller'),
  };
}

export function isTracked({ metadata }: StoredPod, { finalizer }: JobKeys): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** The completion index of a pod; undefined without a valid one. */
export function indexOf({ metadata }: StoredPod, keys: JobKeys): number | undefined {
  return readCount(metadata.annotations?.[keys.index]);
}

/** The earlier failures of the pod's index that count against the limit. */
export function failuresBefore({ metadata }: StoredPod, keys: JobKeys): number {
  return readCount(metadata.annotations?.[keys.failures]) ?? 0;
}

export function ignoredFailuresBefore({ metadata }: StoredPod, keys: JobKeys): number {
  return readCount(metadata.annotations?.[keys.ignoredFailures]) ?? 0;
}

/** Removes the tracking finalizer. A pod that is gone is ignored. */
export async function untrack(client: Client, { metadata }: StoredPod, { finalizer }: JobKeys): Promise<void> {
  await ignoreNotFound(
    client
      .api(Pod, metadata.namespace)
      .patch(metadata.name, strategicPatch({ metadata: { '$deleteFromPrimitiveList/finalizers': [finalizer] } })),
  );
}

const MAX_INT32 = 2 ** 31 - 1;

function readCount(text: string | undefined): number | undefined {
  if (text === undefined || !/^\+?[0-9]+$/.test(text)) return undefined;
  const count = Number(text);
  return count <= MAX_INT32 ? count : undefined;
}
