/**
 * Binds the volumes of a pod that has a node: reserves matching volumes, asks for those that must be provisioned, and waits
 * until the controllers of volumes have bound all claims.
 * upstream: pkg/scheduler/framework/plugins/volumebinding/binder.go BindPodVolumes
 */
import { ControllerPart } from '../../controllers/runtime/controller.js';
import { keyOf } from '../../controllers/runtime/shared-informer.js';
import type { ReconcileResult } from '../../controllers/runtime/work-queue.js';
import { Binding, withAnnotations } from '../../controllers/volumes/binding.js';
import { annotationOf, volumeNames } from '../../controllers/volumes/matching.js';
import { podsByClaim } from '../../controllers/volumes/pod-claims.js';
import { Node } from '../../kinds/core/v1/node/node.js';
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { StatusError } from '../../meta/errors.js';
import { quote } from '../../text/go/go-text.js';
import { SchedulingError } from './plugin.js';
import type { StoredClaim } from './plugins/pod-volumes.js';
import { isFullyBound, isReachable, placeVolumes, podClaims, type VolumePlan } from './plugins/volume-binding.js';
import type { Snapshot, StoredPod } from './snapshot.js';

export interface VolumeBinderOptions {
  /** All volumes are bound. */
  readonly onBound: (pod: StoredPod, nodeName: string) => Promise<void>;
  /** The pod must be scheduled again. */
  readonly onFailed: (pod: StoredPod, message: string) => Promise<void>;
}

interface Pending {
  readonly pod: StoredPod;
  readonly nodeName: string;
  readonly plan: VolumePlan;
  readonly untilMs: number;
}

const TIMEOUT_MS = 600_000;

export class VolumeBinder extends ControllerPart<VolumeBinderOptions> {
  readonly #names = volumeNames(this.context.dialect);
  readonly #binding = new Binding(this.context, { names: this.#names, features: this.context.features });
  readonly #pending = new Map<string, Pending>();
  readonly #queue = this.context.queue((key) => this.#reconcile(key), { name: 'volumes' });
  readonly #hasClaims = this.context.serves(PersistentVolumeClaim) && this.context.serves(PersistentVolume);

  start(): void {
    if (!this.#hasClaims) return;
    const podsOf = podsByClaim(this.context);
    this.context.informer(PersistentVolume);
    this.context.informer(PersistentVolumeClaim).onKey((claim) => {
      for (const pod of podsOf(claim)) if (this.#pending.has(keyOf(pod))) this.#queue.add(keyOf(pod));
    });
    this.context.informer(Pod).onKey((key, { type }) => {
      if (type === 'DELETED') this.#pending.delete(key);
    });
    this.context.informer(Node).subscribe(({ type }) => {
      if (type === 'DELETED') for (const key of this.#pending.keys()) this.#queue.add(key);
    });
  }

  /** Starts to bind the volumes of a pod. Returns true if all are bound already. */
  async prepare(pod: StoredPod, nodeName: string, snapshot: Snapshot): Promise<boolean> {
    const claims = podClaims(pod, snapshot);
    const node = snapshot.nodesByName.get(nodeName);
    if (claims === undefined || 'reasons' in claims || node === undefined || claims.waiting.length === 0) return true;
    const plan = placeVolumes(claims, node, snapshot);
    try {
      for (const { volume, claim } of plan.bindings) await this.#binding.claimVolume(volume, claim);
      for (const claim of plan.provisions) await this.#selectNode(claim, nodeName);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      throw new SchedulingError(`running PreBind plugin "VolumeBinding": ${error.message}`);
    }
    this.#pending.set(keyOf(pod), { pod, nodeName, plan, untilMs: this.context.clock.now() + TIMEOUT_MS });
    this.#queue.add(keyOf(pod));
    return false;
  }

  async #selectNode(claim: StoredClaim, nodeName: string): Promise<void> {
    const { selectedNode } = this.#names;
    if (annotationOf(claim, selectedNode) === nodeName) return;
    await this.context.client
      .api(PersistentVolumeClaim, claim.metadata.namespace)
      .update({ ...claim, metadata: withAnnotations(claim.metadata, { [selectedNode]: nodeName }) });
  }

  async #reconcile(key: string): Promise<ReconcileResult | undefined> {
    const pending = this.#pending.get(key);
    if (pending === undefined) return undefined;
    const state = this.#stateOf(pending);
    const leftMs = pending.untilMs - this.context.clock.now();
    if (state === 'waiting' && leftMs > 0) return { requeueAfterMs: leftMs };
    const { pod, nodeName } = pending;
    if (state === 'bound') await this.options.onBound(pod, nodeName);
    else {
      const problem = state === 'waiting' ? 'context deadline exceeded' : state.problem;
      await this.options.onFailed(pod, `running PreBind plugin "VolumeBinding": binding volumes: ${problem}`);
    }
    this.#pending.delete(key);
    return undefined;
  }

  #stateOf({ nodeName, plan }: Pending): 'bound' | 'waiting' | { readonly problem: string } {
    const node = this.context.informer(Node).get(nodeName);
    if (node === undefined)
      return { problem: `failed to get node ${quote(nodeName)}: node ${quote(nodeName)} not found` };
    let isBound = true;
    const planned = [...plan.bindings.map(({ claim }) => claim), ...plan.provisions];
    for (const { metadata } of planned) {
      const claim = this.context.informer(PersistentVolumeClaim).get(metadata.name, metadata.namespace);
      if (claim === undefined)
        return { problem: `failed to check binding: claim ${quote(keyOf({ metadata }))} not found` };
      const isProvisioned = plan.provisions.some((each) => each.metadata.uid === metadata.uid);
      if (isProvisioned && annotationOf(claim, this.#names.selectedNode) !== nodeName) {
        return { problem: `provisioning failed for PVC ${quote(metadata.name)}` };
      }
      const volume = this.context.informer(PersistentVolume).get(claim.spec.volumeName ?? '');
      if (volume !== undefined && !isReachable(volume, { name: nodeName, labels: node.metadata.labels ?? {} })) {
        const name = quote(volume.metadata.name);
        return {
          problem: `pv ${name} node affinity doesn't match node ${quote(nodeName)}: no matching NodeSelectorTerms`,
        };
      }
      isBound &&= isFullyBound(claim, this.context);
    }
    return isBound ? 'bound' : 'waiting';
  }
}
