/**
 * Deletes what is in a namespace, as far as it can be deleted now: the pods, and when there are none left everything
 * else. One call is one attempt; it says what is left and how long that may take. spec: Namespace
 */
import type { ObjectApi } from '../../client/api.js';
import type { Client } from '../../client/client.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Kind } from '../../kinds/kind.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { StatusError } from '../../meta/errors.js';
import { qualifiedResource } from '../../meta/gvk.js';
import type { ApiObject } from '../../meta/object.js';
import { messageOf } from '../../util/message-of.js';
import type { Findings } from './conditions.js';

export interface ContentRequest {
  readonly client: Client;
  readonly kinds: readonly ServedKind[];
  readonly namespace: string;
  /** For how long the namespace has been going, in milliseconds. */
  readonly sinceMs: number;
}

export interface ContentResult extends Findings {
  /** The kinds that have objects left. */
  readonly left: readonly ServedKind[];
  /** How long the rest may take, in seconds; 0: nothing is waited for. */
  readonly estimateSeconds: number;
}

/** What those who have put a finalizer on something are given. */
const FINALIZER_SECONDS = 15;

export async function deleteContent(request: ContentRequest): Promise<ContentResult> {
  const resources = deletableResources(request.kinds);
  const pods = resources.find(({ kind }) => kind === Pod);
  const tally = new Tally();
  // 1. While there are pods, they may need everything else.
  if (pods !== undefined) {
    tally.add(pods, await deleteAll(pods, request, await graceOf(request)));
    // What is left is not told of in this case, only what failed.
    if (tally.left.length > 0) return { failures: tally.failures, left: tally.left, estimateSeconds: tally.estimate };
  }
  // 2. The rest, in no order.
  for (const served of resources) if (served !== pods) tally.add(served, await deleteAll(served, request, 0));
  const { failures, left, remaining, finalizers, estimate } = tally;
  return { failures, left, remaining, finalizers, estimateSeconds: estimate };
}

/** What became of the objects of one kind. */
interface Outcome {
  readonly estimate: number;
  readonly count: number;
  readonly finalizers?: ReadonlyMap<string, number>;
  readonly failure?: string;
}

class Tally {
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

/** Each resource once, in whatever version: what is deleted in one is deleted in all. */
function deletableResources(kinds: readonly ServedKind[]): readonly ServedKind[] {
  const resources = new Map<string, ServedKind>();
  for (const served of kinds) {
    if (!served.namespaced || !served.verbs.includes('delete') || served.kind.virtual !== undefined) continue;
    const name = qualifiedResource(served.gvr);
    if (!resources.has(name) || served.storedAs === undefined) resources.set(name, served);
  }
  return [...resources.values()];
}

async function deleteAll(served: ServedKind, request: ContentRequest, grace: number): Promise<Outcome> {
  const { client, namespace } = request;
  const api: ObjectApi<Kind> = client.api(served.kind, namespace);
  const { group, version, resource } = served.gvr;
  try {
    if (!(await deletedTogether(served, api))) await deleteEach(served, api);
    if (!served.verbs.includes('list')) return { estimate: grace, count: 0 };
    const items = (await api.list()).items as readonly ApiObject[];
    if (items.length === 0) return { estimate: 0, count: 0 };
    const finalizers = countFinalizers(items);
    const count = items.length;
    if (grace > 0) return { estimate: grace, count, finalizers };
    if (finalizers.size > 0) return { estimate: FINALIZER_SECONDS, count, finalizers };
    const gvr = `${group}/${version}, Resource=${resource}`;
    return { estimate: 0, count, failure: `unexpected items still remain in namespace: ${namespace} for gvr: ${gvr}` };
  } catch (error) {
    return { estimate: grace, count: 0, failure: messageOf(error) };
  }
}

/** False when the server does not do that. */
async function deletedTogether({ verbs }: ServedKind, api: ObjectApi<Kind>): Promise<boolean> {
  if (!verbs.includes('deletecollection')) return false;
  try {
    // Nobody is to be left behind: whatever depends on these is in this namespace as well.
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

/** The longest time that a pod was promised for its end; 0 when that is over. */
async function graceOf({ client, namespace, sinceMs }: ContentRequest): Promise<number> {
  let longest = 0;
  for (const { spec, status } of (await client.api(Pod, namespace).list()).items) {
    if (status.phase === 'Succeeded' || status.phase === 'Failed') continue;
    longest = Math.max(longest, spec.terminationGracePeriodSeconds ?? 0);
  }
  return sinceMs >= longest * 1000 ? 0 : longest;
}

function countFinalizers(items: readonly ApiObject[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { metadata } of items) {
    for (const finalizer of metadata.finalizers ?? []) counts.set(finalizer, (counts.get(finalizer) ?? 0) + 1);
  }
  return counts;
}
