/**
 * One look at one object: is it to be collected, does it lose owners, or may it go now that its dependents are gone or
 * free? The graph says what to look at; what is done rests on what the server says at that moment.
 */
import type { Client } from '../../client/client.js';
import { mergePatch, type Patch, strategicPatch } from '../../client/patches.js';
import type { PropagationPolicy } from '../../kinds/kind.js';
import { FOREGROUND_FINALIZER, ORPHAN_FINALIZER } from '../../kinds/shared/finalizers.js';
import type { ApiObject, ObjectMetaInput, OwnerReference } from '../../meta/object.js';
import { quote } from '../../text/go/go-text.js';
import type { EventRecorder } from '../runtime/events.js';
import { ignoringAbsence } from '../runtime/refusals.js';
import type { Again } from '../runtime/work-queue.js';
import type { AbsentOwners, OwnerCoordinates } from './absent-owners.js';
import type { FollowedKinds, OwnerKind } from './followed-kinds.js';
import { endingOf, type Graph, hasFinalizer, type Member, referencesOf } from './graph.js';

export interface CollectorParts {
  readonly client: Client;
  readonly events: EventRecorder;
  readonly graph: Graph;
  readonly kinds: FollowedKinds;
  readonly absent: AbsentOwners;
  /** Has another object looked at. */
  readonly look: (uid: string) => void;
  /** Has this object looked at again when somebody serves the kind. */
  readonly awaitKind: (apiVersion: string, kind: string, uid: string) => void;
}

/** How an owner stands to what refers to it. */
type Standing =
  /** It is there. `unseen`: but nobody has told of it yet. */
  | 'solid'
  | 'unseen'
  /** It is not, or is another one under the same name. */
  | 'dangling'
  /** It goes as soon as its dependents are gone. */
  | 'waiting'
  /** Nobody can tell as long as nobody serves its kind. */
  | 'unknown'
  /** A cluster-scoped object cannot say in which namespace its owner is. */
  | 'unnameable';

/**
 * An owner that exists and was not told of: the news is on its way, or it came and went while a watch was renewed. Looked
 * at again after this time, so that the second is noticed as well.
 */
const UNSEEN_RETRY_MS = 1_000;

interface PatchedMetadata {
  metadata: ObjectMetaInput;
}

export class Collector {
  readonly #parts: CollectorParts;

  constructor(parts: CollectorParts) {
    this.#parts = parts;
  }

  /** Decides about an object by its owners, or about its end by its dependents. */
  // biome-ignore lint/suspicious/noConfusingVoidType: a function that returns nothing is the ordinary case.
  async look(uid: string): Promise<Again | void> {
    const { graph } = this.#parts;
    const member = graph.get(uid);
    if (member === undefined) return;
    const isDeleted = member.object.metadata.deletionTimestamp !== undefined;
    if (isDeleted && member.ending !== 'foreground') return;
    const latest = await this.#latest(member);
    if (latest === undefined) return;
    if (member.ending === 'foreground') return this.#endForeground(member, latest);
    const references = referencesOf(latest);
    if (references.length === 0) return;

    const standings = new Map<Readonly<OwnerReference>, Standing>();
    for (const reference of references) {
      const standing = await this.#standing(reference, member);
      if (standing === 'unknown') {
        this.#parts.awaitKind(reference.apiVersion, reference.kind, uid);
        return;
      }
      if (standing === 'unnameable') return;
      standings.set(reference, standing);
    }
    const uidsOf = (...wanted: Standing[]) =>
      references.filter((reference) => wanted.includes(standings.get(reference) ?? 'solid')).map((each) => each.uid);
    const unseen = uidsOf('unseen');
    if (unseen.length > 0 || uidsOf('solid').length > 0) {
      const lost = uidsOf('dangling', 'waiting');
      if (lost.length > 0) await this.#removeOwners(member, lost);
      return unseen.length > 0 ? { requeueAfterMs: UNSEEN_RETRY_MS } : undefined;
    }
    const dependents = graph.dependentsOf(uid)?.all;
    if (uidsOf('waiting').length > 0 && dependents !== undefined && dependents.size > 0) {
      for (const dependent of dependents) {
        if (dependent.ending !== 'foreground') continue;
        // Its owner and its dependent wait, possibly for each other: this one must not be what they wait for.
        await this.#unblockOwners(member, latest);
        break;
      }
      return this.#delete(member, 'Foreground');
    }
    return this.#delete(member, policyOf(latest));
  }

