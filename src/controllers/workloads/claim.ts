/**
 * Which of the objects around belong to a controller: those that carry its reference and match its selector. Orphans that
 * match are adopted, its own that match no longer are released.
 */
import type { Client } from '../../client/client.js';
import { strategicPatch } from '../../client/patches.js';
import type { Kind, ObjectOf } from '../../kinds/kind.js';
import { StatusError } from '../../meta/errors.js';
import { type LabelSelector, matchesLabels } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { type AnyObject, controllerOf, controllerReference } from '../runtime/owners.js';

export interface Claim<AnyKind extends Kind> {
  readonly client: Client;
  readonly kind: AnyKind;
  readonly owner: AnyObject;
  readonly selector: LabelSelector;
  /** Everything in the owner's namespace that might be its own. */
  readonly candidates: readonly ObjectOf<AnyKind>[];
  /** What it takes besides the selector to be the owner's own. */
  readonly fits?: (candidate: ObjectOf<AnyKind>) => boolean;
  /** Whether an orphan may be adopted; absent: every one that matches. */
  readonly adoptable?: (candidate: ObjectOf<AnyKind>) => boolean;
  /** Reads the owner once more: it may have been deleted, or replaced, since it was seen. Asked before the first adoption. */
  readonly ownerNow: () => Promise<AnyObject | undefined>;
  /** Added to the patch of an adoption. */
  readonly finalizers?: readonly string[];
}

/** The owner's own, after adoptions and releases. Rejects when one of those failed. */
export async function claim<AnyKind extends Kind>(about: Claim<AnyKind>): Promise<ObjectOf<AnyKind>[]> {
  const { owner, selector, candidates, fits = () => true, adoptable = () => true } = about;
  const mine: ObjectOf<AnyKind>[] = [];
  let mayAdopt: boolean | undefined;
  for (const candidate of candidates) {
    const { metadata } = candidate as ApiObject;
    const controller = controllerOf(candidate as ApiObject);
    const matches = matchesLabels(selector, metadata.labels) && fits(candidate);
    if (controller !== undefined) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (matches) mine.push(candidate);
      else if (owner.metadata.deletionTimestamp === undefined) await release(about, candidate);
      continue;
    }
    if (!matches || owner.metadata.deletionTimestamp !== undefined) continue;
    if (metadata.deletionTimestamp !== undefined || !adoptable(candidate)) continue;
    mayAdopt ??= await isStillThere(about);
    if (!mayAdopt) continue;
    const adopted = await adopt(about, candidate);
    if (adopted !== undefined) mine.push(adopted);
  }
  return mine;
}

async function isStillThere({ owner, ownerNow }: Claim<Kind>): Promise<boolean> {
  const now = await ownerNow();
  return now?.metadata.uid === owner.metadata.uid && now.metadata.deletionTimestamp === undefined;
}

async function adopt<AnyKind extends Kind>(
  { client, kind, owner, finalizers }: Claim<AnyKind>,
  candidate: ObjectOf<AnyKind>,
): Promise<ObjectOf<AnyKind> | undefined> {
  const { name, namespace, uid } = (candidate as ApiObject).metadata;
  const metadata = { ownerReferences: [{ ...controllerReference(owner) }], uid, ...(finalizers && { finalizers }) };
  try {
    return (await anyApi(client, kind, namespace).patch(name, strategicPatch({ metadata }))) as ObjectOf<AnyKind>;
  } catch (error) {
    // Gone, or another object has its name by now.
    if (StatusError.is(error, 'NotFound') || StatusError.is(error, 'Invalid')) return undefined;
    throw error;
  }
}

async function release<AnyKind extends Kind>(
  { client, kind, owner }: Claim<AnyKind>,
  candidate: ObjectOf<AnyKind>,
): Promise<void> {
  const { name, namespace, uid } = (candidate as ApiObject).metadata;
  const reference = { $patch: 'delete', uid: owner.metadata.uid } as const;
  try {
    await anyApi(client, kind, namespace).patch(
      name,
      strategicPatch({ metadata: { uid, ownerReferences: [reference] } }),
    );
  } catch (error) {
    if (!StatusError.is(error, 'NotFound') && !StatusError.is(error, 'Invalid')) throw error;
  }
}

/** The types of a kind that is only known to be one say nothing about patches. */
function anyApi(client: Client, kind: Kind, namespace: string | undefined) {
  return client.api(kind as Kind<ApiObject, ApiObject, 'Namespaced'>, namespace);
}
