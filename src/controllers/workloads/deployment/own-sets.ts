/**
 * The ReplicaSets of one Deployment during one reconcile. Changes are written at once and visible to later steps.
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

/** What every reconcile uses. */
export interface DeploymentEnvironment {
  readonly context: ControllerContext;
  readonly pods: SharedInformer<typeof Pod>;
  readonly keys: AnnotationKeys;
  readonly reportsTerminating: boolean;
}

export class OwnSets {
  readonly bounds: Bounds;
  readonly #environment: DeploymentEnvironment;
  readonly #deployment: StoredDeployment;
  #newest: StoredReplicaSet | undefined;
  #old: StoredReplicaSet[];

  constructor(environment: DeploymentEnvironment, deployment: StoredDeployment, sets: readonly StoredReplicaSet[]) {
    this.#environment = environment;
    this.#deployment = deployment;
    this.bounds = boundsOf(deployment);
    this.#newest = newSetAmong(sets, deployment);
    this.#old = sets.filter(({ metadata }) => metadata.uid !== this.#newest?.metadata.uid).sort(byCreation);
  }

  /** The ReplicaSet with the Deployment's template. */
  get newest(): StoredReplicaSet | undefined {
    return this.#newest;
  }

  /** The other ReplicaSets, oldest first. */
  get old(): readonly StoredReplicaSet[] {
    return this.#old;
  }

  all(): readonly StoredReplicaSet[] {
    return this.#newest === undefined ? this.#old : [...this.#old, this.#newest];
  }

  /** Sets the newest ReplicaSet after it was created. */
  addNewest(set: StoredReplicaSet): void {
    this.#newest = set;
  }

  isOldRunning(): boolean {
    if (actualOf(this.#old) > 0) return true;
    const { pods } = this.#environment;
    return this.#old.some(({ metadata }) => pods.controlledBy(metadata.uid).some((pod) => !isPodFinished(pod)));
  }

  /** Deletes old ReplicaSets above the revision history limit. */
  async cleanUp(): Promise<void> {
    if (!hasHistoryLimit(this.#deployment)) return;
    const { context, keys } = this.#environment;
    const kept = this.#old.filter((set) => !isTerminating(set)).sort(byRevision(keys));
    const excess = Math.max(0, kept.length - this.#deployment.spec.revisionHistoryLimit);
    for (const { metadata, spec, status } of kept.slice(0, excess)) {
      const isSeen = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
      if (status.replicas !== 0 || spec.replicas !== 0 || !isSeen) continue;
      await ignoringAbsence(context.client.api(ReplicaSet, metadata.namespace).delete(metadata.name));
    }
  }

  /** Scales the ReplicaSet. Returns false if it already has that size. */
  async scale(set: StoredReplicaSet, size: number): Promise<boolean> {
    if (set.spec.replicas === size) return false;
    await this.resize(set, size);
    return true;
  }

  /** Scales the ReplicaSet and updates its size annotations, even if only those change. */
  async resize(set: StoredReplicaSet, size: number): Promise<void> {
    const before = annotationsOf(set);
    const annotations = { ...before, ...this.sizeAnnotations() };
    if (set.spec.replicas === size && deepEqual(annotations, before)) return;
    const metadata = { ...set.metadata, annotations };
    await this.update({ ...set, metadata, spec: { ...set.spec, replicas: size } });
    if (set.spec.replicas !== size) this.recordScaling(set.metadata.name, set.spec.replicas, size);
  }

  /** The annotations with the Deployment's size, for ReplicaSets that are scaled. */
  sizeAnnotations(): Record<string, string> {
    const { keys } = this.#environment;
    const { replicas } = this.#deployment.spec;
    return { [keys.desired]: String(replicas), [keys.max]: String(replicas + this.bounds.maxSurge) };
  }

  recordScaling(name: string, from: number, to: number): void {
    const direction = from < to ? 'up' : 'down';
    const message = `Scaled ${direction} replica set ${name} from ${from} to ${to}`;
    this.#environment.context.events.record(this.#deployment, 'Normal', 'ScalingReplicaSet', message);
  }

  /** Writes a ReplicaSet and keeps the server's response. */
  async update(set: StoredReplicaSet): Promise<void> {
    const { client } = this.#environment.context;
    const written = await client.api(ReplicaSet, set.metadata.namespace).update(set);
    if (this.#newest?.metadata.uid === written.metadata.uid) this.#newest = written;
    this.#old = this.#old.map((old) => (old.metadata.uid === written.metadata.uid ? written : old));
  }
}
