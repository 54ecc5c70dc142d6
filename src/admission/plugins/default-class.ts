/**
 * Claims and ingresses that name no class get the one that is marked as the default.
 */
import { isDefaultClass, STORAGE_CLASS_MARKS } from '../../kinds/shared/default-class.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor, kindsOf } from './requests.js';

export const defaultStorageClass: AdmissionPlugin = Object.freeze({
  name: 'DefaultStorageClass',
  looksAt: kindsOf(['', 'persistentvolumeclaims']),
  isBuiltIn: true,
  mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
    if (request.operation !== 'CREATE' || request.object === undefined) return;
    if (!isFor(request, '', 'persistentvolumeclaims')) return;
    const spec = request.object['spec'] as { storageClassName?: string };
    if (spec.storageClassName !== undefined || hasBetaClass(request.object, view)) return;
    const classes = view.list({ group: serviceGroup('storage'), resource: 'storageclasses' });
    const chosen = markedAsDefault(classes, STORAGE_CLASS_MARKS, view);
    if (chosen !== undefined) spec.storageClassName = chosen.metadata.name;
  },
});

/** The class in the annotation of old. */
function hasBetaClass(claim: DraftObject, { dialect }: ClusterView): boolean {
  return Object.hasOwn(claim.metadata.annotations ?? {}, dialect.subkey('volume.beta', 'storage-class'));
}

export const defaultIngressClass: AdmissionPlugin = Object.freeze({
  name: 'DefaultIngressClass',
  looksAt: kindsOf([serviceGroup('networking'), 'ingresses']),
  isBuiltIn: true,
  mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
    if (request.operation !== 'CREATE' || request.object === undefined) return;
    const group = serviceGroup('networking');
    if (!isFor(request, group, 'ingresses')) return;
    const spec = request.object['spec'] as { ingressClassName?: string };
    const annotation = view.dialect.key('ingress.class');
    if (spec.ingressClassName !== undefined) return;
    if (Object.hasOwn(request.object.metadata.annotations ?? {}, annotation)) return;
    const chosen = markedAsDefault(view.list({ group, resource: 'ingressclasses' }), ['ingressclass'], view);
    if (chosen !== undefined) spec.ingressClassName = chosen.metadata.name;
  },
});

/** Of several defaults, the newest; of equally old ones, the first by name. */
function markedAsDefault(
  classes: readonly ApiObject[],
  subdomains: readonly string[],
  { dialect }: ClusterView,
): ApiObject | undefined {
  let best: ApiObject | undefined;
  for (const candidate of classes) {
    if (!isDefaultClass(candidate, subdomains, dialect)) continue;
    // Listed by name, so that the first of equals is there already.
    const { creationTimestamp } = candidate.metadata;
    if (best === undefined || creationTimestamp > best.metadata.creationTimestamp) best = candidate;
  }
  return best;
}
