/**
 * Content negotiation: the encoding of the request body and of the response. Media type lists in messages are derived
 * from the registered codecs. spec: Media types and encodings
 */
import type { Codec } from '../codec/codec.js';
import type { Dialect } from '../meta/dialect.js';
import { serviceGroup } from '../meta/dialect.js';
import type { StatusError } from '../meta/errors.js';
import { errors, failure } from '../meta/errors.js';
import type { PatchType } from '../protocol/request.js';
import { bareMediaTypes, parseAccept, parseMediaType } from './header-values.js';

/** The encodings available at a class of paths. Created once per handler. */
export interface Offer {
  readonly dialect: Dialect;
  readonly formats: readonly Format[];
  /** In codec order. */
  readonly mediaTypes: readonly string[];
  readonly streamTypes: readonly string[];
  /** The object views that a client can request. */
  readonly views: readonly View['kind'][];
}

interface Format {
  readonly codec: Codec;
  readonly mediaType: string;
}

/** An alternative view of the response; `apiVersion` is the view's own. */
export interface View {
  readonly kind: 'PartialObjectMetadata' | 'PartialObjectMetadataList' | 'Table';
  readonly apiVersion: string;
}

/** The negotiated representation of a response. */
export interface Representation {
  readonly codec: Codec;
  readonly mediaType: string;
  readonly pretty: boolean;
  /** Absent: the object itself. */
  readonly view?: View | undefined;
}

const VIEWS: readonly View['kind'][] = ['PartialObjectMetadata', 'PartialObjectMetadataList', 'Table'];

/** Creates the offer of a list of codecs. */
export function createOffer(
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
 * The router's rejection of a request for a built-in kind, if any. The router understands neither `application/*` nor
 * upper case. `streams`: the path can be watched; `empty`: a required body is missing.
 */
export function routerRefusal(
  offer: Offer,
  accept: string,
  path: { readonly streams: boolean; readonly empty: boolean },
): StatusError | undefined {
  if (accept === '' || accept === '*/*') return undefined;
  if (bareMediaTypes(accept).some((type) => type === '*/*' || offer.mediaTypes.includes(type))) return undefined;
  return routeRefusal([...offer.mediaTypes, ...(path.streams ? offer.streamTypes : [])], path.empty);
}

/** What a request says about its body: there is one, its length is zero, or there is no length. */
export type BodyState = 'present' | 'empty' | 'missing';

/** The router's rejection of a request for which it has no route with an acceptable encoding. */
function routeRefusal(available: readonly string[], isBodyMissing: boolean): StatusError {
  const [code, reason] = isBodyMissing
    ? (['415: Unsupported Media Type', 'UnsupportedMediaType'] as const)
    : (['406: Not Acceptable', 'NotAcceptable'] as const);
  return failure({ reason, message: `${code}\n\nAvailable representations: ${available.join(', ')}`, details: {} });
}

/** What restricts the choice of a representation. */
export interface NegotiationOptions {
  readonly watch: boolean;
  /** Absent: a non-resource page. */
  readonly kindRepresentation?: 'struct' | 'document';
  /** False: the resource cannot be returned as a Table. */
  readonly tables?: false | undefined;
}

/** Chooses the representation of a response. Throws 406 when no Accept clause can be satisfied. */
export function chooseRepresentation(offer: Offer, accept: string, options: NegotiationOptions): Representation {
  const views = options.tables === false ? offer.views.filter((view) => view !== 'Table') : offer.views;
  const chosen = negotiate(offer, accept, { views, kindRepresentation: options.kindRepresentation });
  if (chosen === undefined) throw notAcceptableError(offer.mediaTypes);
  if (options.watch && chosen.codec.stream === undefined) throw notAcceptableError(offer.streamTypes);
  return chosen;
}

/** Chooses the representation of an error, which has no views; undefined when no clause can be satisfied. */
export function chooseErrorRepresentation(offer: Offer, accept: string): Representation | undefined {
  return negotiate(offer, accept, { views: [] });
}

interface NegotiationLimits {
  readonly views: readonly View['kind'][];
  readonly kindRepresentation?: 'struct' | 'document' | undefined;
}

function negotiate(offer: Offer, accept: string, limits: NegotiationLimits): Representation | undefined {
  const [first] = offer.formats;
  if (first !== undefined && (accept === '' || accept === '*/*' || accept === first.mediaType)) {
    return toRepresentation(first, false, undefined);
  }
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const view = requestedView(offer, parameters);
    if (view === 'unknown' || (view !== undefined && !limits.views.includes(view.kind))) continue;
    const stream = parameters.get('stream');
    if (stream !== undefined && stream !== 'watch') continue;
    const format = offer.formats.find(
      ({ codec, mediaType }) =>
        matchesMediaType(mediaType, type, subtype) &&
        (codec.stream !== undefined || stream === undefined) &&
        canEncode(codec, view, limits.kindRepresentation),
    );
    if (format === undefined) continue;
    return toRepresentation(format, parameters.get('pretty') === '1', view);
  }
  return undefined;
}

