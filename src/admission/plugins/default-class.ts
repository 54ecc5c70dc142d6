/**
 * Claims and ingresses that name no class get the one that is marked as the default.
 */
import { serviceGroup } from '../../meta/dialect.js';
import { errors } from '../../meta/errors.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AdmissionPlugin, AdmissionRequest, ClusterView } from '../types.js';
import { isFor } from './match.js';

export const defaultStorageClass: AdmissionPlugin = Object.freeze({
  name: 'DefaultStorageClass',
  trusted: true,
  mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
    if (request.operation !== 'CREATE' || request.object === undefined) return;
    if (!isFor(request, '', 'persistentvolumeclaims')) return;
    const spec = request.object['spec'] as { storageClassName?: string };
    if (spec.storageClassName !== undefined || hasBetaClass(request.object, view)) return;
    const classes = view.list({ group: serviceGroup('storage'), resource: 'storageclasses' });
    // Of several defaults, the newest; of equally old ones, the first by name.
    const [chosen] = marked(classes, 'storageclass', view).sort(
      (left, right) => newestFirst(left, right) || (left.metadata.name < right.metadata.name ? -1 : 1),
    );
    if (chosen !== undefined) spec.storageClassName = chosen.metadata.name;
  },
});

/** The class in the annotation of old. */
function hasBetaClass(claim: DraftObject, { dialect }: ClusterView): boolean {
  return Object.hasOwn(claim.metadata.annotations ?? {}, dialect.subkey('volume.beta', 'storage-class'));
}

export const defaultIngressClass: AdmissionPlugin = Object.freeze({
  name: 'DefaultIngressClass',
  trusted: true,
  mutate(request: AdmissionRequest<DraftObject>, view: ClusterView): void {
    if (request.operation !== 'CREATE' || request.object === undefined) return;
    const group = serviceGroup('networking');
    if (!isFor(request, group, 'ingresses')) return;
    const spec = request.object['spec'] as { ingressClassName?: string };
    const annotation = view.dialect.key('ingress.class');
    if (spec.ingressClassName !== undefined) return;
    if (Object.hasOwn(request.object.metadata.annotations ?? {}, annotation)) return;
    const defaults = marked(view.list({ group, resource: 'ingressclasses' }), 'ingressclass', view);
    const [chosen, ...others] = defaults.sort(newestFirst);
    if (chosen === undefined) return;
    if (others.some((other) => newestFirst(chosen, other) === 0)) {
      const { groupResource } = request.served;
      throw errors.forbidden(
        groupResource,
        request.name,
        `${defaults.length} default IngressClasses were found, only 1 allowed`,
      );
    }
    spec.ingressClassName = chosen.metadata.name;
  },
});

function marked(classes: readonly ApiObject[], subdomain: string, { dialect }: ClusterView): ApiObject[] {
  const annotation = dialect.subkey(subdomain, 'is-default-class');
  return classes.filter(({ metadata }) => metadata.annotations?.[annotation] === 'true');
}

function newestFirst(left: ApiObject, right: ApiObject): number {
  const [a, b] = [left.metadata.creationTimestamp, right.metadata.creationTimestamp];
  return a === b ? 0 : a < b ? 1 : -1;
}
