/**
 * Who depends on whom, by uid. It holds the objects that take part: those that have owners, and those that wait for their
 * dependents before they go. Everything else in a cluster is no concern of it and costs nothing. Pure bookkeeping.
 *
 * Worked example: b and c have the owner a, and only b holds up its end.
 *
 *   members      b, c            (and a, once it waits for its dependents)
 *   dependents   a → { all: b, c   blocking: b   unasked: b }
 *
 * `unasked` are those that block and have not been told to go since they began to: however often an owner is looked at,
 * each dependent is told once.
 */
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../kinds/shared/finalizers.js';
import type { OwnerReference } from '../../meta/object.js';
import type { AnyObject, HasMetadata } from '../runtime/owners.js';
import type { FollowedKind } from './followed-kinds.js';

/** What an object that is being deleted waits for before it goes. */
export type Ending = 'orphan' | 'foreground';

export interface Member {
  readonly uid: string;
  followed: FollowedKind;
  /** As it was last seen. */
  object: AnyObject;
  ending: Ending | undefined;
  /** Owners about which an event has been written. */
  reported?: Set<string>;
}

export interface Dependents {
  readonly all: Set<Member>;
  /** Those that hold up the end of their owner. */
  readonly blocking: Set<Member>;
  readonly unasked: Set<Member>;
}

/** What a new state of an object means for others. */
export interface Change {
  readonly member: Member;
  /** References to owners that it did not have before. */
  readonly added: readonly Readonly<OwnerReference>[];
  /** The uids of owners that it held up and holds up no longer. */
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

  /** Takes note of an object; undefined when it takes no part. */
  put(followed: FollowedKind, object: AnyObject): Change | undefined {
    const { uid } = object.metadata;
    const references = referencesOf(object);
    const known = this.#members.get(uid);
    const ending = endingOf(object);
    if (known === undefined && references.length === 0 && ending === undefined) return undefined;
    const before = known === undefined ? NO_REFERENCES : referencesOf(known.object);
    const member: Member = known ?? { uid, followed, object, ending };
    const endingBefore = known?.ending;
    member.followed = followed;
    member.object = object;
    member.ending = ending;
    if (references.length === 0 && ending === undefined) this.#members.delete(uid);
    else this.#members.set(uid, member);
    if (before === references) return { member, added: NO_REFERENCES, freed: [], endingBefore };
    const freed = before.filter((reference) => this.#leave(member, reference, references)).map((each) => each.uid);
    const added = references.filter((reference) => this.#join(member, reference, before));
    return { member, added, freed, endingBefore };
  }

  /** Forgets an object that is gone. What depends on it is still found under its uid. */
  remove(uid: string): Member | undefined {
    const member = this.#members.get(uid);
    if (member === undefined) return undefined;
    this.#members.delete(uid);
    for (const reference of referencesOf(member.object)) this.#leave(member, reference, NO_REFERENCES);
    return member;
  }

  /** True when that took away what held up the owner. */
  #leave(member: Member, reference: Readonly<OwnerReference>, next: readonly Readonly<OwnerReference>[]): boolean {
    const dependents = this.#dependents.get(reference.uid);
    if (dependents === undefined) return false;
    const isKept = next.some(({ uid }) => uid === reference.uid);
    const blocks = next.some(({ uid, blockOwnerDeletion }) => uid === reference.uid && blockOwnerDeletion === true);
    if (!isKept) dependents.all.delete(member);
    const wasBlocking = !blocks && dependents.blocking.delete(member);
    if (!blocks) dependents.unasked.delete(member);
    if (dependents.all.size === 0) this.#dependents.delete(reference.uid);
    return wasBlocking;
  }

  /** True when the owner is one that it did not have. */
  #join(member: Member, reference: Readonly<OwnerReference>, before: readonly Readonly<OwnerReference>[]): boolean {
    let dependents = this.#dependents.get(reference.uid);
    if (dependents === undefined) {
      dependents = { all: new Set(), blocking: new Set(), unasked: new Set() };
      this.#dependents.set(reference.uid, dependents);
    }
    dependents.all.add(member);
    if (reference.blockOwnerDeletion === true && !dependents.blocking.has(member)) {
      dependents.blocking.add(member);
      dependents.unasked.add(member);
    }
    return !before.some(({ uid }) => uid === reference.uid);
  }
}

export function referencesOf({ metadata }: HasMetadata): readonly Readonly<OwnerReference>[] {
  return metadata.ownerReferences ?? NO_REFERENCES;
}

export function hasFinalizer({ metadata }: HasMetadata, finalizer: string): boolean {
  return metadata.finalizers?.includes(finalizer) === true;
}

/** What the object waits for; undefined when it is not being deleted, or waits for somebody else. */
export function endingOf(object: HasMetadata): Ending | undefined {
  if (object.metadata.deletionTimestamp === undefined) return undefined;
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return 'orphan';
  return hasFinalizer(object, FOREGROUND_FINALIZER) ? 'foreground' : undefined;
}
