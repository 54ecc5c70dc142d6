/**
 * Which requests a plugin looks at.
 */

import type { PodSpec } from '../../kinds/core/v1/pod-spec/pod-spec.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors, type StatusError } from '../../meta/errors.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { StatusCause } from '../../meta/status.js';
import type { AdmissionRequest } from '../types.js';

/** A request of either round. */
export type AnyRequest = AdmissionRequest<DraftObject | ApiObject>;

/** The request is about whole objects of a resource, in whatever version. The group is canonical. */
export function isFor(request: AnyRequest, group: string, resource: string): boolean {
  return request.subresource === '' && isResource(request.served, group, resource);
}

/** Also below objects. The group is canonical. */
export function isResource({ kind }: ServedKind, group: string, resource: string): boolean {
  return kind.group === group && kind.names.plural === resource;
}

/** For `looksAt`: objects of these resources, in whatever version. The groups are canonical. */
export function kindsOf(...resources: readonly (readonly [group: string, resource: string])[]) {
  return (served: ServedKind): boolean => resources.some(([group, resource]) => isResource(served, group, resource));
}

/** The spec of a pod that is to be made; undefined for any other request. */
export function newPodSpec(request: AnyRequest): PodSpec | undefined {
  if (request.operation !== 'CREATE' || !isFor(request, '', 'pods')) return undefined;
  return request.object?.['spec'] as PodSpec | undefined;
}

/** The 403 to throw. An object that has neither a name nor a prefix for one yet is called `Unknown`. */
export function refuse({ served, name }: AnyRequest, why: string, causes: readonly StatusCause[] = []): StatusError {
  return errors.forbidden(served.groupResource, name || 'Unknown', why, causes);
}
