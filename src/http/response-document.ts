/**
 * Converts the object of a response to the document that is encoded: the object itself, a Table, or its metadata.
 * Documents reuse stored objects, so that encodings are shared between requests.
 */

import type { Document } from '../codec/codec.js';
import { bareItem } from '../codec/json-encoder.js';
import type { CellContext } from '../kinds/columns.js';
import type { Kind } from '../kinds/kind.js';
import { errors, failure, type StatusError } from '../meta/errors.js';
import { internalPackage } from '../meta/gvk.js';
import type { ApiList, ApiObject } from '../meta/object.js';
import type { Status } from '../meta/status.js';
import type { ObjectResponse } from '../protocol/response.js';
import type { Bookmark } from '../protocol/watch-event.js';
import type { IncludedObject } from '../registry/table.js';
import { tableOf, withoutFieldAnnotations } from '../registry/table.js';
import { encodeBase64Text } from '../util/base64.js';
import type { View } from './negotiate.js';

type AnswerObject = ObjectResponse['object'];

/** What the client requested besides the encoding. */
export interface DocumentOptions extends CellContext {
  readonly kind: Kind;
  /** Absent: the object itself. */
  readonly view?: View | undefined;
  /** The `includeObject` option of a Table. */
  readonly include: IncludedObject;
}

/** The document of a response. Throws 406 for a list view of a single object, or the reverse. */
export function toDocument(answer: AnswerObject, presentation: DocumentOptions): Document {
  const { kind, view } = presentation;
  // A Status is returned unchanged in every view.
  if (isStatus(answer)) return answer;
  const isMany = isList(answer, kind);
  switch (view?.kind) {
    case undefined:
      return isMany ? listDocument(answer, kind) : answer;
    case 'Table':
      return isMany
        ? tableDocument(answer.items, listMetadata(answer), presentation)
        : tableDocument([answer], resourceVersionMetadata(answer), presentation);
    case 'PartialObjectMetadataList':
      if (isMany) return metadataListDocument(answer, view, kind);
      throw notAListError(answer, kind);
    case 'PartialObjectMetadata':
      if (!isMany) return metadataDocument(answer, view.apiVersion, kind);
      throw errors.notAcceptable(
        `you requested ${view.kind}, but the requested object is a list (${goType(kind, kind.names.listKind)})`,
      );
  }
}

/** The reference server detects non-lists of custom resources only when it looks for items. */
function notAListError({ kind: shown }: ApiObject, kind: Kind): StatusError {
  const isCustom = kind.representation === 'document';
  if (shown === kind.kind && isCustom) return failure({ code: 500, message: 'content is not a list' });
  const scale = isCustom ? '*v1.Scale' : '*autoscaling.Scale';
  const type = shown === 'Scale' ? scale : goType(kind, kind.kind);
  return errors.notAcceptable(
    `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`,
  );
}

/** The document of a watch event; undefined when the view does not apply to events. */
export function toEventDocument(
  object: ApiObject | Bookmark,
  presentation: DocumentOptions,
  { isFirst }: { readonly isFirst: boolean },
): Document | undefined {
  const { kind, view } = presentation;
  switch (view?.kind) {
    case undefined:
      return object;
    case 'PartialObjectMetadata':
      return isObject(object)
        ? metadataDocument(object, view.apiVersion, kind)
        : metadataBookmarkDocument(object, presentation, view);
    case 'PartialObjectMetadataList':
      return undefined;
    case 'Table':
      // A bookmark has no rows.
      return tableDocument(isObject(object) ? [object] : [], resourceVersionMetadata(object), presentation, !isFirst);
  }
}

function isObject(object: ApiObject | Bookmark): object is ApiObject {
  return 'uid' in object.metadata;
}

function isStatus(answer: AnswerObject): answer is Status {
  return answer.kind === 'Status' && answer.apiVersion === 'v1';
}

function isList(answer: ApiObject | ApiList, kind: Kind): answer is ApiList {
  return answer.kind === kind.names.listKind && Array.isArray(answer.items);
}

/** A list document with whole objects, or with items that omit what the list states (kind, apiVersion). */
interface ListDocument extends Document {
  readonly items: readonly object[] | null;
}

