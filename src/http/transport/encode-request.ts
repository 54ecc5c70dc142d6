/**
 * Encodes an ApiRequest as HTTP: method, URL, headers and body. It is the inverse of `path.ts`, `query.ts` and
 * `read-request.ts`. spec: Path shapes
 */

import { encodeJson } from '../../codec/json-encoder.js';
import { errors } from '../../meta/errors.js';
import type { GroupVersionResource } from '../../meta/gvk.js';
import { pathSegmentProblems } from '../../meta/names.js';
import { BodyError, type ParsedBody, type RequestBody } from '../../protocol/body.js';
import type { ApiRequest, PatchType, RequestOptions, User, Verb } from '../../protocol/request.js';
import { percentEncode, queryText } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { escapeHeaderName, isHeaderText, toHeaderBytes } from '../../util/bytes.js';
import {
  escapeForYaml,
  isPlainJson,
  isRecord,
  jsonView,
  NotJsonError,
  NumberText,
  requireJson,
} from '../../util/json.js';

/** The HTTP method of each verb. */
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
 * The base URL without a trailing slash. In a browser it may be a path of the page's origin. Throws TypeError for
 * anything that is not a plain http(s) URL.
 */
export function readBaseUrl(baseUrl: string | URL): string {
  const url = parseBaseUrl(baseUrlText(baseUrl));
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`orchplane: baseUrl begins with ${url.protocol}; it must use http: or https:`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('orchplane: baseUrl contains credentials, which fetch rejects; use token or headers instead');
  }
  if (url.search !== '' || url.hash !== '') {
    throw new TypeError(`orchplane: baseUrl must not have a query or fragment, got ${url.search}${url.hash}`);
  }
  let end = url.pathname.length;
  while (end > 0 && url.pathname.charAt(end - 1) === '/') end--;
  return `${url.origin}${url.pathname.slice(0, end)}`;
}

/** URLs are detected by shape, because a URL of another realm is an instance of another class. */
function baseUrlText(baseUrl: unknown): string {
  const text = isRecord(baseUrl) ? baseUrl['href'] : baseUrl;
  if (typeof text === 'string' && text !== '') return text;
  const given = text === '' ? 'is empty' : `is ${baseUrl === undefined ? 'missing' : 'neither a string nor a URL'}`;
  throw new TypeError(
    `orchplane: the option baseUrl ${given}; give the URL of the cluster, such as https://cluster.example:6443`,
  );
}

function parseBaseUrl(text: string): URL {
  const isPath = /^\.{0,2}\//.test(text);
  // Otherwise a bare host would be parsed as a path, and `host:port` as a scheme.
  if (!isPath && !/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) {
    throw new TypeError(`orchplane: the baseUrl ${quote(text)} must begin with http:// or https://`);
  }
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  if (isPath && location === undefined) {
    throw new TypeError(
      `orchplane: the baseUrl ${quote(text)} has no host; a path alone works only in a browser page. ` +
        'Give a host, such as https://cluster.example:6443',
    );
  }
  try {
    return new URL(text, location?.href);
  } catch (cause) {
    throw new TypeError(`orchplane: baseUrl is not a valid URL: ${quote(text)}`, { cause });
  }
}

/** The URL of a request. Throws BadRequest for a name that a path cannot contain. */
export function requestUrl(baseUrl: string, request: ApiRequest): string {
  return `${baseUrl}${requestPath(request)}${queryText(request)}`;
}

function requestPath({ verb, resource, namespace, name, subresource }: ApiRequest): string {
  let path = apiRoot(resource);
  // An empty namespace means all namespaces, which is valid only for collections.
  if (namespace !== undefined && namespace !== '') path += `/namespaces/${pathSegment('Namespace', namespace)}`;
  else if (namespace === '' && name !== undefined) throw errors.badRequest('Namespace parameter required.');
  path += `/${pathSegment('Resource', resource.resource)}`;
  // The name of a created object is in the body, except for a subresource.
  if (name !== undefined && (verb !== 'create' || subresource !== undefined)) path += `/${pathSegment('Name', name)}`;
  if (subresource !== undefined) path += `/${pathSegment('Subresource', subresource)}`;
  return path;
}

function apiRoot({ group, version }: GroupVersionResource): string {
  const end = pathSegment('Version', version);
  return group === '' ? `/api/${end}` : `/apis/${pathSegment('Group', group)}/${end}`;
}

/**
 * One path segment. Servers decode a path before they split it, and URL parsers collapse dots, so a name with a slash
 * or dots would address another object. Such names are rejected here with the server's message.
 */
function pathSegment(what: string, text: string): string {
  if (text === '') throw errors.badRequest(`${what.toLowerCase()} must be provided`);
  const problems = pathSegmentProblems(text);
  if (problems.length > 0) throw errors.badRequest(`${what} parameter invalid: ${quote(text)}: ${problems.join(';')}`);
  return percentEncode(text);
}

interface HeaderParts {
  /** The platform's fetch joins repeated headers, which makes several groups indistinguishable from one. */
  readonly joinsHeaders?: boolean;
  /** The headers of the transport's options; the request's own take precedence. */
  readonly fixed: Headers;
  readonly userAgent: string;
  readonly token: string | undefined;
  readonly contentType: string | undefined;
  readonly user: User | undefined;
}

