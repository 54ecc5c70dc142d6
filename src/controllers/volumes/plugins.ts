/**
 * What the reference server's built-in volume plugins would say. There is no storage here: nothing is made, scrubbed or
 * removed, but who could do it, and what it says when nobody can, is part of the API's answers.
 */
import { annotationOf } from './matching.js';
import type { VolumeNames } from './names.js';
import type { StoredClass, StoredVolume } from './objects.js';

/** Built-in provisioners whose work drivers outside have taken over, by their names behind the prefix. */
const SUCCESSORS: ReadonlyMap<string, string> = new Map([
  ['aws-ebs', 'ebs.csi.aws.com'],
  ['azure-disk', 'disk.csi.azure.com'],
  ['azure-file', 'file.csi.azure.com'],
  ['cinder', 'cinder.csi.openstack.org'],
  ['gce-pd', 'pd.csi.storage.gke.io'],
  ['portworx-volume', 'pxd.portworx.com'],
  ['vsphere-volume', 'csi.vsphere.vmware.com'],
]);

/** Who makes the volumes of a class, and why that fails, if it does. Absent name: there is nobody. */
export interface Provisioner {
  readonly name?: string;
  readonly problem?: string;
}

export function provisionerOf({ provisioner }: StoredClass, { builtInPrefix }: VolumeNames): Provisioner {
  if (!provisioner.startsWith(builtInPrefix)) return { name: provisioner };
  const plugin = provisioner.slice(builtInPrefix.length);
  const successor = SUCCESSORS.get(plugin);
  if (successor !== undefined) return { name: successor };
  if (plugin === 'host-path') {
    const problem = `Failed to create provisioner: provisioning in volume plugin "${provisioner}" is disabled`;
    return { name: provisioner, problem };
  }
  if (plugin === 'nfs') return { problem: 'no provisionable volume plugin matched' };
  return { problem: `no volume plugin matched name: ${provisioner}` };
}

/** `deleted`: the volume's object may go. `elsewhere`: somebody outside does it. Otherwise why it cannot be done. */
export type Deletion = 'deleted' | 'elsewhere' | { readonly problem: string };

export function deletionOf(volume: StoredVolume, { provisionedBy, builtInPrefix }: VolumeNames): Deletion {
  const { spec, metadata } = volume;
  const maker = annotationOf(volume, provisionedBy) ?? '';
  if (maker !== '') {
    if (!maker.startsWith(builtInPrefix)) return 'elsewhere';
    const plugin = maker.slice(builtInPrefix.length);
    if (SUCCESSORS.has(plugin)) return 'elsewhere';
    if (plugin === 'nfs') return { problem: 'no deletable volume plugin matched' };
    if (plugin !== 'host-path') return { problem: `no volume plugin matched name: ${maker}` };
  }
  if (spec.csi !== undefined) return 'elsewhere';
  const found = (why: string) => `error getting deleter volume plugin for volume "${metadata.name}": ${why}`;
  if (spec.nfs !== undefined) return { problem: found('no deletable volume plugin matched') };
  if (spec.hostPath === undefined) return { problem: found('no volume plugin matched') };
  const { path } = spec.hostPath;
  // The reference looks for this anywhere in the path.
  if (/\/tmp\/.+/.test(path)) return 'deleted';
  return { problem: `host_path deleter only supports /tmp/.+ but received provided ${path}` };
}

/** Whether there is somebody to empty a volume for its next claim. */
export function isRecyclable({ spec }: StoredVolume): boolean {
  return spec.hostPath !== undefined || spec.nfs !== undefined;
}

/**
 * The finalizers that a volume of a built-in provisioner should have: one that keeps it until its storage is gone, as
 * long as it goes with its claim. Undefined: as it has them.
 */
export function deletionFinalizers(volume: StoredVolume, names: VolumeNames): readonly string[] | undefined {
  const maker = annotationOf(volume, names.provisionedBy);
  if (maker?.startsWith(names.builtInPrefix) !== true) return undefined;
  const finalizers = volume.metadata.finalizers ?? [];
  const isWanted =
    volume.spec.persistentVolumeReclaimPolicy === 'Delete' && !SUCCESSORS.has(maker.slice(names.builtInPrefix.length));
  if (isWanted === finalizers.includes(names.deletionProtection)) return undefined;
  return isWanted
    ? [...finalizers, names.deletionProtection]
    : finalizers.filter((finalizer) => finalizer !== names.deletionProtection);
}
