/**
 * The ControllerRevisions of a StatefulSet: that of its template, that of its existing pods, and the unused ones to delete.
 */
import { ControllerRevision } from '../../../kinds/apps/v1/controller-revision.js';
import { StatefulSet } from '../../../kinds/apps/v1/stateful-set.js';
import { StatusError } from '../../../meta/errors.js';
import { labelSelectorFromObject, matchesLabels } from '../../../meta/labels.js';
import { ControllerPart } from '../../runtime/controller.js';
import { ignoreNotFound } from '../../runtime/expected-errors.js';
import { controllerReference } from '../../runtime/owners.js';
import { claims } from '../dependents.js';
import type { StoredPod } from '../pod-state.js';
import {
  inRevisionOrder,
  isSameData,
  revisionData,
  revisionHash,
  revisionName,
  type StoredRevision,
} from '../revisions.js';
import { revisionOf, type StoredSet } from './pods.js';
import type { Revisions } from './update.js';

/** Manages the ControllerRevisions of StatefulSets. */
export class History extends ControllerPart {
  readonly #claim = claims(this.context, StatefulSet, ControllerRevision);

  /** All revisions of the set, oldest first. Orphaned ones are adopted. */
  async of(set: StoredSet): Promise<StoredRevision[]> {
    const selector = labelSelectorFromObject(set.spec.selector);
    // Revisions that no longer match are ignored rather than released.
    const considers = ({ metadata }: StoredRevision) => matchesLabels(selector, metadata.labels);
    return inRevisionOrder(await this.#claim(set, set.spec.selector, { considers }));
  }

  /** The revision of the set's template, created if needed, and the current one of its pods. */
  async revisions(set: StoredSet, known: readonly StoredRevision[]): Promise<Revisions> {
    const data = revisionData(set.spec.template);
    const last = known.at(-1);
    const next = (last?.revision ?? 0) + 1;
    const equal = known.findLast((revision) => isSameData(revision.data, data));
    let collisions = set.status.collisionCount ?? 0;
    let update = equal;
    if (update === undefined) ({ update, collisions } = await this.#create(set, data, { revision: next, collisions }));
    // An earlier template that is used again becomes the newest revision.
    else if (last !== undefined && !isSameData(last.data, data)) update = await this.#renumber(update, next);
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
    data: unknown,
    { revision, collisions }: { readonly revision: number; readonly collisions: number },
  ): Promise<{ update: StoredRevision; collisions: number }> {
    const { client, dialect } = this.context;
    const { name, namespace, annotations } = set.metadata;
    const api = client.api(ControllerRevision, namespace);
    // The label keeps the first hash, even when a collision changes the name.
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
        const existing = await api.get(metadata.name);
        if (isSameData(existing.data, data)) return { update: existing, collisions: probe };
      }
    }
  }

  async #renumber(update: StoredRevision, revision: number): Promise<StoredRevision> {
    return this.context.client.api(ControllerRevision, update.metadata.namespace).update({ ...update, revision });
  }
}

export interface UsedRevisions {
  readonly pods: readonly StoredPod[];
  readonly revisions: readonly StoredRevision[];
}
