/**
 * Helpers of the plugins: which resource a request targets, and the 403 of a rejection.
 */

import type { PodSpec } from '../../kinds/generated/core-v1.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import { errors, type StatusError } from '../../meta/errors.js';
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { StatusCause } from '../../meta/status.js';
import type { AdmissionPlugin, AdmissionRequest } from '../types.js';

/** A request in either phase, mutating or validating. */
export type AnyRequest = AdmissionRequest<DraftObject | ApiObject>;

/** Whether the request targets objects of a resource (not a subresource), in any version. The group is canonical. */
export function isRequestFor(request: AnyRequest, group: string, resource: string): boolean {
  return request.subresource === '' && isResource(request.served, group, resource);
}

/** Whether a kind is this resource, in any version. The group is canonical. */
export function isResource({ kind }: ServedKind, group: string, resource: string): boolean {
  return kind.group === group && kind.names.plural === resource;
}

/**
 * For `handlesKind`: matches these resources in any version. The groups are canonical.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function kindsOf(...resources: readonly (readonly [group: string, resource: string])[]) {
  return (served: ServedKind): boolean => resources.some(([group, resource]) => isResource(served, group, resource));
}

type PluginParts = Omit<AdmissionPlugin, 'name' | 'isBuiltIn'>;

/** @__NO_SIDE_EFFECTS__ */
export function builtIn(name: string, parts: PluginParts): AdmissionPlugin {
  return Object.freeze({ name, isBuiltIn: true, ...parts });
}

/**
 * A built-in plugin for pods and their subresources.
 *
 * @__NO_SIDE_EFFECTS__
 */
export function podPlugin(name: string, parts: PluginParts): AdmissionPlugin {
  return builtIn(name, { handlesKind: kindsOf(['', 'pods']), ...parts });
}

/** The spec of the pod that a request writes; undefined for other requests. */
export function podSpecOf(request: AnyRequest): PodSpec | undefined {
  return isRequestFor(request, '', 'pods') ? (request.object?.['spec'] as PodSpec | undefined) : undefined;
}

/** The spec of a pod that is being created; undefined for other requests. */
export function createdPodSpec(request: AnyRequest): PodSpec | undefined {
  return request.operation === 'CREATE' ? podSpecOf(request) : undefined;
}

/** A 403 for the request. An object without name or generateName is called `Unknown`. */
export function forbiddenError(
  { served, name }: AnyRequest,
  why: string,
  causes: readonly StatusCause[] = [],
): StatusError {
  return errors.forbidden(served.groupResource, name || 'Unknown', why, causes);
}
