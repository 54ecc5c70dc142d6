/**
 * The state of a Job for one reconcile: its pods, classified, and its failures, with the backoff before new pods (10 s, doubled
 * with each further failure, ten minutes at most, on the cluster's clock) and the podFailurePolicy, which decides whether a
 * failure counts and what else follows. Also the finalizer, annotations and labels on its pods. The tracking finalizer keeps a
 * finished pod until it is counted.
 */

import type { Client } from '../../../client/client.js';
import { strategicPatch } from '../../../client/patches.js';
import type { Job } from '../../../kinds/batch/v1/job/job.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { PodFailurePolicy, PodFailurePolicyRule } from '../../../kinds/generated/batch-v1.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import type { Dialect } from '../../../meta/dialect.js';
import type { DeepReadonly } from '../../../meta/object.js';
import { timeToMs } from '../../../text/time/time.js';
import type { ControllerContext } from '../../runtime/controller.js';
import { ignoreNotFound } from '../../runtime/expected-errors.js';
import { isPodActive, isPodFinished, isPodReady, isTerminating, podCondition, type StoredPod } from '../pod-state.js';
import { IndexSet } from './index-set.js';

export type StoredJob = ObjectOf<typeof Job>;
export type StoredJobSpec = StoredJob['spec'];

/** The pods of a Job at one point in time, classified. */
export interface JobSnapshot {
  readonly job: StoredJob;
  /** All pods of the Job; those of an indexed Job sorted by index. */
  readonly pods: readonly StoredPod[];
  readonly active: readonly StoredPod[];
  readonly ready: number;
  readonly terminating: number;
  /** The number of succeeded pods or indexes, counted in the status or not. */
  readonly succeeded: number;
  /** The number of failed pods that count, counted in the status or not. */
  readonly failed: number;
  /** Including new failures. */
  readonly run: FailureRun;
  /** Only for indexed Jobs. */
  readonly indexes: IndexSnapshot | undefined;
}

export interface IndexSnapshot {
  readonly completions: number;
  /** The completed indexes in the status. */
  readonly known: IndexSet;
  readonly succeeded: IndexSet;
  /** With backoffLimitPerIndex: the indexes that have exceeded it. */
  readonly failed: IndexSet | undefined;
  /** With backoffLimitPerIndex: the last failed pod of each index without a replacement, which has the failure count. */
  readonly toReplace: ReadonlyMap<number, StoredPod>;
}

export interface SnapshotOptions {
  readonly keys: JobKeys;
  /** The failures so far. */
  readonly run: FailureRun;
}

export function snapshotOf(job: StoredJob, pods: readonly StoredPod[], { keys, run }: SnapshotOptions): JobSnapshot {
  const { spec, status } = job;
  const uncounted = status.uncountedTerminatedPods ?? {};
  const isNew = (pod: StoredPod, counted: readonly string[] | undefined) =>
    isTracked(pod, keys) && !(counted?.includes(pod.metadata.uid) ?? false) && hasValidIndex(pod, spec, keys);
  const newSucceeded = pods.filter((pod) => hasSucceeded(pod) && isNew(pod, uncounted.succeeded));
  const newFailed = pods.filter((pod) => hasFailed(pod, spec) && isNew(pod, uncounted.failed));
  const active = pods.filter(isPodActive);
  const indexes = isIndexed(spec) ? indexSnapshotOf(job, pods, keys) : undefined;
  return {
    job,
    pods: indexes === undefined ? pods : byIndex(pods, keys),
    active,
    ready: active.filter(isPodReady).length,
    terminating: pods.filter((pod) => isTerminating(pod) && !isPodFinished(pod)).length,
    succeeded:
      indexes === undefined
        ? (status.succeeded ?? 0) + newSucceeded.length + (uncounted.succeeded?.length ?? 0)
        : indexes.succeeded.size,
    failed:
      (status.failed ?? 0) +
      newFailed.filter((pod) => evaluateFailure(spec.podFailurePolicy, pod).counts).length +
      (uncounted.failed?.length ?? 0),
    run: continueRun(run, newSucceeded, newFailed),
    indexes,
  };
}

export function isIndexed({ completionMode }: StoredJobSpec): boolean {
  return completionMode === 'Indexed';
}

export function isSuspended({ suspend }: StoredJobSpec): boolean {
  return suspend === true;
}

