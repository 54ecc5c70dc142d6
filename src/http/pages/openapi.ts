/**
 * `/openapi/v2` and `/openapi/v3`: the schemas of all kinds, for `kubectl explain` and client generators. The documents
 * are large, so each is built on first request, and ETags let clients reuse their copy.
 */
import { encodeJson } from '../../codec/json-encoder.js';
import { REFERENCE_RELEASE } from '../../kinds/lifecycle.js';
import type { ServedKind } from '../../kinds/served-kind.js';
import type { Dialect } from '../../meta/dialect.js';
import type { OpenApiOptions } from '../../registry/openapi/document.js';
import { isBuiltIn } from '../../registry/openapi/operations.js';
import { openApiV2 } from '../../registry/openapi/v2.js';
import { openApiV2Protobuf } from '../../registry/openapi/v2-protobuf.js';
import { openApiV3, openApiV3Paths } from '../../registry/openapi/v3.js';
import { sha256Tag } from '../../util/sha256.js';
import type { Answer } from '../answer.js';
import { parseAccept } from '../header-values.js';
import { type HeaderTable, respondBody, respondEmpty } from '../respond.js';
import { memoizePerKinds, type Page, type PageRequest } from './page.js';

/** The version of the API that the documents name. */
const SERVER_VERSION = `v${REFERENCE_RELEASE}.0+orchplane`;

const V2 = '/openapi/v2';
const V3 = '/openapi/v3';

/** The two spellings of the protobuf media type of version 2; responses use the one that is a valid media type. */
const V2_PROTOBUF_ASKED = 'com.github.proto-openapi.spec.v2@v1.0+protobuf';
const V2_PROTOBUF = 'com.github.proto-openapi.spec.v2.v1.0+protobuf';

/** The OpenAPI documents and their index. */
export const openApiPage: Page = (request) => {
  const { path } = request;
  if (path === V2) return respondV2(request);
  if (path === V3 || path === `${V3}/`) return respondV3Index(request);
  return path.startsWith(`${V3}/`) ? respondV3(request, path.slice(V3.length + 1)) : undefined;
};

function respondV2(request: PageRequest): Answer {
  const { kinds, dialect, accept } = request;
  const form = negotiateSubtype(accept, ['json', V2_PROTOBUF, V2_PROTOBUF_ASKED]);
  if (form === undefined) return respondEmpty(request.envelope, 406);
  const isJson = form === 'json';
  const spoken = encodingSetOf(request);
  return respondTagged(request, {
    tag: v2Tag(kinds, spoken, dialect),
    headers: { 'Content-Type': isJson ? 'application/json' : `application/${V2_PROTOBUF}` },
    body: () => (isJson ? v2Text(kinds, spoken, dialect) : v2Protobuf(kinds, spoken, dialect)),
  });
}

/** The index of the version 3 documents. The reference server serves it as plain text. */
function respondV3Index(request: PageRequest): Answer {
  const { envelope, kinds, dialect } = request;
  const headers = { 'Content-Type': 'text/plain; charset=utf-8' };
  return respondBody(envelope, { code: 200, body: v3IndexText(kinds, encodingSetOf(request), dialect), headers });
}

function respondV3(request: PageRequest, place: string): Answer {
  const { envelope, kinds, dialect, query } = request;
  if (!openApiV3Paths(kinds).includes(place)) return respondEmpty(envelope, 404);
  if (negotiateSubtype(request.accept, ['json']) === undefined) return respondEmpty(envelope, 406);
  const document: V3Key = `${encodingSetOf(request)} ${place}`;
  const tag = v3Tag(kinds, document, dialect);
  const asked = query.get('hash')?.[0] ?? '';
  if (asked !== '' && asked !== tag) return respondEmpty(envelope, 301, { Location: v3Path(place, tag) });
  return respondTagged(request, {
    tag,
    headers: {
      'Content-Type': 'application/json',
      Vary: 'Accept',
      // A URL that contains the content hash never changes.
      ...(asked === '' ? {} : { 'Cache-Control': 'public, immutable', Expires: oneYearLater(request.nowMs) }),
    },
    body: () => v3Text(kinds, document, dialect),
  });
}

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

function oneYearLater(nowMs: number): string {
  return new Date(nowMs + YEAR_MS).toUTCString();
}

