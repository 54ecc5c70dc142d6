/**
 * The annotation and finalizer names of volumes and claims, in the cluster's dialect.
 */
import type { Dialect } from '../../meta/dialect.js';

export interface VolumeNames {
  /** On a claim: it was bound once. It is never bound to another volume. */
  readonly bindCompleted: string;
  /** On a volume or claim: the controller, not a user, chose the other side. */
  readonly boundByController: string;
  /** On a volume: the provisioner that created it. */
  readonly provisionedBy: string;
  /** On a claim: the node of its first consumer. */
  readonly selectedNode: string;
  /** On a claim: the provisioner that must create its volume. */
  readonly storageProvisioner: string;
  readonly betaStorageProvisioner: string;
  /** On a volume or claim: the storage class, from before there was a field for it. */
  readonly betaStorageClass: string;
  /** On a volume: its capacity before a resize. */
  readonly preResizeCapacity: string;
  readonly claimProtection: string;
  readonly volumeProtection: string;
  /** Keeps a volume of a built-in provisioner until its storage is deleted. */
  readonly deletionProtection: string;
  /** The name prefix of built-in provisioners. */
  readonly builtInPrefix: string;
}

export function volumeNames({ key, subkey }: Dialect): VolumeNames {
  return {
    bindCompleted: subkey('pv', 'bind-completed'),
    boundByController: subkey('pv', 'bound-by-controller'),
    provisionedBy: subkey('pv', 'provisioned-by'),
    selectedNode: subkey('volume', 'selected-node'),
    storageProvisioner: subkey('volume', 'storage-provisioner'),
    betaStorageProvisioner: subkey('volume.beta', 'storage-provisioner'),
    betaStorageClass: subkey('volume.beta', 'storage-class'),
    preResizeCapacity: subkey('volume.alpha', 'pre-resize-capacity'),
    claimProtection: key('pvc-protection'),
    volumeProtection: key('pv-protection'),
    deletionProtection: key('pv-controller'),
    builtInPrefix: key(''),
  };
}
