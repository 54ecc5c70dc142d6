/**
 * One look at a volume: its phase follows from its claim, and when that is gone, what happens to it from its policy.
 */
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { StatusError } from '../../meta/errors.js';
import type { ApiObject } from '../../meta/object.js';
import type { ControllerContext } from '../runtime/controller.js';
import { keyOf, type Lookup, type SharedInformer } from '../runtime/shared-informer.js';
import type { Binding } from './binding.js';
import { annotationOf, claimKeyOf, type MatchTerms, sameVolumeMode } from './matching.js';
import type { StoredClaim, StoredPod, StoredVolume } from './objects.js';
import { deletionFinalizers, deletionOf, isRecyclable } from './plugins.js';
import { isOver } from './pod-claims.js';

export interface VolumeLookOptions {
  readonly context: ControllerContext;
  readonly terms: MatchTerms;
  readonly binding: Binding;
  readonly claims: SharedInformer<typeof PersistentVolumeClaim>;
  readonly pods: Lookup<StoredPod>;
  /** The claim under the key wants a look. */
  readonly onClaim: (key: string) => void;
}

export class VolumeLook {
  readonly #options: VolumeLookOptions;

  constructor(options: VolumeLookOptions) {
    this.#options = options;
  }

  async look(seen: StoredVolume): Promise<void> {
    const { binding, context, onClaim } = this.#options;
    const volume = await this.#withFinalizers(seen);
    const { claimRef } = volume.spec;
    // Kept for somebody who is not there yet.
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
      const tell = (about: ApiObject, which: string) => {
        const message = `Cannot bind PersistentVolume ${which} due to incompatible volumeMode.`;
        context.events.record(about, 'Warning', 'VolumeMismatch', message);
      };
      tell(volume, `to requested PersistentVolumeClaim "${claim.metadata.name}"`);
      tell(claim, `"${volume.metadata.name}" to requested PersistentVolumeClaim`);
    } else if (claim.spec.volumeName === volume.metadata.name) {
      await binding.setVolumePhase(volume, 'Bound');
    } else if (this.#isMadeToGo(volume)) {
      // Made for a claim that has found another one meanwhile.
      await this.#release(volume);
    } else {
      await binding.unbind(volume);
    }
  }

  async #withFinalizers(volume: StoredVolume): Promise<StoredVolume> {
    const { context, terms } = this.#options;
    const finalizers = deletionFinalizers(volume, terms.names);
    if (finalizers === undefined) return volume;
    const metadata = { ...volume.metadata, finalizers: [...finalizers] };
    return context.client.api(PersistentVolume).update({ ...volume, metadata });
  }

  #isMadeToGo(volume: StoredVolume): boolean {
    const { provisionedBy } = this.#options.terms.names;
    return annotationOf(volume, provisionedBy) !== undefined && volume.spec.persistentVolumeReclaimPolicy === 'Delete';
  }

  /** The very claim that the volume refers to; another one of that name is none. */
  async #claimOf(volume: StoredVolume): Promise<StoredClaim | undefined> {
    const { claims, context } = this.#options;
    const { claimRef } = volume.spec;
    if (claimRef?.name === undefined || claimRef.namespace === undefined) return undefined;
    const known = claims.get(claimRef.name, claimRef.namespace);
    if (known?.metadata.uid === claimRef.uid) return known;
    if (known === undefined && isDone(volume)) return undefined;
    // The volume may have been heard of before its claim.
    const live = await context.client.api(PersistentVolumeClaim, claimRef.namespace).find(claimRef.name);
    return live?.metadata.uid === claimRef.uid ? live : undefined;
  }

  async #release(volume: StoredVolume): Promise<void> {
    const { binding } = this.#options;
    const released = isDone(volume) ? volume : await binding.setVolumePhase(volume, 'Released');
    switch (released.spec.persistentVolumeReclaimPolicy) {
      case 'Delete':
        return this.#delete(released);
      case 'Recycle':
        return this.#recycle(released);
      default:
    }
  }

  async #delete(volume: StoredVolume): Promise<void> {
    const { binding, context, terms } = this.#options;
    const { name, finalizers = [] } = volume.metadata;
    const deletion = deletionOf(volume, terms.names);
    if (deletion === 'elsewhere') return;
    if (deletion !== 'deleted') {
      const { problem: message } = deletion;
      await binding.setVolumePhase(volume, 'Failed', { type: 'Warning', reason: 'VolumeFailedDelete', message });
      return;
    }
    const api = context.client.api(PersistentVolume);
    const { deletionProtection } = terms.names;
    try {
      if (finalizers.includes(deletionProtection)) {
        const kept = finalizers.filter((finalizer) => finalizer !== deletionProtection);
        await api.update({ ...volume, metadata: { ...volume.metadata, finalizers: kept } });
      }
      if (volume.metadata.deletionTimestamp === undefined) await api.delete(name);
    } catch (error) {
      // Somebody else took it away.
      if (!StatusError.is(error, 'NotFound')) throw error;
    }
  }

  /** There is nothing to scrub here, so it is done at once, as soon as no pod uses the volume any more. */
  async #recycle(volume: StoredVolume): Promise<void> {
    const { binding, context, claims, pods } = this.#options;
    const key = claimKeyOf(volume) ?? '';
    const used = pods(key).filter((pod) => !isOver(pod));
    if (used.length > 0 && claims.at(key) === undefined) {
      const message = `Volume is used by pods: ${used.map(keyOf).sort().join(',')}`;
      context.events.record(volume, 'Normal', 'VolumeFailedRecycle', message);
      return;
    }
    if (!isRecyclable(volume)) {
      const message = 'No recycler plugin found for the volume!';
      await binding.setVolumePhase(volume, 'Failed', { type: 'Warning', reason: 'VolumeFailedRecycle', message });
      return;
    }
    context.events.record(volume, 'Normal', 'VolumeRecycled', 'Volume recycled');
    await binding.unbind(volume);
  }
}

function isDone({ status }: StoredVolume): boolean {
  return status.phase === 'Released' || status.phase === 'Failed';
}
