/**
 * The ControllerRevisions of a DaemonSet: that of the current template and the old ones.
 */

import { mergePatch } from '../../../client/patches.js';
import { ControllerRevision } from '../../../kinds/apps/v1/controller-revision.js';
import { DaemonSet } from '../../../kinds/apps/v1/daemon-set.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../../meta/errors.js';
import { ControllerPart } from '../../runtime/controller.js';
import { ignoreNotFound } from '../../runtime/expected-errors.js';
import { claims } from '../dependents.js';
import type { StoredPod } from '../pod-state.js';
import {
  isSameData,
  REVISION_LABEL,
  revisionData,
  revisionMetadata,
  revisionSelection,
  type StoredRevision,
} from '../revisions.js';
import { nameHash } from '../template-hash.js';
import type { StoredDaemonSet } from './placement.js';

export interface DaemonHistory {
  /** The revision label of pods of the current template. */
  readonly hash: string;
  readonly old: readonly StoredRevision[];
}

export class History extends ControllerPart {
  readonly #claim = claims(this.context, DaemonSet, ControllerRevision);
  readonly #withTemplate = revisionSelection();

  /** Returns undefined after a name collision; the next reconcile tries another name. */
  async of(set: StoredDaemonSet, podsOf: () => Promise<readonly StoredPod[]>): Promise<DaemonHistory | undefined> {
    const all = await this.#labelled(await this.#claim(set, set.spec.selector));
    const equal = await this.#withTemplate(all, set.spec.template);
    const isEqual = new Set(equal);
    const old = all.filter((revision) => !isEqual.has(revision));
    const next = Math.max(0, ...old.map(({ revision }) => Number(revision))) + 1;
    const present = equal.length === 0 ? await this.#create(set, next) : await this.#newest(equal, podsOf);
    if (present === undefined) return undefined;
    if (present.revision < next) await this.#api(present).update({ ...present, revision: next });
    return { hash: hashOf(present), old };
  }

  /** Deletes the oldest unused revisions above the history limit. */
  async truncate(set: StoredDaemonSet, old: readonly StoredRevision[], pods: readonly StoredPod[]): Promise<void> {
    const excess = old.length - (set.spec.revisionHistoryLimit ?? 0);
    if (excess <= 0) return;
    const used = new Set(pods.map(({ metadata }) => metadata.labels?.[REVISION_LABEL]));
    const unused = old.filter((revision) => !used.has(hashOf(revision)));
    const oldestFirst = unused.sort((left, right) => Number(left.revision) - Number(right.revision));
    for (const revision of oldestFirst.slice(0, excess)) await this.#delete(revision);
  }

  /** Adds the hash label to revisions without it, with their name as value. */
  async #labelled(revisions: readonly StoredRevision[]): Promise<StoredRevision[]> {
    const labelled: StoredRevision[] = [];
    for (const revision of revisions) {
      const { metadata } = revision;
      if (metadata.labels?.[REVISION_LABEL] !== undefined) labelled.push(revision);
      else {
        const labels = { ...metadata.labels, [REVISION_LABEL]: metadata.name };
        labelled.push(await this.#api(revision).update({ ...revision, metadata: { ...metadata, labels } }));
      }
    }
    return labelled;
  }

  /** Keeps the newest of several equal revisions, relabels the pods and deletes the others. */
  async #newest(
    equal: readonly StoredRevision[],
    podsOf: () => Promise<readonly StoredPod[]>,
  ): Promise<StoredRevision | undefined> {
    const [first, ...others] = [...equal].sort((left, right) => Number(right.revision) - Number(left.revision));
    if (first === undefined || others.length === 0) return first;
    const hash = hashOf(first);
    for (const { metadata } of await podsOf()) {
      if (metadata.labels?.[REVISION_LABEL] === hash) continue;
      const pods = this.context.client.api(Pod, metadata.namespace);
      await pods.patch(metadata.name, mergePatch({ metadata: { labels: { [REVISION_LABEL]: hash } } }));
    }
    for (const other of others) await this.#delete(other);
    return first;
  }

  async #create(set: StoredDaemonSet, revision: number): Promise<StoredRevision | undefined> {
    const { name, namespace } = set.metadata;
    const hash = nameHash(set.spec.template, set.status.collisionCount);
    const data = revisionData(set.spec.template);
    const api = this.context.client.api(ControllerRevision, namespace);
    const metadata = revisionMetadata(set, `${name}-${hash}`, { [REVISION_LABEL]: hash });
    try {
      return await api.create({ metadata, data, revision });
    } catch (error) {
      if (!StatusError.is(error, 'AlreadyExists')) throw error;
    }
    const existing = await api.get(metadata.name);
    if (isSameData(existing.data, data)) return existing;
    // The next reconcile reads the collision count from the status.
    const status = { ...set.status, collisionCount: (set.status.collisionCount ?? 0) + 1 };
    await this.context.client.api(DaemonSet, namespace).status.update(name, { ...set, status });
    return undefined;
  }

  async #delete(revision: StoredRevision): Promise<void> {
    await ignoreNotFound(this.#api(revision).delete(revision.metadata.name));
  }

  #api({ metadata }: StoredRevision) {
    return this.context.client.api(ControllerRevision, metadata.namespace);
  }
}

function hashOf({ metadata }: StoredRevision): string {
  return metadata.labels?.[REVISION_LABEL] ?? '';
}