/** Lists all members, so that all representations have the same hidden class. */
function toRepresentation({ codec, mediaType }: Format, pretty: boolean, view: View | undefined): Representation {
  return { codec, mediaType, pretty, view };
}

/** Metadata views are available for every kind in every encoding. */
function canEncode(
  codec: Codec,
  view: View | undefined,
  kindRepresentation: NegotiationLimits['kindRepresentation'],
): boolean {
  if (view === undefined) return codec.carries === 'all kinds' || kindRepresentation !== 'document';
  return view.kind !== 'Table' || codec.tables === true;
}

function matchesMediaType(mediaType: string, type: string, subtype: string): boolean {
  if (type === '*') return subtype === '*';
  return mediaType === `${type}/${subtype}` || (subtype === '*' && mediaType.startsWith(`${type}/`));
}

/** The view that the parameters `as`, `g` and `v` request; an unknown view makes the clause unusable. */
function requestedView(offer: Offer, parameters: ReadonlyMap<string, string>): View | 'unknown' | undefined {
  const kind = parameters.get('as');
  const group = parameters.get('g');
  const version = parameters.get('v');
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  if (group !== offer.dialect.group(serviceGroup('meta'))) return 'unknown';
  if (version !== 'v1' && version !== 'v1beta1') return 'unknown';
  const known = VIEWS.find((view) => view === kind);
  return known === undefined ? 'unknown' : { kind: known, apiVersion: `${group}/${version}` };
}

function notAcceptableError(types: readonly string[]): StatusError {
  return errors.notAcceptable(`only the following media types are accepted: ${types.join(', ')}`);
}

/** The codec of a Content-Type; an empty header selects the first. Throws 415. */
export function requestCodec(offer: Offer, contentType: string): Codec {
  const type = contentType === '' ? offer.mediaTypes[0] : parseMediaType(contentType);
  const format = offer.formats.find(({ mediaType }) => mediaType === type);
  if (format === undefined) throw unsupportedFormatError(offer.mediaTypes);
  return format.codec;
}

/** In the order in which messages list them. Custom resources do not support strategic merge patch. */
const PATCH_TYPES: readonly (readonly [mediaType: string, patchType: PatchType])[] = [
  ['application/json-patch+json', 'json'],
  ['application/merge-patch+json', 'merge'],
  ['application/strategic-merge-patch+json', 'strategic'],
  ['application/apply-patch+yaml', 'apply'],
];

/** Additional apply media types, by the codec that enables them. */
const APPLY_MEDIA_TYPES: Readonly<Record<string, string>> = { 'application/cbor': 'application/apply-patch+cbor' };

/** A patch type, as a Content-Type announces it. */
export interface Patch {
  readonly mediaType: string;
  readonly type: PatchType;
  /** The encoding of an apply configuration that is not YAML. */
  readonly codec?: Codec;
}

/**
 * Reads the patch type of a Content-Type. Throws 415: for a built-in kind with the router's text when no listed type
 * matches, and with the handler's text when the header contains more than a single type.
 */
export function readPatchType(
  offer: Offer,
  contentType: string,
  { kindRepresentation, content }: { readonly kindRepresentation: 'struct' | 'document'; readonly content: BodyState },
): Patch {
  const known: readonly Patch[] = [
    ...PATCH_TYPES.filter(([, type]) => kindRepresentation === 'struct' || type !== 'strategic').map(
      ([mediaType, type]): Patch => ({ mediaType, type }),
    ),
    ...offer.formats.flatMap(({ codec, mediaType }): Patch[] => {
      const configuration = APPLY_MEDIA_TYPES[mediaType];
      return configuration === undefined ? [] : [{ mediaType: configuration, type: 'apply', codec }];
    }),
  ];
  const bare = contentType.split(';', 1)[0] ?? '';
  const found = known.find(({ mediaType }) => mediaType === bare);
  if (found !== undefined) return found;
  const mediaTypes = known.map(({ mediaType }) => mediaType);
  if (kindRepresentation === 'struct' && !bareMediaTypes(contentType).some((type) => mediaTypes.includes(type))) {
    throw content === 'present'
      ? failure({ reason: 'UnsupportedMediaType', message: '415: Unsupported Media Type', details: {} })
      : routeRefusal([], content === 'missing');
  }
  throw unsupportedFormatError(mediaTypes);
}

function unsupportedFormatError(types: readonly string[]): StatusError {
  return errors.unsupportedMediaType(
    `the body of the request was in an unknown format - accepted media types include: ${types.join(', ')}`,
  );
}
