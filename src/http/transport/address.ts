/**
 * A request → the URL and the method that say it: the reverse of `path.ts` and `query.ts`. spec: Resource paths
 */
import { errors } from '../../meta/errors.js';
import { quote } from '../../meta/go-text.js';
import type { GroupVersionResource } from '../../meta/gvk.js';
import { pathSegmentProblems } from '../../meta/names.js';
import type { ApiRequest, RequestOptions, Verb } from '../../protocol/request.js';

export const METHODS: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};

/**
 * The address that paths are added to, without a slash at its end. A page may give one that is relative to its own.
 * Throws TypeError for what is no address, or says more than where the cluster is.
 */
export function readBaseUrl(baseUrl: string): string {
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  let url: URL;
  try {
    url = new URL(baseUrl, location?.href);
  } catch (cause) {
    throw new TypeError(`orchplane: baseUrl is no URL: ${String(baseUrl)}`, { cause });
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('orchplane: baseUrl holds a user; fetch refuses that, say who asks with token or headers');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new TypeError(`orchplane: baseUrl ends with its path, without ${url.search}${url.hash}`);
  }
  let end = url.pathname.length;
  while (end > 0 && url.pathname.charAt(end - 1) === '/') end--;
  // Not `origin`: that is "null" for the schemes that only a fetch of the user's own knows.
  return `${url.protocol}//${url.host}${url.pathname.slice(0, end)}`;
}

/** The whole URL. Throws BadRequest for a name that no path can hold. */
export function addressOf(baseUrl: string, request: ApiRequest): string {
  return `${baseUrl}${pathOf(request)}${queryOf(request)}`;
}

function pathOf({ verb, resource, namespace, name, subresource }: ApiRequest): string {
  let path = rootOf(resource);
  // An empty namespace means all of them, which only a collection can be asked for.
  if (namespace !== undefined && namespace !== '') path += `/namespaces/${segment('Namespace', namespace)}`;
  else if (namespace === '' && name !== undefined) throw errors.badRequest('Namespace parameter required.');
  path += `/${segment('Resource', resource.resource)}`;
  // The name of what is created stands in the body, except below an object.
  if (name !== undefined && (verb !== 'create' || subresource !== undefined)) path += `/${segment('Name', name)}`;
  if (subresource !== undefined) path += `/${segment('Subresource', subresource)}`;
  return path;
}

function rootOf({ group, version }: GroupVersionResource): string {
  const end = segment('Version', version);
  return group === '' ? `/api/${end}` : `/apis/${segment('Group', group)}/${end}`;
}

/**
 * One part of a path. Servers decode a path before they divide it, and URLs swallow dots, so that a name with a slash
 * would address something else than it says. What no server takes is refused here, in the words of the server.
 */
function segment(what: string, text: string): string {
  if (text === '') throw errors.badRequest(`${what.toLowerCase()} must be provided`);
  const problems = pathSegmentProblems(text);
  if (problems.length > 0) throw errors.badRequest(`${what} parameter invalid: ${quote(text)}: ${problems.join(';')}`);
  return encode(text);
}

/** Options that go into the query as they are; those of a delete go into its body. */
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

/** Percent-encoded, the plus sign too, which stands for a space in a query. Half a surrogate pair has no encoding. */
function encode(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'));
}
