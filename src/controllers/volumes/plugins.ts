/**
 * The answers of the reference server's built-in volume plugins. There is no storage here, so nothing is created, scrubbed
 * or deleted; but which plugin is responsible, and its error messages, are visible in the API.
 */

import type { StoredClass, StoredVolume, VolumeNames } from './matching.js';
import { annotationOf } from './matching.js';

/** The CSI drivers that replaced built-in provisioners, by plugin name without prefix. */
const CSI_DRIVERS: ReadonlyMap<string, string> = new Map([
  ['aws-ebs', 'ebs.csi.aws.com'],
  ['azure-disk', 'disk.csi.azure.com'],
  ['azure-file', 'file.csi.azure.com'],
  ['cinder', 'cinder.csi.openstack.org'],
  ['gce-pd', 'pd.csi.storage.gke.io'],
  ['portworx-volume', 'pxd.portworx.com'],
  ['vsphere-volume', 'csi.vsphere.vmware.com'],
]);

/** The provisioner of a class and the error message, if it cannot provision. No name: there is no provisioner. */
export interface Provisioner {
  readonly name?: string;
  readonly problem?: string;
}

export function provisionerOf({ provisioner }: StoredClass, { builtInPrefix }: VolumeNames): Provisioner {
  if (!provisioner.startsWith(builtInPrefix)) return { name: provisioner };
  const plugin = provisioner.slice(builtInPrefix.length);
  const successor = CSI_DRIVERS.get(plugin);
  if (successor !== undefined) return { name: successor };
  if (plugin === 'host-path') {
    const problem = `Failed to create provisioner: provisioning in volume plugin "${provisioner}" is disabled`;
    return { name: provisioner, problem };
  }
  if (plugin === 'nfs') return { problem: 'no provisionable volume plugin matched' };
  return { problem: `no volume plugin matched name: ${provisioner}` };
}

/** `deleted`: the volume object may be deleted. `external`: an external provisioner deletes it. Otherwise the error. */
export type Deletion = 'deleted' | 'external' | { readonly problem: string };

export function deletionOf(volume: StoredVolume, { provisionedBy, builtInPrefix }: VolumeNames): Deletion {
  const { spec, metadata } = volume;
  const provisioner = annotationOf(volume, provisionedBy) ?? '';
  if (provisioner !== '') {
    if (!provisioner.startsWith(builtInPrefix)) return 'external';
    const plugin = provisioner.slice(builtInPrefix.length);
    if (CSI_DRIVERS.has(plugin)) return 'external';
    if (plugin === 'nfs') return { problem: 'no deletable volume plugin matched' };
    if (plugin !== 'host-path') return { problem: `no volume plugin matched name: ${provisioner}` };
  }
  if (spec.csi !== undefined) return 'external';
  const pluginError = (why: string) => `error getting deleter volume plugin for volume "${metadata.name}": ${why}`;
  if (spec.nfs !== undefined) return { problem: pluginError('no deletable volume plugin matched') };
  if (spec.hostPath === undefined) return { problem: pluginError('no volume plugin matched') };
  const { path } = spec.hostPath;
  // The reference server's pattern is not anchored. upstream: pkg/volume/hostpath/host_path.go hostPathDeleter.Delete
  if (/\/tmp\/.+/.test(path)) return 'deleted';
  return { problem: `host_path deleter only supports /tmp/.+ but received provided ${path}` };
}

export function isRecyclable({ spec }: StoredVolume): boolean {
  return spec.hostPath !== undefined || spec.nfs !== undefined;
}

/**
 * The finalizers that a volume of a built-in provisioner should have: with reclaim policy Delete, one that keeps it until its
 * storage is deleted. Undefined: no change.
 */
export function deletionFinalizers(volume: StoredVolume, names: VolumeNames): readonly string[] | undefined {
  const provisioner = annotationOf(volume, names.provisionedBy);
  if (provisioner?.startsWith(names.builtInPrefix) !== true) return undefined;
  const finalizers = volume.metadata.finalizers ?? [];
  const isWanted =
    volume.spec.persistentVolumeReclaimPolicy === 'Delete' &&
    !CSI_DRIVERS.has(provisioner.slice(names.builtInPrefix.length));
  if (isWanted === finalizers.includes(names.deletionProtection)) return undefined;
  return isWanted
    ? [...finalizers, names.deletionProtection]
    : finalizers.filter((finalizer) => finalizer !== names.deletionProtection);
}
