/**
 * Reconciles a claim: finds a volume for it or records why there is none. A claim that was bound once is never bound to
 * another volume.
 */

import type { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { DEFAULT_STORAGE_CLASS_SUBDOMAINS, isDefaultClass } from '../../kinds/shared/default-class.js';
import { StorageClass } from '../../kinds/storage/v1/storage-class.js';
import { StatusError } from '../../meta/errors.js';
import { qualifiedResource } from '../../meta/gvk.js';
import { timeToMs } from '../../text/time/time.js';
import { ControllerPart } from '../runtime/controller.js';
import type { EventType } from '../runtime/events.js';
import { keyOf, type Lookup, type SharedInformer } from '../runtime/shared-informer.js';
import { type Binding, withAnnotations } from './binding.js';
import {
  annotationOf,
  classOfClaim,
  hasClass,
  isBoundTo,
  type MatchTerms,
  mismatch,
  type StoredClaim,
  type StoredClass,
  type StoredPod,
  type StoredVolume,
  type VolumeIndex,
} from './matching.js';
import { provisionerOf } from './plugins.js';
import { isShutDown } from './pod-claims.js';

export interface ClaimReconcilerOptions {
  readonly terms: MatchTerms;
  readonly binding: Binding;
  readonly volumes: SharedInformer<typeof PersistentVolume>;
  readonly classes: SharedInformer<typeof StorageClass>;
  readonly pods: Lookup<StoredPod>;
  readonly index: VolumeIndex;
}

export class ClaimReconciler extends ControllerPart<ClaimReconcilerOptions> {
  /** The last Event of each claim, so that a reconcile for another reason than its own change does not repeat it. */
  readonly #lastEvents = new Map<string, string>();
  /** Claims that have changed since their last reconcile. */
  readonly #changed = new Set<string>();

  /** Must be called when the claim is added or changes. */
  noteChange(key: string): void {
    this.#changed.add(key);
  }

  /** Must be called when the claim is deleted. */
  forget(key: string): void {
    this.#lastEvents.delete(key);
    this.#changed.delete(key);
  }

  async reconcileClaim(claim: StoredClaim): Promise<void> {
    const key = keyOf(claim);
    if (this.#changed.delete(key)) this.#lastEvents.delete(key);
    const { names } = this.options.terms;
    if (annotationOf(claim, names.bindCompleted) !== undefined) await this.#keepBound(claim);
    else if (claim.spec.volumeName !== undefined) await this.#bindNamed(claim, claim.spec.volumeName);
    else await this.#bindBest(claim);
  }

  /** The volume that the claim would be bound to now. */
  bestFor(claim: StoredClaim): StoredVolume | undefined {
    return this.options.index.find(claim, { claimedOnly: this.#isDelayed(claim) });
  }

  async #keepBound(claim: StoredClaim): Promise<void> {
    const { binding, volumes } = this.options;
    const lost = (reason: string, message: string) => binding.loseClaim(claim, { type: 'Warning', reason, message });
    const { volumeName } = claim.spec;
    if (volumeName === undefined) {
      await lost('ClaimLost', 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!');
      return;
    }
    const volume = volumes.at(volumeName);
    if (volume === undefined) {
      await lost('ClaimLost', 'Bound claim has lost its PersistentVolume. Data on the volume is lost!');
    } else if (volume.spec.claimRef === undefined || volume.spec.claimRef.uid === claim.metadata.uid) {
      await binding.bind(volume, claim);
    } else {
      await lost('ClaimMisbound', 'Two claims are bound to the same volume, this one is bound incorrectly');
    }
  }

  async #bindNamed(claim: StoredClaim, volumeName: string): Promise<void> {
    const { binding, volumes, terms } = this.options;
    const volume = volumes.at(volumeName);
    if (volume === undefined) {
      await binding.setClaimStatus(claim, 'Pending');
      return;
    }
    if (volume.spec.claimRef === undefined) {
      const problem = mismatch(volume, claim, terms);
      if (problem !== undefined) {
        this.#recordOnce(
          claim,
          'Warning',
          'VolumeMismatch',
          `Cannot bind to requested volume "${volumeName}": ${problem}`,
        );
        await binding.setClaimStatus(claim, 'Pending');
        return;
      }
    } else if (!isBoundTo(volume, claim)) {
      this.#recordOnce(claim, 'Warning', 'FailedBinding', `volume "${volumeName}" already bound to a different claim.`);
      // A claim that the controller itself bound is left unchanged for manual inspection.
      if (annotationOf(claim, terms.names.boundByController) === undefined) {
        await binding.setClaimStatus(claim, 'Pending');
      }
      return;
    }
    await binding.bind(volume, claim);
  }

  async #bindBest(claim: StoredClaim): Promise<void> {
    const { binding, terms } = this.options;
    const volume = this.bestFor(claim);
    if (volume !== undefined) {
      await binding.bind(volume, claim);
      return;
    }
    if (await this.#giveDefaultClass(claim)) return;
    if (this.#isDelayed(claim) && annotationOf(claim, terms.names.selectedNode) === undefined) {
      this.#recordWaiting(claim);
    } else if (classOfClaim(claim, terms.names) !== '') {
      await this.#provision(claim);
      return;
    } else {
      const message = 'no persistent volumes available for this claim and no storage class is set';
      this.#recordOnce(claim, 'Normal', 'FailedBinding', message);
    }
    await binding.setClaimStatus(claim, 'Pending');
  }

  /** Whether the storage class has volumeBindingMode WaitForFirstConsumer. */
  #isDelayed(claim: StoredClaim): boolean {
    const { classes, terms } = this.options;
    const className = classOfClaim(claim, terms.names);
    return className !== '' && classes.at(className)?.volumeBindingMode === 'WaitForFirstConsumer';
  }

  #recordWaiting(claim: StoredClaim): void {
    const unscheduled = this.options
      .pods(keyOf(claim))
      .filter((pod) => !isShutDown(pod) && (pod.spec.nodeName ?? '') === '')
      .map(({ metadata }) => metadata.name);
    if (unscheduled.length === 0) {
      const message = 'waiting for first consumer to be created before binding';
      this.#recordOnce(claim, 'Normal', 'WaitForFirstConsumer', message);
      return;
    }
    const pods = unscheduled.length === 1 ? `pod ${unscheduled[0]}` : `pods ${unscheduled.join(',')}`;
    this.#recordOnce(claim, 'Normal', 'WaitForPodScheduled', `waiting for ${pods} to be scheduled`);
  }

  /** Assigns the default class to a claim without a class, even if the default was set after the claim was created. */
  async #giveDefaultClass(claim: StoredClaim): Promise<boolean> {
    const { terms } = this.options;
    if (hasClass(claim, terms.names)) return false;
    const chosen = this.#defaultClass();
    if (chosen === undefined) return false;
    await this.context.client.api(PersistentVolumeClaim, claim.metadata.namespace).update({
      ...claim,
      spec: { ...claim.spec, storageClassName: chosen.metadata.name },
    });
    return true;
  }

  /** The newest default class; of several with the same timestamp the first by name. */
  #defaultClass(): StoredClass | undefined {
    const { dialect } = this.context;
    return this.options.classes
      .list()
      .filter((each) => isDefaultClass(each, DEFAULT_STORAGE_CLASS_SUBDOMAINS, dialect))
      .sort(
        (left, right) =>
          timeToMs(right.metadata.creationTimestamp) - timeToMs(left.metadata.creationTimestamp) ||
          (left.metadata.name < right.metadata.name ? -1 : 1),
      )[0];
  }

  /** Annotates the claim with its provisioner and waits for the volume. */
  async #provision(claim: StoredClaim): Promise<void> {
    const { classes, terms } = this.options;
    const className = classOfClaim(claim, terms.names);
    const storageClass = classes.at(className);
    const failed = (message: string) => this.#recordOnce(claim, 'Warning', 'ProvisioningFailed', message);
    if (storageClass === undefined) {
      const group = this.context.dialect.group(StorageClass.group);
      failed(`${qualifiedResource({ group, resource: 'storageclass' })} "${className}" not found`);
      return;
    }
    const { name, problem } = provisionerOf(storageClass, terms.names);
    const annotated = name === undefined ? claim : await this.#askProvisioner(claim, name);
    if (problem !== undefined) failed(problem);
    else if (name !== undefined) {
      const message =
        `Waiting for a volume to be created either by the external provisioner '${name}' or manually by the system ` +
        'administrator. If volume creation is delayed, please verify that the provisioner is running and correctly ' +
        'registered.';
      this.#recordOnce(annotated, 'Normal', 'ExternalProvisioning', message);
    }
  }

  async #askProvisioner(claim: StoredClaim, provisioner: string): Promise<StoredClaim> {
    const { storageProvisioner, betaStorageProvisioner } = this.options.terms.names;
    if (annotationOf(claim, storageProvisioner) === provisioner) return claim;
    const annotations = { [betaStorageProvisioner]: provisioner, [storageProvisioner]: provisioner };
    try {
      return await this.context.client
        .api(PersistentVolumeClaim, claim.metadata.namespace)
        .update({ ...claim, metadata: withAnnotations(claim.metadata, annotations) });
    } catch (error) {
      if (StatusError.is(error) && error.reason !== 'Conflict') {
        this.#recordOnce(claim, 'Warning', 'ProvisioningFailed', `Error saving claim: ${error.message}`);
      }
      throw error;
    }
  }

  #recordOnce(claim: StoredClaim, type: EventType, reason: string, message: string): void {
    const key = keyOf(claim);
    const text = [claim.metadata.uid, reason, message].join('\n');
    if (this.#lastEvents.get(key) === text) return;
    this.#lastEvents.set(key, text);
    this.context.events.record(claim, type, reason, message);
  }
}
