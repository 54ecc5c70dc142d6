/**
 * An action on a resource → the request the server understands: the query becomes options, the bytes a body. Each verb
 * looks at its parts in the reference server's order, because the first fault found is the one reported.
 */

import { jsonCodec } from '../codec/json.js';
import { yamlBody } from '../codec/yaml.js';
import { errors } from '../meta/errors.js';
import type { RequestBody } from '../protocol/body.js';
import type { ApiRequest, RequestOptions, User } from '../protocol/request.js';
import { unreachable } from '../util/invariant.js';
import { lazyMembers, SOURCE } from '../util/lazy-members.js';
import type { HttpRequest } from './answer.js';
import { Chunk } from './chunk.js';
import type { Offer, Patch } from './negotiate.js';
import { requestCodec } from './negotiate.js';
import type { Query } from './query.js';
import { readDeleteOptions, readOptions } from './query.js';
import { type Action, isLine, type ServedResource } from './routes.js';

/** spec: Limits. 3 MiB. */
const MAX_BODY_BYTES = 3 * 1024 * 1024;

const NOTHING = new Uint8Array();

/** What is known of a request before its query and body are read. */
export interface Incoming {
  readonly request: HttpRequest;
  readonly offer: Offer;
  readonly query: Query;
  readonly contentType: string;
  readonly userAgent: string;
  readonly user: User | undefined;
  readonly served: ServedResource;
  readonly action: Action;
  /** Present exactly on a patch that is not for somebody else. */
  readonly patch: Patch | undefined;
}

type Content = Pick<ApiRequest, 'options' | 'body'>;

/** Reads are ready at once; only a body has to be waited for. Throws 400, 413, 415. */
export function readRequest(incoming: Incoming): ApiRequest | Promise<ApiRequest> {
  const { query, action, served } = incoming;
  const { verb } = action;
  // What is sent along is for the other end.
  if (isLine(served.kind, action)) return assemble(incoming, { options: {} });
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

function assemble(incoming: Incoming, { options, body }: Content): ApiRequest {
  const { request, user, userAgent, patch, served, action } = incoming;
  const { verb, namespace, name, subresource } = action;
  const start: Building = { verb, resource: served.gvr, options, userAgent };
  // Made when somebody asks for it: most requests are over before anybody could.
  const built: Building = withSignal(start, request);
  if (namespace !== undefined) built.namespace = namespace;
  // A watch is of a collection; the name it may have is in its options by now.
  if (name !== undefined && verb !== 'watch') built.name = name;
  if (subresource !== undefined) {
    built.subresource = subresource;
    const { connectSubresources: connections } = served.kind;
    const isConnection = connections !== undefined && Object.hasOwn(connections, subresource);
    if (isConnection) built.options = { ...options, line: Object.fromEntries(incoming.query) };
  }
  if (body !== undefined) built.body = body;
  if (patch !== undefined) built.patchType = patch.type;
  if (user !== undefined) built.user = user;
  return built;
}

const withSignal = lazyMembers<HttpRequest, Required<Pick<ApiRequest, 'signal'>>>({
  signal() {
    return this[SOURCE].signal;
  },
});

/** A request while it is put together; assignments, because spreading is what a get would spend most of its time on. */
type Building = { -readonly [Key in keyof ApiRequest]: ApiRequest[Key] };

async function writeContent(incoming: Incoming, verb: 'create' | 'update' | 'patch'): Promise<Content> {
  const { request, offer, contentType, query } = incoming;
  if (verb === 'create') {
    const codec = requestCodec(offer, contentType);
    const bytes = await readBytes(request);
    return { options: readOptions(verb, query), body: codec.body(bytes, offer.dialect) };
  }
  const bytes = await readBytes(request);
  const options = readOptions(verb, query);
  return { options, body: verb === 'patch' ? patchBody(incoming, bytes) : lateBody(incoming, bytes) };
}

/** Configurations are YAML, of which JSON is a part, unless the type says otherwise; every other patch is JSON. */
function patchBody({ patch, offer }: Incoming, bytes: Uint8Array): RequestBody {
  if (patch?.codec !== undefined) return patch.codec.body(bytes, offer.dialect);
  return patch?.type === 'apply' ? yamlBody(new TextDecoder().decode(bytes)) : jsonCodec.body(bytes, offer.dialect);
}

/** Who judges options first finds out that it cannot read an encoding only afterwards. */
function lateBody({ offer, contentType }: Incoming, bytes: Uint8Array): RequestBody {
  let body: RequestBody | undefined;
  const open = (): RequestBody => {
    body ??= requestCodec(offer, contentType).body(bytes, offer.dialect);
    return body;
  };
  return {
    read: (expected) => open().read(expected),
    summary: () => open().summary(),
    text: () => open().text?.(),
    typeMeta: () => open().typeMeta?.(),
    repeatedKeys: () => open().repeatedKeys?.() ?? [],
  };
}

async function deleteContent(incoming: Incoming, verb: 'delete' | 'deletecollection'): Promise<Content> {
  const { request, offer, contentType, query } = incoming;
  const bytes = await readBytes(request);
  const options = readDeleteOptions(verb, query, { body: bytes.length > 0 });
  if (bytes.length === 0) return { options };
  // What a collection's deletion is about is judged before how it is done.
  const body =
    verb === 'deletecollection'
      ? lateBody(incoming, bytes)
      : requestCodec(offer, contentType).body(bytes, offer.dialect);
  return { options, body };
}

/** The deprecated watch of one name is a watch of the collection that selects it, and may select nothing else. */
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

/** All bytes of the body; empty when there is none. Throws 413, without reading on, when there are too many. */
async function readBytes(request: HttpRequest): Promise<Uint8Array> {
  if (request.readUpTo !== undefined) {
    const bytes = await request.readUpTo(MAX_BODY_BYTES);
    if (bytes === undefined) throw tooLarge();
    return bytes;
  }
  // Some browsers have no stream for a request's body; there it can only be taken whole.
  const stream = request.body;
  if (stream === null) return NOTHING;
  if (stream === undefined) return withinLimit(new Uint8Array(await request.arrayBuffer()));
  const chunk = new Chunk();
  const reader = stream.getReader();
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    chunk.add(part.value);
    if (chunk.length <= MAX_BODY_BYTES) continue;
    await reader.cancel();
    throw tooLarge();
  }
  return chunk.bytes();
}

function withinLimit(bytes: Uint8Array): Uint8Array {
  if (bytes.length > MAX_BODY_BYTES) throw tooLarge();
  return bytes;
}

function tooLarge() {
  return errors.requestTooLarge(`limit is ${MAX_BODY_BYTES}`);
}
