/**
 * The controller of StatefulSets: pods with stable names and storage, managed in order.
 */
import { ControllerRevision } from '../../../kinds/apps/v1/controller-revision.js';
import { StatefulSet } from '../../../kinds/apps/v1/stateful-set.js';
import { PersistentVolumeClaim } from '../../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../../kinds/core/v1/pod/pod.js';
import { labelSelectorFromObject } from '../../../meta/labels.js';
import type { Controller, ControllerContext } from '../../runtime/controller.js';
import { keyOf, type SharedInformer } from '../../runtime/shared-informer.js';
import type { ReconcileResult } from '../../runtime/work-queue.js';
import { claim, type OrphanIndex, orphanIndex, queueOwners, selectorIndex } from '../dependents.js';
import { isTerminating, msUntilNextAvailable, type StoredPod } from '../pod-state.js';
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

class StatefulSets {
  readonly #context: ControllerContext;
  readonly #sets: SharedInformer<typeof StatefulSet>;
  readonly #pods: SharedInformer<typeof Pod>;
  readonly #orphans: OrphanIndex<StoredPod>;
  readonly #history: History;
  readonly #claims: Claims;

  constructor(context: ControllerContext) {
    this.#context = context;
    this.#sets = context.informer(StatefulSet);
    this.#pods = context.informer(Pod);
    this.#orphans = orphanIndex(this.#pods);
    this.#history = new History(context);
    this.#claims = new Claims(context);
  }

  start(): void {
    const queue = this.#context.queue((key) => this.#reconcileSet(key), { workers: WORKERS });
    this.#sets.onKey((key) => queue.add(key));
    const selectorOf = ({ spec }: StoredSet) => spec.selector;
    queueOwners({ owners: this.#sets, dependents: this.#pods, selectorOf, queue });
    // A new pod may wait for the deletion of the claim of an earlier pod.
    const sets = selectorIndex(this.#sets, selectorOf);
    this.#context.informer(PersistentVolumeClaim).subscribe(({ type, object }) => {
      if (type !== 'DELETED' || !object.metadata.ownerReferences?.some(({ kind }) => kind === 'Pod')) return;
      for (const set of sets(object.metadata.namespace ?? '', object.metadata.labels)) queue.add(keyOf(set));
    });
  }

  async #reconcileSet(key: string): Promise<ReconcileResult | undefined> {
    const set = this.#sets.at(key);
    if (set === undefined) return undefined;
    const ownerNow = () => this.#context.client.api(StatefulSet, set.metadata.namespace).find(set.metadata.name);
    const known = await this.#history.of(set, ownerNow);
    // The garbage collector has already deleted its history.
    if (isTerminating(set) && known.length === 0) return undefined;
    const pods = await this.#podsOf(set, ownerNow);
    const revisions = await this.#history.revisions(set, known);
    const { status, failure } = await updateSet({ context: this.#context, claims: this.#claims, set, revisions, pods });
    await this.#writeStatus(set, withUpdateCompleted(set, status));
    await this.#history.truncate(set, known, { pods, revisions: [revisions.current, revisions.update] });
    if (failure !== undefined) throw failure.error;
    const { minReadySeconds = 0 } = set.spec;
    return { requeueAfterMs: msUntilNextAvailable(pods, minReadySeconds, this.#context.clock.now()) };
  }

  #podsOf(set: StoredSet, ownerNow: () => Promise<StoredSet | undefined>): Promise<StoredPod[]> {
    const { metadata, spec } = set;
    return claim({
      client: this.#context.client,
      kind: Pod,
      owner: set,
      selector: labelSelectorFromObject(spec.selector),
      fits: (pod) => ordinalOf(set, pod.metadata.name) !== undefined,
      candidates: [...this.#pods.controlledBy(metadata.uid), ...this.#orphans(metadata.namespace ?? '', spec.selector)],
      ownerNow,
    });
  }

  async #writeStatus(set: StoredSet, status: SetStatus): Promise<void> {
    if (!isStatusChanged(set, status)) return;
    const { name, namespace } = set.metadata;
    await this.#context.client.api(StatefulSet, namespace).status.update(name, { ...set, status });
  }
}
