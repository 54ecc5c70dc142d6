/**
 * The plugins for volumes: StorageObjectInUseProtection adds protection finalizers, and PersistentVolumeClaimResize allows
 * larger requests only if the StorageClass supports expansion.
 */
import { serviceGroup } from '../../meta/dialect.js';
import type { DraftObject } from '../../meta/object.js';
import { Quantity } from '../../meta/quantity.js';
import { own } from '../../util/json.js';
import type { AdmissionRequest, ClusterView } from '../types.js';
import { builtIn, forbiddenError, isRequestFor, kindsOf } from './requests.js';

/** By canonical group and plural; the last one has a feature gate. */
const FINALIZERS = [
  ['', 'persistentvolumes', 'pv-protection'],
  ['', 'persistentvolumeclaims', 'pvc-protection'],
  [serviceGroup('storage'), 'volumeattributesclasses', 'vac-protection', 'VolumeAttributesClass'],
] as const;

export const storageObjectInUseProtection = /* @__PURE__ */ builtIn('StorageObjectInUseProtection', {
  handlesKind: kindsOf(...FINALIZERS.map(([group, resource]) => [group, resource] as const)),
  mutate: addFinalizers,
});

export const persistentVolumeClaimResize = /* @__PURE__ */ builtIn('PersistentVolumeClaimResize', {
  handlesKind: kindsOf(['', 'persistentvolumeclaims']),
  validate: validateResize,
});

interface Claim {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly storageClassName?: string;
    readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
  };
  readonly status?: { readonly phase?: string };
}

function validateResize(request: AdmissionRequest, view: ClusterView): void {
  if (request.operation !== 'UPDATE' || !isRequestFor(request, '', 'persistentvolumeclaims')) return;
  const next = request.object as unknown as Claim;
  const live = request.oldObject as unknown as Claim;
  if (requestedStorage(next).cmp(requestedStorage(live)) <= 0) return;
  if (live.status?.phase !== 'Bound')
    throw forbiddenError(request, 'Only bound persistent volume claims can be expanded');
  // Expansion is allowed only if the class stays the same.
  const name = classOf(next, view);
  if (name !== '' && name === classOf(live, view) && allowsExpansion(name, view)) return;
  throw forbiddenError(
    request,
    'only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
  );
}

function requestedStorage({ spec }: Claim): Quantity {
  return Quantity.parse(spec?.resources?.requests?.['storage'] ?? '0');
}

/** The deprecated annotation takes precedence. */
function classOf({ metadata, spec }: Claim, { dialect }: ClusterView): string {
  const annotation = own(metadata.annotations ?? {}, dialect.subkey('volume.beta', 'storage-class'));
  return annotation ?? spec?.storageClassName ?? '';
}

function allowsExpansion(name: string, view: ClusterView): boolean {
  const storageClass = view.get({ group: serviceGroup('storage'), resource: 'storageclasses', namespace: '', name });
  return storageClass?.['allowVolumeExpansion'] === true;
}

function addFinalizers(request: AdmissionRequest<DraftObject>, { dialect, features }: ClusterView): void {
  if (request.operation !== 'CREATE' || request.object === undefined) return;
  const { metadata } = request.object;
  for (const [group, resource, name, gate] of FINALIZERS) {
    if (!isRequestFor(request, group, resource) || (gate !== undefined && !features.enabled(gate))) continue;
    const finalizer = dialect.key(name);
    const present = metadata.finalizers ?? [];
    if (!present.includes(finalizer)) metadata.finalizers = [...present, finalizer];
  }
}
