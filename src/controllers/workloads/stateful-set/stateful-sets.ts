/**
 * The controller of StatefulSets: pods with stable names and storage, managed in order.
 */
import { ControllerRevision } from '../../../kinds/apps/v1/controller-revision.js';
import { StatefulSet } from '../../../kinds/apps/v1/stateful-set.js';
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../../meta/errors.js';
import { labelSelectorFromObject, matchesLabels } from '../../../meta/labels.js';
import { type Controller, ControllerPart } from '../../runtime/controller.js';
import { ignoreNotFound } from '../../runtime/expected-errors.js';
import { keyOf } from '../../runtime/shared-informer.js';
import type { ReconcileResult } from '../../runtime/work-queue.js';
import { claims, queueOwners, selectorIndex } from '../dependents.js';
import { isTerminating, msUntilNextAvailable, type StoredPod } from '../pod-state.js';
import {
  inRevisionOrder,
  isSameData,
  revisionData,
  revisionHash,
  revisionMetadata,
  revisionName,
  revisionSelection,
  type StoredRevision,
} from '../revisions.js';
import { Claims, ordinalOf, revisionOf, type StoredSet } from './pods.js';
import { isStatusChanged, type Revisions, type SetStatus, updateSet, withUpdateCompleted } from './update.js';

/**
 * Manages the pods and claims of StatefulSets.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([statefulSets()]) });
 */
export function statefulSets(): Controller {
  return {
    name: 'statefulset-controller',
    account: 'statefulset-controller',
    needs: [StatefulSet, ControllerRevision, Pod, PersistentVolumeClaim],
    start: (context) => new StatefulSets(context).start(),
  };
}

const WORKERS = 5;

class StatefulSets extends ControllerPart {
  readonly #sets = this.context.informer(StatefulSet);
  readonly #claimPods = claims(this.context, StatefulSet, Pod);
  readonly #history = new History(this.context);
  readonly #claims = new Claims(this.context);

  start(): void {
    const queue = this.context.queue((key) => this.#reconcileSet(key), { workers: WORKERS });
    this.#sets.onKey((key) => queue.add(key));
    const selectorOf = ({ spec }: StoredSet) => spec.selector;
    queueOwners({ owners: this.#sets, dependents: this.context.informer(Pod), selectorOf, queue });
    // A new pod may wait for the deletion of the claim of an earlier pod.
    const sets = selectorIndex(this.#sets, selectorOf);
    this.context.informer(PersistentVolumeClaim).subscribe(({ type, object }) => {
      if (type !== 'DELETED' || !object.metadata.ownerReferences?.some(({ kind }) => kind === 'Pod')) return;
      for (const set of sets(object.metadata.namespace ?? '', object.metadata.labels)) queue.add(keyOf(set));
    });
  }

  async #reconcileSet(key: string): Promise<ReconcileResult | undefined> {
    const set = this.#sets.at(key);
    if (set === undefined) return undefined;
    const known = await this.#history.of(set);
    // The garbage collector has already deleted its history.
    if (isTerminating(set) && known.length === 0) return undefined;
    const pods = await this.#claimPods(set, set.spec.selector, {
      fits: (pod) => ordinalOf(set, pod.metadata.name) !== undefined,
    });
    const revisions = await this.#history.revisions(set, known);
    const { status, failure } = await updateSet(this.context, { claims: this.#claims, set, revisions, pods });
    await this.#writeStatus(set, withUpdateCompleted(set, status));
    await this.#history.truncate(set, known, { pods, revisions: [revisions.current, revisions.update] });
    if (failure !== undefined) throw failure.error;
    const { minReadySeconds = 0 } = set.spec;
    return { requeueAfterMs: msUntilNextAvailable(pods, minReadySeconds, this.context.clock.now()) };
  }

  async #writeStatus(set: StoredSet, status: SetStatus): Promise<void> {
    if (!isStatusChanged(set, status)) return;
    const { name, namespace } = set.metadata;
    await this.context.client.api(StatefulSet, namespace).status.update(name, { ...set, status });
  }
}

/** The ControllerRevisions of a set: that of its template, that of its existing pods, and the unused ones to delete. */
class History extends ControllerPart {
  readonly #claim = claims(this.context, StatefulSet, ControllerRevision);
  readonly #withTemplate = revisionSelection();

  /** All revisions of the set, oldest first. Orphaned ones are adopted. */
  async of(set: StoredSet): Promise<StoredRevision[]> {
    const selector = labelSelectorFromObject(set.spec.selector);
    // Revisions that no longer match are ignored rather than released.
    const considers = ({ metadata }: StoredRevision) => matchesLabels(selector, metadata.labels);
    return inRevisionOrder(await this.#claim(set, set.spec.selector, { considers }));
  }

  /** The revision of the set's template, created if needed, and the current one of its pods. */
  async revisions(set: StoredSet, known: readonly StoredRevision[]): Promise<Revisions> {
    const last = known.at(-1);
    const next = Number(last?.revision ?? 0) + 1;
    let update = (await this.#withTemplate(known, set.spec.template)).at(-1);
    let collisions = set.status.collisionCount ?? 0;
    if (update === undefined) ({ update, collisions } = await this.#create(set, { revision: next, collisions }));
    // An earlier template that is used again becomes the newest revision.
    else if (update !== last) update = await this.#renumber(update, next);
    const current = known.find(({ metadata }) => metadata.name === set.status.currentRevision) ?? update;
    return { current, update, collisions };
  }

  /** Deletes the oldest unused revisions above the history limit. */
  async truncate(set: StoredSet, known: readonly StoredRevision[], used: UsedRevisions): Promise<void> {
    const names = new Set([...used.pods.map(revisionOf), ...used.revisions.map(({ metadata }) => metadata.name)]);
    const unused = known.filter(({ metadata }) => !names.has(metadata.name));
    const limit = set.spec.revisionHistoryLimit ?? 0;
    if (limit < 0) return;
    for (const { metadata } of unused.slice(0, Math.max(0, unused.length - limit))) {
      await ignoreNotFound(this.context.client.api(ControllerRevision, metadata.namespace).delete(metadata.name));
    }
  }

  async #create(
    set: StoredSet,
    { revision, collisions }: { readonly revision: number; readonly collisions: number },
  ): Promise<{ update: StoredRevision; collisions: number }> {
    const { client, dialect } = this.context;
    const { name, namespace } = set.metadata;
    const api = client.api(ControllerRevision, namespace);
    const data = revisionData(set.spec.template);
    // The label keeps the first hash, even when a collision changes the name.
    const label = { [dialect.subkey('controller', 'hash')]: revisionHash(data, collisions) };
    for (let probe = collisions; ; probe++) {
      const metadata = revisionMetadata(set, revisionName(name, revisionHash(data, probe)), label);
      try {
        return { update: await api.create({ metadata, data, revision }), collisions: probe };
      } catch (error) {
        if (!StatusError.is(error, 'AlreadyExists')) throw error;
        const existing = await api.get(metadata.name);
        if (isSameData(existing.data, data)) return { update: existing, collisions: probe };
      }
    }
  }

  async #renumber(update: StoredRevision, revision: number): Promise<StoredRevision> {
    return this.context.client.api(ControllerRevision, update.metadata.namespace).update({ ...update, revision });
  }
}

interface UsedRevisions {
  readonly pods: readonly StoredPod[];
  readonly revisions: readonly StoredRevision[];
}
