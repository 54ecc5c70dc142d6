/**
 * The pods of a Job as they are made, and which of them go first when there are too many.
 */
import type { PodInput } from '../../../kinds/core/v1/pod/pod.js';
import { timeToMs } from '../../../text/time/time.js';
import { podFromTemplate } from '../new-pod.js';
import { isPodReady, podCondition, type StoredPod } from '../pod-state.js';
import { failuresBefore, ignoredFailuresBefore, indexOf, type Marks } from './marks.js';
import { byIndex, isIndexed, type StoredJob } from './picture.js';
import { judgeFailure } from './pod-failure-policy.js';

/** The longest start of a generated name: 63 characters in all, five of them drawn. */
const MAX_PREFIX = 58;
const INDEX_VARIABLE = 'JOB_COMPLETION_INDEX';

/** A pod of a Job that has no indexes. */
export function plainPod(job: StoredJob, marks: Marks): PodInput {
  const pod = podFromTemplate(job.spec.template, job);
  const { finalizers = [] } = pod.metadata;
  if (!finalizers.includes(marks.finalizer)) pod.metadata.finalizers = [...finalizers, marks.finalizer];
  return pod;
}

/** A pod for an index. `replaced` is the one that failed before it, where failures are counted per index. */
export function indexedPod(
  job: StoredJob,
  marks: Marks,
  { index, replaced }: { readonly index: number; readonly replaced: StoredPod | undefined },
): PodInput {
  const pod = plainPod(job, marks);
  const { metadata, spec } = pod;
  metadata.generateName = indexedPrefix(job.metadata.name, index);
  metadata.annotations = { ...metadata.annotations, [marks.index]: String(index) };
  metadata.labels = { ...metadata.labels, [marks.index]: String(index) };
  if (job.spec.backoffLimitPerIndex !== undefined)
    Object.assign(metadata.annotations, failureMarks(job, marks, replaced));
  // Every stored template has one.
  if (spec === undefined) return pod;
  spec.hostname = `${job.metadata.name}-${index}`;
  const fieldPath = `metadata.labels['${marks.index}']`;
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const { env = [] } = container;
    if (env.some(({ name }) => name === INDEX_VARIABLE)) continue;
    container.env = [...env, { name: INDEX_VARIABLE, valueFrom: { fieldRef: { fieldPath } } }];
  }
  return pod;
}

/** The index stays whole, however long the Job's name is. */
function indexedPrefix(name: string, index: number): string {
  const end = `-${index}-`;
  return `${name.slice(0, MAX_PREFIX - end.length)}${end}`;
}

function failureMarks({ spec }: StoredJob, marks: Marks, replaced: StoredPod | undefined): Record<string, string> {
  if (replaced === undefined) return { [marks.failures]: '0' };
  const { counts } = judgeFailure(spec.podFailurePolicy, replaced);
  const failures = failuresBefore(replaced, marks) + (counts ? 1 : 0);
  const ignored = ignoredFailuresBefore(replaced, marks) + (counts ? 0 : 1);
  return {
    [marks.failures]: String(failures),
    ...(ignored > 0 ? { [marks.ignoredFailures]: String(ignored) } : {}),
  };
}

/** At least so many of the active pods. Those of an indexed Job that nobody needs go in any case. */
export function podsToRemove(
  { spec }: StoredJob,
  active: readonly StoredPod[],
  { atLeast, marks }: { readonly atLeast: number; readonly marks: Marks },
): StoredPod[] {
  if (!isIndexed(spec)) return [...active].sort(leastDoneFirst).slice(0, atLeast);
  const remove: StoredPod[] = [];
  const keep: StoredPod[] = [];
  const seen = new Map<number, StoredPod[]>();
  for (const pod of byIndex(active, marks)) {
    const index = indexOf(pod, marks);
    if (index === undefined || index >= (spec.completions ?? 0)) remove.push(pod);
    else seen.set(index, [...(seen.get(index) ?? []), pod]);
  }
  for (const rivals of seen.values()) {
    rivals.sort(leastDoneFirst);
    remove.push(...rivals.slice(0, -1));
    keep.push(...rivals.slice(-1));
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

/** 0 for those that are not ready. Without a time it counts as ready since just now. */
function readySince(pod: StoredPod): number {
  if (!isPodReady(pod)) return 0;
  const since = podCondition(pod, 'Ready')?.lastTransitionTime;
  return since === undefined || since === null ? Number.MAX_SAFE_INTEGER : timeToMs(since);
}

function mostRestarts({ status }: StoredPod): number {
  return (status.containerStatuses ?? []).reduce((most, { restartCount }) => Math.max(most, restartCount), 0);
}
