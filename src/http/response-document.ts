/**
 * The object of an answer → the document that is encoded: as it is, as a table, or its metadata alone. Documents are put
 * together from what is stored, so that encodings are shared by everyone who asks.
 */
import { bareItem } from '../codec/bare.js';
import type { Document } from '../codec/codec.js';
import type { CellContext } from '../kinds/columns.js';
import type { Kind } from '../kinds/kind.js';
import { errors, failure, type StatusError } from '../meta/errors.js';
import { internalPackage } from '../meta/internal-package.js';
import type { ApiList, ApiObject } from '../meta/object.js';
import type { Status } from '../meta/status.js';
import type { ObjectResponse } from '../protocol/response.js';
import type { Bookmark } from '../protocol/watch-event.js';
import { bareMetadata } from '../registry/bare-metadata.js';
import type { IncludedObject } from '../registry/table.js';
import { tableOf } from '../registry/table.js';
import { encodeBase64Text } from '../util/base64.js';
import type { View } from './negotiate.js';

type Answer = ObjectResponse['object'];

/** What the client asked for besides the encoding. */
export interface Presentation extends CellContext {
  readonly kind: Kind;
  /** Absent: the object as it is. */
  readonly view?: View | undefined;
  /** Of tables. */
  readonly include: IncludedObject;
}

/** The document of an answer. Throws 406 when the view is of a list and the answer is none, or the other way round. */
export function present(answer: Answer, presentation: Presentation): Document {
  const { kind, view } = presentation;
  // A verdict is shown as it is, however objects are wanted.
  if (isStatus(answer)) return answer;
  const isMany = isList(answer, kind);
  switch (view?.kind) {
    case undefined:
      return isMany ? asWireList(answer, kind) : answer;
    case 'Table':
      return isMany
        ? table(answer.items, metadataOf(answer), presentation)
        : table([answer], versionOf(answer), presentation);
    case 'PartialObjectMetadataList':
      if (isMany) return metadataList(answer, view, kind);
      throw noList(answer, kind);
    case 'PartialObjectMetadata':
      if (!isMany) return metadataOnly(answer, view.apiVersion, kind);
      throw errors.notAcceptable(
        `you requested ${view.kind}, but the requested object is a list (${goType(kind, kind.names.listKind)})`,
      );
  }
}

/** Custom objects are found out to be none by looking for items. */
function noList({ kind: shown }: ApiObject, kind: Kind): StatusError {
  const isCustom = kind.representation === 'document';
  if (shown === kind.kind && isCustom) return failure({ code: 500, message: 'content is not a list' });
  const scale = isCustom ? '*v1.Scale' : '*autoscaling.Scale';
  const type = shown === 'Scale' ? scale : goType(kind, kind.kind);
  return errors.notAcceptable(
    `you requested PartialObjectMetadataList, but the requested object is not a list (${type})`,
  );
}

/** The object of an event; undefined when it cannot be shown as asked. */
export function presentEvent(
  object: ApiObject | Bookmark,
  presentation: Presentation,
  { isFirst }: { readonly isFirst: boolean },
): Document | undefined {
  const { kind, view } = presentation;
  switch (view?.kind) {
    case undefined:
      return object;
    case 'PartialObjectMetadata':
      return isObject(object)
        ? metadataOnly(object, view.apiVersion, kind)
        : metadataBookmark(object, presentation, view);
    case 'PartialObjectMetadataList':
      return undefined;
    case 'Table':
      // A bookmark has nothing to put into cells.
      return table(isObject(object) ? [object] : [], versionOf(object), presentation, !isFirst);
  }
}

function isObject(object: ApiObject | Bookmark): object is ApiObject {
  return 'uid' in object.metadata;
}

function isStatus(answer: Answer): answer is Status {
  return answer.kind === 'Status' && answer.apiVersion === 'v1';
}

function isList(answer: ApiObject | ApiList, kind: Kind): answer is ApiList {
  return answer.kind === kind.names.listKind && Array.isArray(answer.items);
}

/** A list as it is encoded: of whole objects, or of items that leave out what the list says. */
interface ListDocument extends Document {
  readonly items: readonly object[] | null;
}

function asWireList(list: ApiList, kind: Kind): Document {
  if (kind.representation === 'document') return asWireMap(list);
  const bare: ListDocument = { ...list, items: list.items.map(bareItem) };
  return bare;
}

/** Lists of users' own kinds are maps like their items: keys in order, and a token even when there is none. */
function asWireMap({ apiVersion, kind, items, metadata }: ApiList): Document {
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

function table(
  objects: readonly ApiObject[],
  metadata: object,
  { kind, view, include, nowMs, dialect }: Presentation,
  withoutColumns = false,
): Document {
  const apiVersion = view?.apiVersion ?? '';
  return tableOf(kind, { objects, metadata }, { apiVersion, include, withoutColumns, nowMs, dialect });
}

/** By the version of the view: metadata → the document that shows nothing else. */
const metadataDocuments = new Map<string, WeakMap<object, Document>>();

/** The metadata-only view of one object, the same for everyone who asks for it. */
function metadataOnly({ metadata }: ApiObject, apiVersion: string, kind: Kind): Document {
  let known = metadataDocuments.get(apiVersion);
  if (known === undefined) {
    known = new WeakMap();
    metadataDocuments.set(apiVersion, known);
  }
  let document = known.get(metadata);
  if (document !== undefined) return document;
  document = Object.freeze({ kind: 'PartialObjectMetadata', apiVersion, metadata: bareMetadata(metadata, kind) });
  if (Object.isFrozen(metadata)) known.set(metadata, document);
  return document;
}

/** The list that is complete by now was one of metadata, so that is what an empty one looks like. */
function metadataBookmark({ metadata }: Bookmark, { dialect }: CellContext, { apiVersion }: View): Document {
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

function metadataList(list: ApiList, { kind, apiVersion }: View, listed: Kind): Document {
  // The reference server fills this list item by item, so an empty one was never made.
  const items = list.items.length === 0 ? null : list.items.map((item) => metadataOnly(item, apiVersion, listed));
  const document: ListDocument & { readonly metadata: object } = {
    kind,
    apiVersion,
    metadata: metadataOf(list),
    items,
  };
  return document;
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

function versionOf({ metadata }: ApiObject | Bookmark): object {
  const { resourceVersion } = metadata;
  return resourceVersion === undefined || resourceVersion === '' ? {} : { resourceVersion };
}

/** How the reference server names the type of a value: `*core.ConfigMapList`. */
function goType(kind: Kind, name: string): string {
  if (kind.representation === 'document')
    return name === kind.kind ? '*unstructured.Unstructured' : '*unstructured.UnstructuredList';
  return `*${internalPackage(kind.group)}.${name}`;
}
