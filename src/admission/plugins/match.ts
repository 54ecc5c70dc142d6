/**
 * Which requests a plugin looks at.
 */
import type { ApiObject, DraftObject } from '../../meta/object.js';
import type { AdmissionRequest } from '../types.js';

/** The request is about whole objects of a resource, in whatever version. The group is canonical. */
export function isFor<Object extends DraftObject | ApiObject>(
  request: AdmissionRequest<Object>,
  group: string,
  resource: string,
): boolean {
  const { kind } = request.served;
  return request.subresource === '' && kind.group === group && kind.names.plural === resource;
}
