/**
 * Builds the ApiRequest of an action on a resource: the query becomes options, the bytes become a body. Each verb reads
 * its parts in the reference server's order, because the first error found is the one reported.
 */

import { jsonCodec } from '../codec/json.js';
import { yamlBody } from '../codec/yaml.js';
import { errors, StatusError } from '../meta/errors.js';
import type { RequestBody } from '../protocol/body.js';
import type { HttpRequest } from '../protocol/http.js';
import type { ApiRequest, RequestOptions, User } from '../protocol/request.js';
import { bodyTooLarge, limitedBody, MAX_BODY_BYTES } from '../protocol/value-limits.js';
import { JoinedBytes } from '../util/bytes.js';
import { recoverFrom } from '../util/catch-error.js';
import { lazyMembers, SOURCE } from '../util/hidden-class.js';
import { unreachable } from '../util/invariant.js';
import { own } from '../util/json.js';
import type { Offer, Patch } from './negotiate.js';
import { requestCodec } from './negotiate.js';
import type { Query } from './query.js';
import { readDeleteOptions, readOptions } from './query.js';
import { type Action, isConnectSubresource, type ServedResource } from './routes.js';

const NO_BYTES = new Uint8Array();

/** A routed request before its query and body are read. */
export interface IncomingRequest {
  readonly request: HttpRequest;
  readonly offer: Offer;
  readonly query: Query;
  readonly contentType: string;
  readonly userAgent: string;
  readonly user: User | undefined;
  readonly served: ServedResource;
  readonly action: Action;
  /** The path below a proxy subresource. */
  readonly subpath: string;
  /** Present exactly for patches, except on connect subresources. */
  readonly patch: Patch | undefined;
  /** Waits until a body of this size may be processed. */
  readonly admitBody: (byteCount: number) => Promise<void> | undefined;
}

type Content = Pick<ApiRequest, 'options' | 'body' | 'unacceptable'>;

/** Synchronous for requests without a body. Throws, or rejects with, 400, 413 or 415. */
export function readRequest(incoming: IncomingRequest): ApiRequest | Promise<ApiRequest> {
  const { query, action, served } = incoming;
  const { verb } = action;
  // The query and body of a connect request are for the backend.
  if (isConnectSubresource(served.kind, action)) return assemble(incoming, { options: {} });
  switch (verb) {
    case 'get':
    case 'list':
      return assemble(incoming, { options: readOptions(verb, query) });
    case 'watch':
      return assemble(incoming, { options: selectName(readOptions(verb, query), incoming.action.name) });
    case 'create':
    case 'update':
    case 'patch':
      return writeContent(incoming, verb).then((content) => assemble(incoming, content));
    case 'delete':
    case 'deletecollection':
      return deleteContent(incoming, verb).then((content) => assemble(incoming, content));
    default:
      return unreachable(verb);
  }
}

function assemble(incoming: IncomingRequest, { options, body, unacceptable }: Content): ApiRequest {
  const { request, user, userAgent, patch, served, action } = incoming;
  const { verb, namespace, name, subresource } = action;
  const start: DraftRequest = { verb, resource: served.gvr, options, userAgent };
  // The signal is created on first access: most requests finish before anything reads it.
  const built: DraftRequest = withSignal(start, request);
  if (namespace !== undefined) built.namespace = namespace;
  // A watch addresses the collection; a name has become a field selector in the options.
  if (name !== undefined && verb !== 'watch') built.name = name;
  if (subresource !== undefined) {
    built.subresource = subresource;
    const { connectSubresources: connections } = served.kind;
    const connection = connections === undefined ? undefined : own(connections, subresource);
    // Admission must see the path that the backend gets, not a parameter of this name.
    const path = connection?.allowsSubpaths === true ? { path: [incoming.subpath] } : undefined;
    if (connection !== undefined)
      built.options = { ...options, connectQuery: { ...Object.fromEntries(incoming.query), ...path } };
  }
  if (body !== undefined) built.body = body;
  if (unacceptable !== undefined) built.unacceptable = unacceptable;
  if (patch !== undefined) built.patchType = patch.type;
  if (user !== undefined) built.user = user;
  // The handler has authorized the request before it read it.
  built.authorized = {
    verb,
    resource: built.resource,
    options: built.options,
    namespace: built.namespace,
    name: built.name,
    subresource,
    user,
  };
  return built;
}

const withSignal = lazyMembers<HttpRequest, Required<Pick<ApiRequest, 'signal'>>>({
  signal() {
    return this[SOURCE].signal;
  },
});

/** A request under construction. Assignments instead of spreads: spreading would dominate the cost of a get. */
type DraftRequest = { -readonly [Key in keyof ApiRequest]: ApiRequest[Key] };