/** Encodes the headers of a request. Throws BadRequest for a user that a header cannot carry. */
export function encodeHeaders({ fixed, userAgent, token, contentType, user, joinsHeaders }: HeaderParts): Headers {
  const headers = new Headers(fixed);
  headers.set('Accept', 'application/json');
  headers.set('User-Agent', userAgent);
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  if (contentType !== undefined) headers.set('Content-Type', contentType);
  if (user !== undefined) {
    if (joinsHeaders === true) requireSingleValues(user);
    impersonate(headers, user);
  }
  return headers;
}

/** Asks the server to impersonate a user, if the sender may do so. */
function impersonate(headers: Headers, { user, uid, groups = [], extra = {} }: User): void {
  for (const name of [...headers.keys()]) if (name.startsWith('impersonate-')) headers.delete(name);
  // A server ignores a header without a value: it would answer as the sender.
  appendHeader(headers, 'Impersonate-User', user);
  if (uid) appendHeader(headers, 'Impersonate-Uid', uid);
  for (const group of groups) appendListed(headers, 'Impersonate-Group', group);
  for (const [key, values] of Object.entries(extra)) {
    if (/\p{Cs}/u.test(key)) throw errors.badRequest(`no header can carry the key ${quote(key)} of a user`);
    for (const value of values) appendListed(headers, `Impersonate-Extra-${escapeHeaderName(key)}`, value);
  }
}

function requireSingleValues({ groups = [], extra = {} }: User): void {
  if (groups.length <= 1 && Object.values(extra).every((values) => values.length <= 1)) return;
  throw errors.badRequest(
    'fetch of this platform cannot impersonate a user with more than one group, or with more than one value of an extra: use kubeconfigTransport of orchplane/node, or one group',
  );
}

/**
 * `Headers` joins repeated headers by a comma and a space. Transports and servers that get them from `fetch` split there: a
 * part of such a value would become a group of its own.
 */
function appendListed(headers: Headers, name: string, value: string): void {
  if (value.includes(', '))
    throw errors.badRequest(`no header ${name} can carry ${quote(value)}: a server may read several values`);
  appendHeader(headers, name, value);
}

function appendHeader(headers: Headers, name: string, value: string): void {
  if (value === '' || !isHeaderText(value)) throw errors.badRequest(`no header ${name} can carry ${quote(value)}`);
  headers.append(name, toHeaderBytes(value));
}

/** A request body and its media type. */
export interface Content {
  readonly type: string;
  readonly text: string;
}

const JSON_TYPE = 'application/json';

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** Encodes the body; undefined when the request has none. Throws BadRequest for a body that is not JSON. */
export function encodeContent({ verb, body, patchType, options }: ApiRequest): Content | undefined {
  if (body !== undefined) {
    const text = encodeBody(body);
    // An apply configuration is parsed as YAML.
    if (patchType === 'apply') return { type: PATCH_TYPES.apply, text: escapeForYaml(text) };
    return { type: patchType === undefined ? JSON_TYPE : PATCH_TYPES[patchType], text };
  }
  if (verb !== 'delete' && verb !== 'deletecollection') return undefined;
  const text = deleteOptions(options);
  return text === undefined ? undefined : { type: JSON_TYPE, text };
}

/**
 * DeleteOptions go into the body: in a query, the resourceVersion of a precondition and the resourceVersion of a
 * collection read would share one name.
 */
function deleteOptions(options: RequestOptions): string | undefined {
  const { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun } = options;
  const parts = { gracePeriodSeconds, propagationPolicy, orphanDependents, preconditions, dryRun };
  if (Object.values(parts).every((part) => part === undefined)) return undefined;
  return encodeJson({ kind: 'DeleteOptions', apiVersion: 'v1', ...parts });
}

function encodeBody(body: RequestBody): string {
  try {
    const document = body.read();
    const { value, duplicates } = document;
    return duplicates === undefined && isPlainJson(value) ? encodeJson(value) : encodeValue(value, document);
  } catch (error) {
    if (error instanceof NotJsonError || error instanceof BodyError)
      throw errors.badRequest(`the body of the request is not JSON: ${error.message}`);
    throw error;
  }
}

const MAX_DEPTH = 1_000;

/**
 * Encodes values that are not plain JSON: objects with a toJSON method (Date, Quantity), and forwarded bodies whose
 * number spelling and repeated keys must be preserved.
 */
function encodeValue(given: unknown, document: ParsedBody, depth = 0): string {
  if (given instanceof NumberText) return given.text;
  if (depth > MAX_DEPTH) throw new NotJsonError('exceeded max depth');
  const value = jsonView(given);
  // Loops instead of callbacks: each level of depth costs one call frame.
  const parts: string[] = [];
  if (Array.isArray(value)) {
    for (const item of value) parts.push(encodeValue(item ?? null, document, depth + 1));
    return `[${parts.join(',')}]`;
  }
  if (!isRecord(value)) {
    requireJson(value);
    return encodeJson(value);
  }
  for (const [key, field] of Object.entries(value)) {
    if (field === undefined) continue;
    const earlier = document.duplicates?.get(value)?.get(key) ?? [];
    for (const each of [...earlier, field]) parts.push(`${encodeJson(key)}:${encodeValue(each, document, depth + 1)}`);
  }
  return `{${parts.join(',')}}`;
}
