/**
 * The DefaultStorageClass and DefaultIngressClass plugins: set the default class on objects that name none.
 */
import { DEFAULT_STORAGE_CLASS_SUBDOMAINS, isDefaultClass } from '../../kinds/shared/default-class.js';
import { serviceGroup } from '../../meta/dialect.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { ClusterView } from '../types.js';
import { builtIn, isRequestFor, kindsOf } from './requests.js';

export const defaultStorageClass = /* @__PURE__ */ builtIn('DefaultStorageClass', {
  handlesKind: kindsOf(['', 'persistentvolumeclaims']),
  mutate(request, view) {
    if (request.operation !== 'CREATE' || request.object === undefined) return;
    if (!isRequestFor(request, '', 'persistentvolumeclaims')) return;
    const spec = request.object['spec'] as { storageClassName?: string };
    if (spec.storageClassName !== undefined || hasBetaClass(request.object, view)) return;
    const classes = view.list({ group: serviceGroup('storage'), resource: 'storageclasses' });
    const chosen = markedAsDefault(classes, DEFAULT_STORAGE_CLASS_SUBDOMAINS, view);
    if (chosen !== undefined) spec.storageClassName = chosen.metadata.name;
  },
});

/** Whether the deprecated annotation names a class. */
function hasBetaClass(claim: DraftObject, { dialect }: ClusterView): boolean {
  return Object.hasOwn(claim.metadata.annotations ?? {}, dialect.subkey('volume.beta', 'storage-class'));
}

export const defaultIngressClass = /* @__PURE__ */ builtIn('DefaultIngressClass', {
  handlesKind: kindsOf([serviceGroup('networking'), 'ingresses']),
  mutate(request, view) {
    if (request.operation !== 'CREATE' || request.object === undefined) return;
    const group = serviceGroup('networking');
    if (!isRequestFor(request, group, 'ingresses')) return;
    const spec = request.object['spec'] as { ingressClassName?: string };
    const annotation = view.dialect.key('ingress.class');
    if (spec.ingressClassName !== undefined) return;
    if (Object.hasOwn(request.object.metadata.annotations ?? {}, annotation)) return;
    const chosen = markedAsDefault(view.list({ group, resource: 'ingressclasses' }), ['ingressclass'], view);
    if (chosen !== undefined) spec.ingressClassName = chosen.metadata.name;
  },
});

/** Of several defaults the newest one; of equally old ones the first by name. */
function markedAsDefault(
  classes: readonly ApiObject[],
  subdomains: readonly string[],
  { dialect }: ClusterView,
): ApiObject | undefined {
  let best: ApiObject | undefined;
  for (const candidate of classes) {
    if (!isDefaultClass(candidate, subdomains, dialect)) continue;
    // The list is sorted by name, so the first of equals wins.
    const { creationTimestamp } = candidate.metadata;
    if (best === undefined || creationTimestamp > best.metadata.creationTimestamp) best = candidate;
  }
  return best;
}
