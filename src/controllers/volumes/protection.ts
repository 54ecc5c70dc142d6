/**
 * The pvc-protection and pv-protection finalizers: a claim that is being deleted is kept while a pod on a node uses it, a volume
 * while it is bound. The finalizer is added where it is missing.
 */

import { isSameOrNewerVersion } from '../../client/informer.js';
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { ApiObject } from '../../meta/object.js';
import type { Controller } from '../runtime/controller.js';
import type { StoredClaim, StoredPod } from './matching.js';
import { volumeNames } from './matching.js';
import { claimKeysOf, ephemeralClaimName, ephemeralOwnerProblem, isShutDown, podsByClaim } from './pod-claims.js';

/**
 * Delays the deletion of PersistentVolumeClaims until no pod uses them.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([claimProtection()]) });
 */
export function claimProtection(): Controller {
  return {
    name: 'persistentvolumeclaim-protection-controller',
    account: 'pvc-protection-controller',
    needs: [PersistentVolumeClaim, Pod],
    start(context) {
      const { claimProtection: finalizer } = volumeNames(context.dialect);
      const claims = context.informer(PersistentVolumeClaim);
      const pods = context.informer(Pod);
      const podsOf = podsByClaim(context);

      /** The last live list of the pods of a namespace. */
      let listed: Listed | undefined;

      /**
       * Asks the server, because removing the finalizer is final and the informer may not have a pod on its node yet. Claims
       * that are deleted together share one list: a list that is newer than the claim and contains no user is sufficient.
       */
      const isUsedLive = async (claim: StoredClaim): Promise<boolean> => {
        const { namespace = '', resourceVersion } = claim.metadata;
        const isNewEnough = listed?.namespace === namespace && isSameOrNewerVersion(listed.version, resourceVersion);
        if (listed !== undefined && isNewEnough && !listed.pods.some((pod) => uses(pod, claim))) return false;
        const { items: pods, metadata } = await context.client.api(Pod, namespace).list();
        listed = { namespace, pods, version: metadata.resourceVersion ?? '' };
        return pods.some((pod) => uses(pod, claim));
      };

      const queue = context.queue(async (key) => {
        const claim = claims.at(key);
        if (claim === undefined) return;
        await protect(claim, {
          finalizer,
          isUsed: () => podsOf(key).some((pod) => uses(pod, claim)) || isUsedLive(claim),
          update: (metadata) =>
            context.client.api(PersistentVolumeClaim, metadata.namespace).update({ ...claim, metadata }),
        });
      });

      claims.onKey((key, { type, object: { metadata } }) => {
        const has = metadata.finalizers?.includes(finalizer) === true;
        if (type !== 'DELETED' && has === (metadata.deletionTimestamp !== undefined)) queue.add(key);
      });
      pods.subscribe((event) => {
        const { type, object: pod } = event;
        // A pod that runs on a node still uses its claims, so none can be released.
        if (type !== 'DELETED' && !isShutDown(pod) && (pod.spec.nodeName ?? '') !== '') return;
        for (const key of claimKeysOf(pod)) queue.add(key);
        const isAnother = type === 'MODIFIED' && event.previous.metadata.uid !== pod.metadata.uid;
        if (isAnother) for (const key of claimKeysOf(event.previous)) queue.add(key);
      });
    },
  };
}

/**
 * Delays the deletion of PersistentVolumes until they are no longer bound.
 *
 * @example
 * const cluster = createCluster({ controllers: controllers([volumeProtection()]) });
 */
export function volumeProtection(): Controller {
  return {
    name: 'persistentvolume-protection-controller',
    account: 'pv-protection-controller',
    needs: [PersistentVolume],
    start(context) {
      const { volumeProtection: finalizer } = volumeNames(context.dialect);
      const volumes = context.informer(PersistentVolume);

      const queue = context.queue(async (name) => {
        const volume = volumes.at(name);
        if (volume === undefined) return;
        await protect(volume, {
          finalizer,
          isUsed: () => volume.status.phase === 'Bound',
          update: (metadata) => context.client.api(PersistentVolume).update({ ...volume, metadata }),
        });
      });

      volumes.onKey((name, { type, object: { metadata } }) => {
        const has = metadata.finalizers?.includes(finalizer) === true;
        if (type !== 'DELETED' && has === (metadata.deletionTimestamp !== undefined)) queue.add(name);
      });
    },
  };
}

export interface Protection {
  readonly finalizer: string;
  /** Called only for objects that are being deleted. */
  readonly isUsed: () => boolean | Promise<boolean>;
  readonly update: (metadata: ApiObject['metadata']) => Promise<unknown>;
}

/** Removes the finalizer from an unused object that is being deleted; adds it to an object without it. */
export async function protect({ metadata }: Pick<ApiObject, 'metadata'>, protection: Protection): Promise<void> {
  const { finalizer, isUsed, update } = protection;
  const { finalizers = [], deletionTimestamp } = metadata;
  const isHeld = finalizers.includes(finalizer);
  if (deletionTimestamp === undefined) {
    if (!isHeld) await update({ ...metadata, finalizers: [...finalizers, finalizer] });
    return;
  }
  if (!isHeld || (await isUsed())) return;
  await update({ ...metadata, finalizers: finalizers.filter((held) => held !== finalizer) });
}

interface Listed {
  readonly namespace: string;
  readonly version: string;
  readonly pods: readonly StoredPod[];
}

/** Pods without a node do not use a claim yet. Finished pods use it until they are deleted. */
function uses(pod: StoredPod, claim: StoredClaim): boolean {
  if ((pod.spec.nodeName ?? '') === '') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const isDeletedAtOnce = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim?.claimName === claim.metadata.name) return true;
    if (isDeletedAtOnce || volume.ephemeral === undefined) return false;
    return ephemeralClaimName(pod, volume) === claim.metadata.name && ephemeralOwnerProblem(pod, claim) === undefined;
  });
}
