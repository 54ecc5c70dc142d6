/**
 * Keeps a claim that is being deleted as long as a pod on a node uses it: its finalizer goes with the last of them, and
 * comes back where it is missing.
 */
import { isNewerOrSame } from '../../client/versions.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { Controller } from '../runtime/controller.js';
import { volumeNames } from './names.js';
import type { StoredClaim, StoredPod } from './objects.js';
import { claimKeysOf, ephemeralClaimName, isOver, notMadeFor, podsByClaim } from './pod-claims.js';
import { protect } from './protection.js';

/**
 * Lets PersistentVolumeClaims go only when no pod uses them.
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

      /** The pods of a namespace, as the server listed them last. */
      let listed: Listed | undefined;

      /**
       * A pod may be on its node before that is known here, and once the finalizer is gone it is too late: the server is
       * asked. Of claims that are deleted together only the first one does: who used none of them after that need not be
       * asked again.
       */
      const isUsedLive = async (claim: StoredClaim): Promise<boolean> => {
        const { namespace = '', resourceVersion } = claim.metadata;
        const isNewEnough = listed?.namespace === namespace && isNewerOrSame(listed.version, resourceVersion);
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
        // Who runs on a node uses its claims; nothing can have come free.
        if (type !== 'DELETED' && !isOver(pod) && (pod.spec.nodeName ?? '') !== '') return;
        for (const key of claimKeysOf(pod)) queue.add(key);
        const isAnother = type === 'MODIFIED' && event.previous.metadata.uid !== pod.metadata.uid;
        if (isAnother) for (const key of claimKeysOf(event.previous)) queue.add(key);
      });
    },
  };
}

interface Listed {
  readonly namespace: string;
  readonly version: string;
  readonly pods: readonly StoredPod[];
}

/** Pods without a node use nothing yet; those that are over still do, until they are gone. */
function uses(pod: StoredPod, claim: StoredClaim): boolean {
  if ((pod.spec.nodeName ?? '') === '') return false;
  const { deletionTimestamp, deletionGracePeriodSeconds } = pod.metadata;
  const isShutDown = deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0;
  return (pod.spec.volumes ?? []).some((volume) => {
    if (volume.persistentVolumeClaim?.claimName === claim.metadata.name) return true;
    if (isShutDown || volume.ephemeral === undefined) return false;
    return ephemeralClaimName(pod, volume) === claim.metadata.name && notMadeFor(pod, claim) === undefined;
  });
}
