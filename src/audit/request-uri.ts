/**
 * The address that a request would have had over HTTP, for those that came without one. It judges nothing: what no
 * server would take is written down as well. spec: Resource paths
 */

import { percentEncode, queryText } from '../protocol/query-text.js';
import type { ApiRequest } from '../protocol/request.js';

/** The path and the query: `/api/v1/namespaces/default/pods?limit=5`. */
export function requestUri(request: ApiRequest): string {
  return `${pathOf(request)}${queryText(request)}`;
}

function pathOf({ verb, resource, namespace, name, subresource }: ApiRequest): string {
  const { group, version } = resource;
  let path =
    group === '' ? `/api/${percentEncode(version)}` : `/apis/${percentEncode(group)}/${percentEncode(version)}`;
  if (namespace) path += `/namespaces/${percentEncode(namespace)}`;
  path += `/${percentEncode(resource.resource)}`;
  // The name of what is created stands in the body, except below an object.
  if (name !== undefined && (verb !== 'create' || subresource !== undefined)) path += `/${percentEncode(name)}`;
  return subresource === undefined ? path : `${path}/${percentEncode(subresource)}`;
}
