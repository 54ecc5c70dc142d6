/**
 * The address that a request would have had over HTTP, for those that came without one. It judges nothing: what no
 * server would take is written down as well. spec: Resource paths
 */
import type { ApiRequest, RequestOptions } from '../protocol/request.js';

/** The path and the query: `/api/v1/namespaces/default/pods?limit=5`. */
export function requestUri(request: ApiRequest): string {
  return `${pathOf(request)}${queryOf(request)}`;
}

function pathOf({ verb, resource, namespace, name, subresource }: ApiRequest): string {
  const { group, version } = resource;
  let path = group === '' ? `/api/${encode(version)}` : `/apis/${encode(group)}/${encode(version)}`;
  if (namespace) path += `/namespaces/${encode(namespace)}`;
  path += `/${encode(resource.resource)}`;
  // The name of what is created stands in the body, except below an object.
  if (name !== undefined && (verb !== 'create' || subresource !== undefined)) path += `/${encode(name)}`;
  return subresource === undefined ? path : `${path}/${encode(subresource)}`;
}

/** In the order in which clients of ours write them; the options of a delete go into its body. */
const PARAMETERS = [
  'fieldManager',
  'fieldValidation',
  'force',
  'labelSelector',
  'fieldSelector',
  'limit',
  'continue',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'allowWatchBookmarks',
  'timeoutSeconds',
] as const satisfies readonly (keyof RequestOptions)[];

function queryOf({ verb, options }: ApiRequest): string {
  const pairs: string[] = verb === 'watch' ? ['watch=true'] : [];
  for (const name of PARAMETERS) {
    const value = options[name];
    if (value !== undefined) pairs.push(`${name}=${encode(String(value))}`);
  }
  if (verb !== 'delete' && verb !== 'deletecollection') {
    for (const value of options.dryRun ?? []) pairs.push(`dryRun=${encode(value)}`);
  }
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`;
}

/** Half a surrogate pair has no encoding. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}
