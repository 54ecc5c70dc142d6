/**
 * One reconcile of a Deployment: moves its ReplicaSets one step towards its template and size. Its status
 * is written at the end; a pause, a resumption and a new ReplicaSet are written before.
 */

import { Deployment } from '../../../kinds/apps/v1/deployment.js';
import { ReplicaSet } from '../../../kinds/apps/v1/replica-set.js';
import { StatusError } from '../../../meta/errors.js';
import { deepEqual } from '../../../util/json.js';
import { messageOf } from '../../../util/message-of.js';
import { isNamespaceTerminating } from '../../runtime/expected-errors.js';
import { controllerReference, isControlledBy } from '../../runtime/owners.js';
import type { ReconcileResult } from '../../runtime/work-queue.js';
import { matchesSelector } from '../dependents.js';
import { isTerminating } from '../pod-state.js';
import { nameHash } from '../template-hash.js';
import {
  activeAmong,
  annotationsOf,
  availableOf,
  countIn,
  type DeploymentEnvironment,
  DeploymentReplicaSets,
  HASH_LABEL,
  newSetAnnotations,
  type OwnReplicaSets,
  proportions,
  revisionOf,
  type StoredDeployment,
  type StoredReplicaSet,
  sameTemplate,
  wantedBy,
  wholeNumber,
} from './replica-sets.js';
import { rollback, rollbackTarget } from './rollback.js';
import {
  type Conditions,
  conditionIn,
  conditionNow,
  type DeploymentStatus,
  hasDeadline,
  isComplete,
  msUntilDeadlineCheck,
  plainStatus,
  type RolloutObservation,
  rolloutStatus,
  withCondition,
} from './status.js';

/** How the status is computed; `none`: not at all, because the Deployment was changed. */
type StatusMode = 'rollout' | 'plain' | 'none';

export class Rollout {
  readonly #environment: DeploymentEnvironment;
  #deployment: StoredDeployment;
  readonly #sets: DeploymentReplicaSets;
  #conditions: Conditions;
  #collisionCount: number | undefined;
  #revision: string | undefined;

  constructor(environment: DeploymentEnvironment, deployment: StoredDeployment, sets: OwnReplicaSets) {
    this.#environment = environment;
    this.#deployment = deployment;
    this.#sets = new DeploymentReplicaSets(environment, deployment, sets);
    this.#conditions = deployment.status.conditions ?? [];
    this.#collisionCount = deployment.status.collisionCount;
    this.#revision = annotationsOf(deployment)[environment.keys.revision];
  }

  async run(): Promise<ReconcileResult | undefined> {
    let mode: StatusMode;
    try {
      mode = await this.#act();
    } catch (error) {
      await this.#writePartialStatus();
      if (isNamespaceTerminating(error)) return undefined;
      throw error;
    }
    return this.#conclude(mode);
  }

