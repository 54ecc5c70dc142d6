/**
 * The writes that bind a volume to a claim and unbind it. Each one skips the write if nothing changes, and returns the
 * resulting object.
 */
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Quantity } from '../../meta/quantity.js';
import { deepEqual, own, withoutUndefined } from '../../util/json.js';
import { ControllerPart } from '../runtime/controller.js';
import type { EventType } from '../runtime/events.js';
import type { StoredClaim, StoredVolume } from './matching.js';
import { annotationOf, capacityOf, isBoundTo, type MatchTerms, sizeOf } from './matching.js';

type VolumePhase = StoredVolume['status']['phase'];
type ClaimPhase = StoredClaim['status']['phase'];

/** The Event, and the status message, that accompany a phase change. */
export interface PhaseNotice {
  readonly type: EventType;
  readonly reason: string;
  readonly message: string;
}

export class Binding extends ControllerPart<MatchTerms> {
  /** Binds the volume first, so that no other claim can take it: claimRef, volume phase, claim volumeName, claim phase. */
  async bind(volume: StoredVolume, claim: StoredClaim): Promise<void> {
    const claimed = await this.claimVolume(volume, claim);
    const bound = await this.setVolumePhase(claimed, 'Bound');
    const named = await this.#bindClaim(claim, bound);
    await this.setClaimStatus(named, 'Bound', bound);
  }

  /** Frees a volume that the controller chose. A volume that a user reserved by claimRef stays reserved, without the uid. */
  async unbind(volume: StoredVolume): Promise<void> {
    const { boundByController } = this.options.names;
    const { claimRef, ...unclaimed } = volume.spec;
    const isOurs = annotationOf(volume, boundByController) !== undefined;
    const { uid: _uid, ...reserved } = claimRef ?? {};
    const next = isOurs
      ? { ...volume, metadata: withoutAnnotation(volume.metadata, boundByController), spec: unclaimed }
      : { ...volume, spec: { ...volume.spec, claimRef: reserved } };
    const freed = await this.context.client.api(PersistentVolume).update(next);
    await this.setVolumePhase(freed, 'Available');
  }

  async setVolumePhase(volume: StoredVolume, phase: VolumePhase, notice?: PhaseNotice): Promise<StoredVolume> {
    if (volume.status.phase === phase) return volume;
    const { message: _message, ...status } = volume.status;
    const updated = await this.context.client.api(PersistentVolume).status.update(volume.metadata.name, {
      ...volume,
      status: { ...status, phase, ...(notice === undefined ? {} : { message: notice.message }) },
    });
    if (notice !== undefined) this.context.events.record(updated, notice.type, notice.reason, notice.message);
    return updated;
  }

  /** Without a volume, the status has neither capacity nor access modes. */
  async setClaimStatus(claim: StoredClaim, phase: ClaimPhase, volume?: StoredVolume): Promise<StoredClaim> {
    const status = this.#claimStatus(claim, phase, volume);
    if (deepEqual(status, claim.status)) return claim;
    const { name, namespace } = claim.metadata;
    return this.context.client.api(PersistentVolumeClaim, namespace).status.update(name, { ...claim, status });
  }

  /** Sets the claim's phase to Lost and records an Event, unless the claim is Lost already. */
  async loseClaim(claim: StoredClaim, notice: PhaseNotice): Promise<void> {
    if (claim.status.phase === 'Lost') return;
    const updated = await this.setClaimStatus(claim, 'Lost');
    this.context.events.record(updated, notice.type, notice.reason, notice.message);
  }

  #claimStatus({ status }: StoredClaim, phase: ClaimPhase, volume: StoredVolume | undefined): StoredClaim['status'] {
    const { accessModes: _modes, capacity, currentVolumeAttributesClassName: attributes, ...rest } = status;
    if (volume === undefined) return { ...rest, phase };
    const { accessModes, volumeAttributesClassName } = volume.spec;
    const isPhaseChange = status.phase !== phase;
    const size = isPhaseChange ? this.#sizeFor(status, volume) : capacity;
    const isNew = status.phase === 'Pending' && phase === 'Bound';
    const given = isNew && this.options.features?.enabled('VolumeAttributesClass') === true;
    const current = given ? volumeAttributesClassName : attributes;
    return {
      ...rest,
      phase,
      ...withoutUndefined({ accessModes, capacity: size, currentVolumeAttributesClassName: current }),
    };
  }

  #sizeFor({ capacity }: StoredClaim['status'], volume: StoredVolume): StoredClaim['status']['capacity'] {
    const size = capacityOf(volume);
    if (size === undefined) throw new Error(`PersistentVolume "${volume.metadata.name}" is without a storage capacity`);
    const before = annotationOf(volume, this.options.names.preResizeCapacity);
    if (before !== undefined) {
      return { ...capacity, storage: Quantity.tryParse(before).ok ? before : size };
    }
    const known = own(capacity ?? {}, 'storage');
    return known !== undefined && sizeOf(known).equals(sizeOf(size)) ? capacity : volume.spec.capacity;
  }

  /** Reserves a volume for a claim. */
  async claimVolume(volume: StoredVolume, claim: StoredClaim): Promise<StoredVolume> {
    const { claimRef } = volume.spec;
    const { name, namespace = '', uid, resourceVersion } = claim.metadata;
    const isChosen = !isBoundTo(volume, claim);
    const isNamed = claimRef?.name === name && claimRef.namespace === namespace && claimRef.uid === uid;
    const { boundByController } = this.options.names;
    const isMarked = !isChosen || annotationOf(volume, boundByController) !== undefined;
    if (isNamed && isMarked) return volume;
    const reference = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace, name, uid, resourceVersion };
    return this.context.client.api(PersistentVolume).update({
      ...volume,
      metadata: isMarked ? volume.metadata : withAnnotations(volume.metadata, { [boundByController]: 'yes' }),
      spec: isNamed ? volume.spec : { ...volume.spec, claimRef: reference },
    });
  }

  async #bindClaim(claim: StoredClaim, volume: StoredVolume): Promise<StoredClaim> {
    const { bindCompleted, boundByController } = this.options.names;
    const isChosen = claim.spec.volumeName !== volume.metadata.name;
    const added: Record<string, string> = {};
    if (isChosen && annotationOf(claim, boundByController) === undefined) added[boundByController] = 'yes';
    if (annotationOf(claim, bindCompleted) === undefined) added[bindCompleted] = 'yes';
    if (!isChosen && Object.keys(added).length === 0) return claim;
    return this.context.client.api(PersistentVolumeClaim, claim.metadata.namespace).update({
      ...claim,
      metadata: withAnnotations(claim.metadata, added),
      spec: { ...claim.spec, volumeName: volume.metadata.name },
    });
  }
}

type Metadata = StoredVolume['metadata'] | StoredClaim['metadata'];

export function withAnnotations<Meta extends Metadata>(metadata: Meta, added: Readonly<Record<string, string>>): Meta {
  return { ...metadata, annotations: { ...metadata.annotations, ...added } };
}

export function withoutAnnotation(metadata: Metadata, name: string): Metadata {
  const { annotations = {}, ...rest } = metadata;
  const kept = Object.fromEntries(Object.entries(annotations).filter(([key]) => key !== name));
  return Object.keys(kept).length === 0 ? rest : { ...rest, annotations: kept };
}
