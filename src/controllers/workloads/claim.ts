/**
 * Determines the dependents of a controller: those with its controller reference that match its selector. Matching orphans
 * are adopted; its own dependents that no longer match are released. upstream: pkg/controller/controller_ref_manager.go
 */
import type { Client } from '../../client/client.js';
import { strategicPatch } from '../../client/patches.js';
import type { Kind, ObjectOf } from '../../kinds/kind.js';
import { StatusError } from '../../meta/errors.js';
import { type LabelSelector, matchesLabels } from '../../meta/labels.js';
import type { ApiObject } from '../../meta/object.js';
import { type AnyObject, controllerOf, controllerReference } from '../runtime/owners.js';

export interface ClaimRequest<AnyKind extends Kind> {
  readonly client: Client;
  readonly kind: AnyKind;
  readonly owner: AnyObject;
  readonly selector: LabelSelector;
  /** Objects in the owner's namespace that might belong to it. */
  readonly candidates: readonly ObjectOf<AnyKind>[];
  /** An additional condition besides the selector. */
  readonly fits?: (candidate: ObjectOf<AnyKind>) => boolean;
  /** Whether an orphan may be adopted; absent: every matching one. */
  readonly adoptable?: (candidate: ObjectOf<AnyKind>) => boolean;
  /** Reads the owner from the server before the first adoption: it may have been deleted or replaced. */
  readonly ownerNow: () => Promise<AnyObject | undefined>;
  /** Added to the patch of an adoption. */
  readonly finalizers?: readonly string[];
}

/** Returns the owner's dependents after adoptions and releases. Rejects if one of those failed. */
export async function claim<AnyKind extends Kind>(request: ClaimRequest<AnyKind>): Promise<ObjectOf<AnyKind>[]> {
  const { owner, selector, candidates, fits = () => true, adoptable = () => true } = request;
  const claimed: ObjectOf<AnyKind>[] = [];
  let mayAdopt: boolean | undefined;
  for (const candidate of candidates) {
    const { metadata } = candidate as ApiObject;
    const controller = controllerOf(candidate as ApiObject);
    const matches = matchesLabels(selector, metadata.labels) && fits(candidate);
    if (controller !== undefined) {
      if (controller.uid !== owner.metadata.uid) continue;
      if (matches) claimed.push(candidate);
      else if (owner.metadata.deletionTimestamp === undefined) await release(request, candidate);
      continue;
    }
    if (!matches || owner.metadata.deletionTimestamp !== undefined) continue;
    if (metadata.deletionTimestamp !== undefined || !adoptable(candidate)) continue;
    mayAdopt ??= await canAdopt(request);
    if (!mayAdopt) continue;
    const adopted = await adopt(request, candidate);
    if (adopted !== undefined) claimed.push(adopted);
  }
  return claimed;
}

async function canAdopt({ owner, ownerNow }: ClaimRequest<Kind>): Promise<boolean> {
  const now = await ownerNow();
  return now?.metadata.uid === owner.metadata.uid && now.metadata.deletionTimestamp === undefined;
}

async function adopt<AnyKind extends Kind>(
  { client, kind, owner, finalizers }: ClaimRequest<AnyKind>,
  candidate: ObjectOf<AnyKind>,
): Promise<ObjectOf<AnyKind> | undefined> {
  const { name, namespace, uid } = (candidate as ApiObject).metadata;
  const metadata = { ownerReferences: [{ ...controllerReference(owner) }], uid, ...(finalizers && { finalizers }) };
  try {
    return (await anyApi(client, kind, namespace).patch(name, strategicPatch({ metadata }))) as ObjectOf<AnyKind>;
  } catch (error) {
    // The object is gone, or another object has its name.
    if (StatusError.is(error, 'NotFound') || StatusError.is(error, 'Invalid')) return undefined;
    throw error;
  }
}

async function release<AnyKind extends Kind>(
  { client, kind, owner }: ClaimRequest<AnyKind>,
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

/** The API of a generic kind, whose type says nothing about patches. */
function anyApi(client: Client, kind: Kind, namespace: string | undefined) {
  return client.api(kind as Kind<ApiObject, ApiObject, 'Namespaced'>, namespace);
}
