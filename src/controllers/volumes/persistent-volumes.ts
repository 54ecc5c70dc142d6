/**
 * Binds claims to volumes. A claim gets the volume it names, the one reserved for it, or the smallest free volume that fits.
 * A volume whose claim is gone is retained, recycled or deleted according to its reclaim policy.
 *
 * Volumes and claims share one queue with one worker, because a binding changes both and must not run concurrently.
 */
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import { StorageClass } from '../../kinds/storage/v1/storage-class.js';
import { type Controller, ControllerPart } from '../runtime/controller.js';
import { keyOf } from '../runtime/shared-informer.js';
import { Binding } from './binding.js';
import { ClaimReconciler } from './claim-reconciler.js';
import {
  annotationOf,
  claimKeyOf,
  classOfClaim,
  classOfVolume,
  hasClass,
  type MatchTerms,
  VolumeIndex,
  volumeNames,
} from './matching.js';
import { claimKeysOf, podsByClaim } from './pod-claims.js';
import { VolumeReconciler } from './volume-reconciler.js';

/**
 * Binds PersistentVolumeClaims to PersistentVolumes. It creates no volumes: see `volumeProvisioner()`.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([persistentVolumes(), claimProtection()]) });
 */
export function persistentVolumes(): Controller {
  return {
    name: 'persistentvolume-binder-controller',
    account: 'persistent-volume-binder',
    component: 'persistentvolume-controller',
    needs: [PersistentVolume, PersistentVolumeClaim, StorageClass, Pod],
    start: (context) => new Binder(context).start(),
  };
}

/** Prefixes of queue keys. */
const CLAIM = 'claim ';
const VOLUME = 'volume ';
/** A class with free volumes whose waiting claims are to be reconciled. */
const CLASS = 'class ';
/** The index key of claims without a class, which may still get the default class. */
const UNDECIDED = '?';

/** Maps informer events to queue keys and dispatches the keys. */
class Binder extends ControllerPart {
  readonly #terms: MatchTerms = { names: volumeNames(this.context.dialect), features: this.context.features };
  readonly #volumes = this.context.informer(PersistentVolume);
  readonly #claims = this.context.informer(PersistentVolumeClaim);
  readonly #classes = this.context.informer(StorageClass);
  readonly #index = new VolumeIndex(this.#terms);
  readonly #waiting = this.#claims.index('class of unbound claims', (claim) => {
    const { names } = this.#terms;
    if (annotationOf(claim, names.bindCompleted) !== undefined || claim.spec.volumeName !== undefined) return [];
    const className = `=${classOfClaim(claim, names)}`;
    return hasClass(claim, names) ? [className] : [className, UNDECIDED];
  });
  readonly #naming = this.#claims.index('volume that it names', ({ spec }) =>
    spec.volumeName === undefined ? [] : [spec.volumeName],
  );
  readonly #shared = {
    terms: this.#terms,
    binding: new Binding(this.context, this.#terms),
    volumes: this.#volumes,
    claims: this.#claims,
    classes: this.#classes,
    index: this.#index,
    pods: podsByClaim(this.context),
    onClaim: (key: string) => this.#queue.add(CLAIM + key),
  };
  readonly #claimReconciler = new ClaimReconciler(this.context, this.#shared);
  readonly #volumeReconciler = new VolumeReconciler(this.context, this.#shared);
  readonly #queue = this.context.queue((key) => this.#reconcileKey(key));

  start(): void {
    this.#volumes.onKey((name, event) => {
      if (event.type !== 'ADDED') this.#index.remove(event.previous);
      const { object } = event;
      const claims = [claimKeyOf(object), event.type === 'MODIFIED' ? claimKeyOf(event.previous) : undefined];
      const isClaimChanged =
        event.type !== 'MODIFIED' ||
        claims[0] !== claims[1] ||
        object.spec.claimRef?.uid !== event.previous.spec.claimRef?.uid;
      for (const key of claims) if (isClaimChanged && key !== undefined) this.#queue.add(CLAIM + key);
      for (const claim of this.#naming(name)) {
        if (isClaimChanged || claim.status.phase !== 'Bound') this.#queue.add(CLAIM + keyOf(claim));
      }
      if (event.type === 'DELETED') return;
      this.#index.add(object);
      this.#queue.add(VOLUME + name);
      if (claims[0] === undefined && object.status.phase === 'Available') {
        this.#queue.add(CLASS + classOfVolume(object, this.#terms.names));
      }
    });
    this.#claims.onKey((key, event) => {
      const { object } = event;
      if (event.type === 'DELETED') this.#claimReconciler.forget(key);
      else {
        this.#claimReconciler.noteChange(key);
        this.#queue.add(CLAIM + key);
      }
      if (event.type === 'MODIFIED' && event.previous.spec.volumeName === object.spec.volumeName) return;
      for (const { metadata } of this.#index.ofClaim(key)) this.#queue.add(VOLUME + metadata.name);
      if (object.spec.volumeName !== undefined) this.#queue.add(VOLUME + object.spec.volumeName);
    });
    this.#classes.onKey((name, { type }) => {
      if (type === 'DELETED') return;
      for (const claim of this.#waiting(`=${name}`)) this.#queue.add(CLAIM + keyOf(claim));
      for (const claim of this.#waiting(UNDECIDED)) this.#queue.add(CLAIM + keyOf(claim));
    });
    this.context.informer(Pod).subscribe(({ object }) => {
      for (const key of claimKeysOf(object)) this.#onPod(key);
    });
  }

  /** Pods affect the events of claims that wait for their first consumer, and released volumes that await recycling. */
  #onPod(key: string): void {
    if (this.#claims.at(key)?.status.phase === 'Pending') this.#queue.add(CLAIM + key);
    for (const { metadata, status } of this.#index.ofClaim(key)) {
      if (status.phase === 'Released') this.#queue.add(VOLUME + metadata.name);
    }
  }

  async #reconcileKey(key: string): Promise<void> {
    if (key.startsWith(CLAIM)) {
      const claim = this.#claims.at(key.slice(CLAIM.length));
      if (claim !== undefined) await this.#claimReconciler.reconcileClaim(claim);
    } else if (key.startsWith(VOLUME)) {
      const volume = this.#volumes.at(key.slice(VOLUME.length));
      if (volume !== undefined) await this.#volumeReconciler.reconcileVolume(volume);
    } else {
      this.#queueWaitingClaims(key.slice(CLASS.length));
    }
  }

  /** Queues claims that wait for a volume of the class, at most as many as there are free volumes. */
  #queueWaitingClaims(className: string): void {
    let free = this.#index.countFree(className);
    for (const claim of this.#waiting(`=${className}`)) {
      if (free === 0) return;
      if (this.#claimReconciler.bestFor(claim) === undefined) continue;
      this.#queue.add(CLAIM + keyOf(claim));
      free--;
    }
  }
}
