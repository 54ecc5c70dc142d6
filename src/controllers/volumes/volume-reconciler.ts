/**
 * Reconciles a volume: its phase follows its claim; once the claim is gone, the reclaim policy decides.
 */
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import { ControllerPart } from '../runtime/controller.js';
import { keyOf, type Lookup, type SharedInformer } from '../runtime/shared-informer.js';
import type { Binding } from './binding.js';
import type { StoredClaim, StoredPod, StoredVolume } from './matching.js';
import { annotationOf, claimKeyOf, type MatchTerms, sameVolumeMode } from './matching.js';
import { deletionFinalizers, deletionOf, isRecyclable } from './plugins.js';
import { isShutDown } from './pod-claims.js';

export interface VolumeReconcilerOptions {
  readonly terms: MatchTerms;
  readonly binding: Binding;
  readonly claims: SharedInformer<typeof PersistentVolumeClaim>;
  readonly pods: Lookup<StoredPod>;
  /** Called with the key of a claim that needs a reconcile. */
  readonly onClaim: (key: string) => void;
}

export class VolumeReconciler extends ControllerPart<VolumeReconcilerOptions> {
  async reconcileVolume(seen: StoredVolume): Promise<void> {
    const { binding, onClaim } = this.options;
    const volume = await this.#withFinalizers(seen);
    const { claimRef } = volume.spec;
    // The volume is free, or reserved for a claim that does not exist yet.
    if (claimRef === undefined || (claimRef.uid ?? '') === '') {
      await binding.setVolumePhase(volume, 'Available');
      return;
    }
    const claim = await this.#claimOf(volume);
    if (claim === undefined) {
      await this.#release(volume);
    } else if (claim.spec.volumeName === undefined) {
      if (sameVolumeMode(claim, volume)) {
        onClaim(keyOf(claim));
        return;
      }
      const recordMismatch = (object: ApiObject, which: string) => {
        const message = `Cannot bind PersistentVolume ${which} due to incompatible volumeMode.`;
        this.context.events.record(object, 'Warning', 'VolumeMismatch', message);
      };
      recordMismatch(volume, `to requested PersistentVolumeClaim "${claim.metadata.name}"`);
      recordMismatch(claim, `"${volume.metadata.name}" to requested PersistentVolumeClaim`);
    } else if (claim.spec.volumeName === volume.metadata.name) {
      await binding.setVolumePhase(volume, 'Bound');
    } else if (this.#isProvisionedWithDelete(volume)) {
      // Provisioned for a claim that was bound to another volume meanwhile.
      await this.#release(volume);
    } else {
      await binding.unbind(volume);
    }
  }

  async #withFinalizers(volume: StoredVolume): Promise<StoredVolume> {
    const { terms } = this.options;
    const finalizers = deletionFinalizers(volume, terms.names);
    if (finalizers === undefined) return volume;
    const metadata = { ...volume.metadata, finalizers: [...finalizers] };
    return this.context.client.api(PersistentVolume).update({ ...volume, metadata });
  }

  #isProvisionedWithDelete(volume: StoredVolume): boolean {
    const { provisionedBy } = this.options.terms.names;
    return annotationOf(volume, provisionedBy) !== undefined && volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  }

  /** The claim of the claimRef. A claim with the same name but another uid does not count. */
  async #claimOf(volume: StoredVolume): Promise<StoredClaim | undefined> {
    const { claims } = this.options;
    const { claimRef } = volume.spec;
    if (claimRef?.name === undefined || claimRef.namespace === undefined) return undefined;
    const known = claims.get(claimRef.name, claimRef.namespace);
    if (known?.metadata.uid === claimRef.uid) return known;
    if (known === undefined && isReleased(volume)) return undefined;
    // The claim's informer may be behind the volume's.
    const live = await this.context.client.api(PersistentVolumeClaim, claimRef.namespace).find(claimRef.name);
    return live?.metadata.uid === claimRef.uid ? live : undefined;
  }

  async #release(volume: StoredVolume): Promise<void> {
    const { binding } = this.options;
    const released = isReleased(volume) ? volume : await binding.setVolumePhase(volume, 'Released');
    switch (released.spec.persistentVolumeReclaimPolicy) {
      case 'Delete':
        return this.#delete(released);
      case 'Recycle':
        return this.#recycle(released);
      default:
    }
  }

  async #delete(volume: StoredVolume): Promise<void> {
    const { binding, terms } = this.options;
    const { name, finalizers = [] } = volume.metadata;
    const deletion = deletionOf(volume, terms.names);
    if (deletion === 'external') return;
    if (deletion !== 'deleted') {
      const { problem: message } = deletion;
      await binding.setVolumePhase(volume, 'Failed', { type: 'Warning', reason: 'VolumeFailedDelete', message });
      return;
    }
    const api = this.context.client.api(PersistentVolume);
    const { deletionProtection } = terms.names;
    try {
      if (finalizers.includes(deletionProtection)) {
        const kept = finalizers.filter((finalizer) => finalizer !== deletionProtection);
        await api.update({ ...volume, metadata: { ...volume.metadata, finalizers: kept } });
      }
      if (volume.metadata.deletionTimestamp === undefined) await api.delete(name);
    } catch (error) {
      // The volume was deleted by another client.
      if (!StatusError.is(error, 'NotFound')) throw error;
    }
  }

  /** There is nothing to scrub, so recycling completes at once when no pod uses the volume. */
  async #recycle(volume: StoredVolume): Promise<void> {
    const { binding, claims, pods } = this.options;
    const key = claimKeyOf(volume) ?? '';
    const used = pods(key).filter((pod) => !isShutDown(pod));
    if (used.length > 0 && claims.at(key) === undefined) {
      const message = `Volume is used by pods: ${used.map(keyOf).sort().join(',')}`;
      this.context.events.record(volume, 'Normal', 'VolumeFailedRecycle', message);
      return;
    }
    if (!isRecyclable(volume)) {
      const message = 'No recycler plugin found for the volume!';
      await binding.setVolumePhase(volume, 'Failed', { type: 'Warning', reason: 'VolumeFailedRecycle', message });
      return;
    }
    this.context.events.record(volume, 'Normal', 'VolumeRecycled', 'Volume recycled');
    await binding.unbind(volume);
  }
}

function isReleased({ status }: StoredVolume): boolean {
  return status.phase === 'Released' || status.phase === 'Failed';
}
