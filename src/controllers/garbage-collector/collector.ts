/**
 * Processes one object: deletes it, removes owner references, or removes its finalizer when its dependents are gone or
 * orphaned. The graph decides which objects to process; each decision is based on the live objects.
 */
import { mergePatch, type Patch, strategicPatch } from '../../client/patches.js';
import type { PropagationPolicy } from '../../kinds/deletion.js';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../kinds/shared/finalizers.js';
import type { ApiObject, ObjectMetaInput, OwnerReference } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import { nextTurn } from '../../util/clock.js';
import { ControllerPart } from '../runtime/controller.js';
import { ignoreNotFound } from '../runtime/expected-errors.js';
import type { ReconcileResult } from '../runtime/work-queue.js';
import { endingOf, type Graph, hasFinalizer, isBlocked, type Member, mayOwn, referencesOf } from './graph.js';
import type { OwnerKind, WatchedKinds } from './watched-kinds.js';
import { kindKey } from './watched-kinds.js';

export interface CollectorParts {
  readonly graph: Graph;
  readonly kinds: WatchedKinds;
  readonly absent: AbsentOwners;
  /** Queues another object. */
  readonly enqueue: (uid: string) => void;
  /** Queues this object again when more kinds are served. */
  readonly awaitKind: (uid: string) => void;
}

/** The state of an owner. */
type OwnerState =
  /** The owner exists. `unseen`: but the informer does not have it yet. */
  | 'solid'
  | 'unseen'
  /** The owner does not exist, or another object has its name. */
  | 'dangling'
  /** The owner waits for the deletion of its dependents. */
  | 'waiting'
  /** The owner's kind is not served. */
  | 'unknown'
  /** A cluster-scoped object refers to a namespaced owner, whose namespace is unknown. */
  | 'unnameable';

/**
 * The retry delay for an owner that exists but is not in the informer: its event is pending, or it was created and deleted
 * while a watch was renewed. The retry detects the latter.
 */
const UNSEEN_RETRY_MS = 1_000;

const OWNERS_PER_TURN = 500;

interface PatchedMetadata {
  metadata: ObjectMetaInput;
}

export class Collector extends ControllerPart<CollectorParts> {
  /** Decides about an object by its owners, or about its finalizer by its dependents. */
  // biome-ignore lint/suspicious/noConfusingVoidType: most reconcile functions return nothing.
  async collect(uid: string): Promise<ReconcileResult | void> {
    const { graph } = this.options;
    const member = graph.get(uid);
    if (member === undefined) return;
    const isDeleted = member.object.metadata.deletionTimestamp !== undefined;
    if (isDeleted && member.ending !== 'foreground') return;
    if (member.ending === 'foreground') return this.#finishForeground(member);
    const latest = await this.#latest(member);
    if (latest === undefined) return;
    const references = referencesOf(latest);
    if (references.length === 0) return;

    const states = new Map<Readonly<OwnerReference>, OwnerState>();
    for (const [index, reference] of references.entries()) {
      // Other requests are answered in between.
      if (index % OWNERS_PER_TURN === OWNERS_PER_TURN - 1) await nextTurn();
      const state = await this.#ownerState(reference, member);
      if (state === 'unknown') {
        this.options.awaitKind(uid);
        return;
      }
      if (state === 'unnameable') return;
      states.set(reference, state);
    }
    const uidsOf = (...wanted: OwnerState[]) =>
      references.filter((reference) => wanted.includes(states.get(reference) ?? 'solid')).map((each) => each.uid);
    const unseen = uidsOf('unseen');
    if (unseen.length > 0 || uidsOf('solid').length > 0) {
      const lost = uidsOf('dangling', 'waiting');
      if (lost.length > 0) await this.#removeOwners(member, lost);
      return unseen.length > 0 ? { requeueAfterMs: UNSEEN_RETRY_MS } : undefined;
    }
    const dependents = uidsOf('waiting').length === 0 ? [] : this.#dependentsOf(member);
    if (dependents.length > 0) {
      // Owner and dependent may wait for each other: this object must not block its owners.
      if (dependents.some(({ ending }) => ending === 'foreground')) await this.#unblockOwners(member, latest);
      return this.#delete(member, 'Foreground');
    }
    return this.#delete(member, policyOf(latest));
  }

