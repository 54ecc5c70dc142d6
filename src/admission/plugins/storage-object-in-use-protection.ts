/**
 * Volumes, claims and the classes of their attributes are not taken away while somebody uses them: each carries a finalizer
 * from the start.
 */
import { serviceGroup } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf } from './match.js';

/** By canonical group and plural; the last one behind a gate. */
const FINALIZERS = [
  ['', 'persistentvolumes', 'pv-protection'],
  ['', 'persistentvolumeclaims', 'pvc-protection'],
  [serviceGroup('storage'), 'volumeattributesclasses', 'vac-protection', 'VolumeAttributesClass'],
] as const;

export const storageObjectInUseProtection: AdmissionPlugin = Object.freeze({
  name: 'StorageObjectInUseProtection',
  looksAt: kindsOf(...FINALIZERS.map(([group, resource]) => [group, resource] as const)),
  isBuiltIn: true,
  mutate,
});

function mutate(request: AdmissionRequest<DraftObject>, { dialect, features }: ClusterView): void {
  if (request.operation !== 'CREATE' || request.object === undefined) return;
  const { metadata } = request.object;
  for (const [group, resource, name, gate] of FINALIZERS) {
    if (!isFor(request, group, resource) || (gate !== undefined && !features.enabled(gate))) continue;
    const finalizer = dialect.key(name);
    const present = metadata.finalizers ?? [];
    if (!present.includes(finalizer)) metadata.finalizers = [...present, finalizer];
  }
}
