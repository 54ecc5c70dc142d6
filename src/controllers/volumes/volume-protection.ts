/**
 * The pv-protection finalizer: keeps a volume that is being deleted while it is bound to a claim.
 */
import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import type { Controller } from '../runtime/controller.js';
import { volumeNames } from './names.js';
import { protect } from './protection.js';

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