  async #act(): Promise<StatusMode> {
    const { spec } = this.#deployment;
    if (!isTerminating(this.#deployment)) await this.#updatePauseCondition();
    await this.#syncNewest();
    if (isTerminating(this.#deployment) || !this.#mayHaveNewest()) return 'plain';
    if (spec.paused === true) {
      await this.#resize();
      if (rollbackTarget(this.#deployment, this.#environment.keys) === undefined) await this.#sets.cleanUp();
      return 'plain';
    }
    const target = rollbackTarget(this.#deployment, this.#environment.keys);
    if (target !== undefined) {
      const sets = [...this.#sets.old, await this.#ensureNewest()];
      await rollback(this.#environment, this.#deployment, { sets, target });
      return 'none';
    }
    if (this.#isResized()) {
      await this.#resize();
      return 'plain';
    }
    if (spec.strategy.type === 'Recreate') await this.#recreate();
    else await this.#roll();
    return 'rollout';
  }

  async #conclude(mode: StatusMode): Promise<ReconcileResult | undefined> {
    if (mode === 'none') return undefined;
    const observation = this.#observe();
    const status = mode === 'plain' ? plainStatus(observation) : rolloutStatus(observation);
    await this.#write(status);
    return mode === 'plain' ? undefined : { requeueAfterMs: msUntilDeadlineCheck(observation, status) };
  }

  #observe(): RolloutObservation {
    const { context, reportsTerminating } = this.#environment;
    return {
      deployment: this.#deployment,
      bounds: this.#sets.bounds,
      conditions: this.#conditions,
      collisionCount: this.#collisionCount,
      sets: this.#sets.all(),
      newSet: this.#sets.newest,
      reportsTerminating,
      nowMs: context.clock.now(),
      now: context.now(),
    };
  }

  /** Writes revision, conditions and collision count, but no observation. */
  #writeInterimStatus(): Promise<void> {
    return this.#write({
      ...this.#deployment.status,
      ...(this.#conditions.length > 0 && { conditions: this.#conditions }),
      ...(this.#collisionCount !== undefined && { collisionCount: this.#collisionCount }),
    });
  }

  /** Writes what is known after a failure: an invalid template, a name collision. */
  async #writePartialStatus(): Promise<void> {
    try {
      await this.#writeInterimStatus();
    } catch (error) {
      // The original failure is the one to throw.
      this.#environment.context.report(error, `status of Deployment ${this.#deployment.metadata.name}`);
    }
  }

  /** Writes status and revision if they have changed. */
  async #write(status: DeploymentStatus): Promise<void> {
    const { context, keys } = this.#environment;
    const { metadata } = this.#deployment;
    const isSameRevision = metadata.annotations?.[keys.revision] === this.#revision;
    if (isSameRevision && deepEqual(status, this.#deployment.status)) return;
    const annotations = {
      ...metadata.annotations,
      ...(this.#revision !== undefined && { [keys.revision]: this.#revision }),
    };
    const next = { ...this.#deployment, metadata: isSameRevision ? metadata : { ...metadata, annotations }, status };
    this.#deployment = await context.client.api(Deployment, metadata.namespace).status.update(metadata.name, next);
  }

  #progressing(status: 'True' | 'False' | 'Unknown', reason: string, message: string): void {
    const { context } = this.#environment;
    const condition = conditionNow('Progressing', status, { reason, message, now: context.now() });
    this.#conditions = withCondition(this.#conditions, condition);
  }

  /** A pause suspends the progress deadline; resuming restarts it. */
  async #updatePauseCondition(): Promise<void> {
    if (!hasDeadline(this.#deployment)) return;
    const reason = conditionIn(this.#conditions, 'Progressing')?.reason;
    if (reason === 'ProgressDeadlineExceeded') return;
    const isPaused = this.#deployment.spec.paused === true;
    if (isPaused && reason !== 'DeploymentPaused') {
      this.#progressing('Unknown', 'DeploymentPaused', 'Deployment is paused');
    } else if (!isPaused && reason === 'DeploymentPaused') {
      this.#progressing('Unknown', 'DeploymentResumed', 'Deployment is resumed');
    }
    await this.#writeInterimStatus();
  }

  /** Updates the newest ReplicaSet's revision, annotations and minReadySeconds. */
  async #syncNewest(): Promise<void> {
    const set = this.#sets.newest;
    if (set === undefined) return;
    const { keys } = this.#environment;
    const { minReadySeconds = 0 } = this.#deployment.spec;
    const current = annotationsOf(set);
    const annotations = newSetAnnotations(current, {
      keys,
      deployment: this.#deployment,
      revision: this.#nextRevision(),
    });
    if (annotations !== current || (set.spec.minReadySeconds ?? 0) !== minReadySeconds) {
      const spec = { ...set.spec, minReadySeconds };
      await this.#sets.update({ ...set, metadata: { ...set.metadata, annotations }, spec });
    }
    this.#revision = annotations[keys.revision] ?? '';
    if (hasDeadline(this.#deployment) && conditionIn(this.#conditions, 'Progressing') === undefined) {
      this.#progressing('True', 'FoundNewReplicaSet', `Found new replica set "${set.metadata.name}"`);
    }
    await this.#writeInterimStatus();
  }

  #nextRevision(): bigint {
    const { keys } = this.#environment;
    const revisions = this.#sets.old.map((set) => revisionOf(set, keys) ?? 0n);
    return revisions.reduce((highest, each) => (each > highest ? each : highest), 0n) + 1n;
  }

  async #ensureNewest(): Promise<StoredReplicaSet> {
    const set = this.#sets.newest ?? (await this.#createNewest());
    this.#sets.addNewest(set);
    await this.#writeInterimStatus();
    return set;
  }

  #mayHaveNewest(): boolean {
    if (this.#sets.newest !== undefined) return true;
    const { labels } = this.#labelsOfNewest();
    return matchesSelector(this.#environment.context, this.#deployment, labels);
  }

  #labelsOfNewest() {
    const { template } = this.#deployment.spec;
    const hash = nameHash(template, this.#collisionCount);
    return { hash, labels: { ...template.metadata?.labels, [HASH_LABEL]: hash } };
  }

  async #createNewest(): Promise<StoredReplicaSet> {
    const { context, keys } = this.#environment;
    const deployment = this.#deployment;
    const { metadata, spec } = deployment;
    const { hash, labels } = this.#labelsOfNewest();
    const name = `${metadata.name}-${hash}`;
    const revision = this.#nextRevision();
    const replicas = this.#sizeOfNewest(0);
    const api = context.client.api(ReplicaSet, metadata.namespace);
    try {
      const created = await api.create({
        metadata: {
          name,
          ...(metadata.namespace !== undefined && { namespace: metadata.namespace }),
          labels,
          annotations: { ...newSetAnnotations({}, { keys, deployment, revision }), ...this.#sets.sizeAnnotations() },
          ownerReferences: [controllerReference(deployment)],
        },
        spec: {
          replicas,
          ...(spec.minReadySeconds !== undefined && { minReadySeconds: spec.minReadySeconds }),
          selector: { ...spec.selector, matchLabels: { ...spec.selector.matchLabels, [HASH_LABEL]: hash } },
          template: { ...spec.template, metadata: { ...spec.template.metadata, labels } },
        },
      });
      if (replicas > 0) this.#sets.recordScaling(name, 0, replicas);
      // The reference cannot report both in one reconcile: its second write conflicts with the first.
      const isResumed = conditionIn(this.#conditions, 'Progressing')?.reason === 'DeploymentResumed';
      if (hasDeadline(deployment) && !isResumed)
        this.#progressing('True', 'NewReplicaSetCreated', `Created new replica set "${name}"`);
      this.#revision = String(revision);
      return created;
    } catch (error) {
      if (isNamespaceTerminating(error)) throw error;
      if (StatusError.is(error, 'AlreadyExists')) {
        const taken = await api.find(name);
        if (
          taken !== undefined &&
          isControlledBy(taken, deployment) &&
          sameTemplate(taken.spec.template, spec.template)
        ) {
          this.#revision = String(revision);
          return taken;
        }
        // Another object has the name. The next reconcile tries another hash.
        this.#collisionCount = (this.#collisionCount ?? 0) + 1;
        throw error;
      }
      const message = `Failed to create new replica set "${name}": ${messageOf(error)}`;
      if (hasDeadline(deployment)) this.#progressing('False', 'ReplicaSetCreateError', message);
      context.events.record(deployment, 'Warning', 'ReplicaSetCreateError', message);
      throw error;
    }
  }

  /** The size that a newest ReplicaSet of this size may grow to now. */
  #sizeOfNewest(size: number): number {
    const { replicas, strategy } = this.#deployment.spec;
    if (strategy.type === 'Recreate') return replicas;
    const room = replicas + this.#sets.bounds.maxSurge - wantedBy(this.#sets.old) - size;
    return room <= 0 ? size : size + Math.min(room, replicas - size);
  }

  /** Whether the Deployment's size differs from the one its ReplicaSets were scaled for. */
  #isResized(): boolean {
    const { keys } = this.#environment;
    return activeAmong(this.#sets.all()).some((set) => {
      const desired = countIn(annotationsOf(set)[keys.desired]);
      return desired !== undefined && desired !== this.#deployment.spec.replicas;
    });
  }

  /** Scales the ReplicaSets proportionally, without progressing the rollout. */
  async #resize(): Promise<void> {
    const { keys } = this.#environment;
    const { replicas, strategy } = this.#deployment.spec;
    const active = activeAmong(this.#sets.all());
    const only =
      active.length === 0 ? (this.#sets.newest ?? this.#sets.old.at(-1)) : active.length === 1 ? active[0] : undefined;
    if (only !== undefined) {
      await this.#sets.scale(only, replicas);
      return;
    }
    const { newest } = this.#sets;
    if (newest !== undefined && this.#isSaturated(newest)) {
      for (const set of activeAmong(this.#sets.old)) await this.#sets.scale(set, 0);
      return;
    }
    if (strategy.type !== 'RollingUpdate') return;
    const input = { deployment: this.#deployment, bounds: this.#sets.bounds, keys };
    for (const { set, size } of proportions(active, input)) await this.#sets.resize(set, size);
  }

  #isSaturated(set: StoredReplicaSet): boolean {
    const { replicas } = this.#deployment.spec;
    return (
      set.spec.replicas === replicas &&
      wholeNumber(annotationsOf(set)[this.#environment.keys.desired]) === BigInt(replicas) &&
      (set.status.availableReplicas ?? 0) === replicas
    );
  }

  /** A rolling update: scales up as far as the surge allows, then down as long as enough pods are available. */
  async #roll(): Promise<void> {
    const set = await this.#ensureNewest();
    const { replicas } = this.#deployment.spec;
    const size = set.spec.replicas > replicas ? replicas : this.#sizeOfNewest(set.spec.replicas);
    if (await this.#sets.scale(set, size)) return;
    if (await this.#shrinkOld(set)) return;
    if (isComplete(this.#deployment, this.#deployment.status)) await this.#sets.cleanUp();
  }

  async #shrinkOld(newSet: StoredReplicaSet): Promise<boolean> {
    const minAvailable = this.#deployment.spec.replicas - this.#sets.bounds.maxUnavailable;
    const newUnavailable = newSet.spec.replicas - (newSet.status.availableReplicas ?? 0);
    const maxScaleDown = wantedBy(this.#sets.all()) - minAvailable - newUnavailable;
    if (wantedBy(this.#sets.old) === 0 || maxScaleDown <= 0) return false;

    // Unavailable pods are deleted first, because they would block the rollout.
    let unavailable = maxScaleDown;
    for (const set of activeAmong(this.#sets.old)) {
      const count = Math.min(unavailable, set.spec.replicas - (set.status.availableReplicas ?? 0));
      if (count <= 0) continue;
      await this.#sets.scale(set, set.spec.replicas - count);
      unavailable -= count;
    }
    let spare = availableOf(this.#sets.all()) - minAvailable;
    const isAnySpare = spare > 0;
    for (const set of activeAmong(this.#sets.old)) {
      const count = Math.min(spare, set.spec.replicas);
      if (count <= 0) break;
      await this.#sets.scale(set, set.spec.replicas - count);
      spare -= count;
    }
    return unavailable < maxScaleDown || isAnySpare;
  }

  /** Creates no new pod before the last old one is gone. */
  async #recreate(): Promise<void> {
    const active = activeAmong(this.#sets.old);
    for (const set of active) await this.#sets.scale(set, 0);
    if (active.length > 0 || this.#sets.isOldRunning()) return;
    await this.#sets.scale(await this.#ensureNewest(), this.#deployment.spec.replicas);
    if (isComplete(this.#deployment, this.#deployment.status)) await this.#sets.cleanUp();
  }
}
