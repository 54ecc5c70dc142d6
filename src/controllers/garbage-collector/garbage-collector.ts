/**
 * The garbage collector: what is left of a deleted object goes too, or is set free, or holds it up, as the delete asked
 * for. Informers of every kind keep the graph; changes in it lead to looks at single objects. spec: Garbage collection
 */
import type { InformerEvent } from '../../client/informer.js';
import { CustomResourceDefinition } from '../../crd/definition/custom-resource-definition.js';
import type { ApiObject, OwnerReference } from '../../meta/object.js';
import type { Controller, ControllerContext } from '../runtime/controller.js';
import { AbsentOwners } from './absent-owners.js';
import { Collector } from './collector.js';
import { type FollowedKind, FollowedKinds, kindKey } from './followed-kinds.js';
import { Graph } from './graph.js';

/** Looks at once. */
const WORKERS = 20;

/**
 * Deletes objects whose owners are gone, and carries out deletions that wait for dependents or leave them behind.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([garbageCollector()]) });
 */
export function garbageCollector(): Controller {
  return {
    name: 'garbage-collector-controller',
    account: 'generic-garbage-collector',
    local: true,
    needs: [],
    start: (context) => new Collection(context).start(),
  };
}

/** One collector at work: what happens to objects becomes looks at those whom it concerns. */
class Collection {
  readonly #context: ControllerContext;
  readonly #graph = new Graph();
  readonly #absent = new AbsentOwners();
  readonly #kinds: FollowedKinds;
  /** By kind that nobody serves: the uids of those that have an owner of it. */
  readonly #awaiting = new Map<string, Set<string>>();
  readonly #looks;
  readonly #orphans;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#kinds = new FollowedKinds({
      context,
      observe: (followed, event) => this.#observe(followed, event),
      changed: () => this.#resume(),
    });
    const collector = new Collector({
      client: context.client,
      events: context.events,
      graph: this.#graph,
      kinds: this.#kinds,
      absent: this.#absent,
      look: (uid) => this.#looks.add(uid),
      awaitKind: (apiVersion, kind, uid) => this.#await(kindKey(apiVersion, kind), uid),
    });
    this.#looks = context.queue(
      async (uid) => {
        await this.#current();
        return collector.look(uid);
      },
      { workers: WORKERS },
    );
    this.#orphans = context.queue(
      async (uid) => {
        await this.#current();
        await collector.orphan(uid);
      },
      { name: 'orphans', workers: WORKERS },
    );
  }

  start(): void {
    this.#kinds.refresh();
    if (this.#context.serves(CustomResourceDefinition)) {
      this.#context.informer(CustomResourceDefinition).subscribe(() => this.#kinds.refresh());
    }
  }

  /** Who decides by what is not there has to know all that is. */
  async #current(): Promise<void> {
    this.#kinds.refresh();
    await this.#kinds.pending();
  }

  #observe(followed: FollowedKind, event: InformerEvent<ApiObject>): void {
    if (event.type === 'DELETED') this.#gone(followed, event.object);
    else this.#seen(followed, event.object);
    // A kind may be installed without a definition that tells of it.
    this.#kinds.refresh();
  }

  #seen(followed: FollowedKind, object: ApiObject): void {
    const { metadata } = object;
    const change = this.#graph.put(followed, object);
    if (change === undefined) return;
    const { member, added, freed, endingBefore } = change;
    for (const owner of freed) this.#lookAtEnding(owner);
    // Where the owner is known to be there, there is nothing to look at.
    if (added.some((reference) => !this.#isSeen(reference, metadata.namespace))) this.#looks.add(member.uid);
    if (member.ending === endingBefore) return;
    if (member.ending === 'orphan') this.#orphans.add(member.uid);
    if (member.ending !== 'foreground') return;
    const dependents = this.#graph.dependentsOf(member.uid);
    for (const dependent of dependents?.all ?? []) this.#looks.add(dependent.uid);
    dependents?.unasked.clear();
    this.#looks.add(member.uid);
  }

  #gone({ served }: FollowedKind, { metadata }: ApiObject): void {
    const { uid, name, namespace = '' } = metadata;
    const member = this.#graph.remove(uid);
    const dependents = this.#graph.dependentsOf(uid);
    if (dependents !== undefined) {
      this.#absent.add({ apiVersion: served.apiVersion, kind: served.gvk.kind, namespace, name, uid }, 'deleted');
      for (const dependent of dependents.all) this.#looks.add(dependent.uid);
    }
    for (const reference of member?.object.metadata.ownerReferences ?? []) this.#lookAtEnding(reference.uid);
  }

  /** An object that waits for its dependents has one less to wait for. */
  #lookAtEnding(uid: string): void {
    if (this.#graph.get(uid)?.ending === 'foreground') this.#looks.add(uid);
  }

  #isSeen(reference: Readonly<OwnerReference>, namespace: string | undefined): boolean {
    const owner = this.#kinds.owner(reference.apiVersion, reference.kind);
    if (owner?.followed === undefined || (owner.served.namespaced && namespace === undefined)) return false;
    const found = owner.followed.informer.get(reference.name, owner.served.namespaced ? namespace : undefined);
    return found?.metadata.uid === reference.uid;
  }

  #await(kind: string, uid: string): void {
    const known = this.#awaiting.get(kind);
    if (known === undefined) this.#awaiting.set(kind, new Set([uid]));
    else known.add(uid);
  }

  /** Kinds have come: those who waited for one are looked at again, and wait on where it was another. */
  #resume(): void {
    const waiting = [...this.#awaiting.values()];
    this.#awaiting.clear();
    for (const uids of waiting) for (const uid of uids) this.#looks.add(uid);
  }
}
