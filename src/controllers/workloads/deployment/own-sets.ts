/**
 * The ReplicaSets of one Deployment during one look: what is done to them is done at once, and seen in what follows.
 */
import { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import type { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { deepEqual } from '../../../util/json.js';
import type { ControllerContext } from '../../runtime/controller.js';
import { ignoringAbsence } from '../../runtime/refusals.js';
import type { SharedInformer } from '../../runtime/shared-informer.js';
import { isPodFinished, isTerminating } from '../pod-state.js';
import { type AnnotationKeys, annotationsOf } from './annotations.js';
import { type Bounds, boundsOf, type StoredDeployment } from './bounds.js';
import { actualOf, byCreation, byRevision, newSetAmong, type StoredReplicaSet } from './replica-set-list.js';
import { hasHistoryLimit } from './status.js';

/** What every look needs and none changes. */
export interface Surroundings {
  readonly context: ControllerContext;
  readonly pods: SharedInformer<typeof Pod>;
  readonly keys: AnnotationKeys;
  readonly tellsTerminating: boolean;
}

export class OwnSets {
  readonly bounds: Bounds;
  readonly #around: Surroundings;
  readonly #deployment: StoredDeployment;
  #newest: StoredReplicaSet | undefined;
  #old: StoredReplicaSet[];

  constructor(around: Surroundings, deployment: StoredDeployment, sets: readonly StoredReplicaSet[]) {
    this.#around = around;
    this.#deployment = deployment;
    this.bounds = boundsOf(deployment);
    this.#newest = newSetAmong(sets, deployment);
    this.#old = sets.filter(({ metadata }) => metadata.uid !== this.#newest?.metadata.uid).sort(byCreation);
  }

  /** The one with the Deployment's template. */
  get newest(): StoredReplicaSet | undefined {
    return this.#newest;
  }

  /** Those with another, oldest first. */
  get old(): readonly StoredReplicaSet[] {
    return this.#old;
  }

  all(): readonly StoredReplicaSet[] {
    return this.#newest === undefined ? this.#old : [...this.#old, this.#newest];
  }

  /** Takes note of the newest, which was not there before. */
  addNewest(set: StoredReplicaSet): void {
    this.#newest = set;
  }

  isOldRunning(): boolean {
    if (actualOf(this.#old) > 0) return true;
    const { pods } = this.#around;
    return this.#old.some(({ metadata }) => pods.controlledBy(metadata.uid).some((pod) => !isPodFinished(pod)));
  }

  /** Old ones are kept to go back to, but not too many. */
  async cleanUp(): Promise<void> {
    if (!hasHistoryLimit(this.#deployment)) return;
    const { context, keys } = this.#around;
    const kept = this.#old.filter((set) => !isTerminating(set)).sort(byRevision(keys));
    const excess = Math.max(0, kept.length - this.#deployment.spec.revisionHistoryLimit);
    for (const { metadata, spec, status } of kept.slice(0, excess)) {
      const isSeen = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
      if (status.replicas !== 0 || spec.replicas !== 0 || !isSeen) continue;
      await ignoringAbsence(context.client.api(ReplicaSet, metadata.namespace).delete(metadata.name));
    }
  }

  /** Changes the size. False: it had that size. */
  async scale(set: StoredReplicaSet, size: number): Promise<boolean> {
    if (set.spec.replicas === size) return false;
    await this.resize(set, size);
    return true;
  }

  /** Changes the size and notes what for, even if only that is new. */
  async resize(set: StoredReplicaSet, size: number): Promise<void> {
    const before = annotationsOf(set);
    const annotations = { ...before, ...this.sizeAnnotations() };
    if (set.spec.replicas === size && deepEqual(annotations, before)) return;
    const metadata = { ...set.metadata, annotations };
    await this.update({ ...set, metadata, spec: { ...set.spec, replicas: size } });
    if (set.spec.replicas !== size) this.recordScaling(set.metadata.name, set.spec.replicas, size);
  }

  /** What the Deployment's size is, for those who are sized now. */
  sizeAnnotations(): Record<string, string> {
    const { keys } = this.#around;
    const { replicas } = this.#deployment.spec;
    return { [keys.desired]: String(replicas), [keys.max]: String(replicas + this.bounds.maxSurge) };
  }

  recordScaling(name: string, from: number, to: number): void {
    const way = from < to ? 'up' : 'down';
    const message = `Scaled ${way} replica set ${name} from ${from} to ${to}`;
    this.#around.context.events.record(this.#deployment, 'Normal', 'ScalingReplicaSet', message);
  }

  /** Writes one; from then on it is what the server made of it. */
  async update(set: StoredReplicaSet): Promise<void> {
    const { client } = this.#around.context;
    const written = await client.api(ReplicaSet, set.metadata.namespace).update(set);
    if (this.#newest?.metadata.uid === written.metadata.uid) this.#newest = written;
    this.#old = this.#old.map((old) => (old.metadata.uid === written.metadata.uid ? written : old));
  }
}