  /** Orphans the dependents of an object, then removes its orphan finalizer. */
  async orphan(uid: string): Promise<void> {
    const { graph } = this.options;
    const member = graph.get(uid);
    if (member?.ending !== 'orphan') return;
    const failures: unknown[] = [];
    for (const dependent of this.#dependentsOf(member)) {
      try {
        await this.#removeOwners(dependent, [uid]);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
    await this.#removeFinalizer(member, ORPHAN_FINALIZER);
  }

  #dependentsOf(member: Member): Member[] {
    return [...(this.options.graph.dependentsOf(member.uid)?.all ?? [])].filter((each) => mayOwn(member, each));
  }

  async #finishForeground(member: Member): Promise<void> {
    const dependents = this.options.graph.dependentsOf(member.uid);
    if (dependents === undefined || !isBlocked(member, dependents)) {
      return this.#removeFinalizer(member, FOREGROUND_FINALIZER);
    }
    for (const dependent of dependents.unqueued) {
      if (dependent.ending !== 'foreground') this.options.enqueue(dependent.uid);
    }
    dependents.unqueued.clear();
  }

  async #ownerState(reference: Readonly<OwnerReference>, member: Member): Promise<OwnerState> {
    const { kinds, absent } = this.options;
    const { namespace = '' } = member.object.metadata;
    const { apiVersion, kind, name, uid } = reference;
    const inNamespace = (namespace: string): OwnerCoordinates => ({ apiVersion, kind, namespace, name, uid });
    const absence = absent.get(inNamespace('')) ?? absent.get(inNamespace(namespace));
    if (absence === 'deleted') return 'dangling';
    const ownerKind = kinds.owner(apiVersion, kind);
    if (ownerKind === undefined) return absence === undefined ? 'unknown' : 'dangling';
    if (absence !== undefined) {
      this.#reportWrongNamespace(member, reference, ownerKind);
      return 'dangling';
    }
    const { served, watched } = ownerKind;
    if (served.namespaced && namespace === '') {
      this.#reportWrongNamespace(member, reference, ownerKind);
      return 'unnameable';
    }
    const ownerNamespace = served.namespaced ? namespace : undefined;
    const owner = (await this.context.client.api(ownerKind.kind, ownerNamespace).find(name)) as ApiObject | undefined;
    if (owner?.metadata.uid !== uid) {
      absent.add(inNamespace(ownerNamespace ?? ''), 'not found');
      this.#reportWrongNamespace(member, reference, ownerKind);
      return 'dangling';
    }
    if (owner.metadata.deletionTimestamp !== undefined && hasFinalizer(owner, FOREGROUND_FINALIZER)) return 'waiting';
    const seen = watched?.informer.get(name, ownerNamespace);
    return watched === undefined || seen?.metadata.uid === uid ? 'solid' : 'unseen';
  }

  /** Records an event if the owner exists in another namespace. */
  #reportWrongNamespace(member: Member, reference: Readonly<OwnerReference>, { served, watched }: OwnerKind): void {
    if (!served.namespaced || watched === undefined || member.reported?.has(reference.uid) === true) return;
    const byUid = watched.informer.index('uid', (object) => [object.metadata.uid]);
    const { object } = member;
    const { namespace = '' } = object.metadata;
    const [owner] = byUid(reference.uid);
    if (owner === undefined || owner.metadata.namespace === namespace) return;
    member.reported ??= new Set();
    member.reported.add(reference.uid);
    const { apiVersion, kind, name, uid } = reference;
    const named = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
    // Without resourceVersion, so that equal events are counted.
    const subject = { ...object, metadata: { ...object.metadata, resourceVersion: '' } };
    const message = `ownerRef ${named} does not exist in namespace ${quote(namespace)}`;
    this.context.events.record(subject, 'Warning', 'OwnerRefInvalidNamespace', message);
  }

  /** The live object; undefined if it is gone or another object has its name. */
  async #latest(member: Member): Promise<ApiObject | undefined> {
    const latest = (await this.#api(member).find(member.object.metadata.name)) as ApiObject | undefined;
    return latest?.metadata.uid === member.uid ? latest : undefined;
  }

  async #delete(member: Member, propagation: PropagationPolicy): Promise<void> {
    await ignoreNotFound(
      this.#api(member).delete(member.object.metadata.name, { propagation, preconditions: { uid: member.uid } }),
    );
  }

  async #removeOwners(member: Member, owners: readonly string[]): Promise<void> {
    if (isStruct(member)) {
      const ownerReferences = owners.map((uid) => ({ $patch: 'delete' as const, uid }));
      await this.#patch(member, strategicPatch({ metadata: { uid: member.uid, ownerReferences } }));
      return;
    }
    const latest = await this.#latest(member);
    if (latest === undefined) return;
    const removed = new Set(owners);
    await this.#setOwners(
      member,
      latest,
      referencesOf(latest).filter(({ uid }) => !removed.has(uid)),
    );
  }

  async #unblockOwners(member: Member, latest: ApiObject): Promise<void> {
    const references = referencesOf(latest);
    if (!isStruct(member)) {
      await this.#setOwners(
        member,
        latest,
        references.map((reference) => ({ ...reference, blockOwnerDeletion: false })),
      );
      return;
    }
    const ownerReferences = references
      .filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true)
      .map((reference) => ({ ...reference, blockOwnerDeletion: false }));
    if (ownerReferences.length === 0) return;
    await this.#patch(member, strategicPatch({ metadata: { uid: member.uid, ownerReferences } }));
  }

  /** For kinds without list merging: replaces all references, with the observed resourceVersion. */
  async #setOwners(member: Member, { metadata }: ApiObject, references: readonly OwnerReference[]): Promise<void> {
    const ownerReferences = references.length === 0 ? null : [...references];
    await this.#patch(member, mergePatch({ metadata: { resourceVersion: metadata.resourceVersion, ownerReferences } }));
  }

  async #removeFinalizer(member: Member, finalizer: string): Promise<void> {
    // The owner's controller counts its dependents once more while the owner exists.
    await nextTurn();
    const latest = await this.#latest(member);
    if (latest === undefined) return;
    const { resourceVersion, finalizers = [] } = latest.metadata;
    // Another client removed the finalizer.
    if (endingOf(latest) === undefined || !finalizers.includes(finalizer)) return;
    const rest = finalizers.filter((each) => each !== finalizer);
    const metadata = { resourceVersion, finalizers: rest.length === 0 ? null : rest };
    await this.#patch(member, mergePatch({ metadata }));
  }

  /** Patches the object; ignores an object that is gone. */
  async #patch(member: Member, patch: Patch<PatchedMetadata>): Promise<void> {
    await ignoreNotFound(this.#api(member).patch(member.object.metadata.name, patch));
  }

  #api({ watched: { kind, served }, object }: Member) {
    return this.context.client.api(kind, served.namespaced ? object.metadata.namespace : undefined);
  }
}

