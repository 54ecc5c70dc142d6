/**
 * The Job of one run of a CronJob.
 */
import type { JobInput } from '../../kinds/batch/v1/job/job.js';
import type { ObjectReference } from '../../kinds/shared/types.js';
import type { Dialect } from '../../meta/dialect.js';
import type { DeepReadonly } from '../../meta/object.js';
import { formatInZone } from '../../text/time/time-zone.js';
import { controllerReference } from '../runtime/owners.js';
import type { StoredJob } from '../workloads/job/picture.js';
import type { StoredCronJob } from './due.js';

const MINUTE = 60_000;

/** The deterministic name of a run's Job, so that no run is started twice. */
export function jobNameAt({ metadata }: StoredCronJob, dueMs: number): string {
  return `${metadata.name}-${Math.floor(dueMs / MINUTE)}`;
}

type NamedJobInput = DeepReadonly<JobInput> & { readonly metadata: { readonly name: string } };

export function jobFor(
  cronJob: StoredCronJob,
  { dueMs, dialect }: { readonly dueMs: number; readonly dialect: Dialect },
): NamedJobInput {
  const { jobTemplate, timeZone = 'UTC' } = cronJob.spec;
  const { labels } = jobTemplate.metadata;
  const annotations: Record<string, string> = { ...jobTemplate.metadata.annotations };
  annotations[dialect.subkey('batch', 'cronjob-scheduled-timestamp')] = formatInZone(dueMs, timeZone);
  const name = jobNameAt(cronJob, dueMs);
  const ownerReferences = [controllerReference(cronJob)];
  return {
    metadata:
      labels === undefined ? { name, annotations, ownerReferences } : { name, labels, annotations, ownerReferences },
    spec: jobTemplate.spec,
  };
}

/** The reference to a Job in a status. */
export function referenceTo({ apiVersion, kind, metadata }: StoredJob): ObjectReference {
  const { name, namespace = '', uid, resourceVersion } = metadata;
  return { kind, namespace, name, uid, apiVersion, resourceVersion };
}
