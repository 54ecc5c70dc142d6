/**
 * Deletes the content of a namespace: first the pods, and when none are left everything else. One call is one attempt; its
 * result says what remains and how long that may take. Also computes the status conditions. spec: Namespace
 */
import type { ObjectApi } from '../../client/api.js';
import type { Client } from '../../client/client.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { NamespaceCondition } from '../../kinds/generated/core-v1.js';
import type { Kind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { StatusError } from '../../meta/errors.js';
import { qualifiedResource } from '../../meta/gvk.js';
import type { ApiObject, DeepReadonly } from '../../meta/object.js';
import { nextTurn } from '../../util/clock.js';
import { messageOf } from '../../util/message-of.js';

export interface ContentRequest {
  readonly client: Client;
  readonly kinds: readonly ServedKind[];
  readonly namespace: string;
  /** The time since the deletion of the namespace, in milliseconds. */
  readonly sinceMs: number;
}

interface DeletionProgress {
  /** Error messages of failed deletions. */
  readonly failures: readonly string[];
  /** The number of remaining objects by resource, `name.group`; absent: not reported. */
  readonly remaining?: ReadonlyMap<string, number> | undefined;
  /** The number of remaining objects by finalizer. */
  readonly finalizers?: ReadonlyMap<string, number> | undefined;
}

export interface ContentResult extends DeletionProgress {
  /** The kinds with remaining objects. */
  readonly left: readonly ServedKind[];
  /** The estimated time until the rest is deleted, in seconds; 0: no wait. */
  readonly estimateSeconds: number;
}

/** The estimate for objects with finalizers. */
const FINALIZER_SECONDS = 15;

/** Performs one attempt to delete the content of a namespace. */
export async function deleteContent(request: ContentRequest): Promise<ContentResult> {
  const resources = deletableResources(request.kinds);
  const pods = resources.find(({ kind }) => kind === Pod);
  const progress = new ProgressCounter();
  // 1. Pods first, because they may use everything else until they end.
  if (pods !== undefined) {
    progress.add(pods, await deleteAll(pods, request, await graceOf(request)));
    // In this case the result contains the failures only, not what remains.
    if (progress.left.length > 0)
      return { failures: progress.failures, left: progress.left, estimateSeconds: progress.estimate };
  }
  // 2. The rest, in any order.
  for (const served of resources) if (served !== pods) progress.add(served, await deleteAll(served, request, 0));
  const { failures, left, remaining, finalizers, estimate } = progress;
  return { failures, left, remaining, finalizers, estimateSeconds: estimate };
}

interface Outcome {
  readonly estimate: number;
  readonly count: number;
  readonly finalizers?: ReadonlyMap<string, number>;
  readonly failure?: string;
}

class ProgressCounter {
  readonly failures: string[] = [];
  readonly left: ServedKind[] = [];
  readonly remaining = new Map<string, number>();
  readonly finalizers = new Map<string, number>();
  estimate = 0;

  add(served: ServedKind, { estimate, count, finalizers, failure }: Outcome): void {
    if (failure !== undefined) this.failures.push(failure);
    this.estimate = Math.max(this.estimate, estimate);
    if (count === 0) return;
    this.left.push(served);
    this.remaining.set(`${served.gvr.resource}.${served.gvr.group}`, count);
    for (const [finalizer, held] of finalizers ?? []) {
      this.finalizers.set(finalizer, (this.finalizers.get(finalizer) ?? 0) + held);
    }
  }
}

/** Each resource in one version; deleting an object in one version deletes it in all. */
function deletableResources(kinds: readonly ServedKind[]): readonly ServedKind[] {
  const resources = new Map<string, ServedKind>();
  for (const served of kinds) {
    if (!served.namespaced || !served.verbs.includes('delete') || served.kind.virtual !== undefined) continue;
    const name = qualifiedResource(served.gvr);
    if (!resources.has(name) || served.storageKind === undefined) resources.set(name, served);
  }
  return [...resources.values()];
}

async function deleteAll(served: ServedKind, request: ContentRequest, grace: number): Promise<Outcome> {
  const { client, namespace } = request;
  const api: ObjectApi<Kind> = client.api(served.kind, namespace);
  const { group, version, resource } = served.gvr;
  try {
    if (!(await deleteCollection(served, api))) await deleteEach(served, api);
    // Controllers react before the next kind is deleted.
    await nextTurn();
    if (!served.verbs.includes('list')) return { estimate: grace, count: 0 };
    const items = (await api.list()).items as readonly ApiObject[];
    if (items.length === 0) return { estimate: 0, count: 0 };
    const finalizers = await countFinalizers(items);
    const count = items.length;
    if (grace > 0) return { estimate: grace, count, finalizers };
    if (finalizers.size > 0) return { estimate: FINALIZER_SECONDS, count, finalizers };
    const gvr = `${group}/${version}, Resource=${resource}`;
    return { estimate: 0, count, failure: `unexpected items still remain in namespace: ${namespace} for gvr: ${gvr}` };
  } catch (error) {
    return { estimate: grace, count: 0, failure: messageOf(error) };
  }
}

/** Returns false if the server does not support deletecollection for the resource. */
async function deleteCollection({ verbs }: ServedKind, api: ObjectApi<Kind>): Promise<boolean> {
  if (!verbs.includes('deletecollection')) return false;
  try {
    // Dependents of these objects are in the same namespace and are deleted anyway.
    await api.deleteCollection({ propagation: 'Background' });
    return true;
  } catch (error) {
    if (isNotSupported(error)) return false;
    throw error;
  }
}

async function deleteEach({ verbs }: ServedKind, api: ObjectApi<Kind>): Promise<void> {
  if (!verbs.includes('list')) return;
  const { items } = await api.list();
  for (const { metadata } of items as readonly ApiObject[]) {
    try {
      await api.delete(metadata.name, { propagation: 'Background' });
    } catch (error) {
      if (!isNotSupported(error)) throw error;
    }
  }
}

function isNotSupported(error: unknown): boolean {
  return StatusError.is(error, 'MethodNotAllowed') || StatusError.is(error, 'NotFound');
}

/** The longest grace period of the running pods in seconds; 0 if it has passed. */
async function graceOf({ client, namespace, sinceMs }: ContentRequest): Promise<number> {
  let longest = 0;
  for (const { spec, status } of (await client.api(Pod, namespace).list()).items) {
    if (status.phase === 'Succeeded' || status.phase === 'Failed') continue;
    longest = Math.max(longest, Number(spec.terminationGracePeriodSeconds ?? 0)); // a bigint above 2^53
  }
  return sinceMs >= longest * 1000 ? 0 : longest;
}

const FINALIZERS_PER_TURN = 20_000;

async function countFinalizers(items: readonly ApiObject[]): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  let counted = 0;
  for (const { metadata } of items) {
    const { finalizers = [] } = metadata;
    for (const finalizer of finalizers) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
    counted += finalizers.length;
    if (counted < FINALIZERS_PER_TURN) continue;
    // An object may have a hundred thousand. Other requests are answered in between.
    counted = 0;
    await nextTurn();
  }
  return counts;
}