/** The propagation policy that the object's finalizers demand. */
function policyOf(object: ApiObject): PropagationPolicy {
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return 'Orphan';
  return hasFinalizer(object, FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

/** Only built-in kinds support strategic merge patches. */
function isStruct({ watched }: Member): boolean {
  return watched.kind.representation === 'struct';
}

/** The identity of an owner. The namespace is empty for cluster-scoped kinds. */
interface OwnerCoordinates {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** `deleted`: the deletion was observed. `not found`: a lookup failed; the owner may exist in another namespace. */
type Absence = 'deleted' | 'not found';

const MAX_REMEMBERED = 500;

/** The length of the fields of an owner reference is not limited. */
const MAX_KEY_LENGTH = 1_000;

/**
 * Owners that are known not to exist. A uid is never reused, so an absent owner stays absent. Only the most recent ones are
 * kept, for owners with many dependents.
 */
export class AbsentOwners {
  readonly #absences = new Map<string, Absence>();

  add(owner: OwnerCoordinates, absence: Absence): void {
    const key = keyOf(owner);
    if (key.length > MAX_KEY_LENGTH) return;
    this.#absences.delete(key);
    this.#absences.set(key, absence);
    if (this.#absences.size <= MAX_REMEMBERED) return;
    const [oldest = ''] = this.#absences.keys();
    this.#absences.delete(oldest);
  }

  get(owner: OwnerCoordinates): Absence | undefined {
    return this.#absences.get(keyOf(owner));
  }
}

function keyOf({ apiVersion, kind, namespace, name, uid }: OwnerCoordinates): string {
  return `${uid} ${kindKey(apiVersion, kind)} ${namespace}/${name}`;
}