function listDocument(list: ApiList, kind: Kind): Document {
  if (kind.representation === 'document') return customListDocument(list);
  const bare: ListDocument = { ...list, items: list.items.map(bareItem) };
  return bare;
}

/** Lists of custom resources are unstructured maps: sorted keys, and a `continue` even when it is empty. */
function customListDocument({ apiVersion, kind, items, metadata }: ApiList): Document {
  const { resourceVersion, remainingItemCount } = metadata;
  const wire: ListDocument & { readonly metadata: object } = {
    apiVersion,
    items,
    kind,
    metadata: {
      continue: metadata.continue ?? '',
      ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
      resourceVersion,
    },
  };
  return wire;
}

function tableDocument(
  objects: readonly ApiObject[],
  metadata: object,
  { kind, view, include, nowMs, dialect }: DocumentOptions,
  withoutColumns = false,
): Document {
  const apiVersion = view?.apiVersion ?? '';
  return tableOf(kind, { objects, metadata }, { apiVersion, include, withoutColumns, nowMs, dialect });
}

/** Cache: version of the view → metadata → document. */
const metadataDocuments = new Map<string, WeakMap<object, Document>>();

/** The PartialObjectMetadata of an object, shared between requests. */
function metadataDocument({ metadata }: ApiObject, apiVersion: string, kind: Kind): Document {
  let known = metadataDocuments.get(apiVersion);
  if (known === undefined) {
    known = new WeakMap();
    metadataDocuments.set(apiVersion, known);
  }
  let document = known.get(metadata);
  if (document !== undefined) return document;
  document = Object.freeze({
    kind: 'PartialObjectMetadata',
    apiVersion,
    metadata: withoutFieldAnnotations(metadata, kind),
  });
  if (Object.isFrozen(metadata)) known.set(metadata, document);
  return document;
}

/**
 * The bookmark that ends the initial events of a metadata watch; its blueprint annotation is an empty metadata list.
 */
function metadataBookmarkDocument({ metadata }: Bookmark, { dialect }: CellContext, { apiVersion }: View): Document {
  const key = dialect.key('initial-events-list-blueprint');
  const { resourceVersion, annotations } = metadata;
  const emptyList = `{"kind":"PartialObjectMetadataList","apiVersion":"${apiVersion}","metadata":{},"items":null}\n`;
  const shown = {
    resourceVersion,
    creationTimestamp: null,
    ...(annotations === undefined ? {} : { annotations: { ...annotations, [key]: encodeBase64Text(emptyList) } }),
  };
  const document: Document & { readonly metadata: object } = {
    kind: 'PartialObjectMetadata',
    apiVersion,
    metadata: shown,
  };
  return document;
}

function metadataListDocument(list: ApiList, { kind, apiVersion }: View, listed: Kind): Document {
  // The reference server appends items to a nil slice, so an empty list is null.
  const items = list.items.length === 0 ? null : list.items.map((item) => metadataDocument(item, apiVersion, listed));
  const document: ListDocument & { readonly metadata: object } = {
    kind,
    apiVersion,
    metadata: listMetadata(list),
    items,
  };
  return document;
}

/** List metadata with empty members omitted, as in typed lists, for all kinds. */
function listMetadata({ metadata }: ApiList): Partial<ApiList['metadata']> {
  const { resourceVersion, remainingItemCount } = metadata;
  const token = metadata.continue;
  return {
    ...(resourceVersion === '' ? {} : { resourceVersion }),
    ...(token === undefined || token === '' ? {} : { continue: token }),
    ...(remainingItemCount === undefined ? {} : { remainingItemCount }),
  };
}

function resourceVersionMetadata({ metadata }: ApiObject | Bookmark): object {
  const { resourceVersion } = metadata;
  return resourceVersion === undefined || resourceVersion === '' ? {} : { resourceVersion };
}

/** The Go type name of a value: `*core.ConfigMapList`. */
function goType(kind: Kind, name: string): string {
  if (kind.representation === 'document')
    return name === kind.kind ? '*unstructured.Unstructured' : '*unstructured.UnstructuredList';
  return `*${internalPackage(kind.group)}.${name}`;
}