type Condition = DeepReadonly<NamespaceCondition>;

interface ConditionValues {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

/** The conditions without problems, in the order in which they are added. */
const CONDITIONS_WITHOUT_PROBLEM: readonly (readonly [type: string, reason: string, message: string])[] = [
  ['NamespaceDeletionDiscoveryFailure', 'ResourcesDiscovered', 'All resources successfully discovered'],
  ['NamespaceDeletionGroupVersionParsingFailure', 'ParsedGroupVersions', 'All legacy kube types successfully parsed'],
  [
    'NamespaceDeletionContentFailure',
    'ContentDeleted',
    'All content successfully deleted, may be waiting on finalization',
  ],
  ['NamespaceContentRemaining', 'ContentRemoved', 'All content successfully removed'],
  ['NamespaceFinalizersRemaining', 'ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
];

/** The conditions for the progress; undefined if nothing changes. */
export function nextConditions(
  before: readonly Condition[],
  progress: DeletionProgress,
  now: string,
): readonly Condition[] | undefined {
  const problems = problemsIn(progress);
  const conditions = [...before];
  let hasChanged = false;
  for (const [type, reason, message] of CONDITIONS_WITHOUT_PROBLEM) {
    const wanted = problems.get(type) ?? { status: 'False', reason, message };
    const index = conditions.findIndex((condition) => condition.type === type);
    const known = conditions[index];
    if (known === undefined) {
      conditions.push({
        type,
        status: wanted.status,
        lastTransitionTime: now,
        reason: wanted.reason,
        message: wanted.message,
      });
    } else if (isSame(known, wanted)) continue;
    else {
      // lastTransitionTime changes with the status only, not with reason or message.
      conditions[index] = {
        ...known,
        ...wanted,
        ...(known.status === wanted.status ? {} : { lastTransitionTime: now }),
      };
    }
    hasChanged = true;
  }
  return hasChanged ? conditions : undefined;
}

function problemsIn({ failures, remaining, finalizers }: DeletionProgress): ReadonlyMap<string, ConditionValues> {
  const problems = new Map<string, ConditionValues>();
  const add = (type: string, reason: string, message: string) =>
    problems.set(type, { status: 'True', reason, message });
  if (failures.length > 0) {
    const message = `Failed to delete all resource types, ${failures.length} remaining: ${joined(failures)}`;
    add('NamespaceDeletionContentFailure', 'ContentDeletionFailed', message);
  }
  if (remaining !== undefined && remaining.size > 0) {
    const counts = [...remaining].map(([resource, count]) => `${resource} has ${count} resource instances`);
    add('NamespaceContentRemaining', 'SomeResourcesRemain', `Some resources are remaining: ${joined(counts)}`);
  }
  if (finalizers !== undefined && finalizers.size > 0) {
    const counts = [...finalizers].map(([finalizer, count]) => `${finalizer} in ${count} resource instances`);
    const message = `Some content in the namespace has finalizers remaining: ${joined(counts)}`;
    add('NamespaceFinalizersRemaining', 'SomeFinalizersRemain', message);
  }
  return problems;
}

/** The objects of a namespace may have millions of finalizers. */
const MAX_LISTED = 500;

function joined(texts: readonly string[]): string {
  const listed = [...texts].sort().slice(0, MAX_LISTED);
  const more = texts.length > MAX_LISTED ? `, and ${texts.length - MAX_LISTED} others` : '';
  return `${listed.join(', ')}${more}`;
}

function isSame({ status, reason, message }: Condition, wanted: ConditionValues): boolean {
  return status === wanted.status && reason === wanted.reason && message === wanted.message;
}
