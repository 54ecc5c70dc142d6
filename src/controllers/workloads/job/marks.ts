/**
 * What a Job writes on its pods, and reads there again: the finalizer that keeps a finished pod until it is counted, the
 * index it works on, how often that index has failed.
 */
import type { Client } from '../../../client/client.js';
import { strategicPatch } from '../../../client/patches.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { Dialect } from '../../../meta/dialect.js';
import { ignoringAbsence } from '../../runtime/refusals.js';
import type { StoredPod } from '../pod-state.js';

/** The names of the marks in a dialect. */
export interface Marks {
  readonly finalizer: string;
  /** Both an annotation and a label. */
  readonly index: string;
  readonly failures: string;
  readonly ignoredFailures: string;
  /** Who is named as a Job's manager when it is us. */
  readonly manager: string;
}

export function marksIn(dialect: Dialect): Marks {
  return {
    finalizer: dialect.subkey('batch', 'job-tracking'),
    index: dialect.subkey('batch', 'job-completion-index'),
    failures: dialect.subkey('batch', 'job-index-failure-count'),
    ignoredFailures: dialect.subkey('batch', 'job-index-ignored-failure-count'),
    manager: dialect.key('job-controller'),
  };
}

export function isTracked({ metadata }: StoredPod, { finalizer }: Marks): boolean {
  return metadata.finalizers?.includes(finalizer) ?? false;
}

/** The index that a pod works on; undefined where it has none that can be read. */
export function indexOf({ metadata }: StoredPod, marks: Marks): number | undefined {
  return readCount(metadata.annotations?.[marks.index]);
}

/** Failures of the pod's index before it that count against the limit. */
export function failuresBefore({ metadata }: StoredPod, marks: Marks): number {
  return readCount(metadata.annotations?.[marks.failures]) ?? 0;
}

export function ignoredFailuresBefore({ metadata }: StoredPod, marks: Marks): number {
  return readCount(metadata.annotations?.[marks.ignoredFailures]) ?? 0;
}

/** Lets a pod go that has been counted, or that nobody counts any more. A pod that is gone needs nothing. */
export async function untrack(client: Client, { metadata }: StoredPod, { finalizer }: Marks): Promise<void> {
  await ignoringAbsence(
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