async function writeContent(incoming: IncomingRequest, verb: 'create' | 'update' | 'patch'): Promise<Content> {
  const { offer, contentType, query } = incoming;
  if (verb === 'create') {
    const codec = requestCodec(offer, contentType);
    const bytes = await readBody(incoming);
    return { options: readOptions(verb, query), body: limitedBody(codec.body(bytes, offer.dialect), bytes.length) };
  }
  const bytes = await readBody(incoming);
  const options = readOptions(verb, query);
  if (verb === 'patch') return { options, body: limitedBody(patchBody(incoming, bytes), bytes.length) };
  return { options, body: lazyBody(incoming, bytes) };
}

/**
 * An apply configuration is YAML (a superset of JSON) unless its media type says otherwise; every other patch is JSON.
 */
function patchBody({ patch, offer }: IncomingRequest, bytes: Uint8Array): RequestBody {
  if (patch?.codec !== undefined) return patch.codec.body(bytes, offer.dialect);
  return patch?.type === 'apply' ? yamlBody(new TextDecoder().decode(bytes)) : jsonCodec.body(bytes, offer.dialect);
}

/** A body whose encoding is resolved on first read, for verbs that validate their options before the encoding. */
function lazyBody({ offer, contentType }: IncomingRequest, bytes: Uint8Array): RequestBody {
  let body: RequestBody | undefined;
  const open = (): RequestBody => {
    body ??= limitedBody(requestCodec(offer, contentType).body(bytes, offer.dialect), bytes.length);
    return body;
  };
  return {
    read: (expected) => open().read(expected),
    summary: () => open().summary(),
    text: () => open().text?.(),
    typeMeta: () => open().typeMeta?.(),
    omitsZeroValues: () => open().omitsZeroValues?.() === true,
    repeatedKeys: () => open().repeatedKeys?.() ?? [],
  };
}

async function deleteContent(incoming: IncomingRequest, verb: 'delete' | 'deletecollection'): Promise<Content> {
  const { offer, contentType, query } = incoming;
  const bytes = await readBody(incoming);
  let unacceptable: StatusError | undefined;
  const options = recoverFrom(
    StatusError,
    () => readDeleteOptions(verb, query, { hasBody: bytes.length > 0, rules: offer.dialect.rules }),
    (error) => {
      if (verb === 'delete') throw error;
      // The server validates the selectors first.
      unacceptable = error;
      return readOptions('list', query);
    },
  );
  if (unacceptable !== undefined) return { options, unacceptable };
  if (bytes.length === 0) return { options };
  // A deletecollection validates its selectors before its DeleteOptions.
  const body =
    verb === 'deletecollection'
      ? lazyBody(incoming, bytes)
      : limitedBody(requestCodec(offer, contentType).body(bytes, offer.dialect), bytes.length);
  return { options, body };
}

/**
 * The deprecated watch of one name is a watch of the collection with a field selector on the name; other field
 * selectors are rejected.
 */
function selectName(options: RequestOptions, name: string | undefined): RequestOptions {
  if (name === undefined) return options;
  const value = name.replace(/[\\,=]/g, '\\$&');
  const selected = options.fieldSelector?.split(/(?<!\\),/) ?? [];
  if (selected.length > 0 && !selected.some((term) => NAME_TERMS.some((start) => term === start + value))) {
    throw errors.badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  return selected.length > 0 ? options : { ...options, fieldSelector: `metadata.name=${value}` };
}

const NAME_TERMS = ['metadata.name=', 'metadata.name=='];

/** Reads the body of a request that decodes it. */
async function readBody({ request, admitBody }: IncomingRequest): Promise<Uint8Array> {
  const bytes = await readBytes(request);
  const admitted = admitBody(bytes.length);
  if (admitted !== undefined) await admitted;
  return bytes;
}

/** Reads the whole body; empty when there is none. Stops and throws 413 when it exceeds the limit. */
async function readBytes(request: HttpRequest): Promise<Uint8Array> {
  if (request.readUpTo !== undefined) {
    const bytes = await request.readUpTo(MAX_BODY_BYTES);
    if (bytes === undefined) throw bodyTooLarge();
    return bytes;
  }
  // Some browsers have no stream for a request's body; there it is read whole.
  const stream = request.body;
  if (stream === null) return NO_BYTES;
  if (stream === undefined) return requireBodyLimit(new Uint8Array(await request.arrayBuffer()));
  const body = new JoinedBytes();
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    body.add(part.value);
    if (body.length <= MAX_BODY_BYTES) continue;
    await reader.cancel();
    throw bodyTooLarge();
  }
  return body.bytes();
}

function requireBodyLimit(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_BODY_BYTES) throw bodyTooLarge();
  return bytes;
}
