/**
 * The ReplicaSets of a Deployment during one reconcile: which is new, their order, sums over them, and proportional scaling.
 * Changes are written at once and visible to later steps. Annotations store the revision, earlier revisions of a ReplicaSet,
 * and the Deployment's size when a ReplicaSet was last scaled.
 */
import type { Deployment } from '../../../kinds/apps/v1/deployment.js';
import { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import type { Pod } from '../../../kinds/core/v1/pod/pod.js';
import type { ObjectOf } from '../../../kinds/kind.js';
import type { Dialect } from '../../../meta/dialect.js';
import { scaleIntOrString } from '../../../meta/int-or-string.js';
import { deepEqual } from '../../../util/json.js';
import { compareText } from '../../../util/order.js';
import type { ControllerContext } from '../../runtime/controller.js';
import { ignoreNotFound } from '../../runtime/expected-errors.js';
import type { HasMetadata } from '../../runtime/owners.js';
import type { SharedInformer } from '../../runtime/shared-informer.js';
import { isPodFinished, isTerminating } from '../pod-state.js';

export type StoredReplicaSet = ObjectOf<typeof ReplicaSet>;

export type StoredDeployment = ObjectOf<typeof Deployment>;

/** What every reconcile uses. */
export interface DeploymentEnvironment {
  readonly context: ControllerContext;
  readonly pods: SharedInformer<typeof Pod>;
  readonly keys: AnnotationKeys;
  readonly reportsTerminating: boolean;
}

export interface Bounds {
  readonly maxSurge: number;
  readonly maxUnavailable: number;
}

export interface OwnReplicaSets {
  readonly sets: readonly StoredReplicaSet[];
  /** The oldest one with the Deployment's template. */
  readonly newest: StoredReplicaSet | undefined;
}

/** The API's value for an unlimited revision history (the largest int32). */
const NO_HISTORY_LIMIT = 2 ** 31 - 1;

/** The ReplicaSets of one Deployment, with the changes of the current reconcile. */
export class DeploymentReplicaSets {
  readonly bounds: Bounds;
  readonly #environment: DeploymentEnvironment;
  readonly #deployment: StoredDeployment;
  #newest: StoredReplicaSet | undefined;
  #old: StoredReplicaSet[];

  constructor(environment: DeploymentEnvironment, deployment: StoredDeployment, { sets, newest }: OwnReplicaSets) {
    this.#environment = environment;
    this.#deployment = deployment;
    this.bounds = boundsOf(deployment);
    this.#newest = newest;
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

  addNewest(set: StoredReplicaSet): void {
    this.#newest = set;
  }

  isOldRunning(): boolean {
    if (actualOf(this.#old) > 0) return true;
    const { pods } = this.#environment;
    return this.#old.some((set) => pods.controlledBy(set).some((pod) => !isPodFinished(pod)));
  }

  /** Deletes old ReplicaSets above the revision history limit. */
  async cleanUp(): Promise<void> {
    if (this.#deployment.spec.revisionHistoryLimit === NO_HISTORY_LIMIT) return;
    const { context, keys } = this.#environment;
    const kept = this.#old.filter((set) => !isTerminating(set)).sort(byRevision(keys));
    const excess = Math.max(0, kept.length - this.#deployment.spec.revisionHistoryLimit);
    for (const { metadata, spec, status } of kept.slice(0, excess)) {
      const isSeen = (metadata.generation ?? 0) <= (status.observedGeneration ?? 0);
      if (status.replicas !== 0 || spec.replicas !== 0 || !isSeen) continue;
      await ignoreNotFound(context.client.api(ReplicaSet, metadata.namespace).delete(metadata.name));
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

const NONE: Bounds = Object.freeze({ maxSurge: 0, maxUnavailable: 0 });

/** Computes both in pods. In a rolling update they are never both 0, otherwise it could not progress. */
function boundsOf({ spec }: StoredDeployment): Bounds {
  const { rollingUpdate, type } = spec.strategy;
  if (type !== 'RollingUpdate' || rollingUpdate === undefined) return NONE;
  const total = spec.replicas;
  const maxSurge = scaleIntOrString(rollingUpdate.maxSurge, { total, round: 'up' });
  let maxUnavailable = scaleIntOrString(rollingUpdate.maxUnavailable, { total, round: 'down' });
  if (maxSurge === 0 && maxUnavailable === 0) maxUnavailable = 1;
  return { maxSurge, maxUnavailable: Math.min(maxUnavailable, total) };
}

/** The label that distinguishes the ReplicaSets of a Deployment and their pods. */
export const HASH_LABEL = 'pod-template-hash';

type Template = StoredDeployment['spec']['template'];
type Order = (a: StoredReplicaSet, b: StoredReplicaSet) => number;

const byCreation: Order = (a, b) =>
  compareText(a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '') ||
  compareText(a.metadata.name, b.metadata.name);

const bySizeOlderFirst: Order = (a, b) => b.spec.replicas - a.spec.replicas || byCreation(a, b);
const bySizeNewerFirst: Order = (a, b) => b.spec.replicas - a.spec.replicas || byCreation(b, a);

/** Oldest revision first. */
function byRevision(keys: AnnotationKeys): Order {
  return (a, b) => {
    const revisions = [revisionOf(a, keys), revisionOf(b, keys)] as const;
    return revisions[0] === undefined || revisions[1] === undefined || revisions[0] === revisions[1]
      ? byCreation(a, b)
      : Number(revisions[0] - revisions[1]);
  };
}

export function oldestOf(sets: readonly StoredReplicaSet[]): StoredReplicaSet | undefined {
  return [...sets].sort(byCreation)[0];
}

/** Compares templates without the hash label, which only templates of ReplicaSets have. */
export function sameTemplate(a: Template, b: Template): boolean {
  // The metadata is usually shorter.
  return deepEqual(withoutHash(a).metadata, withoutHash(b).metadata) && deepEqual(a.spec, b.spec);
}

export function withoutHash(template: Template): Template {
  const { metadata } = template;
  if (metadata?.labels?.[HASH_LABEL] === undefined) return template;
  const { [HASH_LABEL]: _hash, ...labels } = metadata.labels;
  return { ...template, metadata: { ...metadata, labels } };
}

/** The ReplicaSets that should have pods. */
export function activeAmong(sets: readonly StoredReplicaSet[]): StoredReplicaSet[] {
  return sets.filter(({ spec }) => spec.replicas > 0);
}

export function wantedBy(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { spec }) => sum + spec.replicas, 0);
}

export function actualOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + status.replicas, 0);
}

export function readyOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status.readyReplicas ?? 0), 0);
}

export function availableOf(sets: readonly StoredReplicaSet[]): number {
  return sets.reduce((sum, { status }) => sum + (status.availableReplicas ?? 0), 0);
}

/** The sum of terminating replicas; undefined if an observed ReplicaSet does not report them. */
export function terminatingOf(sets: readonly StoredReplicaSet[]): number | undefined {
  let sum = 0;
  for (const { status } of sets) {
    if (status.terminatingReplicas === undefined && (status.observedGeneration ?? 0) > 0) return undefined;
    sum += status.terminatingReplicas ?? 0;
  }
  return sum;
}

interface Share {
  readonly set: StoredReplicaSet;
  readonly size: number;
}

/**
 * Distributes the Deployment's size proportionally, largest ReplicaSet first; it also gets the rounding remainder. Of equal
 * ReplicaSets the newest grows first and the oldest shrinks first.
 *
 * Example: 10 pods with a surge of 3, 8 old and 5 new, resized to 15 with a surge of 4: factor 19/13, so 8 → 12 and 5 → 7.
 */
export function proportions(
  active: readonly StoredReplicaSet[],
  input: { readonly deployment: StoredDeployment; readonly bounds: Bounds; readonly keys: AnnotationKeys },
): Share[] {
  const { deployment, bounds } = input;
  const wanted = deployment.spec.replicas;
  const total = wanted > 0 ? wanted + bounds.maxSurge : 0;
  const toAdd = total - wantedBy(active);
  const sets = toAdd === 0 ? [...active] : [...active].sort(toAdd > 0 ? bySizeNewerFirst : bySizeOlderFirst);
  let added = 0;
  const shares = sets.map((set) => {
    const left = toAdd - added;
    const part = left === 0 ? 0 : partOf(set, input);
    const change = toAdd > 0 ? Math.min(part, left) : Math.max(part, left);
    added += change;
    return { set, size: set.spec.replicas + change };
  });
  return shares.map((share, index) =>
    index === 0 ? { ...share, size: Math.max(0, share.size + toAdd - added) } : share,
  );
}

/** The proportional change of a ReplicaSet's size. */
function partOf(
  set: StoredReplicaSet,
  input: { readonly deployment: StoredDeployment; readonly bounds: Bounds; readonly keys: AnnotationKeys },
): number {
  const { deployment, bounds, keys } = input;
  const size = set.spec.replicas;
  const wanted = deployment.spec.replicas;
  if (wanted === 0) return -size;
  const annotated = countIn(annotationsOf(set)[keys.max]);
  // Without the annotation, the current size is the best estimate.
  const before = annotated === undefined || annotated === 0 ? (deployment.status.replicas ?? 0) : annotated;
  if (before === 0) return 0;
  return Math.round((size * (wanted + bounds.maxSurge)) / before) - size;
}

export interface AnnotationKeys {
  readonly revision: string;
  readonly history: string;
  readonly desired: string;
  readonly max: string;
  readonly rollbackTo: string;
  /** Annotations that are never copied between a Deployment and its ReplicaSets. */
  readonly own: ReadonlySet<string>;
}

export type Annotations = Readonly<Record<string, string>>;

/** The maximum length of the revision history; the oldest revisions are dropped first. */
const MAX_HISTORY_LENGTH = 2000;
const NO_ANNOTATIONS: Annotations = Object.freeze({});

export function annotationKeys(dialect: Dialect): AnnotationKeys {
  const revision = dialect.subkey('deployment', 'revision');
  const history = dialect.subkey('deployment', 'revision-history');
  const desired = dialect.subkey('deployment', 'desired-replicas');
  const max = dialect.subkey('deployment', 'max-replicas');
  const rollbackTo = 'deprecated.deployment.rollback.to';
  const lastApplied = dialect.subkey('kubectl', 'last-applied-configuration');
  return {
    revision,
    history,
    desired,
    max,
    rollbackTo,
    own: new Set([revision, history, desired, max, rollbackTo, lastApplied]),
  };
}

export function annotationsOf({ metadata }: HasMetadata): Annotations {
  return metadata.annotations ?? NO_ANNOTATIONS;
}

/** The revision, a 64-bit number; 0 without one, undefined if it is not a number. */
export function revisionOf(object: HasMetadata, { revision }: AnnotationKeys): bigint | undefined {
  const text = annotationsOf(object)[revision];
  return text === undefined ? 0n : wholeNumber(text);
}

/** Parses a 32-bit count; undefined if it is not one. */
export function countIn(text: string | undefined): number | undefined {
  const count = text === undefined || !/^[0-9]+$/.test(text) ? undefined : Number(text);
  return count !== undefined && count < 2 ** 31 ? count : undefined;
}

/** Parses a whole number; undefined if it is not one. */
export function wholeNumber(text: string | undefined): bigint | undefined {
  return text === undefined || !/^[+-]?[0-9]+$/.test(text) ? undefined : BigInt(text.replace(/^\+/, ''));
}

/**
 * The annotations of the new ReplicaSet: copied from the Deployment, with the revision raised if it is lower. Returns the same
 * object if nothing changes.
 */
export function newSetAnnotations(
  current: Annotations,
  input: { readonly keys: AnnotationKeys; readonly deployment: HasMetadata; readonly revision: bigint },
): Annotations {
  const { keys, deployment, revision } = input;
  const before = current[keys.revision];
  const beforeNumber = before === undefined || before === '' ? 0n : wholeNumber(before);
  // The annotation has an invalid value, so it is left unchanged.
  if (beforeNumber === undefined) return current;
  const changes: Record<string, string> = {};
  for (const [key, value] of Object.entries(annotationsOf(deployment))) {
    if (!keys.own.has(key) && current[key] !== value) changes[key] = value;
  }
  if (beforeNumber < revision) {
    changes[keys.revision] = String(revision);
    // It was an earlier revision: the Deployment was rolled back to it.
    if (before !== undefined) {
      const history = longerHistory(current[keys.history] ?? '', before);
      if (history !== undefined) changes[keys.history] = history;
    }
  }
  return Object.keys(changes).length === 0 ? current : { ...current, ...changes };
}

/** Undefined if not even this revision fits. */
function longerHistory(history: string, revision: string): string | undefined {
  if (history === '' || history.startsWith(',')) return revision;
  const revisions = history.split(',');
  let length = history.length + revision.length + 1;
  while (length > MAX_HISTORY_LENGTH) {
    const oldest = revisions.shift();
    if (oldest === undefined) return undefined;
    length -= oldest.length + 1;
  }
  return [...revisions, revision].join(',');
}