/** Whether a terminating pod is replaced only after it has terminated. */
export function replacesFailedOnly({ podReplacementPolicy, podFailurePolicy }: StoredJobSpec): boolean {
  return podReplacementPolicy === 'Failed' || podFailurePolicy !== undefined;
}

export function hasSucceeded({ status }: StoredPod): boolean {
  return status.phase === 'Succeeded';
}

/** Failed, or terminating if that counts as a failure. */
export function hasFailed(pod: StoredPod, spec: StoredJobSpec): boolean {
  if (pod.status.phase === 'Failed') return true;
  return !replacesFailedOnly(spec) && isTerminating(pod) && !hasSucceeded(pod);
}

/** The Complete or Failed condition of a finished Job. */
export function finishedCondition({ status }: Pick<StoredJob, 'status'>) {
  return status.conditions?.find(
    (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  );
}

/** Whether the pod has a valid index; always true for a non-indexed Job. */
export function hasValidIndex(pod: StoredPod, spec: StoredJobSpec, keys: JobKeys): boolean {
  return !isIndexed(spec) || (indexOf(pod, keys) ?? Infinity) < (spec.completions ?? 0);
}

export function byIndex(pods: readonly StoredPod[], keys: JobKeys): StoredPod[] {
  return [...pods].sort((a, b) => (indexOf(a, keys) ?? -1) - (indexOf(b, keys) ?? -1));
}

function indexSnapshotOf({ spec, status }: StoredJob, pods: readonly StoredPod[], keys: JobKeys): IndexSnapshot {
  const completions = spec.completions ?? 0;
  const ours = pods.filter((pod) => isTracked(pod, keys) && hasValidIndex(pod, spec, keys));
  const indexesOf = (list: readonly StoredPod[]) => IndexSet.of(list.flatMap((pod) => indexOf(pod, keys) ?? []));
  const known = IndexSet.parse(status.completedIndexes, completions);
  const succeeded = known.union(indexesOf(ours.filter(hasSucceeded)));
  const { backoffLimitPerIndex: limit } = spec;
  if (limit === undefined) return { completions, known, succeeded, failed: undefined, toReplace: new Map() };

  const newlyFailed = ours.filter((pod) => exceedsIndexLimit(pod, { spec, limit, keys }));
  const failed = IndexSet.parse(status.failedIndexes, completions).union(indexesOf(newlyFailed));
  const active = indexesOf(pods.filter(isPodActive));
  const toReplace = new Map<number, StoredPod>();
  for (const pod of ours) {
    const index = indexOf(pod, keys);
    if (index === undefined || !hasFailed(pod, spec)) continue;
    if (succeeded.has(index) || failed.has(index) || active.has(index)) continue;
    const other = toReplace.get(index);
    if (other === undefined || isLaterFailure(pod, other, keys)) toReplace.set(index, pod);
  }
  return { completions, known, succeeded, failed, toReplace };
}

function exceedsIndexLimit(
  pod: StoredPod,
  { spec, limit, keys }: { spec: StoredJobSpec; limit: number; keys: JobKeys },
): boolean {
  if (!hasFailed(pod, spec)) return false;
  const { action, counts } = evaluateFailure(spec.podFailurePolicy, pod);
  return action === 'FailIndex' || (counts && failuresBefore(pod, keys) >= limit);
}

export function allFailuresBefore(pod: StoredPod, keys: JobKeys): number {
  return failuresBefore(pod, keys) + ignoredFailuresBefore(pod, keys);
}

function isLaterFailure(pod: StoredPod, other: StoredPod, keys: JobKeys): boolean {
  return allFailuresBefore(pod, keys) >= allFailuresBefore(other, keys) && finishedAt(pod) >= finishedAt(other);
}

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

const FIRST_MS = 10_000;
const MAX_MS = 600_000;

/** The failures since the last success, and the time of the last one. */
export interface FailureRun {
  readonly failures: number;
  readonly lastMs: number;
}

export const NO_FAILURES: FailureRun = { failures: 0, lastMs: 0 };

/** The run after newly finished pods. A success resets it. */
export function continueRun(
  run: FailureRun,
  succeeded: readonly StoredPod[],
  failed: readonly StoredPod[],
): FailureRun {
  const lastSuccess = Math.max(...succeeded.map(finishedAt), -Infinity);
  const since = failed.map(finishedAt).filter((failedAt) => failedAt > lastSuccess);
  const before = succeeded.length > 0 ? NO_FAILURES : run;
  if (since.length === 0) return before;
  return { failures: before.failures + since.length, lastMs: Math.max(...since) };
}

/** The remaining backoff; 0: none. */
export function backoffLeft({ failures, lastMs }: FailureRun, nowMs: number): number {
  if (failures === 0) return 0;
  const wait = Math.min(FIRST_MS * 2 ** (failures - 1), MAX_MS);
  return Math.max(0, lastMs + wait - nowMs);
}

/** The time when a pod finished, as far as its status shows. */
export function finishedAt(pod: StoredPod): number {
  const fromContainers = containersFinishedAt(pod);
  if (fromContainers !== undefined) return fromContainers;
  const { lastTransitionTime, status } = podCondition(pod, 'Ready') ?? {};
  if (status === 'False' && lastTransitionTime != null) return timeToMs(lastTransitionTime);
  const { creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds = 0 } = pod.metadata;
  if (deletionTimestamp !== undefined) return timeToMs(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
  return timeToMs(creationTimestamp);
}

/** The end of the last container. Of init containers only sidecars count. */
function containersFinishedAt({ spec, status }: StoredPod): number | undefined {
  const sidecars = new Set(
    spec.initContainers?.filter(({ restartPolicy }) => restartPolicy === 'Always').map(({ name }) => name),
  );
  const statuses = [
    ...(status.containerStatuses ?? []),
    ...(status.initContainerStatuses ?? []).filter(({ name }) => sidecars.has(name)),
  ];
  let last: number | undefined;
  for (const { state } of statuses) {
    const end = state?.terminated?.finishedAt;
    if (end == null) return undefined;
    last = Math.max(last ?? -Infinity, timeToMs(end));
  }
  return last;
}

interface FailureEvaluation {
  readonly action: PodFailurePolicyRule['action'] | undefined;
  /** Whether the failure counts against the Job's limits. */
  readonly counts: boolean;
  /** The message if the whole Job fails. */
  readonly failsJob?: string;
}

type Policy = DeepReadonly<PodFailurePolicy>;

type Rule = DeepReadonly<PodFailurePolicyRule>;

type ContainerStatus = NonNullable<StoredPod['status']['containerStatuses']>[number];

const NO_RULE: FailureEvaluation = { action: undefined, counts: true };

/** The first matching rule decides. */
export function evaluateFailure(policy: Policy | undefined, pod: StoredPod): FailureEvaluation {
  for (const [index, rule] of policy?.rules.entries() ?? []) {
    const match = describeMatch(rule, pod);
    if (match === undefined) continue;
    const { action } = rule;
    if (action === 'FailJob')
      return { action, counts: true, failsJob: `${match} matching FailJob rule at index ${index}` };
    return { action, counts: action !== 'Ignore' };
  }
  return NO_RULE;
}

/** Describes what in the pod's status matches the rule; undefined: nothing does. */
function describeMatch(rule: Rule, { metadata, status }: StoredPod): string | undefined {
  const pod = `${metadata.namespace}/${metadata.name}`;
  if (rule.onExitCodes !== undefined) {
    const { onExitCodes } = rule;
    const all = [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])];
    const container = all.find((candidate) => exitCodeMatches(onExitCodes, candidate));
    if (container === undefined) return undefined;
    return `Container ${container.name} for pod ${pod} failed with exit code ${container.state?.terminated?.exitCode}`;
  }
  const condition = status.conditions?.find((candidate) =>
    rule.onPodConditions?.some((pattern) => pattern.type === candidate.type && pattern.status === candidate.status),
  );
  return condition === undefined ? undefined : `Pod ${pod} has condition ${condition.type}`;
}

function exitCodeMatches(
  { containerName, operator, values }: NonNullable<Rule['onExitCodes']>,
  { name, state }: ContainerStatus,
): boolean {
  const exitCode = state?.terminated?.exitCode;
  // Exit code 0 is a success and never matches.
  if (exitCode === undefined || exitCode === 0) return false;
  if (containerName !== undefined && containerName !== name) return false;
  return values.includes(exitCode) === (operator === 'In');
}
