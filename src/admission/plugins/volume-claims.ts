/**
 * A claim may only ask for more when the class it was provisioned by can grow volumes.
 */
import { serviceGroup } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { own } from '../../util/json.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf, refuse } from './requests.js';

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

export const persistentVolumeClaimResize: AdmissionPlugin = Object.freeze({
  name: 'PersistentVolumeClaimResize',
  isBuiltIn: true,
  looksAt: kindsOf(['', 'persistentvolumeclaims']),
  validate,
});

interface Claim {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly storageClassName?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: { readonly phase?: string };
}

function validate(request: AdmissionRequest, view: ClusterView): void {
  if (request.operation !== 'UPDATE' || !isFor(request, '', 'persistentvolumeclaims')) return;
  const next = request.object as unknown as Claim;
  const live = request.oldObject as unknown as Claim;
  if (asked(next).cmp(asked(live)) <= 0) return;
  if (live.status?.phase !== 'Bound') throw refuse(request, 'Only bound persistent volume claims can be expanded');
  // A claim that just changes its class grows by neither.
  const name = classOf(next, view);
  if (name !== '' && name === classOf(live, view) && mayGrow(name, view)) return;
  throw refuse(
    request,
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  );
}

function asked({ spec }: Claim): Quantity {
  return Quantity.parse(spec?.resources?.requests?.['storage'] ?? '0');
}

/** The annotation of old still comes first. */
function classOf({ metadata, spec }: Claim, { dialect }: ClusterView): string {
  const annotation = own(metadata.annotations ?? {}, dialect.subkey('volume.beta', 'storage-class'));
  return annotation ?? spec?.storageClassName ?? '';
}

function mayGrow(name: string, view: ClusterView): boolean {
  const storageClass = view.get({ group: serviceGroup('storage'), resource: 'storageclasses', namespace: '', name });
  return storageClass?.['allowVolumeExpansion'] === true;
}

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
