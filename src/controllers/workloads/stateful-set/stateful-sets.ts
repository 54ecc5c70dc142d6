/**
 * The controller of StatefulSets: pods with stable names and storage, managed in order.
 */
import { ControllerRevision } from '../../../kinds/apps/v1/controller-revision.js';
import { StatefulSet } from '../../../kinds/apps/v1/stateful-set.js';
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { type Controller, ControllerPart } from '../../runtime/controller.js';
import { keyOf } from '../../runtime/shared-informer.js';
import type { ReconcileResult } from '../../runtime/work-queue.js';
import { claims, queueOwners, selectorIndex } from '../dependents.js';
import { isTerminating, msUntilNextAvailable } from '../pod-state.js';
import { Claims } from './claims.js';
import { History } from './history.js';
import { ordinalOf, type StoredSet } from './pods.js';
import { isStatusChanged, type SetStatus, updateSet, withUpdateCompleted } from './update.js';

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
    const { status, failure } = await updateSet({ context: this.context, claims: this.#claims, set, revisions, pods });
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
