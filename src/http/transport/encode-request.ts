/**
 * A request → the URL and the method that say it: the reverse of `path.ts` and `query.ts`. spec: Resource paths
 */

import { encodeJson } from '../../codec/json-encoder.js';
import { errors } from '../../meta/errors.js';
import type { GroupVersionResource } from '../../meta/gvk.js';
import { pathSegmentProblems } from '../../meta/names.js';
import { BodyError, type ParsedBody, type RequestBody } from '../../protocol/body.js';
import { percentEncode, queryText } from '../../protocol/query-text.js';
import type { ApiRequest, PatchType, RequestOptions, User, Verb } from '../../protocol/request.js';
import { quote } from '../../text/go/go-text.js';
import { isPlainJson, isRecord, jsonView, NotJsonError, NumberText, requireJson } from '../../util/json.js';
import { toBytes } from '../header-values.js';

const JSON_TYPE = 'application/json';

const PATCH_TYPES: Readonly<Record<PatchType, string>> = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
};

const MAX_DEPTH = 1_000;

/** Characters that break a line in YAML, or that it refuses unless they are escaped. */
const UNSAFE_IN_YAML = /[\x7f-\x9f\ufeff\ufffe\uffff]/g;

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

interface HeaderParts {
  /** The platform's own fetch sends repeated headers as one, and nobody could tell several groups from one. */
  readonly joinsHeaders?: boolean;
  /** Of the transport's options; what a request itself has to say goes before them. */
  readonly fixed: Headers;
  readonly userAgent: string;
  readonly token: string | undefined;
  readonly contentType: string | undefined;
  readonly user: User | undefined;
}

/** Throws BadRequest for a user whose name no header can carry. */
export function headersOf({ fixed, userAgent, token, contentType, user, joinsHeaders }: HeaderParts): Headers {
  const headers = new Headers(fixed);
  headers.set('Accept', 'application/json');
  headers.set('User-Agent', userAgent);
  if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
  if (contentType !== undefined) headers.set('Content-Type', contentType);
  if (user !== undefined) {
    if (joinsHeaders === true) requireSingle(user);
    impersonate(headers, user);
  }
  return headers;
}

/** The server acts as somebody else, if it lets the sender do so. */
function impersonate(headers: Headers, { user, uid, groups = [], extra = {} }: User): void {
  append(headers, 'Impersonate-User', user);
  if (uid !== undefined) append(headers, 'Impersonate-Uid', uid);
  for (const group of groups) append(headers, 'Impersonate-Group', group);
  for (const [key, values] of Object.entries(extra)) {
    for (const value of values) append(headers, `Impersonate-Extra-${escapeKey(key)}`, value);
  }
}

function requireSingle({ groups = [], extra = {} }: User): void {
  if (groups.length <= 1 && Object.values(extra).every((values) => values.length <= 1)) return;
  throw errors.badRequest(
    'fetch of this platform cannot send more than one group, or more than one value of an extra, to be acted as: use kubeconfigTransport of orchplane/node, or one group',
  );
}

function append(headers: Headers, name: string, value: string): void {
  if (/\p{Cc}/u.test(value)) throw errors.badRequest(`no header ${name} can carry ${quote(value)}`);
  headers.append(name, toBytes(value));
}

/** What a header's name cannot hold, and the sign of the escape itself, as escapes. */
function escapeKey(key: string): string {
  return toBytes(key).replace(
    /[^!#$&'*+\-.^_`|~0-9A-Za-z]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

export interface Content {
  readonly type: string;
  readonly text: string;
}

/** The body; undefined when the request has none. Throws BadRequest for what is no JSON. */
export function contentOf({ verb, body, patchType, options }: ApiRequest): Content | undefined {
  if (body !== undefined) {
    const text = encodeBody(body);
    if (patchType === 'apply') return { type: PATCH_TYPES.apply, text: escapeForYaml(text) };
    return { type: patchType === undefined ? JSON_TYPE : PATCH_TYPES[patchType], text };
  }
  if (verb !== 'delete' && verb !== 'deletecollection') return undefined;
  const text = deleteOptions(options);
  return text === undefined ? undefined : { type: JSON_TYPE, text };
}

/**
 * How to delete. In a body, because in a query the version that is a precondition and the version that a collection
 * is read at would have one name.
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
      throw errors.badRequest(`the body of the request is no JSON: ${error.message}`);
    throw error;
  }
}

/**
 * Text of what is no plain JSON: objects that know their own JSON (a Date, a Quantity), and bodies that are handed on,
 * whose spelling of numbers and repeated keys the other end is to see as they came.
 */
function encodeValue(given: unknown, document: ParsedBody, depth = 0): string {
  if (given instanceof NumberText) return given.text;
  if (depth > MAX_DEPTH) throw new NotJsonError('exceeded max depth');
  const value = jsonView(given);
  // Loops and no callbacks: each level of depth costs one call frame.
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

/** A configuration is read as YAML. In JSON these characters occur only inside strings. */
function escapeForYaml(json: string): string {
  return json.replace(UNSAFE_IN_YAML, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
