/**
 * Simulates the provisioners of storage classes: creates a volume for each claim that waits for one of them, and deletes it
 * after the claim is gone. There is no storage behind these volumes.
 */

import { PersistentVolume } from '../../kinds/core/v1/persistent-volume.js';
import { PersistentVolumeClaim } from '../../kinds/core/v1/persistent-volume-claim.js';
import { Pod } from '../../kinds/core/v1/pod/pod.js';
import type { InputOf } from '../../kinds/kind.js';
import { StorageClass } from '../../kinds/storage/v1/storage-class.js';
import { StatusError } from '../../meta/errors.js';
import { withoutUndefined } from '../../util/json.js';
import { refuseUnknownOptions } from '../../util/options.js';
import type { Controller } from '../runtime/controller.js';
import { ignoreNotFound } from '../runtime/expected-errors.js';
import { keyOf } from '../runtime/shared-informer.js';
import type { StoredClaim, StoredClass, StoredVolume } from './matching.js';
import { annotationOf, classOfClaim, type VolumeNames, volumeNames } from './matching.js';
import { claimKeysOf, podsByClaim } from './pod-claims.js';

export interface VolumeProvisionerOptions {
  /** Names of provisioners as in storage classes. */
  readonly provisioners: readonly string[];
}

/**
 * Creates volumes for the classes of the given provisioners. With WaitForFirstConsumer, a volume is created when the first
 * consumer has a node or the claim has the selected-node annotation.
 *
 * @example
 * const cluster = createCluster({
 *   controllers: controllers([persistentVolumes(), volumeProvisioner({ provisioners: ['example.com/disk'] })]),
 * });
 */
export function volumeProvisioner(options: VolumeProvisionerOptions): Controller {
  refuseUnknownOptions('volumeProvisioner', options, ['provisioners']);
  const provisioners = new Set(options.provisioners);
  return {
    name: 'volume-provisioner',
    needs: [PersistentVolume, PersistentVolumeClaim, StorageClass, Pod],
    start(context) {
      if (provisioners.size === 0) return;
      const names = volumeNames(context.dialect);
      const volumes = context.informer(PersistentVolume);
      const claims = context.informer(PersistentVolumeClaim);
      const classes = context.informer(StorageClass);
      const podsOf = podsByClaim(context);

      const isReady = (claim: StoredClaim, storageClass: StoredClass): boolean => {
        if (storageClass.volumeBindingMode !== 'WaitForFirstConsumer') return true;
        if (annotationOf(claim, names.selectedNode) !== undefined) return true;
        return podsOf(keyOf(claim)).some(({ spec }) => (spec.nodeName ?? '') !== '');
      };

      const provisioning = context.queue(
        async (key) => {
          const claim = claims.at(key);
          if (claim === undefined || claim.spec.volumeName !== undefined) return;
          const storageClass = classes.at(classOfClaim(claim, names));
          if (storageClass === undefined || !provisioners.has(storageClass.provisioner)) return;
          const name = `pvc-${claim.metadata.uid}`;
          if (!isReady(claim, storageClass) || volumes.at(name) !== undefined) return;
          const message = `External provisioner is provisioning volume for claim "${key}"`;
          context.events.record(claim, 'Normal', 'Provisioning', message);
          try {
            await context.client.api(PersistentVolume).create(volumeFor(claim, storageClass, names));
          } catch (error) {
            if (StatusError.is(error, 'AlreadyExists')) return;
            const why = StatusError.is(error) ? error.message : String(error);
            const message = `failed to provision volume with StorageClass "${storageClass.metadata.name}": ${why}`;
            context.events.record(claim, 'Warning', 'ProvisioningFailed', message);
            throw error;
          }
          context.events.record(claim, 'Normal', 'ProvisioningSucceeded', `Successfully provisioned volume ${name}`);
        },
        { name: 'provisioning' },
      );

      const deleting = context.queue(
        async (name) => {
          const volume = volumes.at(name);
          if (volume === undefined || !isDeletable(volume, provisioners, names)) return;
          const { uid } = volume.metadata;
          await ignoreNotFound(context.client.api(PersistentVolume).delete(name, { preconditions: { uid } }));
        },
        { name: 'deleting' },
      );

      const waiting = claims.index('class of claims without a volume', (claim) =>
        claim.spec.volumeName === undefined ? [`=${classOfClaim(claim, names)}`] : [],
      );
      claims.onKey((key, { type, object }) => {
        if (type !== 'DELETED' && object.spec.volumeName === undefined) provisioning.add(key);
      });
      classes.onKey((name, { type }) => {
        if (type !== 'DELETED') for (const claim of waiting(`=${name}`)) provisioning.add(keyOf(claim));
      });
      context.informer(Pod).subscribe(({ type, object }) => {
        if (type === 'DELETED' || (object.spec.nodeName ?? '') === '') return;
        for (const key of claimKeysOf(object)) if (claims.at(key)?.spec.volumeName === undefined) provisioning.add(key);
      });
      volumes.onKey((name, { type, object }) => {
        if (type !== 'DELETED' && isDeletable(object, provisioners, names)) deleting.add(name);
      });
    },
  };
}

/** Whether the volume is released, has reclaim policy Delete and was created by one of the provisioners. */
function isDeletable(volume: StoredVolume, provisioners: ReadonlySet<string>, { provisionedBy }: VolumeNames): boolean {
  const { metadata, spec, status } = volume;
  if (status.phase !== 'Released' || spec.persistentVolumeReclaimPolicy !== 'Delete') return false;
  return metadata.deletionTimestamp === undefined && provisioners.has(annotationOf(volume, provisionedBy) ?? '');
}

function volumeFor(
  claim: StoredClaim,
  storageClass: StoredClass,
  names: VolumeNames,
): InputOf<typeof PersistentVolume> {
  const { uid, namespace = '', resourceVersion } = claim.metadata;
  const { accessModes, resources, volumeMode, volumeAttributesClassName } = claim.spec;
  const name = `pvc-${uid}`;
  const { provisioner, reclaimPolicy = 'Delete', mountOptions } = storageClass;
  return {
    metadata: { name, annotations: { [names.provisionedBy]: provisioner } },
    spec: {
      capacity: { storage: resources.requests?.['storage'] ?? '0' },
      ...withoutUndefined({ accessModes, volumeMode, mountOptions, volumeAttributesClassName }),
      persistentVolumeReclaimPolicy: reclaimPolicy,
      storageClassName: storageClass.metadata.name,
      claimRef: {
        kind: 'PersistentVolumeClaim',
        apiVersion: 'v1',
        namespace,
        name: claim.metadata.name,
        uid,
        resourceVersion,
      },
      csi: { driver: driverOf(provisioner), volumeHandle: name },
    },
  };
}

/** A CSI driver name is a plain domain name; a provisioner's may contain slashes and underscores. */
function driverOf(provisioner: string): string {
  return provisioner.replaceAll('/', '.').replaceAll('_', '-');
}
