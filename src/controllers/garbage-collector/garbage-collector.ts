/**
 * The garbage collector: deletes or orphans the dependents of deleted objects, and delays foreground deletions until they are
 * gone. Informers of all kinds maintain the graph; changes in it queue single objects.
 */
import type { InformerEvent } from '../../client/informer.js';
import { CustomResourceDefinition } from '../../crd/definition/custom-resource-definition.js';
import type { ApiObject, OwnerReference } from '../../meta/object.js';
import { nextTurn } from '../../util/clock.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import type { WorkQueue } from '../runtime/work-queue.js';
import { AbsentOwners, Collector } from './collector.js';
import { Graph } from './graph.js';
import { type WatchedKind, WatchedKinds } from './watched-kinds.js';

/**
 * The number of objects processed concurrently, as in the reference server.
 * upstream: pkg/controller/garbagecollector/config/v1alpha1/defaults.go ConcurrentGCSyncs
 */
const WORKERS = 20;

/**
 * Deletes objects whose owners are gone, and completes foreground and orphan deletions.
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
    start: (context) => new GarbageCollection(context).start(),
  };
}

/** Turns informer events into queued objects. */
class GarbageCollection extends ControllerPart {
  readonly #graph = new Graph();
  readonly #absent = new AbsentOwners();
  readonly #kinds = new WatchedKinds(this.context, {
    observe: (watched, event) => this.#observe(watched, event),
    changed: () => this.#resume(),
  });
  /** The uids of objects with an owner whose kind is not served. */
  readonly #awaiting = new Set<string>();
  readonly #collector = new Collector(this.context, {
    graph: this.#graph,
    kinds: this.#kinds,
    absent: this.#absent,
    enqueue: (uid) => this.#collectQueue.add(uid),
    awaitKind: (uid) => this.#awaiting.add(uid),
  });
  readonly #collectQueue: WorkQueue = this.context.queue(
    async (uid) => {
      await this.#ready();
      return this.#collector.collect(uid);
    },
    { workers: WORKERS },
  );
  readonly #orphanQueue = this.context.queue(
    async (uid) => {
      await this.#ready();
      await this.#collector.orphan(uid);
    },
    { name: 'orphans', workers: WORKERS },
  );

  start(): void {
    this.#kinds.refresh();
    if (this.context.serves(CustomResourceDefinition)) {
      this.context.informer(CustomResourceDefinition).subscribe(() => this.#kinds.refresh());
    }
  }

  /**
   * Decisions depend on the absence of objects, so all informers must have synced. The owner's controller acts first, as with
   * the reference server, whose collector reads the object and its owners over the network: a Job releases its pods before
   * they are deleted.
   */
  async #ready(): Promise<void> {
    this.#kinds.refresh();
    await this.#kinds.pending();
    await nextTurn();
  }

  #observe(watched: WatchedKind, event: InformerEvent<ApiObject>): void {
    if (event.type === 'DELETED') this.#onDelete(watched, event.object);
    else this.#onUpdate(watched, event.object);
    // A kind may be installed without a CRD.
    this.#kinds.refresh();
  }

  #onUpdate(watched: WatchedKind, object: ApiObject): void {
    const { metadata } = object;
    const change = this.#graph.put(watched, object);
    if (change === undefined) return;
    const { member, added, freed, endingBefore } = change;
    for (const owner of freed) this.#queueForeground(owner);
    // An object whose new owners all exist need not be processed.
    if (added.some((reference) => !this.#isSeen(reference, metadata.namespace))) this.#collectQueue.add(member.uid);
    if (member.ending === endingBefore) return;
    if (member.ending === 'orphan') this.#orphanQueue.add(member.uid);
    if (member.ending !== 'foreground') return;
    const dependents = this.#graph.dependentsOf(member.uid);
    for (const dependent of dependents?.all ?? []) this.#collectQueue.add(dependent.uid);
    dependents?.unqueued.clear();
    this.#collectQueue.add(member.uid);
  }

  #onDelete({ served }: WatchedKind, { metadata }: ApiObject): void {
    const { uid, name, namespace = '' } = metadata;
    const member = this.#graph.remove(uid);
    this.#awaiting.delete(uid);
    const dependents = this.#graph.dependentsOf(uid);
    if (dependents !== undefined) {
      this.#absent.add({ apiVersion: served.apiVersion, kind: served.gvk.kind, namespace, name, uid }, 'deleted');
      for (const dependent of dependents.all) this.#collectQueue.add(dependent.uid);
    }
    for (const reference of member?.object.metadata.ownerReferences ?? []) this.#queueForeground(reference.uid);
  }

  /** Queues an object that waits for its dependents, after one of them was removed. */
  #queueForeground(uid: string): void {
    if (this.#graph.get(uid)?.ending === 'foreground') this.#collectQueue.add(uid);
  }

  #isSeen(reference: Readonly<OwnerReference>, namespace: string | undefined): boolean {
    const owner = this.#kinds.owner(reference.apiVersion, reference.kind);
    if (owner?.watched === undefined || (owner.served.namespaced && namespace === undefined)) return false;
    const found = owner.watched.informer.get(reference.name, owner.served.namespaced ? namespace : undefined);
    return found?.metadata.uid === reference.uid;
  }

  /** Queues all objects that wait for a kind, after kinds were added; they wait again if their kind is still missing. */
  #resume(): void {
    const waiting = [...this.#awaiting];
    this.#awaiting.clear();
    for (const uid of waiting) this.#collectQueue.add(uid);
  }
}