function respondTagged(
  { envelope, headers }: PageRequest,
  page: { readonly tag: string; readonly headers: HeaderTable; readonly body: () => string | Uint8Array },
): Answer {
  const all = { ...page.headers, ETag: `"${page.tag}"` };
  if (headers.get('if-none-match') === all.ETag) return respondEmpty(envelope, 304, all);
  return respondBody(envelope, { code: 200, body: page.body(), headers: all });
}

/** The first of these `application/…` subtypes that the header accepts; without a header the first of all. */
function negotiateSubtype(accept: string, forms: readonly string[]): string | undefined {
  if (accept === '') return forms[0];
  for (const { type, subtype } of parseAccept(accept)) {
    const isAny = subtype === '*' && (type === '*' || type === 'application');
    const form = isAny ? forms[0] : forms.find((name) => type === 'application' && name === subtype);
    if (form !== undefined) return form;
  }
  return undefined;
}

function v3Path(place: string, tag: string): string {
  return `${V3}/${place}?hash=${tag}`;
}

/** The documents list the available encodings, and CBOR is optional. */
type EncodingSet = 'plain' | 'cbor';
type V3Key = `${EncodingSet} ${string}`;

function encodingSetOf({ offers }: PageRequest): EncodingSet {
  return offers.versions.mediaTypes.includes('application/cbor') ? 'cbor' : 'plain';
}

function optionsOf(dialect: Dialect, spoken: EncodingSet): OpenApiOptions {
  return { dialect, serverVersion: SERVER_VERSION, cbor: spoken === 'cbor' };
}

function v3Parts(key: V3Key): { readonly spoken: EncodingSet; readonly place: string } {
  const space = key.indexOf(' ');
  return { spoken: key.slice(0, space) === 'cbor' ? 'cbor' : 'plain', place: key.slice(space + 1) };
}

const v2Text = memoizePerKinds((kinds, spoken: EncodingSet, dialect) =>
  encodeJson(openApiV2(kinds, optionsOf(dialect, spoken))),
);
const v2Protobuf = memoizePerKinds((kinds, spoken: EncodingSet, dialect) =>
  openApiV2Protobuf(openApiV2(kinds, optionsOf(dialect, spoken))),
);
const v2Tag = memoizePerKinds((kinds, spoken: EncodingSet, dialect) => {
  const own = kinds.filter((kind) => !isBuiltIn(kind));
  const shapes = own.length === 0 ? '' : encodeJson(openApiV2(own, optionsOf(dialect, spoken)));
  return tagOf(kinds, { dialect, place: `${spoken} v2`, shapes });
});

const v3Text = memoizePerKinds((kinds, key: V3Key, dialect) => {
  const { spoken, place } = v3Parts(key);
  return encodeJson(openApiV3(place, kinds, optionsOf(dialect, spoken)));
});
const v3Tag = memoizePerKinds((kinds, key: V3Key, dialect) => {
  const { place } = v3Parts(key);
  const within = kinds.filter(
    ({ gvr }) => place === `${gvr.group === '' ? 'api' : `apis/${gvr.group}`}/${gvr.version}`,
  );
  const shapes = within.every(isBuiltIn) ? '' : v3Text(kinds, key, dialect);
  return tagOf(within, { dialect, place: key, shapes });
});
const v3IndexText = memoizePerKinds((kinds, spoken: EncodingSet, dialect) => {
  const places = openApiV3Paths(kinds).map((place) => [
    place,
    { serverRelativeURL: v3Path(place, v3Tag(kinds, `${spoken} ${place}`, dialect)) },
  ]);
  return JSON.stringify({ paths: Object.fromEntries(places) });
});

interface TagParts {
  readonly dialect: Dialect;
  readonly place: string;
  /** The encoded schemas of custom resources; built-in kinds are identified by their names alone. */
  readonly shapes: string;
}

/** An ETag that changes with the document, but is computed without building it. */
function tagOf(kinds: readonly ServedKind[], { dialect, place, shapes }: TagParts): string {
  const names = kinds.map(({ apiVersion, gvr, kind }) => `${apiVersion}/${gvr.resource}/${kind.kind}`);
  return sha256Tag([SERVER_VERSION, dialect.name, place, ...names, shapes].join('\n'));
}
