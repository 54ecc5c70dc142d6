/**
 * Which encoding a request is in and which one the answer takes. Every list of media types in a message is made from
 * the registered codecs, so adding one to `codec/index.ts` changes the texts by itself. spec: Content negotiation
 */
import type { Codec } from '../codec/codec.js';
import type { Dialect } from '../meta/dialect.js';
import { serviceGroup } from '../meta/dialect.js';
import type { StatusError } from '../meta/errors.js';
import { errors, failure } from '../meta/errors.js';
import type { PatchType } from '../protocol/request.js';
import { bareTypes, parseAccept } from './accept.js';
import { parseMediaType } from './media-type.js';

/** What one handler can read and write. Made once. */
export interface Offer {
  readonly dialect: Dialect;
  readonly formats: readonly Format[];
  /** In the order of the codecs. */
  readonly mediaTypes: readonly string[];
  readonly streamTypes: readonly string[];
}

interface Format {
  readonly codec: Codec;
  readonly mediaType: string;
  readonly streams: boolean;
}

/** The two metadata-only views; `apiVersion` is how the view names itself. */
export interface MetadataView {
  readonly kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList';
  readonly apiVersion: string;
}

/** The form an answer takes. */
export interface Representation {
  readonly mediaType: string;
  readonly pretty: boolean;
  /** Absent: the object as it is. */
  readonly view?: MetadataView;
}

export function offerOf(codecs: readonly Codec[], dialect: Dialect): Offer {
  const formats = codecs.map((codec) => ({
    codec,
    mediaType: codec.mediaType(dialect),
    streams: codec.streamType !== undefined,
  }));
  return {
    dialect,
    formats,
    mediaTypes: formats.map((format) => format.mediaType),
    streamTypes: codecs.flatMap((codec) => codec.streamType?.(dialect) ?? []),
  };
}

/**
 * Why the router lets a request for a built-in kind go no further, if so. It knows neither `application/*` nor upper
 * case. `streams`: the path can be watched; `empty`: the request should have a body and has none.
 */
export function routerRefusal(
  offer: Offer,
  accept: string,
  path: { readonly streams: boolean; readonly empty: boolean },
): StatusError | undefined {
  if (accept === '' || accept === '*/*') return undefined;
  if (bareTypes(accept).some((type) => type === '*/*' || offer.mediaTypes.includes(type))) return undefined;
  const available = [...offer.mediaTypes, ...(path.streams ? offer.streamTypes : [])].join(', ');
  const [code, reason] = path.empty
    ? (['415: Unsupported Media Type', 'UnsupportedMediaType'] as const)
    : (['406: Not Acceptable', 'NotAcceptable'] as const);
  return failure({ reason, message: `${code}\n\nAvailable representations: ${available}`, details: {} });
}

/** The form of the answer to a request. Throws 406 when no clause fits. */
export function represent(offer: Offer, accept: string, options: { readonly watch: boolean }): Representation {
  const chosen = choose(offer, accept, true);
  if (chosen === undefined) throw notAcceptable(offer.mediaTypes);
  if (options.watch && !chosen.format.streams) throw notAcceptable(offer.streamTypes);
  const { format, pretty, view } = chosen;
  return { mediaType: format.mediaType, pretty, ...(view === undefined ? {} : { view }) };
}

/** The form of an error, which no view changes; undefined when nothing fits, and the error is shown regardless. */
export function representError(offer: Offer, accept: string): Representation | undefined {
  const chosen = choose(offer, accept, false);
  return chosen === undefined ? undefined : { mediaType: chosen.format.mediaType, pretty: chosen.pretty };
}

interface Choice {
  readonly format: Format;
  readonly pretty: boolean;
  readonly view?: MetadataView;
}

function choose(offer: Offer, accept: string, views: boolean): Choice | undefined {
  const [first] = offer.formats;
  if (first !== undefined && (accept === '' || accept === '*/*' || accept === first.mediaType)) {
    return { format: first, pretty: false };
  }
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const view = viewOf(offer, parameters);
    if (view === 'unknown' || (view !== undefined && !views)) continue;
    const stream = parameters.get('stream');
    if (stream !== undefined && stream !== 'watch') continue;
    const format = offer.formats.find(
      ({ mediaType, streams }) => fits(mediaType, type, subtype) && (streams || stream === undefined),
    );
    if (format === undefined) continue;
    return { format, pretty: parameters.get('pretty') === '1', ...(view === undefined ? {} : { view }) };
  }
  return undefined;
}

function fits(mediaType: string, type: string, subtype: string): boolean {
  if (type === '*') return subtype === '*';
  return mediaType === `${type}/${subtype}` || (subtype === '*' && mediaType.startsWith(`${type}/`));
}

/** The view that `as`, `g` and `v` name together; a view we do not have makes the clause unfit. */
function viewOf(offer: Offer, parameters: ReadonlyMap<string, string>): MetadataView | 'unknown' | undefined {
  const kind = parameters.get('as');
  const group = parameters.get('g');
  const version = parameters.get('v');
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  if (group !== offer.dialect.group(serviceGroup('meta'))) return 'unknown';
  if (version !== 'v1' && version !== 'v1beta1') return 'unknown';
  if (kind !== 'PartialObjectMetadata' && kind !== 'PartialObjectMetadataList') return 'unknown';
  return { kind, apiVersion: `${group}/${version}` };
}

function notAcceptable(types: readonly string[]): StatusError {
  return errors.notAcceptable(`only the following media types are accepted: ${types.join(', ')}`);
}

/** The codec that a Content-Type names; none means the first. Throws 415. */
export function requestCodec(offer: Offer, contentType: string): Codec {
  const type = contentType === '' ? offer.mediaTypes[0] : parseMediaType(contentType);
  const format = offer.formats.find(({ mediaType }) => mediaType === type);
  if (format === undefined) throw unknownFormat(offer.mediaTypes);
  return format.codec;
}

/** In the order messages list them. Kinds without a compiled type (users' own) know no strategic merge. */
const PATCH_TYPES: readonly (readonly [mediaType: string, patchType: PatchType])[] = [
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
];

/**
 * What kind of patch a Content-Type announces. Throws 415: for a built-in kind with the router's text when no type of
 * a list fits, and with the handler's when the first fits but the whole header is no single type.
 */
export function readPatchType(contentType: string, manner: 'struct' | 'document'): PatchType {
  const known = PATCH_TYPES.filter(([, type]) => manner === 'struct' || type !== 'strategic');
  const bare = contentType.split(';', 1)[0] ?? '';
  const found = known.find(([mediaType]) => mediaType === bare);
  if (found !== undefined) return found[1];
  const mediaTypes = known.map(([mediaType]) => mediaType);
  if (manner === 'struct' && !bareTypes(contentType).some((type) => mediaTypes.includes(type))) {
    throw failure({ reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type', details: {} });
  }
  throw unknownFormat(mediaTypes);
}

function unknownFormat(types: readonly string[]): StatusError {
  return errors.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
  );
}
