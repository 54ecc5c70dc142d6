/**
 * One look at a claim: finds it a volume, or says why there is none. A claim that was bound once never looks for another.
 */

import type { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { isDefaultClass, STORAGE_CLASS_MARKS } from '../../kinds/shared/default-class.js';
import { StorageClass } from '../../kinds/storage/v1/storage-class.js';
import { StatusError } from '../../meta/errors.js';
import { qualifiedResource } from '../../meta/gvk.js';
import { timeToMs } from '../../text/time/time.js';
import type { ControllerContext } from '../runtime/controller.js';
import type { EventType } from '../runtime/events.js';
import { keyOf, type Lookup, type SharedInformer } from '../runtime/shared-informer.js';
import { type Binding, withAnnotations } from './binding.js';
import { annotationOf, classOfClaim, hasClass, isBoundTo, type MatchTerms, mismatch } from './matching.js';
import type { StoredClaim, StoredClass, StoredPod, StoredVolume } from './objects.js';
import { provisionerOf } from './plugins.js';
import { isOver } from './pod-claims.js';
import type { VolumeIndex } from './volume-index.js';

export interface ClaimLookOptions {
  readonly context: ControllerContext;
  readonly terms: MatchTerms;
  readonly binding: Binding;
  readonly volumes: SharedInformer<typeof PersistentVolume>;
  readonly classes: SharedInformer<typeof StorageClass>;
  readonly pods: Lookup<StoredPod>;
  readonly index: VolumeIndex;
}

export class ClaimLook {
  readonly #options: ClaimLookOptions;
  /** What was last said about each claim: a look for another reason than its own change says nothing twice. */
  readonly #said = new Map<string, string>();
  /** Claims that have changed since they were looked at. */
  readonly #changed = new Set<string>();

  constructor(options: ClaimLookOptions) {
    this.#options = options;
  }

  /** The claim is new, or not what it was. */
  noteChange(key: string): void {
    this.#changed.add(key);
  }

  /** The claim is gone. */
  forget(key: string): void {
    this.#said.delete(key);
    this.#changed.delete(key);
  }

  async look(claim: StoredClaim): Promise<void> {
    const key = keyOf(claim);
    if (this.#changed.delete(key)) this.#said.delete(key);
    const { names } = this.#options.terms;
    if (annotationOf(claim, names.bindCompleted) !== undefined) await this.#keepBound(claim);
    else if (claim.spec.volumeName !== undefined) await this.#bindNamed(claim, claim.spec.volumeName);
    else await this.#bindBest(claim);
  }

  /** The volume that the claim would be given now. */
  bestFor(claim: StoredClaim): StoredVolume | undefined {
    return this.#options.index.find(claim, { claimedOnly: this.#isDelayed(claim) });
  }

  async #keepBound(claim: StoredClaim): Promise<void> {
    const { binding, volumes } = this.#options;
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
    const { binding, volumes, terms } = this.#options;
    const volume = volumes.at(volumeName);
    if (volume === undefined) {
      await binding.setClaimStatus(claim, 'Pending');
      return;
    }
    if (volume.spec.claimRef === undefined) {
      const problem = mismatch(volume, claim, terms);
      if (problem !== undefined) {
        this.#say(claim, 'Warning', 'VolumeMismatch', `Cannot bind to requested volume "${volumeName}": ${problem}`);
        await binding.setClaimStatus(claim, 'Pending');
        return;
      }
    } else if (!isBoundTo(volume, claim)) {
      this.#say(claim, 'Warning', 'FailedBinding', `volume "${volumeName}" already bound to a different claim.`);
      // A claim that the controller itself gave the volume to is left for people to look at.
      if (annotationOf(claim, terms.names.boundByController) === undefined) {
        await binding.setClaimStatus(claim, 'Pending');
      }
      return;
    }
    await binding.bind(volume, claim);
  }

  async #bindBest(claim: StoredClaim): Promise<void> {
    const { binding, terms } = this.#options;
    const volume = this.bestFor(claim);
    if (volume !== undefined) {
      await binding.bind(volume, claim);
      return;
    }
    if (await this.#giveDefaultClass(claim)) return;
    if (this.#isDelayed(claim) && annotationOf(claim, terms.names.selectedNode) === undefined) {
      this.#sayWaiting(claim);
    } else if (classOfClaim(claim, terms.names) !== '') {
      await this.#provision(claim);
      return;
    } else {
      const message = 'no persistent volumes available for this claim and no storage class is set';
      this.#say(claim, 'Normal', 'FailedBinding', message);
    }
    await binding.setClaimStatus(claim, 'Pending');
  }

  /** Whether the class leaves it to the first pod where the volume will be. */
  #isDelayed(claim: StoredClaim): boolean {
    const { classes, terms } = this.#options;
    const className = classOfClaim(claim, terms.names);
    return className !== '' && classes.at(className)?.volumeBindingMode === 'WaitForFirstConsumer';
  }

  #sayWaiting(claim: StoredClaim): void {
    const unscheduled = this.#options
      .pods(keyOf(claim))
      .filter((pod) => !isOver(pod) && (pod.spec.nodeName ?? '') === '')
      .map(({ metadata }) => metadata.name);
    if (unscheduled.length === 0) {
      const message = 'waiting for first consumer to be created before binding';
      this.#say(claim, 'Normal', 'WaitForFirstConsumer', message);
      return;
    }
    const pods = unscheduled.length === 1 ? `pod ${unscheduled[0]}` : `pods ${unscheduled.join(',')}`;
    this.#say(claim, 'Normal', 'WaitForPodScheduled', `waiting for ${pods} to be scheduled`);
  }

  /** A claim that says nothing of its class gets the default, even if that came later than the claim. */
  async #giveDefaultClass(claim: StoredClaim): Promise<boolean> {
    const { terms, context } = this.#options;
    if (hasClass(claim, terms.names)) return false;
    const chosen = this.#defaultClass();
    if (chosen === undefined) return false;
    await context.client.api(PersistentVolumeClaim, claim.metadata.namespace).update({
      ...claim,
      spec: { ...claim.spec, storageClassName: chosen.metadata.name },
    });
    return true;
  }

  /** The newest that is marked so; of several from one moment the first by name. */
  #defaultClass(): StoredClass | undefined {
    const { dialect } = this.#options.context;
    return this.#options.classes
      .list()
      .filter((each) => isDefaultClass(each, STORAGE_CLASS_MARKS, dialect))
      .sort(
        (left, right) =>
          timeToMs(right.metadata.creationTimestamp) - timeToMs(left.metadata.creationTimestamp) ||
          (left.metadata.name < right.metadata.name ? -1 : 1),
      )[0];
  }

  /** Says who shall make the volume, and waits for it. */
  async #provision(claim: StoredClaim): Promise<void> {
    const { classes, context, terms } = this.#options;
    const className = classOfClaim(claim, terms.names);
    const storageClass = classes.at(className);
    const failed = (message: string) => this.#say(claim, 'Warning', 'ProvisioningFailed', message);
    if (storageClass === undefined) {
      const group = context.dialect.group(StorageClass.group);
      failed(`${qualifiedResource({ group, resource: 'storageclass' })} "${className}" not found`);
      return;
    }
    const { name, problem } = provisionerOf(storageClass, terms.names);
    const asked = name === undefined ? claim : await this.#askProvisioner(claim, name);
    if (problem !== undefined) failed(problem);
    else if (name !== undefined) {
      const message =
        `Waiting for a volume to be created either by the external provisioner '${name}' or manually by the system ` +
        'administrator. If volume creation is delayed, please verify that the provisioner is running and correctly ' +
        'registered.';
      this.#say(asked, 'Normal', 'ExternalProvisioning', message);
    }
  }

  async #askProvisioner(claim: StoredClaim, provisioner: string): Promise<StoredClaim> {
    const { storageProvisioner, betaStorageProvisioner } = this.#options.terms.names;
    if (annotationOf(claim, storageProvisioner) === provisioner) return claim;
    const marks = { [betaStorageProvisioner]: provisioner, [storageProvisioner]: provisioner };
    try {
      return await this.#options.context.client
        .api(PersistentVolumeClaim, claim.metadata.namespace)
        .update({ ...claim, metadata: withAnnotations(claim.metadata, marks) });
    } catch (error) {
      if (StatusError.is(error) && error.reason !== 'Conflict') {
        this.#say(claim, 'Warning', 'ProvisioningFailed', `Error saving claim: ${error.message}`);
      }
      throw error;
    }
  }

  #say(claim: StoredClaim, type: EventType, reason: string, message: string): void {
    const key = keyOf(claim);
    const text = [claim.metadata.uid, reason, message].join('\n');
    if (this.#said.get(key) === text) return;
    this.#said.set(key, text);
    this.#options.context.events.record(claim, type, reason, message);
  }
}