  /** Frees the dependents of an object that goes without them, then lets it go. */
  async orphan(uid: string): Promise<void> {
    const { graph } = this.#parts;
    const member = graph.get(uid);
    if (member?.ending !== 'orphan') return;
    const failures: unknown[] = [];
    for (const dependent of [...(graph.dependentsOf(uid)?.all ?? [])]) {
      try {
        await this.#removeOwners(dependent, [uid]);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures.length === 1 ? failures[0] : new AggregateError(failures);
    const latest = await this.#latest(member);
    if (latest !== undefined) await this.#removeFinalizer(member, latest, ORPHAN_FINALIZER);
  }

  async #endForeground(member: Member, latest: ApiObject): Promise<void> {
    const dependents = this.#parts.graph.dependentsOf(member.uid);
    if (dependents === undefined || dependents.blocking.size === 0) {
      return this.#removeFinalizer(member, latest, FOREGROUND_FINALIZER);
    }
    for (const dependent of dependents.unasked) {
      if (dependent.ending !== 'foreground') this.#parts.look(dependent.uid);
    }
    dependents.unasked.clear();
  }

  async #standing(reference: Readonly<OwnerReference>, member: Member): Promise<Standing> {
    const { kinds, absent, client } = this.#parts;
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
    const { served, followed } = ownerKind;
    if (served.namespaced && namespace === '') {
      this.#reportWrongNamespace(member, reference, ownerKind);
      return 'unnameable';
    }
    const place = served.namespaced ? namespace : undefined;
    const owner = (await client.api(ownerKind.kind, place).find(name)) as ApiObject | undefined;
    if (owner?.metadata.uid !== uid) {
      absent.add(inNamespace(place ?? ''), 'not found');
      this.#reportWrongNamespace(member, reference, ownerKind);
      return 'dangling';
    }
    if (owner.metadata.deletionTimestamp !== undefined && hasFinalizer(owner, FOREGROUND_FINALIZER)) return 'waiting';
    const seen = followed?.informer.get(name, place);
    return followed === undefined || seen?.metadata.uid === uid ? 'solid' : 'unseen';
  }

  /** Says so when the owner does exist, only not where the object is. */
  #reportWrongNamespace(member: Member, reference: Readonly<OwnerReference>, { served, followed }: OwnerKind): void {
    if (!served.namespaced || followed === undefined || member.reported?.has(reference.uid) === true) return;
    const byUid = followed.informer.index('uid', (object) => [object.metadata.uid]);
    const { object } = member;
    const { namespace = '' } = object.metadata;
    const [owner] = byUid(reference.uid);
    if (owner === undefined || owner.metadata.namespace === namespace) return;
    member.reported ??= new Set();
    member.reported.add(reference.uid);
    const { apiVersion, kind, name, uid } = reference;
    const named = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`;
    // It is about the object whatever its version.
    const about = { ...object, metadata: { ...object.metadata, resourceVersion: '' } };
    const message = `ownerRef ${named} does not exist in namespace ${quote(namespace)}`;
    this.#parts.events.record(about, 'Warning', 'OwnerRefInvalidNamespace', message);
  }

  /** The object as it is now; undefined when it is gone, or another has its name. */
  async #latest(member: Member): Promise<ApiObject | undefined> {
    const latest = (await this.#api(member).find(member.object.metadata.name)) as ApiObject | undefined;
    return latest?.metadata.uid === member.uid ? latest : undefined;
  }

  async #delete(member: Member, propagation: PropagationPolicy): Promise<void> {
    await ignoringAbsence(
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
    await this.#setOwners(
      member,
      latest,
      referencesOf(latest).filter(({ uid }) => !owners.includes(uid)),
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

  /** For kinds that do not merge lists: all of them, unless somebody else was faster. */
  async #setOwners(member: Member, { metadata }: ApiObject, references: readonly OwnerReference[]): Promise<void> {
    const ownerReferences = references.length === 0 ? null : [...references];
    await this.#patch(member, mergePatch({ metadata: { resourceVersion: metadata.resourceVersion, ownerReferences } }));
  }

  async #removeFinalizer(member: Member, latest: ApiObject, finalizer: string): Promise<void> {
    const { resourceVersion, finalizers = [] } = latest.metadata;
    // Somebody took it away: then there is nothing to wait for any more.
    if (endingOf(latest) === undefined || !finalizers.includes(finalizer)) return;
    const rest = finalizers.filter((each) => each !== finalizer);
    const metadata = { resourceVersion, finalizers: rest.length === 0 ? null : rest };
    await this.#patch(member, mergePatch({ metadata }));
  }

  /** What is gone needs no change. */
  async #patch(member: Member, patch: Patch<PatchedMetadata>): Promise<void> {
    await ignoringAbsence(this.#api(member).patch(member.object.metadata.name, patch));
  }

  #api({ followed: { kind, served }, object }: Member) {
    return this.#parts.client.api(kind, served.namespaced ? object.metadata.namespace : undefined);
  }
}

/** What an object says itself about its dependents counts. */
function policyOf(object: ApiObject): PropagationPolicy {
  if (hasFinalizer(object, ORPHAN_FINALIZER)) return 'Orphan';
  return hasFinalizer(object, FOREGROUND_FINALIZER) ? 'Foreground' : 'Background';
}

/** Only built-in kinds know how lists merge. */
function isStruct({ followed }: Member): boolean {
  return followed.kind.representation === 'struct';
}
