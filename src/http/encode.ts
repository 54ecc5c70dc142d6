/**
 * The object of an answer → JSON text, whole or as the metadata-only view the client asked for. Texts of stored
 * objects come from the codec's cache, and a list is put together from those of its items.
 */
import { encodeCached, encodeJson } from '../codec/json-encoder.js';
import type { Kind } from '../kinds/kind.js';
import { errors } from '../meta/errors.js';
import type { ApiList, ApiObject } from '../meta/object.js';
import type { Status } from '../meta/status.js';
import type { ObjectResponse } from '../protocol/response.js';
import type { Bookmark } from '../protocol/watch-event.js';
import type { MetadataView } from './negotiate.js';

type Answer = ObjectResponse['object'];

/** Compact text of an answer. Throws 406 when the view is of a list and the answer is none, or the other way round. */
export function encodeAnswer(answer: Answer, kind: Kind, view: MetadataView | undefined): string {
  if (isStatus(answer)) return encodeJson(answer);
  if (view === undefined) return isList(answer, kind) ? encodeList(answer, kind) : encodeCached(answer);
  if (isList(answer, kind)) {
    if (view.kind === 'PartialObjectMetadataList') return encodeMetadataList(answer, view);
    throw errors.notAcceptable(
      `you requested ${view.kind}, but the requested object is a list (${goType(kind, kind.names.listKind)})`,
    );
  }
  if (view.kind === 'PartialObjectMetadata') return encodeMetadata(answer, view);
  throw errors.notAcceptable(
    `you requested ${view.kind}, but the requested object is not a list (${goType(kind, kind.kind)})`,
  );
}

/** The metadata-only view of one object; its text is shared by everyone who asks for it. */
export function encodeMetadata(object: ApiObject | Bookmark, view: MetadataView): string {
  const apiVersion = encodeJson(view.apiVersion);
  return `{"kind":"PartialObjectMetadata","apiVersion":${apiVersion},"metadata":${encodeCached(object.metadata)}}`;
}

function isStatus(answer: Answer): answer is Status {
  return answer.kind === 'Status' && answer.apiVersion === 'v1';
}

function isList(answer: ApiObject | ApiList, kind: Kind): answer is ApiList {
  return answer.kind === kind.names.listKind && Array.isArray(answer.items);
}

/** A list member by member, in its own order, so that only the items need the cache. */
function encodeList(list: ApiList, kind: Kind): string {
  // Added up, not joined: a join would copy the text of all items once more.
  let text = '{';
  for (const [key, value] of Object.entries(list)) {
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text += `${encodeJson(key)}:`;
    text += key === 'items' ? encodeItems(list, kind) : encodeJson(value);
  }
  return `${text}}`;
}

/** Items of built-in kinds leave out the kind and apiVersion that the list has said already. */
function encodeItems(list: ApiList, kind: Kind): string {
  if (list.items.length === 0) return '[]';
  if (kind.manner === 'document') return `[${list.items.map(encodeCached).join(',')}]`;
  return `[{${list.items.map(withoutType).join(',{')}]`;
}

/** Texts of items behind the apiVersion. They are slices, which cost no copy of the text. */
const tails = new WeakMap<ApiObject, string>();

/** The text of an object without its opening brace, kind and apiVersion. */
function withoutType(object: ApiObject): string {
  const known = tails.get(object);
  if (known !== undefined) return known;
  const text = encodeCached(object);
  // What stored objects of built-in kinds begin with.
  const head = `{"kind":${encodeJson(object.kind)},"apiVersion":${encodeJson(object.apiVersion)},`;
  const tail = text.startsWith(head) ? text.slice(head.length) : encodeRest(object).slice(1);
  if (Object.isFrozen(object)) tails.set(object, tail);
  return tail;
}

function encodeRest({ kind: _kind, apiVersion: _apiVersion, ...rest }: ApiObject): string {
  return encodeJson(rest);
}

function encodeMetadataList(list: ApiList, view: MetadataView): string {
  // The reference server fills this list item by item, so an empty one was never made.
  const items =
    list.items.length === 0 ? 'null' : `[${list.items.map((item) => encodeMetadata(item, view)).join(',')}]`;
  const head = { kind: view.kind, apiVersion: view.apiVersion, metadata: metadataOf(list) };
  return `${encodeJson(head).slice(0, -1)},"items":${items}}`;
}

/** List metadata as a typed list has it: empty parts left out, whatever the manner of the kind. */
function metadataOf({ metadata }: ApiList): Partial<ApiList['metadata']> {
  const { resourceVersion, remainingItemCount } = metadata;
  const token = metadata.continue;
  return {
    ...(resourceVersion === '' ? {} : { resourceVersion }),
    ...(token === undefined || token === '' ? {} : { continue: token }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

/** How the reference server names the type of a value: `*core.ConfigMapList`. */
function goType(kind: Kind, name: string): string {
  if (kind.manner === 'document')
    return name === kind.kind ? '*unstructured.Unstructured' : '*unstructured.UnstructuredList';
  return `*${kind.group === '' ? 'core' : kind.group.split('.', 1)[0]}.${name}`;
}
