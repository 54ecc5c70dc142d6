/**
 * A request → the URL and the method that say it: the reverse of `path.ts` and `query.ts`. spec: Resource paths
 */
import { errors } from '../../meta/errors.js';
import type { GroupVersionResource } from '../../meta/gvk.js';
import { pathSegmentProblems } from '../../meta/names.js';
import { percentEncode, queryText } from '../../protocol/query-text.js';
import type { ApiRequest, Verb } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { isRecord } from '../../util/json.js';

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
 * The address that paths are added to, without a slash at its end. A page may give a path of its own origin.
 * Throws TypeError for what is no address, or says more than where the cluster is.
 */
export function readBaseUrl(baseUrl: string | URL): string {
  const url = parseBaseUrl(textOf(baseUrl));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`orchplane: baseUrl begins with ${url.protocol}; a cluster is reached over http: or https:`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('orchplane: baseUrl holds a user; fetch refuses that, say who asks with token or headers');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new TypeError(`orchplane: baseUrl ends with its path, without ${url.search}${url.hash}`);
  }
  let end = url.pathname.length;
  while (end > 0 && url.pathname.charAt(end - 1) === '/') end--;
  return `${url.origin}${url.pathname.slice(0, end)}`;
}

/** A URL is known by what it has, because that of another realm is of another class. */
function textOf(baseUrl: unknown): string {
  const text = isRecord(baseUrl) ? baseUrl['href'] : baseUrl;
  if (typeof text === 'string' && text !== '') return text;
  const given = text === '' ? 'is empty' : `is ${baseUrl === undefined ? 'missing' : 'no text and no URL'}`;
  throw new TypeError(
    `orchplane: the option baseUrl ${given}; it says where the cluster is, as https://cluster.example:6443 does`,
  );
}

function parseBaseUrl(text: string): URL {
  const isPath = /^\.{0,2}\//.test(text);
  // Without this a host alone would be a path of the page, and the port behind it would make it a scheme.
  if (!isPath && !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    throw new TypeError(`orchplane: http:// or https:// is missing before the baseUrl ${quote(text)}`);
  }
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  if (isPath && location === undefined) {
    throw new TypeError(
      `orchplane: the baseUrl ${quote(text)} is a path alone, which works only in a page (location.origin + …); ` +
        'here it needs a host, as in https://cluster.example:6443',
    );
  }
  try {
    return new URL(text, location?.href);
  } catch (cause) {
    throw new TypeError(`orchplane: baseUrl is no URL: ${quote(text)}`, { cause });
  }
}

/** The whole URL. Throws BadRequest for a name that no path can hold. */
export function addressOf(baseUrl: string, request: ApiRequest): string {
  return `${baseUrl}${pathOf(request)}${queryText(request)}`;
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
  return percentEncode(text);
}
