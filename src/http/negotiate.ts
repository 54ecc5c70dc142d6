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
import { bareTypes, parseAccept, parseMediaType } from './header-values.js';

/** What can be read and written at some kind of path. Made once for each handler. */
export interface Offer {
  readonly dialect: Dialect;
  readonly formats: readonly Format[];
  /** In the order of the codecs. */
  readonly mediaTypes: readonly string[];
  readonly streamTypes: readonly string[];
  /** Which other forms of an object can be asked for. */
  readonly views: readonly View['kind'][];
}

interface Format {
  readonly codec: Codec;
  readonly mediaType: string;
}

/** Another form of an answer; `apiVersion` is how it names itself. */
export interface View {
  readonly kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'Table';
  readonly apiVersion: string;
}

/** The form an answer takes. */
export interface Representation {
  readonly codec: Codec;
  readonly mediaType: string;
  readonly pretty: boolean;
  /** Absent: the object as it is. */
  readonly view?: View | undefined;
}

const VIEWS: readonly View['kind'][] = ['PartialObjectMetadata', 'PartialObjectMetadataList', 'Table'];

export function offerOf(
  codecs: readonly Codec[],
  dialect: Dialect,
  { views }: { readonly views: boolean } = { views: true },
): Offer {
  const formats = codecs.map((codec) => ({ codec, mediaType: codec.mediaType(dialect) }));
  return {
    dialect,
    formats,
    mediaTypes: formats.map((format) => format.mediaType),
    streamTypes: codecs.flatMap((codec) => codec.stream?.mediaType(dialect) ?? []),
    views: views ? VIEWS : [],
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

export interface Wanted {
  readonly watch: boolean;
  /** Absent: of a page of the server's own. */
  readonly manner?: 'struct' | 'document';
  /** What is asked for cannot be shown as a table. */
  readonly tables?: false | undefined;
}

/** The form of the answer to a request. Throws 406 when no clause fits. */
export function represent(offer: Offer, accept: string, options: Wanted): Representation {
  const views = options.tables === false ? offer.views.filter((view) => view !== 'Table') : offer.views;
  const chosen = choose(offer, accept, { views, manner: options.manner });
  if (chosen === undefined) throw notAcceptable(offer.mediaTypes);
  if (options.watch && chosen.codec.stream === undefined) throw notAcceptable(offer.streamTypes);
  return chosen;
}

/** The form of an error, which no view changes; undefined when nothing fits, and the error is shown regardless. */
export function representError(offer: Offer, accept: string): Representation | undefined {
  return choose(offer, accept, { views: [] });
}

interface Limits {
  readonly views: readonly View['kind'][];
  readonly manner?: 'struct' | 'document' | undefined;
}

function choose(offer: Offer, accept: string, limits: Limits): Representation | undefined {
  const [first] = offer.formats;
  if (first !== undefined && (accept === '' || accept === '*/*' || accept === first.mediaType)) {
    return representation(first, false, undefined);
  }
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const view = viewOf(offer, parameters);
    if (view === 'unknown' || (view !== undefined && !limits.views.includes(view.kind))) continue;
    const stream = parameters.get('stream');
    if (stream !== undefined && stream !== 'watch') continue;
    const format = offer.formats.find(
      ({ codec, mediaType }) =>
        fits(mediaType, type, subtype) &&
        (codec.stream !== undefined || stream === undefined) &&
        canShow(codec, view, limits.manner),
    );
    if (format === undefined) continue;
    return representation(format, parameters.get('pretty') === '1', view);
  }
  return undefined;
}

/** Written out, so that all have one form. */
function representation({ codec, mediaType }: Format, pretty: boolean, view: View | undefined): Representation {
  return { codec, mediaType, pretty, view };
}

/** What is only metadata can be had of any kind in any encoding. */
function canShow(codec: Codec, view: View | undefined, manner: Limits['manner']): boolean {
  if (view === undefined) return codec.carries === 'all kinds' || manner !== 'document';
  return view.kind !== 'Table' || codec.tables === true;
}

function fits(mediaType: string, type: string, subtype: string): boolean {
  if (type === '*') return subtype === '*';
  return mediaType === `${type}/${subtype}` || (subtype === '*' && mediaType.startsWith(`${type}/`));
}

/** The view that `as`, `g` and `v` name together; a view we do not have makes the clause unfit. */
function viewOf(offer: Offer, parameters: ReadonlyMap<string, string>): View | 'unknown' | undefined {
  const kind = parameters.get('as');
  const group = parameters.get('g');
  const version = parameters.get('v');
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  if (group !== offer.dialect.group(serviceGroup('meta'))) return 'unknown';
  if (version !== 'v1' && version !== 'v1beta1') return 'unknown';
  const known = VIEWS.find((view) => view === kind);
  return known === undefined ? 'unknown' : { kind: known, apiVersion: `${group}/${version}` };
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

/** What else a handler with some codec takes: the configurations of an apply in its encoding. */
const APPLY_IN: Readonly<Record<string, string>> = { 'application/cbor': 'application/apply-patch+cbor' };

/** A patch by its Content-Type. */
export interface Patch {
  readonly mediaType: string;
  readonly type: PatchType;
  /** Of the configurations of an apply, where they are not YAML. */
  readonly codec?: Codec;
}

/**
 * What kind of patch a Content-Type announces. Throws 415: for a built-in kind with the router's text when no type of
 * a list fits, and with the handler's when the first fits but the whole header is no single type.
 */
export function readPatchType(offer: Offer, contentType: string, manner: 'struct' | 'document'): Patch {
  const known: readonly Patch[] = [
    ...PATCH_TYPES.filter(([, type]) => manner === 'struct' || type !== 'strategic').map(
      ([mediaType, type]): Patch => ({ mediaType, type }),
    ),
    ...offer.formats.flatMap(({ codec, mediaType }): Patch[] => {
      const configuration = APPLY_IN[mediaType];
      return configuration === undefined ? [] : [{ mediaType: configuration, type: 'apply', codec }];
    }),
  ];
  const bare = contentType.split(';', 1)[0] ?? '';
  const found = known.find(({ mediaType }) => mediaType === bare);
  if (found !== undefined) return found;
  const mediaTypes = known.map(({ mediaType }) => mediaType);
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
