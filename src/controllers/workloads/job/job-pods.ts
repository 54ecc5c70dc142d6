/**
 * Creates the pods of a Job and selects those to delete first when there are too many.
 */
import type { PodInput } from '../../../kinds/core/v1/pod/pod.js';
import { timeToMs } from '../../../text/time/time.js';
import { podFromTemplate } from '../new-pod.js';
import { isPodReady, podCondition, type StoredPod } from '../pod-state.js';
import { failuresBefore, ignoredFailuresBefore, indexOf, type JobKeys } from './marks.js';
import { byIndex, isIndexed, type StoredJob } from './picture.js';
import { evaluateFailure } from './pod-failure-policy.js';

/** The maximum prefix of a generated name: 63 characters minus five random ones. */
const MAX_PREFIX_LENGTH = 58;
const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

/** A pod of a non-indexed Job. */
export function plainPod(job: StoredJob, keys: JobKeys): PodInput {
  const pod = podFromTemplate(job.spec.template, job);
  const { finalizers = [] } = pod.metadata;
  if (!finalizers.includes(keys.finalizer)) pod.metadata.finalizers = [...finalizers, keys.finalizer];
  return pod;
}

/** A pod for an index. `replaced` is the failed pod before it, if failures are counted per index. */
export function indexedPod(
  job: StoredJob,
  keys: JobKeys,
  { index, replaced }: { readonly index: number; readonly replaced: StoredPod | undefined },
): PodInput {
  const pod = plainPod(job, keys);
  const { metadata, spec } = pod;
  metadata.generateName = indexedPrefix(job.metadata.name, index);
  metadata.annotations = { ...metadata.annotations, [keys.index]: String(index) };
  metadata.labels = { ...metadata.labels, [keys.index]: String(index) };
  if (job.spec.backoffLimitPerIndex !== undefined)
    Object.assign(metadata.annotations, failureAnnotations(job, keys, replaced));
  // Every stored template has a spec.
  if (spec === undefined) return pod;
  spec.hostname = `${job.metadata.name}-${index}`;
  const fieldPath = `metadata.labels['${keys.index}']`;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const { env = [] } = container;
    if (env.some(({ name }) => name === INDEX_VARIABLE)) continue;
    container.env = [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath } } }];
  }
  return pod;
}

/** The prefix of a generated name. A long Job name is truncated, the index never. */
function indexedPrefix(name: string, index: number): string {
  const end = `-${index}-`;
  return `${name.slice(0, MAX_PREFIX_LENGTH - end.length)}${end}`;
}

function failureAnnotations(
  { spec }: StoredJob,
  keys: JobKeys,
  replaced: StoredPod | undefined,
): Record<string, string> {
  if (replaced === undefined) return { [keys.failures]: '0' };
  const { counts } = evaluateFailure(spec.podFailurePolicy, replaced);
  const failures = failuresBefore(replaced, keys) + (counts ? 1 : 0);
  const ignored = ignoredFailuresBefore(replaced, keys) + (counts ? 0 : 1);
  return {
    [keys.failures]: String(failures),
    ...(ignored > 0 ? { [keys.ignoredFailures]: String(ignored) } : {}),
  };
}

/** Selects at least so many of the active pods. Of an indexed Job, pods with an invalid or duplicate index are always included. */
export function podsToRemove(
  { spec }: StoredJob,
  active: readonly StoredPod[],
  { atLeast, keys }: { readonly atLeast: number; readonly keys: JobKeys },
): StoredPod[] {
  if (!isIndexed(spec)) return [...active].sort(leastDoneFirst).slice(0, atLeast);
  const remove: StoredPod[] = [];
  const keep: StoredPod[] = [];
  const seen = new Map<number, StoredPod[]>();
  for (const pod of byIndex(active, keys)) {
    const index = indexOf(pod, keys);
    if (index === undefined || index >= (spec.completions ?? 0)) remove.push(pod);
    else seen.set(index, [...(seen.get(index) ?? []), pod]);
  }
  for (const duplicates of seen.values()) {
    duplicates.sort(leastDoneFirst);
    remove.push(...duplicates.slice(0, -1));
    keep.push(...duplicates.slice(-1));
  }
  const more = Math.max(0, atLeast - remove.length);
  return [...remove, ...keep.sort(leastDoneFirst).slice(0, more)];
}

const PHASES: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

function leastDoneFirst(a: StoredPod, b: StoredPod): number {
  const hasNode = (pod: StoredPod) => Number((pod.spec.nodeName ?? '') !== '');
  const phase = (pod: StoredPod) => PHASES[pod.status.phase ?? ''] ?? 0;
  return (
    hasNode(a) - hasNode(b) ||
    phase(a) - phase(b) ||
    Number(isPodReady(a)) - Number(isPodReady(b)) ||
    readySince(b) - readySince(a) ||
    mostRestarts(b) - mostRestarts(a) ||
    timeToMs(b.metadata.creationTimestamp) - timeToMs(a.metadata.creationTimestamp)
  );
}

/** 0 for pods that are not ready. Without a transition time the pod counts as ready since now. */
function readySince(pod: StoredPod): number {
  if (!isPodReady(pod)) return 0;
  const since = podCondition(pod, 'Ready')?.lastTransitionTime;
  return since === undefined || since === null ? Number.MAX_SAFE_INTEGER : timeToMs(since);
}

function mostRestarts({ status }: StoredPod): number {
  return (status.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0);
}
