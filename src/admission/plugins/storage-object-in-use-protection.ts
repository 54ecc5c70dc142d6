/**
 * Volumes and claims are not taken away while somebody uses them: each carries a finalizer from the start.
 */
import type { DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf } from './match.js';

export const storageObjectInUseProtection: AdmissionPlugin = Object.freeze({
  name: 'StorageObjectInUseProtection',
  looksAt: kindsOf(['', 'persistentvolumes'], ['', 'persistentvolumeclaims']),
  isBuiltIn: true,
  mutate,
});

const FINALIZERS = [
  ['persistentvolumes', 'pv-protection'],
  ['persistentvolumeclaims', 'pvc-protection'],
] as const;

function mutate(request: AdmissionRequest<DraftObject>, { dialect }: ClusterView): void {
  if (request.operation !== 'CREATE' || request.object === undefined) return;
  const { metadata } = request.object;
  for (const [resource, name] of FINALIZERS) {
    if (!isFor(request, '', resource)) continue;
    const finalizer = dialect.key(name);
    const present = metadata.finalizers ?? [];
    if (!present.includes(finalizer)) metadata.finalizers = [...present, finalizer];
  }
}
