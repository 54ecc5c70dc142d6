/**
 * The annotations and finalizers by which volumes and claims are told what became of them, in the spelling of a cluster.
 */
import type { Dialect } from '../../meta/dialect.js';

export interface VolumeNames {
  /** On a claim: it was bound once, and never looks for another volume. */
  readonly bindCompleted: string;
  /** On a volume or claim: the other side was chosen by the controller, not by somebody before it. */
  readonly boundByController: string;
  /** On a volume: who made it. */
  readonly provisionedBy: string;
  /** On a claim: on which node its first consumer will run. */
  readonly selectedNode: string;
  /** On a claim: who shall make its volume. */
  readonly storageProvisioner: string;
  readonly betaStorageProvisioner: string;
  /** On a volume or claim: its class, from before there was a field for it. */
  readonly betaStorageClass: string;
  /** On a volume: how large it was before it grew. */
  readonly preResizeCapacity: string;
  readonly claimProtection: string;
  readonly volumeProtection: string;
  /** Keeps a volume that a built-in provisioner made until its storage is gone. */
  readonly deletionProtection: string;
  /** How names of built-in provisioners begin. */
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
