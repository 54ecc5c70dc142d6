/**
 * The history of a StatefulSet: which revision its template is, which one its pods are still of, and which can be
 * forgotten.
 */
import { ControllerRevision } from '../../../kinds/apps/v1/controller-revision.js';
import { StatusError } from '../../../meta/errors.js';
import { labelSelectorFromObject, matchesLabels } from '../../../meta/labels.js';
import type { ControllerContext } from '../../runtime/controller.js';
import { controllerReference } from '../../runtime/owners.js';
import { ignoringAbsence } from '../../runtime/refusals.js';
import type { SharedInformer } from '../../runtime/shared-informer.js';
import { claim } from '../claim.js';
import type { StoredPod } from '../pod-state.js';
import {
  inRevisionOrder,
  isSameData,
  revisionData,
  revisionHash,
  revisionName,
  type StoredRevision,
} from '../revisions.js';
import { type OrphanIndex, orphanIndex } from '../selecting.js';
import { revisionOf, type StoredSet } from './pods.js';
import type { Revisions } from './status.js';

export class History {
  readonly #context: ControllerContext;
  readonly #revisions: SharedInformer<typeof ControllerRevision>;
  readonly #orphans: OrphanIndex<StoredRevision>;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#revisions = context.informer(ControllerRevision);
    this.#orphans = orphanIndex(this.#revisions);
  }

  /** All revisions of the set, the oldest first; those that nobody controls become its own. */
  async of(set: StoredSet, ownerNow: () => Promise<StoredSet | undefined>): Promise<StoredRevision[]> {
    const selector = labelSelectorFromObject(set.spec.selector);
    const own = this.#revisions.controlledBy(set.metadata.uid);
    const strays = this.#orphans(set.metadata.namespace ?? '', set.spec.selector);
    // Those that match no longer are not released: they are merely not looked at.
    const candidates = [...own, ...strays].filter(({ metadata }) => matchesLabels(selector, metadata.labels));
    const kind = ControllerRevision;
    return inRevisionOrder(
      await claim({ client: this.#context.client, kind, owner: set, selector, candidates, ownerNow }),
    );
  }

  /** The revision of the set's template, made if there is none yet, and the one that its pods were of so far. */
  async revisions(set: StoredSet, known: readonly StoredRevision[]): Promise<Revisions> {
    const data = revisionData(set.spec.template);
    const last = known.at(-1);
    const next = (last?.revision ?? 0) + 1;
    const equal = known.findLast((revision) => isSameData(revision.data, data));
    let collisions = set.status.collisionCount ?? 0;
    let update = equal;
    if (update === undefined) ({ update, collisions } = await this.#create(set, data, { revision: next, collisions }));
    // A state that comes back is the newest again.
    else if (last !== undefined && !isSameData(last.data, data)) update = await this.#renumber(update, next);
    const current = known.find(({ metadata }) => metadata.name === set.status.currentRevision) ?? update;
    return { current, update, collisions };
  }

  /** Deletes the oldest of those that no pod is of, as far as there are more than the set wants to keep. */
  async truncate(set: StoredSet, known: readonly StoredRevision[], used: UsedRevisions): Promise<void> {
    const names = new Set([...used.pods.map(revisionOf), ...used.revisions.map(({ metadata }) => metadata.name)]);
    const unused = known.filter(({ metadata }) => !names.has(metadata.name));
    const limit = set.spec.revisionHistoryLimit ?? 0;
    if (limit < 0) return;
    for (const { metadata } of unused.slice(0, Math.max(0, unused.length - limit))) {
      await ignoringAbsence(this.#context.client.api(ControllerRevision, metadata.namespace).delete(metadata.name));
    }
  }

  async #create(
    set: StoredSet,
    data: unknown,
    { revision, collisions }: { readonly revision: number; readonly collisions: number },
  ): Promise<{ update: StoredRevision; collisions: number }> {
    const { client, dialect } = this.#context;
    const { name, namespace, annotations } = set.metadata;
    const api = client.api(ControllerRevision, namespace);
    // The label stays what it was first, even when a collision changes the name.
    const labels = {
      ...set.spec.template.metadata?.labels,
      [dialect.subkey('controller', 'hash')]: revisionHash(data, collisions),
    };
    for (let probe = collisions; ; probe++) {
      const metadata = {
        name: revisionName(name, revisionHash(data, probe)),
        ...(namespace === undefined ? {} : { namespace }),
        labels,
        ...(annotations === undefined ? {} : { annotations: { ...annotations } }),
        ownerReferences: [controllerReference(set)],
      };
      try {
        return { update: await api.create({ metadata, data, revision }), collisions: probe };
      } catch (error) {
        if (!StatusError.is(error, 'AlreadyExists')) throw error;
        const there = await api.get(metadata.name);
        if (isSameData(there.data, data)) return { update: there, collisions: probe };
      }
    }
  }

  async #renumber(update: StoredRevision, revision: number): Promise<StoredRevision> {
    return this.#context.client.api(ControllerRevision, update.metadata.namespace).update({ ...update, revision });
  }
}

export interface UsedRevisions {
  readonly pods: readonly StoredPod[];
  readonly revisions: readonly StoredRevision[];
}
