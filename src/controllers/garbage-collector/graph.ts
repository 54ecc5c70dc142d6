/**
 * The dependency graph, by uid. It contains objects with owners and objects that wait for their dependents; all others are left
 * out. Makes no requests.
 *
 * Worked example: b and c have the owner a, and only b has blockOwnerDeletion.
 *
 *   members      b, c            (and a, once it waits for its dependents)
 *   dependents   a → { all: b, c   blocking: b   unqueued: b }
 *
 * `unqueued` are blocking dependents that have not been queued since they became blocking: however often the owner is
 * processed, each dependent is queued once.
 */
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../kinds/shared/finalizers.js';
import type { OwnerReference } from '../../meta/object.js';
import { getOrInsertComputed } from '../../util/once.js';
import type { AnyObject, HasMetadata } from '../runtime/owners.js';
import type { WatchedKind } from './watched-kinds.js';

/** What an object that is being deleted waits for: orphaning or deletion of its dependents. */
export type Ending = 'orphan' | 'foreground';

export interface Member {
  readonly uid: string;
  watched: WatchedKind;
  /** The last observed state. */
  object: AnyObject;
  ending: Ending | undefined;
  /** Owners for which an event was recorded. */
  reported?: Set<string>;
}

export interface Dependents {
  readonly all: Set<Member>;
  /** Dependents with blockOwnerDeletion. */
  readonly blocking: Set<Member>;
  readonly unqueued: Set<Member>;
}

/** The effect of a new state of an object. */
export interface Change {
  readonly member: Member;
  /** References to new owners. */
  readonly added: readonly Readonly<OwnerReference>[];
  /** The uids of owners that it no longer blocks. */
  readonly freed: readonly string[];
  readonly endingBefore: Ending | undefined;
}

const NO_REFERENCES: readonly Readonly<OwnerReference>[] = [];

export class Graph {
  readonly #members = new Map<string, Member>();
  /** By the uid of the owner. */
  readonly #dependents = new Map<string, Dependents>();

  get(uid: string): Member | undefined {
    return this.#members.get(uid);
  }

  dependentsOf(uid: string): Dependents | undefined {
    return this.#dependents.get(uid);
  }

  /** Adds or updates an object; undefined if it is not part of the graph. */
  put(watched: WatchedKind, object: AnyObject): Change | undefined {
    const { uid } = object.metadata;
    const references = referencesOf(object);
    const known = this.#members.get(uid);
    const ending = endingOf(object);
    if (known === undefined && references.length === 0 && ending === undefined) return undefined;
    const before = known === undefined ? NO_REFERENCES : referencesOf(known.object);
    const member: Member = known ?? { uid, watched, object, ending };
    const endingBefore = known?.ending;
    member.watched = watched;
    member.object = object;
    member.ending = ending;
    if (references.length === 0 && ending === undefined) this.#members.delete(uid);
    else this.#members.set(uid, member);
    if (before === references) return { member, added: NO_REFERENCES, freed: [], endingBefore };
    const next = byOwner(references);
    const freed = before.filter(({ uid }) => this.#removeReference(member, uid, next)).map((each) => each.uid);
    const previous = byOwner(before);
    for (const reference of references) this.#addReference(member, reference);
    return { member, added: references.filter(({ uid }) => !previous.has(uid)), freed, endingBefore };
  }

  /** Removes a deleted object. Its dependents remain under its uid. */
  remove(uid: string): Member | undefined {
    const member = this.#members.get(uid);
    if (member === undefined) return undefined;
    this.#members.delete(uid);
    for (const reference of referencesOf(member.object)) this.#removeReference(member, reference.uid, NO_OWNERS);
    return member;
  }

  /** Returns true if the member no longer blocks the owner. */
  #removeReference(member: Member, owner: string, next: Owners): boolean {
    const dependents = this.#dependents.get(owner);
    if (dependents === undefined) return false;
    if (!next.has(owner)) dependents.all.delete(member);
    const blocks = next.get(owner) === true;
    const wasBlocking = !blocks && dependents.blocking.delete(member);
    if (!blocks) dependents.unqueued.delete(member);
    if (dependents.all.size === 0) this.#dependents.delete(owner);
    return wasBlocking;
  }

  #addReference(member: Member, reference: Readonly<OwnerReference>): void {
    const create = () => ({ all: new Set<Member>(), blocking: new Set<Member>(), unqueued: new Set<Member>() });
    const dependents = getOrInsertComputed(this.#dependents, reference.uid, create);
    dependents.all.add(member);
    if (reference.blockOwnerDeletion !== true || dependents.blocking.has(member)) return;
    dependents.blocking.add(member);
    dependents.unqueued.add(member);
  }
}

/**
 * False for a namespaced owner and a dependent in another namespace. The owner does not wait for it, and it is collected as if the owner
 * did not exist: anyone who may create objects in another namespace can refer to the owner's uid.
 */
export function mayOwn({ watched, object }: Member, dependent: Member): boolean {
  const { namespace } = dependent.object.metadata;
  return !watched.served.namespaced || namespace === undefined || namespace === object.metadata.namespace;
}

export function isBlocked(owner: Member, { blocking }: Dependents): boolean {
  for (const dependent of blocking) if (mayOwn(owner, dependent)) return true;
  return false;
}

/** By the uid of the owner: whether its deletion is blocked. */
type Owners = ReadonlyMap<string, boolean>;

const NO_OWNERS: Owners = new Map();

function byOwner(references: readonly Readonly<OwnerReference>[]): Owners {
  const owners = new Map<string, boolean>();
  for (const { uid, blockOwnerDeletion } of references) {
    owners.set(uid, blockOwnerDeletion === true || owners.get(uid) === true);
  }
  return owners;
}

export function referencesOf({ metadata }: HasMetadata): readonly Readonly<OwnerReference>[] {
  return metadata.ownerReferences ?? NO_REFERENCES;
}

export function hasFinalizer({ metadata }: HasMetadata, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

/** What the object waits for; undefined if it is not being deleted or waits for other finalizers. */
export function endingOf(object: HasMetadata): Ending | undefined {
  if (object.metadata.deletionTimestamp === undefined) return undefined;
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return 'orphan';
  return hasFinalizer(object, FOREGROUND_FINALIZER) ? 'foreground' : undefined;
}
